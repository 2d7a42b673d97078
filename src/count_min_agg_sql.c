/*-------------------------------------------------------------------------
 *
 * count_min_agg_sql.c
 *	  The aggregates cms_agg and cms_union_agg.
 *
 * All share one state and differ in the transition.  The final function only
 * reads the state, so windows and shared states are safe.  States travel
 * between workers in the portable form and are validated on arrival.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "aggregate.h"
#include "callsite.h"
#include "gateway.h"
#include "io.h"
#include "sketch_sql.h"

BF_FUNCTION(bf_count_min_agg_transition);
BF_FUNCTION(bf_count_min_agg_weight_transition);
BF_FUNCTION(bf_count_min_agg_union_transition);
BF_FUNCTION(bf_count_min_agg_combine);
BF_FUNCTION(bf_count_min_agg_final);
BF_FUNCTION(bf_count_min_agg_serialize);
BF_FUNCTION(bf_count_min_agg_deserialize);

/*
 * A sketch that grows by keys or by other sketches.  A large one misses the
 * cache at every counter, so the keys read last wait in a ring while theirs are
 * fetched.  A weight of 0 is a free place; counters beyond the depth are unused.
 */
typedef struct BfCountMinState
{
	BfFilter   *sketch;
	BfModulus32	modulus;
	double		error;			/* as asked, of cms_agg */
	double		probability;
	uint32	   *hashes;			/* of a key, row by row: an array of depth */
	uint32	   *waiting;		/* those of each that waits; NULL: nobody does */
	uint64		weights[BF_WAITING_KEYS];
	int			next;			/* the one that waits longest */
} BfCountMinState;

static inline BfCountMinState *
get_state(FunctionCallInfo fcinfo, int argument)
{
	return PG_ARGISNULL(argument) ? NULL :
		(BfCountMinState *) PG_GETARG_POINTER(argument);
}

/* A state in the current context around a sketch that lives there. */
static BfCountMinState *
begin(BfFilter *sketch)
{
	BfCountMinState *state = (BfCountMinState *) palloc0(sizeof(BfCountMinState));

	state->sketch = sketch;
	state->modulus = bf_modulus32((uint32) sketch->bits);
	state->hashes = (uint32 *) palloc(sketch->hashes * sizeof(uint32));
	if (VARSIZE(sketch) >= BF_WAITING_MIN_SIZE)
		state->waiting = (uint32 *)
			palloc(BF_WAITING_KEYS * sketch->hashes * sizeof(uint32));
	return state;
}

/* Add the keys of a state that wait to a sketch: its own or a copy. */
static void
add_waiting(const BfCountMinState *state, BfFilter *sketch)
{
	for (int i = 0; i < BF_WAITING_KEYS; i++)
	{
		if (state->weights[i] > 0)
			(void) bf_count_min_add(sketch, state->modulus,
									state->waiting + i * sketch->hashes,
									state->weights[i]);
	}
}

/* The state as a sketch of its own in the current context. */
static BfFilter *
state_copy(const BfCountMinState *state)
{
	BfFilter   *sketch = bf_filter_copy(state->sketch);

	add_waiting(state, sketch);
	return sketch;
}

/* Let a key wait, and add the one that has waited longest. */
static inline void
add_later(BfCountMinState *state, BfKeyRule *rule, Datum key, uint64 weight)
{
	uint32		depth = state->sketch->hashes;
	uint32	   *hashes = state->waiting + state->next * depth;

	if (state->weights[state->next] > 0)
		(void) bf_count_min_add(state->sketch, state->modulus, hashes,
								state->weights[state->next]);
	bf_key_row_hashes(rule, key, depth, hashes);
	bf_count_min_prefetch(state->sketch, state->modulus, hashes);
	state->weights[state->next] = weight;
	state->next = (state->next + 1) % BF_WAITING_KEYS;
}

/* Count a key that is not NULL; parameters stand from that argument on. */
static pg_attribute_always_inline Datum
count_key(FunctionCallInfo fcinfo, uint64 weight, int parameters)
{
	BfCountMinState *state = get_state(fcinfo, 0);
	BfCallSite *site = bf_call_site(fcinfo, 1);
	double		error = bf_sketch_agg_float8(fcinfo, parameters, "error");
	double		probability = bf_sketch_agg_float8(fcinfo, parameters + 1, "probability");

	if (state == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(bf_aggregate_context(fcinfo));

		state = begin(bf_count_min_create(bf_sketch_shape_for_error(error, probability)));
		state->error = error;
		state->probability = probability;
		MemoryContextSwitchTo(old_context);
	}
	else
		bf_sketch_agg_check_same(error == state->error &&
								 probability == state->probability);

	if (weight == 0)
		PG_RETURN_POINTER(state);
	if (state->waiting != NULL)
		add_later(state, &site->rule, PG_GETARG_DATUM(1), weight);
	else
	{
		bf_key_row_hashes(&site->rule, PG_GETARG_DATUM(1), state->sketch->hashes,
						  state->hashes);
		(void) bf_count_min_add(state->sketch, state->modulus, state->hashes, weight);
	}
	PG_RETURN_POINTER(state);
}

/* cms_agg(key, error, probability) */
Datum
bf_count_min_agg_transition(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(1))
		return bf_aggregate_unchanged(fcinfo);
	return count_key(fcinfo, 1, 2);
}

/* cms_agg(key, weight, error, probability); a NULL weight is skipped, too */
Datum
bf_count_min_agg_weight_transition(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return bf_aggregate_unchanged(fcinfo);
	return count_key(fcinfo, bf_sketch_weight(PG_GETARG_INT64(2)), 3);
}

/* cms_union_agg(sketch) */
Datum
bf_count_min_agg_union_transition(PG_FUNCTION_ARGS)
{
	MemoryContext context = bf_aggregate_context(fcinfo);
	BfCountMinState *state = get_state(fcinfo, 0);
	const BfFilter *sketch;

	if (PG_ARGISNULL(1))
		return bf_aggregate_unchanged(fcinfo);

	sketch = bf_get_filter(PG_GETARG_DATUM(1), BF_KIND_COUNT_MIN_SKETCH);
	if (state == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(context);

		state = begin(bf_filter_copy(sketch));
		MemoryContextSwitchTo(old_context);
	}
	else
	{
		bf_sketch_check_same(state->sketch, sketch);
		bf_count_min_unite(state->sketch, sketch);
	}
	PG_FREE_IF_COPY(unconstify(BfFilter *, sketch), 1);
	PG_RETURN_POINTER(state);
}

/* How two states, of two workers, become one. */
Datum
bf_count_min_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = bf_aggregate_context(fcinfo);
	BfCountMinState *state = get_state(fcinfo, 0);
	const BfCountMinState *other = get_state(fcinfo, 1);

	if (other == NULL)
		return bf_aggregate_unchanged(fcinfo);

	if (state == NULL)
	{
		/* the other state lives only as long as this call */
		MemoryContext old_context = MemoryContextSwitchTo(context);

		state = begin(state_copy(other));
		MemoryContextSwitchTo(old_context);
	}
	else
	{
		bf_sketch_check_same(state->sketch, other->sketch);
		bf_count_min_unite(state->sketch, other->sketch);
		add_waiting(other, state->sketch);
	}
	PG_RETURN_POINTER(state);
}

Datum
bf_count_min_agg_final(PG_FUNCTION_ARGS)
{
	const BfCountMinState *state = get_state(fcinfo, 0);

	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(state_copy(state));
}

Datum
bf_count_min_agg_serialize(PG_FUNCTION_ARGS)
{
	const BfCountMinState *state = (BfCountMinState *) PG_GETARG_POINTER(0);

	bf_aggregate_context(fcinfo);
	PG_RETURN_BYTEA_P(bf_export(state->waiting ? state_copy(state) : state->sketch));
}

Datum
bf_count_min_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *data = PG_GETARG_BYTEA_PP(0);

	bf_aggregate_context(fcinfo);
	PG_RETURN_POINTER(begin(bf_import(VARDATA_ANY(data), VARSIZE_ANY_EXHDR(data),
									  BF_KIND_COUNT_MIN_SKETCH)));
}
