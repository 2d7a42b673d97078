/*-------------------------------------------------------------------------
 *
 * table.c
 *	  Foreign tables: what they are, and the table of their functions.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "table.h"

#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

BF_FUNCTION(bf_redis_handler);

Datum
bf_redis_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	routine->GetForeignRelSize = bf_get_rel_size;
	routine->GetForeignPaths = bf_get_paths;
	routine->GetForeignPlan = bf_get_plan;
	routine->BeginForeignScan = bf_begin_scan;
	routine->IterateForeignScan = bf_iterate_scan;
	routine->ReScanForeignScan = bf_rescan;
	routine->EndForeignScan = bf_end_scan;
	routine->ExplainForeignScan = bf_explain_scan;

	routine->IsForeignRelUpdatable = bf_is_updatable;
	routine->AddForeignUpdateTargets = bf_add_update_targets;
	routine->PlanForeignModify = bf_plan_modify;
	routine->BeginForeignModify = bf_begin_modify;
	routine->ExecForeignInsert = bf_insert;
	routine->ExecForeignDelete = bf_delete;
	routine->EndForeignModify = bf_end_modify;
	routine->BeginForeignInsert = bf_begin_insert;
	routine->EndForeignInsert = bf_end_modify;
	routine->ExplainForeignModify = bf_explain_modify;
	routine->ExecForeignTruncate = bf_truncate;
	PG_RETURN_POINTER(routine);
}

/* Read the definition of a foreign table; refuse one that is no filter. */
void
bf_table_describe(Relation relation, BfRedisTable *table)
{
	TupleDesc	columns = RelationGetDescr(relation);
	ForeignTable *foreign = GetForeignTable(RelationGetRelid(relation));
	int			live = 0;

	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		if (column->attisdropped)
			continue;
		live++;
		table->attribute = column->attnum;
		table->type = column->atttypid;
		table->base_type = getBaseType(column->atttypid);
		table->collation = column->attcollation;
	}
	if (live != 1)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_COLUMN_NUMBER),
				 errmsg("foreign table \"%s\" must have one column",
						RelationGetRelationName(relation)),
				 errdetail("It has %d. A filter knows keys and nothing else.", live)));
	table->server = foreign->serverid;
	bf_redis_get_table_options(foreign->options, &table->options);
}

/*
 * The rule that makes bytes of the table's keys.  What Redis holds must be what
 * an application would send, so types whose keys are hashes are refused.
 */
void
bf_table_init_rule(const BfRedisTable *table, Oid collation, BfKeyRule *rule)
{
	bf_key_rule_init(rule, table->type, collation, CurrentMemoryContext);
	if (rule->form == BF_KEY_HASHED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot use a column of type %s as a key in Redis",
						format_type_be(table->type)),
				 errdetail("Its values have no form that another program would write."),
				 errhint("Declare the column as text and cast the values: x::text.")));
}
