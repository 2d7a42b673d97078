/*-------------------------------------------------------------------------
 *
 * top_k_agg_sql.c
 *	  The aggregates top_k_agg and top_k_union_agg.
 *
 * All share one state and differ in the transition.  The final function only
 * reads the state, so windows and shared states are safe.  States travel
 * between workers in the portable form and are validated on arrival.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "top_k_sql.h"

#include "aggregate.h"
#include "callsite.h"
#include "gateway.h"
#include "io.h"

BF_FUNCTION(bf_top_k_agg_transition);
BF_FUNCTION(bf_top_k_agg_weight_transition);
BF_FUNCTION(bf_top_k_agg_error_transition);
BF_FUNCTION(bf_top_k_agg_union_transition);
BF_FUNCTION(bf_top_k_agg_combine);
BF_FUNCTION(bf_top_k_agg_final);
BF_FUNCTION(bf_top_k_agg_serialize);
BF_FUNCTION(bf_top_k_agg_deserialize);

typedef struct BfTopKState
{
	BfTopK	   *top;
	MemoryContext context;		/* of all that belongs to the state */
	int32		k;				/* as asked, of top_k_agg */
	double		error;
	double		probability;
} BfTopKState;

static inline BfTopKState *
get_state(FunctionCallInfo fcinfo, int argument)
{
	return PG_ARGISNULL(argument) ? NULL : (BfTopKState *) PG_GETARG_POINTER(argument);
}

/* A state in the current context around a top_k that lives there. */
static BfTopKState *
begin(BfTopK *top)
{
	BfTopKState *state = (BfTopKState *) palloc0(sizeof(BfTopKState));

	state->top = top;
	state->context = CurrentMemoryContext;
	return state;
}

/* Count a key that is not NULL; k is the argument of that number. */
static pg_attribute_always_inline Datum
count_key(FunctionCallInfo fcinfo, uint64 weight, int k_argument, bool has_error)
{
	BfTopKState *state = get_state(fcinfo, 0);
	BfCallSite *site = bf_call_site(fcinfo, 1);
	double		error = 0.0;
	double		probability = 0.0;
	int32		k;

	if (PG_ARGISNULL(k_argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("k must not be null")));
	k = PG_GETARG_INT32(k_argument);
	if (has_error)
	{
		error = bf_sketch_agg_float8(fcinfo, k_argument + 1, "error");
		probability = bf_sketch_agg_float8(fcinfo, k_argument + 2, "probability");
	}

	if (state == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(bf_aggregate_context(fcinfo));
		double		wanted_error = error;
		double		wanted_probability = probability;

		bf_top_k_check_k(k);
		if (!has_error)
			bf_top_k_default_error(k, &wanted_error, &wanted_probability);
		state = begin(bf_top_k_begin((uint32) k,
									 bf_sketch_shape_for_error(wanted_error,
															   wanted_probability)));
		state->k = k;
		state->error = error;
		state->probability = probability;
		MemoryContextSwitchTo(old_context);
	}
	else
		bf_sketch_agg_check_same(k == state->k && error == state->error &&
								 probability == state->probability);

	if (weight > 0)
		bf_top_k_add(state->top, state->context, &site->rule, PG_GETARG_DATUM(1), weight);
	PG_RETURN_POINTER(state);
}

/* top_k_agg(key, k) */
Datum
bf_top_k_agg_transition(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(1))
		return bf_aggregate_unchanged(fcinfo);
	return count_key(fcinfo, 1, 2, false);
}

/* top_k_agg(key, weight, k); a NULL weight is skipped, too */
Datum
bf_top_k_agg_weight_transition(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return bf_aggregate_unchanged(fcinfo);
	return count_key(fcinfo, bf_sketch_weight(PG_GETARG_INT64(2)), 3, false);
}

/* top_k_agg(key, weight, k, error, probability) */
Datum
bf_top_k_agg_error_transition(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return bf_aggregate_unchanged(fcinfo);
	return count_key(fcinfo, bf_sketch_weight(PG_GETARG_INT64(2)), 3, true);
}

/* top_k_union_agg(top_k) */
Datum
bf_top_k_agg_union_transition(PG_FUNCTION_ARGS)
{
	MemoryContext context = bf_aggregate_context(fcinfo);
	BfTopKState *state = get_state(fcinfo, 0);
	const BfFilter *value;

	if (PG_ARGISNULL(1))
		return bf_aggregate_unchanged(fcinfo);

	value = bf_get_filter(PG_GETARG_DATUM(1), BF_KIND_TOP_K);
	if (state == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(context);

		state = begin(bf_top_k_open_value(value));
		MemoryContextSwitchTo(old_context);
	}
	else
		bf_top_k_absorb_value(state->top, context, value);
	PG_FREE_IF_COPY(unconstify(BfFilter *, value), 1);
	PG_RETURN_POINTER(state);
}

/* How two states, of two workers, become one. */
Datum
bf_top_k_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = bf_aggregate_context(fcinfo);
	MemoryContext old_context;
	BfTopKState *state = get_state(fcinfo, 0);
	const BfTopKState *other = get_state(fcinfo, 1);

	if (other == NULL)
		return bf_aggregate_unchanged(fcinfo);

	/* the other state lives only as long as this call */
	old_context = MemoryContextSwitchTo(context);
	if (state == NULL)
		state = begin(bf_top_k_begin(bf_top_k_k(other->top->sketch),
									 bf_shape(other->top->sketch)));
	else
		bf_sketch_check_same(state->top->sketch, other->top->sketch);
	bf_top_k_absorb(state->top, other->top->sketch, other->top->candidates,
					other->top->ncandidates);
	MemoryContextSwitchTo(old_context);
	PG_RETURN_POINTER(state);
}

Datum
bf_top_k_agg_final(PG_FUNCTION_ARGS)
{
	const BfTopKState *state = get_state(fcinfo, 0);

	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(bf_top_k_result(state->top));
}

Datum
bf_top_k_agg_serialize(PG_FUNCTION_ARGS)
{
	const BfTopKState *state = (BfTopKState *) PG_GETARG_POINTER(0);

	bf_aggregate_context(fcinfo);
	PG_RETURN_BYTEA_P(bf_export(bf_top_k_result(state->top)));
}

Datum
bf_top_k_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *data = PG_GETARG_BYTEA_PP(0);

	bf_aggregate_context(fcinfo);
	PG_RETURN_POINTER(begin(bf_top_k_open_value(bf_import(VARDATA_ANY(data),
														  VARSIZE_ANY_EXHDR(data),
														  BF_KIND_TOP_K))));
}
