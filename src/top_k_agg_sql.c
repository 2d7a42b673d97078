/*-------------------------------------------------------------------------
 *
 * top_k_agg_sql.c
 *	  The aggregates top_k_agg and top_k_union_agg.
 *
 * All share one state and differ in the transition.  The final function leaves
 * what a state holds as it is, so windows and shared states are safe.  States
 * travel between workers in the portable form and are validated on arrival.
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
#include "utils/builtins.h"

BF_FUNCTION(bf_top_k_agg_transition);
BF_FUNCTION(bf_top_k_agg_weight_transition);
BF_FUNCTION(bf_top_k_agg_error_transition);
BF_FUNCTION(bf_top_k_agg_union_transition);
BF_FUNCTION(bf_top_k_agg_combine);
BF_FUNCTION(bf_top_k_agg_final);
BF_FUNCTION(bf_top_k_agg_serialize);
BF_FUNCTION(bf_top_k_agg_deserialize);

/* A key that waits for its counters. */
typedef struct BfWaitingKey
{
	uint64		weight;			/* 0: a free place */
	bool		is_number;
	uint64		number;
	char	   *bytes;			/* otherwise, with room for so many */
	uint32		length;
	uint32		room;
} BfWaitingKey;

/*
 * A large sketch misses the cache at every counter, so the keys read last wait
 * in a ring while theirs are fetched.  They are part of the state; adding them
 * only moves them.
 */
typedef struct BfTopKState
{
	BfTopK	   *top;
	MemoryContext context;		/* of all that belongs to the state */
	int32		k;				/* as asked, of top_k_agg */
	double		error;
	double		probability;
	BfWaitingKey *waiting;		/* NULL: nobody waits */
	uint32	   *hashes;			/* of each that waits, row by row */
	int			next;			/* the one that waits longest */
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
	if (VARSIZE(top->sketch) >= BF_WAITING_MIN_SIZE)
	{
		state->waiting = (BfWaitingKey *) palloc0(BF_WAITING_KEYS * sizeof(BfWaitingKey));
		state->hashes = (uint32 *)
			palloc(BF_WAITING_KEYS * top->sketch->hashes * sizeof(uint32));
	}
	return state;
}

/* Tell the top_k of a key whose count has passed the threshold. */
static pg_noinline void
track_waiting(BfTopKState *state, const BfWaitingKey *key, uint32 hash, uint64 count)
{
	MemoryContext old_context = MemoryContextSwitchTo(state->context);

	if (key->is_number)
	{
		char		digits[BF_KEY_BUFFER_SIZE];
		int			length = pg_lltoa((int64) key->number, digits);

		bf_top_k_track(state->top, hash, digits, (uint32) length, key->weight, count);
	}
	else
		bf_top_k_track(state->top, hash, key->bytes, key->length, key->weight, count);
	MemoryContextSwitchTo(old_context);
}

/* Count a key that has waited. */
static inline void
add_waiting(BfTopKState *state, int place)
{
	BfTopK	   *top = state->top;
	BfWaitingKey *key = &state->waiting[place];
	const uint32 *hashes = state->hashes + place * top->sketch->hashes;
	uint64		count = bf_count_min_add(top->sketch, top->modulus, hashes, key->weight);

	if (count > top->threshold)
		track_waiting(state, key, hashes[0], count);
	key->weight = 0;
}

/* Count all that wait, oldest first. */
static void
flush(BfTopKState *state)
{
	for (int i = 0; state->waiting != NULL && i < BF_WAITING_KEYS; i++)
	{
		int			place = (state->next + i) % BF_WAITING_KEYS;

		if (state->waiting[place].weight > 0)
			add_waiting(state, place);
	}
}

/* Keep the bytes of a key for when it has waited, and hash them. */
static pg_noinline void
copy_bytes(BfTopKState *state, BfWaitingKey *waiting, BfKeyRule *rule, Datum value,
		   uint32 *hashes)
{
	char		buffer[BF_KEY_BUFFER_SIZE];
	BfKey		key = bf_top_k_key(rule, value, buffer);

	if (waiting->bytes == NULL || key.length > waiting->room)
	{
		/* more than that, so that longer and longer keys do not each take anew */
		waiting->room = (uint32) (2 * Max(key.length, 16));
		if (waiting->bytes != NULL)
			pfree(waiting->bytes);
		waiting->bytes = (char *) MemoryContextAlloc(state->context, waiting->room);
	}
	memcpy(waiting->bytes, key.data, key.length);
	waiting->length = (uint32) key.length;
	bf_murmur2_rows(key.data, key.length, state->top->sketch->hashes, hashes);
	bf_key_release(key);
}

/* Let a key wait, and count the one that has waited longest. */
static inline void
add_later(BfTopKState *state, BfKeyRule *rule, Datum key, uint64 weight)
{
	const BfFilter *sketch = state->top->sketch;
	BfWaitingKey *waiting = &state->waiting[state->next];
	uint32	   *hashes = state->hashes + state->next * sketch->hashes;

	if (waiting->weight > 0)
		add_waiting(state, state->next);
	waiting->is_number = bf_key_is_decimal(rule, key, &waiting->number);
	if (waiting->is_number)
		bf_murmur2_rows_decimal(waiting->number, sketch->hashes, hashes);
	else
		copy_bytes(state, waiting, rule, key, hashes);
	bf_count_min_prefetch(sketch, state->top->modulus, hashes);
	waiting->weight = weight;
	state->next = (state->next + 1) % BF_WAITING_KEYS;
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

	if (weight > 0 && state->waiting != NULL)
		add_later(state, &site->rule, PG_GETARG_DATUM(1), weight);
	else if (weight > 0)
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
	BfTopKState *other = get_state(fcinfo, 1);

	if (other == NULL)
		return bf_aggregate_unchanged(fcinfo);

	flush(other);
	/* the other state lives only as long as this call */
	old_context = MemoryContextSwitchTo(context);
	if (state == NULL)
		state = begin(bf_top_k_begin(bf_top_k_k(other->top->sketch),
									 bf_shape(other->top->sketch)));
	else
	{
		bf_sketch_check_same(state->top->sketch, other->top->sketch);
		flush(state);
	}
	bf_top_k_absorb(state->top, other->top->sketch, other->top->candidates,
					other->top->ncandidates);
	MemoryContextSwitchTo(old_context);
	PG_RETURN_POINTER(state);
}

Datum
bf_top_k_agg_final(PG_FUNCTION_ARGS)
{
	BfTopKState *state = get_state(fcinfo, 0);

	if (state == NULL)
		PG_RETURN_NULL();
	flush(state);
	PG_RETURN_POINTER(bf_top_k_result(state->top));
}

Datum
bf_top_k_agg_serialize(PG_FUNCTION_ARGS)
{
	BfTopKState *state = (BfTopKState *) PG_GETARG_POINTER(0);

	bf_aggregate_context(fcinfo);
	flush(state);
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
