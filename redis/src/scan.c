/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Scans of a filter in Redis: the keys searched for that may be in it.
 *
 * A row of the result is a key as it was asked for: the filter itself cannot
 * say which keys it holds.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "table.h"

#include "catalog/pg_type.h"
#include BF_EXPLAIN_FORMAT_HEADER
#include BF_EXPLAIN_STATE_HEADER
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "redis_compat.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

typedef struct SearchState
{
	BfRedisTable table;
	Oid			user;
	BfSearch	search;
	BfKeyRule	rule;			/* of the column's type */
	ExprState  *value;
	Oid			value_type;		/* of x, or of the array's elements */
	MemoryContext context;		/* of one search */

	bool		searched;
	int			nfound;
	int			next;
	Datum	   *found;			/* in the search's context */
} SearchState;

/* The keys of one search, in the order asked for. */
typedef struct KeyList
{
	int			nkeys;
	Datum	   *values;			/* of the column's type */
	BfKey	   *keys;
} KeyList;

void
bf_begin_scan(ForeignScanState *node, int flags)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	SearchState *state = (SearchState *) palloc0(sizeof(SearchState));
	Expr	   *value;
	Oid			type;

	bf_table_describe(node->ss.ss_currentRelation, &state->table);
	node->fdw_state = state;
	state->search = (BfSearch) intVal(list_nth(plan->fdw_private, BF_SCAN_SEARCH));
	if (state->search == BF_SEARCH_NONE)
		return;
	bf_table_init_rule(&state->table,
					   (Oid) intVal(list_nth(plan->fdw_private, BF_SCAN_COLLATION)),
					   &state->rule);
	if (flags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	state->user = bf_scan_check_as(node);
	if (!OidIsValid(state->user))
		state->user = GetUserId();
	value = (Expr *) linitial(plan->fdw_exprs);
	state->value = ExecInitExpr(value, &node->ss.ps);
	type = exprType((Node *) value);
	if (state->search == BF_SEARCH_ANY)
		type = get_base_element_type(type);
	state->value_type = getBaseType(type);
	state->context = AllocSetContextCreate(node->ss.ps.state->es_query_cxt,
										   "bloomfilter_redis search",
										   ALLOCSET_DEFAULT_SIZES);
}

/*
 * A value as the column's type has it.  False for an integer that the column
 * cannot hold: then it is certainly not in the filter.
 */
static bool
convert_value(const SearchState *state, Datum *value)
{
	int64		number;

	if (state->value_type == state->table.base_type)
		return true;
	switch (state->value_type)
	{
		case INT2OID:
			number = DatumGetInt16(*value);
			break;
		case INT4OID:
			number = DatumGetInt32(*value);
			break;
		case INT8OID:
			number = DatumGetInt64(*value);
			break;
		default:				/* text for varchar */
			return true;
	}
	switch (state->table.base_type)
	{
		case INT2OID:
			*value = Int16GetDatum((int16) number);
			return number == (int16) number;
		case INT4OID:
			*value = Int32GetDatum((int32) number);
			return number == (int32) number;
		default:
			*value = Int64GetDatum(number);
			return true;
	}
}

/* Add a value that is searched for; its bytes get memory of their own. */
static void
add_key(SearchState *state, KeyList *list, Datum value)
{
	char		buffer[BF_KEY_BUFFER_SIZE];
	BfKey		key;

	if (!convert_value(state, &value))
		return;
	key = bf_key_bytes(&state->rule, value, buffer);
	if (key.data == buffer)
	{
		char	   *copy = (char *) palloc(key.length + 1);

		memcpy(copy, buffer, key.length);
		key.data = copy;
	}
	list->values[list->nkeys] = value;
	list->keys[list->nkeys++] = key;
}

/* For sorting numbers of keys: by bytes, equal ones in the order asked for. */
static int
compare_keys(const void *a, const void *b, void *argument)
{
	const BfKey *keys = (const BfKey *) argument;
	int			left = *(const int *) a;
	int			right = *(const int *) b;
	size_t		length = Min(keys[left].length, keys[right].length);
	int			result = length > 0 ? memcmp(keys[left].data, keys[right].data, length) : 0;

	if (result == 0 && keys[left].length != keys[right].length)
		result = keys[left].length < keys[right].length ? -1 : 1;
	return result != 0 ? result : (left > right) - (left < right);
}

/* A table holds each key once, however often the array names it. */
static void
remove_duplicates(KeyList *list)
{
	int		   *order;
	bool	   *repeated;
	int			kept = 0;

	if (list->nkeys < 2)
		return;
	order = (int *) palloc(list->nkeys * sizeof(int));
	repeated = (bool *) palloc0(list->nkeys * sizeof(bool));
	for (int i = 0; i < list->nkeys; i++)
		order[i] = i;
	qsort_arg(order, list->nkeys, sizeof(int), compare_keys, list->keys);
	for (int i = 1; i < list->nkeys; i++)
	{
		const BfKey *key = &list->keys[order[i]];
		const BfKey *before = &list->keys[order[i - 1]];

		repeated[order[i]] = key->length == before->length &&
			memcmp(key->data, before->data, key->length) == 0;
	}
	for (int i = 0; i < list->nkeys; i++)
	{
		if (repeated[i])
			continue;
		list->values[kept] = list->values[i];
		list->keys[kept++] = list->keys[i];
	}
	list->nkeys = kept;
}

/* The keys that x or the array's elements are; none for NULL. */
static void
collect_keys(ForeignScanState *node, SearchState *state, KeyList *list)
{
	bool		is_null;
	Datum		value = ExecEvalExpr(state->value, node->ss.ps.ps_ExprContext, &is_null);

	list->nkeys = 0;
	if (is_null)
		return;
	if (state->search == BF_SEARCH_ONE)
	{
		list->values = (Datum *) palloc(sizeof(Datum));
		list->keys = (BfKey *) palloc(sizeof(BfKey));
		add_key(state, list, value);
	}
	else
	{
		ArrayType  *array = DatumGetArrayTypeP(value);
		int16		length;
		bool		by_value;
		char		align;
		Datum	   *elements;
		bool	   *nulls;
		int			nelements;

		get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
		deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align,
						  &elements, &nulls, &nelements);
		list->values = (Datum *) palloc(Max(nelements, 1) * sizeof(Datum));
		list->keys = (BfKey *) palloc(Max(nelements, 1) * sizeof(BfKey));
		for (int i = 0; i < nelements; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (!nulls[i])
				add_key(state, list, elements[i]);
		}
		remove_duplicates(list);
	}
}

/* Ask Redis, and keep those keys that it may hold. */
static void
search(ForeignScanState *node, SearchState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->context);
	KeyList		list;
	bool	   *present;

	collect_keys(node, state, &list);
	state->nfound = state->next = 0;
	state->searched = true;
	if (list.nkeys > 0)
	{
		present = (bool *) palloc(list.nkeys * sizeof(bool));
		bf_live_probe(state->table.server, state->user, &state->table.options,
					  list.nkeys, list.keys, present);
		state->found = list.values;
		for (int i = 0; i < list.nkeys; i++)
		{
			if (present[i])
				state->found[state->nfound++] = list.values[i];
		}
	}
	MemoryContextSwitchTo(old);
}

TupleTableSlot *
bf_iterate_scan(ForeignScanState *node)
{
	SearchState *state = (SearchState *) node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	if (state->search == BF_SEARCH_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("foreign table \"%s\" can only be searched by key",
						RelationGetRelationName(node->ss.ss_currentRelation)),
				 errdetail("A filter cannot list the keys it holds."),
				 errhint("Use WHERE key = value, key = ANY (array) or a join on the key, with values of the column's type.")));
	if (!state->searched)
		search(node, state);

	ExecClearTuple(slot);
	if (state->next < state->nfound)
	{
		memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
		slot->tts_values[state->table.attribute - 1] = state->found[state->next++];
		slot->tts_isnull[state->table.attribute - 1] = false;
		ExecStoreVirtualTuple(slot);
	}
	return slot;
}

void
bf_rescan(ForeignScanState *node)
{
	SearchState *state = (SearchState *) node->fdw_state;

	state->searched = false;
	if (state->context != NULL)
		MemoryContextReset(state->context);
}

void
bf_end_scan(ForeignScanState *node pg_attribute_unused())
{
	/* memory goes with the query */
}

void
bf_explain_scan(ForeignScanState *node, ExplainState *explain)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	SearchState *state = (SearchState *) node->fdw_state;
	const BfRedisTableOptions *options = &state->table.options;
	List	   *context;

	if (state->search == BF_SEARCH_NONE)
	{
		ExplainPropertyText("Redis Command", "none: it can only be searched by key", explain);
		return;
	}
	context = set_deparse_context_plan(explain->deparse_cxt, (Plan *) plan, NIL);
	ExplainPropertyText("Redis Cond",
						deparse_expression((Node *) linitial(plan->fdw_recheck_quals), context,
										   explain->verbose || list_length(explain->rtable) > 1,
										   false),
						explain);
	ExplainPropertyText("Redis Command",
						psprintf("%s %s", bf_live_probe_command(options->format,
																state->search == BF_SEARCH_ANY),
								 options->key),
						explain);
}
