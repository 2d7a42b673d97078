/*-------------------------------------------------------------------------
 *
 * sizing_agg.c
 *	  bloom_agg(key) and bloom_agg(key, fpr): the filter is made when the
 *	  number of distinct keys is known.
 *
 * There is no combine function, so a parallel plan gathers the rows first.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "aggregate.h"
#include "bloom.h"
#include "callsite.h"
#include "distinct.h"
#include "errors.h"

BF_FUNCTION(bf_agg_sizing_transition);
BF_FUNCTION(bf_agg_sizing_fpr_transition);
BF_FUNCTION(bf_agg_sizing_final);

typedef struct SizingState
{
	double		fpr;
	BfDistinct *keys;
} SizingState;

static Datum
sizing_transition(FunctionCallInfo fcinfo, bool has_fpr)
{
	SizingState *state = PG_ARGISNULL(0) ? NULL : (SizingState *) PG_GETARG_POINTER(0);
	double		fpr = BF_DEFAULT_FPR;
	BfCallSite *site;
	BfHash		hash;

	if (PG_ARGISNULL(1))
		return bf_aggregate_unchanged(fcinfo);

	if (has_fpr)
		fpr = bf_aggregate_get_fpr(fcinfo, 2);
	if (state == NULL)
	{
		MemoryContext context = bf_aggregate_context(fcinfo);
		BfGeometry	geometry;

		/* complain about the rate now, not after the last row */
		bf_check_params(bf_params_for_capacity(1, fpr, &geometry));
		state = (SizingState *) MemoryContextAlloc(context, sizeof(SizingState));
		state->fpr = fpr;
		state->keys = bf_distinct_create(context, (Size) work_mem * 1024);
	}
	else if (fpr != state->fpr)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("false positive rate must be the same for all rows of an aggregate")));

	site = bf_call_site(fcinfo, 1);
	hash = bf_key_hash(&site->rule, BF_SCHEME_MURMUR64A, PG_GETARG_DATUM(1));
	bf_distinct_add(state->keys, hash.h1, hash.h2);
	PG_RETURN_POINTER(state);
}

/* bloom_agg(key) */
Datum
bf_agg_sizing_transition(PG_FUNCTION_ARGS)
{
	return sizing_transition(fcinfo, false);
}

/* bloom_agg(key, fpr) */
Datum
bf_agg_sizing_fpr_transition(PG_FUNCTION_ARGS)
{
	return sizing_transition(fcinfo, true);
}

static void
add_to_filter(const BfHash *hashes, int count, void *argument)
{
	bf_bloom_set_batch((BfFilter *) argument, hashes, count);
}

Datum
bf_agg_sizing_final(PG_FUNCTION_ARGS)
{
	SizingState *state;
	uint64		count;
	BfGeometry	geometry;
	BfFilter   *filter;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (SizingState *) PG_GETARG_POINTER(0);

	bf_distinct_settle(state->keys);

	/* of a state there is at least one key, but an estimate could round to 0 */
	count = Max(bf_distinct_count(state->keys), 1);
	bf_check_params(bf_params_for_capacity((int64) count, state->fpr, &geometry));
	filter = bf_bloom_create(geometry, BF_SCHEME_MURMUR64A, count, state->fpr);
	bf_distinct_read(state->keys, add_to_filter, filter);
	bf_bloom_recount(filter);
	PG_RETURN_POINTER(filter);
}
