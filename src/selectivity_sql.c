/*-------------------------------------------------------------------------
 *
 * selectivity_sql.c
 *	  How many rows pass a filter: the planner's view of @> and <@.
 *
 * A constant filter over a column passes the keys it holds, as a share of the
 * column's distinct values, and of the rest its false positive rate.  A filter
 * that is not known when planning passes BF_DEFAULT_SELECTIVITY.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "filter.h"
#include "gateway.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

BF_FUNCTION(bf_contains_selectivity);
BF_FUNCTION(bf_contained_selectivity);
BF_FUNCTION(bf_join_selectivity);
BF_FUNCTION(bf_contains_support);
BF_FUNCTION(bf_contained_support);

/*
 * Of a filter not known yet.  Filters are used to reject most rows, but a
 * plan for too few rows costs more than one for too many.
 */
#define BF_DEFAULT_SELECTIVITY	0.1

static double
known_filter_selectivity(const BfFilter *head, VariableStatData *key)
{
	double		null_fraction = 0.0;
	double		distinct;
	double		held;
	bool		is_default;

	if (HeapTupleIsValid(key->statsTuple))
		null_fraction = ((Form_pg_statistic) GETSTRUCT(key->statsTuple))->stanullfrac;
	distinct = get_variable_numdistinct(key, &is_default);
	if (is_default)
		return BF_DEFAULT_SELECTIVITY;

	held = Min(1.0, bf_filter_count(head) / Max(distinct, 1.0));
	return (1.0 - null_fraction) * (held + (1.0 - held) * bf_filter_fpr(head));
}

/* Selectivity of a call whose filter is the argument of that number. */
static double
restriction_selectivity(PlannerInfo *root, List *arguments, int varrelid,
						int filter_argument)
{
	Node	   *filter;
	VariableStatData key;
	double		selectivity = BF_DEFAULT_SELECTIVITY;

	if (list_length(arguments) != 2)
		return selectivity;
	filter = estimate_expression_value(root, list_nth(arguments, filter_argument));
	examine_variable(root, list_nth(arguments, 1 - filter_argument), varrelid, &key);
	if (IsA(filter, Const))
	{
		if (((Const *) filter)->constisnull)
			selectivity = 0.0;
		else
			selectivity = known_filter_selectivity(bf_get_head(((Const *) filter)->constvalue,
															   BF_KIND_ANY),
												   &key);
	}
	ReleaseVariableStats(key);
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/* oprrest of filter @> key */
Datum
bf_contains_selectivity(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(restriction_selectivity((PlannerInfo *) PG_GETARG_POINTER(0),
											 (List *) PG_GETARG_POINTER(2),
											 PG_GETARG_INT32(3), 0));
}

/* oprrest of key <@ filter */
Datum
bf_contained_selectivity(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(restriction_selectivity((PlannerInfo *) PG_GETARG_POINTER(0),
											 (List *) PG_GETARG_POINTER(2),
											 PG_GETARG_INT32(3), 1));
}

/* oprjoin of both: a column of filters is never known when planning */
Datum
bf_join_selectivity(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(BF_DEFAULT_SELECTIVITY);
}

/* The function call in WHERE is estimated as the operator is. */
static Datum
support(FunctionCallInfo fcinfo, int filter_argument)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	SupportRequestSelectivity *question;

	if (!IsA(request, SupportRequestSelectivity))
		PG_RETURN_POINTER(NULL);
	question = (SupportRequestSelectivity *) request;
	question->selectivity = question->is_join ? BF_DEFAULT_SELECTIVITY :
		restriction_selectivity(question->root, question->args,
								question->varRelid, filter_argument);
	PG_RETURN_POINTER(question);
}

/* of bloom_contains */
Datum
bf_contains_support(PG_FUNCTION_ARGS)
{
	return support(fcinfo, 0);
}

/* of the function behind <@ */
Datum
bf_contained_support(PG_FUNCTION_ARGS)
{
	return support(fcinfo, 1);
}
