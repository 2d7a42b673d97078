/*-------------------------------------------------------------------------
 *
 * table.h
 *	  Foreign tables: a table with one column is a filter in Redis.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_REDIS_TABLE_H
#define BF_REDIS_TABLE_H

#include "live.h"

#include "foreign/fdwapi.h"
#include "utils/rel.h"

/* What is known of a foreign table. */
typedef struct BfRedisTable
{
	Oid			server;
	AttrNumber	attribute;		/* the key column */
	Oid			type;			/* of the column */
	Oid			base_type;		/* beneath its domains */
	Oid			collation;		/* of the column */
	BfRedisTableOptions options;
} BfRedisTable;

extern void bf_table_describe(Relation relation, BfRedisTable *table);
extern void bf_table_init_rule(const BfRedisTable *table, Oid collation, BfKeyRule *rule);

/* how a key is searched for, as planner and executor say it to each other */
typedef enum BfSearch
{
	BF_SEARCH_NONE,				/* it is not: an error when run */
	BF_SEARCH_ONE,				/* key = x */
	BF_SEARCH_ANY				/* key = ANY (array) */
} BfSearch;

/* members of fdw_private of a scan */
enum
{
	BF_SCAN_SEARCH,				/* Integer, a BfSearch */
	BF_SCAN_COLLATION			/* Integer, of the comparison */
};

/* in plan.c */
extern void bf_get_rel_size(PlannerInfo *root, RelOptInfo *baserel, Oid table);
extern void bf_get_paths(PlannerInfo *root, RelOptInfo *baserel, Oid table);
extern ForeignScan *bf_get_plan(PlannerInfo *root, RelOptInfo *baserel, Oid table,
								ForeignPath *path, List *targets, List *clauses,
								Plan *outer);

/* in scan.c */
extern void bf_begin_scan(ForeignScanState *node, int flags);
extern TupleTableSlot *bf_iterate_scan(ForeignScanState *node);
extern void bf_rescan(ForeignScanState *node);
extern void bf_end_scan(ForeignScanState *node);
extern void bf_explain_scan(ForeignScanState *node, struct ExplainState *explain);

/* in modify.c */
extern int	bf_is_updatable(Relation relation);
extern void bf_add_update_targets(PlannerInfo *root, Index index, RangeTblEntry *entry,
								  Relation relation);
extern List *bf_plan_modify(PlannerInfo *root, ModifyTable *plan, Index index,
							int subplan);
extern void bf_begin_modify(ModifyTableState *state, ResultRelInfo *result,
							List *private, int subplan, int flags);
extern TupleTableSlot *bf_insert(EState *estate, ResultRelInfo *result,
								 TupleTableSlot *slot, TupleTableSlot *plan_slot);
extern TupleTableSlot *bf_delete(EState *estate, ResultRelInfo *result,
								 TupleTableSlot *slot, TupleTableSlot *plan_slot);
extern void bf_end_modify(EState *estate, ResultRelInfo *result);
extern void bf_begin_insert(ModifyTableState *state, ResultRelInfo *result);
extern void bf_explain_modify(ModifyTableState *state, ResultRelInfo *result,
							  List *private, int subplan, struct ExplainState *explain);
extern void bf_truncate(List *relations, DropBehavior behavior, bool restart);

#endif							/* BF_REDIS_TABLE_H */
