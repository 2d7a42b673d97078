/*-------------------------------------------------------------------------
 *
 * plan.c
 *	  Planning scans of a filter in Redis: it can be searched by key and in no
 *	  other way.
 *
 * key = x and key = ANY (array) are searched for, also when x comes from the
 * other side of a join.  The planner must have a path for everything else too:
 * one of a prohibitive cost, which is an error when run.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "table.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

/* A round trip in units of cost, and what each key adds to it. */
#define ROUND_TRIP_COST		25.0
#define KEY_COST			0.1

/* More than any plan that works. */
#define IMPOSSIBLE_COST		1.0e10

/* What planning knows of the table. */
typedef struct RelationPlan
{
	BfRedisTable table;
	Index		index;			/* in the range table */
} RelationPlan;

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/*
 * Whether values of that type can be searched for in the column: those of its
 * own type, integers of other widths, and text where the column is varchar.
 */
static bool
is_searchable_type(const BfRedisTable *table, Oid type)
{
	Oid			base = getBaseType(type);

	return base == table->base_type ||
		(is_integer(base) && is_integer(table->base_type)) ||
		(base == TEXTOID && table->base_type == VARCHAROID);
}

/* Whether an operator is the equality of the column's type. */
static bool
is_equality(const BfRedisTable *table, Oid operator)
{
	TypeCacheEntry *entry = lookup_type_cache(table->base_type,
											  TYPECACHE_BTREE_OPFAMILY |
											  TYPECACHE_HASH_OPFAMILY);

	return (OidIsValid(entry->btree_opf) &&
			get_op_opfamily_strategy(operator, entry->btree_opf) == BTEqualStrategyNumber) ||
		(OidIsValid(entry->hash_opf) &&
		 get_op_opfamily_strategy(operator, entry->hash_opf) == HTEqualStrategyNumber);
}

/* Whether an expression is the key column. */
static bool
is_column(const RelationPlan *plan, Node *node)
{
	while (node != NULL && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node != NULL && IsA(node, Var) &&
		((Var *) node)->varno == (int) plan->index &&
		((Var *) node)->varattno == plan->table.attribute &&
		((Var *) node)->varlevelsup == 0;
}

/* Whether an expression can be computed before the table is searched. */
static bool
is_value(PlannerInfo *root, const RelationPlan *plan, Node *node)
{
	return !bms_is_member((int) plan->index, pull_varnos(root, node)) &&
		!contain_volatile_functions(node);
}

/* If a clause says what to search for, answer how, with the expression. */
static BfSearch
match_clause(PlannerInfo *root, const RelationPlan *plan, Expr *clause,
			 Expr **value, Oid *collation)
{
	if (IsA(clause, OpExpr))
	{
		OpExpr	   *operator = (OpExpr *) clause;
		Node	   *left;
		Node	   *right;

		if (list_length(operator->args) != 2 || !is_equality(&plan->table, operator->opno))
			return BF_SEARCH_NONE;
		left = (Node *) linitial(operator->args);
		right = (Node *) lsecond(operator->args);
		if (!is_column(plan, left))
		{
			Node	   *swapped = left;

			left = right;
			right = swapped;
		}
		if (!is_column(plan, left) || !is_value(root, plan, right) ||
			!is_searchable_type(&plan->table, exprType(right)))
			return BF_SEARCH_NONE;
		*value = (Expr *) right;
		*collation = operator->inputcollid;
		return BF_SEARCH_ONE;
	}
	if (IsA(clause, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *operator = (ScalarArrayOpExpr *) clause;
		Node	   *left = (Node *) linitial(operator->args);
		Node	   *right = (Node *) lsecond(operator->args);
		Oid			element = get_base_element_type(exprType(right));

		if (!operator->useOr || !is_equality(&plan->table, operator->opno) ||
			!is_column(plan, left) || !is_value(root, plan, right) ||
			!OidIsValid(element) || !is_searchable_type(&plan->table, element))
			return BF_SEARCH_NONE;
		*value = (Expr *) right;
		*collation = operator->inputcollid;
		return BF_SEARCH_ANY;
	}
	return BF_SEARCH_NONE;
}

/* The first of the clauses that says what to search for: it is *used. */
static BfSearch
match_clauses(PlannerInfo *root, const RelationPlan *plan, List *clauses,
			  Expr **value, Oid *collation, RestrictInfo **used)
{
	ListCell   *cell;

	foreach(cell, clauses)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		BfSearch	search = match_clause(root, plan, clause->clause, value, collation);

		if (search != BF_SEARCH_NONE)
		{
			*used = clause;
			return search;
		}
	}
	return BF_SEARCH_NONE;
}

/* Keys that a search looks for, as far as the planner can tell. */
static double
estimate_keys(PlannerInfo *root, BfSearch search, Expr *value)
{
	return search == BF_SEARCH_ANY ?
		Max(1.0, bf_estimate_array_length(root, (Node *) value)) : 1.0;
}

void
bf_get_rel_size(PlannerInfo *root, RelOptInfo *baserel, Oid table)
{
	RelationPlan *plan = (RelationPlan *) palloc0(sizeof(RelationPlan));
	Relation	relation = table_open(table, NoLock);
	Expr	   *value = NULL;
	Oid			collation;
	RestrictInfo *used;
	BfSearch	search;

	bf_table_describe(relation, &plan->table);
	table_close(relation, NoLock);
	plan->index = baserel->relid;
	baserel->fdw_private = plan;

	search = match_clauses(root, plan, baserel->baserestrictinfo, &value, &collation, &used);
	baserel->tuples = 1000.0;
	baserel->rows = search == BF_SEARCH_NONE ? 1000.0 : estimate_keys(root, search, value);
}

static void
add_scan_path(PlannerInfo *root, RelOptInfo *baserel, double rows, BfSearch search,
			  Relids required_outer)
{
	Cost		cost = search == BF_SEARCH_NONE ? IMPOSSIBLE_COST :
		ROUND_TRIP_COST + rows * KEY_COST;

	add_path(baserel, (Path *)
			 bf_create_foreignscan_path(root, baserel, rows, search == BF_SEARCH_NONE,
										cost, required_outer));
}

/* For generate_implied_equalities_for_column(). */
static bool
is_column_member(PlannerInfo *root pg_attribute_unused(), RelOptInfo *rel pg_attribute_unused(),
				 EquivalenceClass *class pg_attribute_unused(),
				 EquivalenceMember *member, void *argument)
{
	return is_column((RelationPlan *) argument, (Node *) member->em_expr);
}

/* One path for each set of relations that a join clause takes the key from. */
static void
add_join_paths(PlannerInfo *root, RelOptInfo *baserel, RelationPlan *plan)
{
	List	   *clauses = list_copy(baserel->joininfo);
	List	   *seen = NIL;
	ListCell   *cell;

	if (baserel->has_eclass_joins)
		clauses = list_concat(clauses,
							  generate_implied_equalities_for_column(root, baserel,
																	 is_column_member, plan,
																	 baserel->lateral_referencers));
	foreach(cell, clauses)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		Expr	   *value;
		Oid			collation;
		Relids		required_outer;
		BfSearch	search;

		if (!join_clause_is_movable_to(clause, baserel))
			continue;
		search = match_clause(root, plan, clause->clause, &value, &collation);
		if (search == BF_SEARCH_NONE)
			continue;
		required_outer = bms_union(clause->clause_relids, baserel->lateral_relids);
		required_outer = bms_del_member(required_outer, (int) baserel->relid);
		if (bms_is_empty(required_outer) || list_member(seen, required_outer))
			continue;
		seen = lappend(seen, required_outer);
		add_scan_path(root, baserel, estimate_keys(root, search, value), search,
					  required_outer);
	}
}

void
bf_get_paths(PlannerInfo *root, RelOptInfo *baserel, Oid table pg_attribute_unused())
{
	RelationPlan *plan = (RelationPlan *) baserel->fdw_private;
	Expr	   *value;
	Oid			collation;
	RestrictInfo *used;
	BfSearch	search = match_clauses(root, plan, baserel->baserestrictinfo, &value,
									   &collation, &used);

	add_scan_path(root, baserel, baserel->rows, search, baserel->lateral_relids);
	if (search == BF_SEARCH_NONE)
		add_join_paths(root, baserel, plan);
}

/*
 * The clause that is searched for needs no check of the rows found, which would
 * go through a whole array for each; the others do.
 */
ForeignScan *
bf_get_plan(PlannerInfo *root, RelOptInfo *baserel, Oid table pg_attribute_unused(),
			ForeignPath *path pg_attribute_unused(), List *targets, List *clauses, Plan *outer)
{
	RelationPlan *plan = (RelationPlan *) baserel->fdw_private;
	Expr	   *value = NULL;
	Oid			collation = InvalidOid;
	RestrictInfo *used = NULL;
	BfSearch	search = match_clauses(root, plan, clauses, &value, &collation, &used);
	List	   *others = list_delete_ptr(list_copy(clauses), used);

	return make_foreignscan(targets,
							extract_actual_clauses(others, false),
							baserel->relid,
							value != NULL ? list_make1(value) : NIL,
							list_make2(makeInteger(search), makeInteger((int) collation)),
							NIL,
							used != NULL ? list_make1(used->clause) : NIL,
							outer);
}
