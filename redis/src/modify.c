/*-------------------------------------------------------------------------
 *
 * modify.c
 *	  INSERT, COPY and DELETE of keys of a filter in Redis, and the refusal of
 *	  what a filter cannot do.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "table.h"

#include "access/table.h"
#include BF_EXPLAIN_FORMAT_HEADER
#include BF_EXPLAIN_STATE_HEADER
#include "deletes.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/appendinfo.h"

/* The name of the column in the plan that says which key to delete. */
#define KEY_COLUMN	"bloomfilter_redis key"

typedef struct ModifyState
{
	BfRedisTable table;
	Oid			user;
	BfKeyRule	rule;
	BfLoad	   *load;			/* of INSERT */
	AttrNumber	key_column;		/* of DELETE, in the plan's rows */
} ModifyState;

/* Only a cuckoo filter can forget a key. */
int
bf_is_updatable(Relation relation)
{
	BfRedisTable table;

	bf_table_describe(relation, &table);
	return (1 << CMD_INSERT) |
		(table.options.format == BF_REDIS_CUCKOO ? 1 << CMD_DELETE : 0);
}

/* Called when UPDATE or DELETE is planned: say why not, or ask for the key. */
void
bf_add_update_targets(PlannerInfo *root, Index index, RangeTblEntry *entry pg_attribute_unused(),
					  Relation relation)
{
	BfRedisTable table;
	Form_pg_attribute column;

	bf_table_describe(relation, &table);
	if (root->parse->commandType != CMD_DELETE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot update foreign table \"%s\"", RelationGetRelationName(relation)),
				 errdetail("A filter has no rows that could be changed: INSERT adds a key.")));
	if (table.options.format != BF_REDIS_CUCKOO)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot delete from foreign table \"%s\"", RelationGetRelationName(relation)),
				 errdetail("Keys cannot be taken out of a Bloom filter."),
				 errhint("Build the filter again and push it with bloom_redis_push, or use format 'cuckoo'.")));

	column = TupleDescAttr(RelationGetDescr(relation), table.attribute - 1);
	add_row_identity_var(root,
						 makeVar((int) index, table.attribute, column->atttypid,
								 column->atttypmod, column->attcollation, 0),
						 index, KEY_COLUMN);
}

List *
bf_plan_modify(PlannerInfo *root pg_attribute_unused(), ModifyTable *plan pg_attribute_unused(),
			   Index index pg_attribute_unused(), int subplan pg_attribute_unused())
{
	return NIL;
}

/*
 * The server lets ON CONFLICT DO NOTHING without a target through to every
 * foreign table.  To a Bloom filter a key that is there already is nothing new,
 * but a cuckoo filter would hold it once more.
 */
static void
check_conflict_action(ModifyTableState *state, Relation relation,
					  const BfRedisTable *table)
{
	/* COPY has no plan */
	if (state != NULL && state->ps.plan != NULL &&
		castNode(ModifyTable, state->ps.plan)->onConflictAction != ONCONFLICT_NONE &&
		table->options.format == BF_REDIS_CUCKOO)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot insert into foreign table \"%s\" with ON CONFLICT",
						RelationGetRelationName(relation)),
				 errdetail("A cuckoo filter holds a key as often as it is added.")));
}

static ModifyState *
begin(ModifyTableState *state, ResultRelInfo *result)
{
	ModifyState *modify = (ModifyState *) palloc0(sizeof(ModifyState));

	bf_table_describe(result->ri_RelationDesc, &modify->table);
	check_conflict_action(state, result->ri_RelationDesc, &modify->table);
	bf_table_init_rule(&modify->table, modify->table.collation, &modify->rule);
	if (state != NULL)
		modify->user = bf_modify_check_as(result, state->ps.state);
	if (!OidIsValid(modify->user))
		modify->user = GetUserId();
	result->ri_FdwState = modify;
	return modify;
}

void
bf_begin_modify(ModifyTableState *state, ResultRelInfo *result,
				List *private pg_attribute_unused(), int subplan pg_attribute_unused(), int flags)
{
	ModifyState *modify;

	if (flags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	modify = begin(state, result);
	if (state->operation == CMD_DELETE)
	{
		modify->key_column = ExecFindJunkAttributeInTlist(outerPlanState(state)->plan->targetlist,
														  KEY_COLUMN);
		if (!AttributeNumberIsValid(modify->key_column))
			elog(ERROR, "could not find the key to delete in the plan");
	}
	else
		modify->load = bf_load_begin(modify->table.server, modify->user,
									 &modify->table.options);
}

/* COPY, and rows that a partitioned table routes here. */
void
bf_begin_insert(ModifyTableState *state, ResultRelInfo *result)
{
	ModifyState *modify;

	if (state != NULL && state->operation == CMD_UPDATE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot move rows into foreign table \"%s\"",
						RelationGetRelationName(result->ri_RelationDesc))));
	modify = begin(state, result);
	modify->load = bf_load_begin(modify->table.server, modify->user, &modify->table.options);
}

/* Add one key to the batch; NULL is no key. */
TupleTableSlot *
bf_insert(EState *estate pg_attribute_unused(), ResultRelInfo *result, TupleTableSlot *slot,
		  TupleTableSlot *plan_slot pg_attribute_unused())
{
	ModifyState *modify = (ModifyState *) result->ri_FdwState;
	bool		is_null;
	Datum		value = slot_getattr(slot, modify->table.attribute, &is_null);

	if (!is_null)
	{
		char		buffer[BF_KEY_BUFFER_SIZE];
		BfKey		key = bf_key_bytes(&modify->rule, value, buffer);

		bf_load_add(modify->load, key.data, key.length);
		bf_key_release(key);
	}
	return slot;
}

/* Remember the key: it leaves the filter when the transaction has committed. */
TupleTableSlot *
bf_delete(EState *estate pg_attribute_unused(), ResultRelInfo *result, TupleTableSlot *slot,
		  TupleTableSlot *plan_slot)
{
	ModifyState *modify = (ModifyState *) result->ri_FdwState;
	char		buffer[BF_KEY_BUFFER_SIZE];
	BfKey		key;
	bool		is_null;
	Datum		value = ExecGetJunkAttribute(plan_slot, modify->key_column, &is_null);

	if (is_null)
		return NULL;
	key = bf_key_bytes(&modify->rule, value, buffer);
	bf_delete_at_commit(modify->table.server, modify->user, modify->table.options.key,
						key.data, key.length);
	bf_key_release(key);

	/* what RETURNING shows */
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	slot->tts_values[modify->table.attribute - 1] = value;
	slot->tts_isnull[modify->table.attribute - 1] = false;
	return ExecStoreVirtualTuple(slot);
}

void
bf_end_modify(EState *estate pg_attribute_unused(), ResultRelInfo *result)
{
	ModifyState *modify = (ModifyState *) result->ri_FdwState;

	if (modify != NULL && modify->load != NULL)
		bf_load_end(modify->load);
}

void
bf_explain_modify(ModifyTableState *state, ResultRelInfo *result,
				  List *private pg_attribute_unused(), int subplan pg_attribute_unused(),
				  ExplainState *explain)
{
	BfRedisTable table;

	bf_table_describe(result->ri_RelationDesc, &table);
	ExplainPropertyText("Redis Command",
						psprintf("%s %s", state->operation == CMD_DELETE ? "CF.DEL" :
								 bf_live_insert_command(table.options.format),
								 table.options.key),
						explain);
}

/*
 * An emptied filter would tell everybody "absent", and no rollback could undo
 * it.
 */
void
bf_truncate(List *relations, DropBehavior behavior pg_attribute_unused(),
			bool restart pg_attribute_unused())
{
	Relation	relation = (Relation) linitial(relations);

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot truncate foreign table \"%s\"", RelationGetRelationName(relation)),
			 errdetail("It could not be rolled back, and readers would take every key for absent."),
			 errhint("Push an empty filter with bloom_redis_push, or remove the key with bloom_redis_unlink.")));
}
