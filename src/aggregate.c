/*-------------------------------------------------------------------------
 *
 * aggregate.c
 *	  Aggregates whose state is one filter, for all types: of keys with a
 *	  capacity or a template, bloom_union_agg, bloom_intersect_agg.
 *
 * They differ in the transition and in how two states combine; final,
 * serialize and deserialize functions are the same.  The final function only
 * reads the state, so windows and shared states are safe; serializing sets what
 * waits in it.  States travel
 * between workers in the portable form and are validated on arrival.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "aggregate.h"

#include "access/detoast.h"

#include "bloom.h"
#include "callsite.h"
#include "counting.h"
#include "cuckoo.h"
#include "errors.h"
#include "gateway.h"
#include "io.h"
#include "scalable.h"
#include "utils/memutils.h"

BF_FUNCTION(bf_bloom_agg_transition);
BF_FUNCTION(bf_counting_bloom_agg_transition);
BF_FUNCTION(bf_scalable_bloom_agg_transition);
BF_FUNCTION(bf_cuckoo_filter_agg_transition);
BF_FUNCTION(bf_cuckoo_filter_agg_params_transition);
BF_FUNCTION(bf_agg_template_transition);
BF_FUNCTION(bf_agg_union_transition);
BF_FUNCTION(bf_agg_intersect_transition);
BF_FUNCTION(bf_agg_union_combine);
BF_FUNCTION(bf_agg_intersect_combine);
BF_FUNCTION(bf_agg_final);
BF_FUNCTION(bf_agg_serialize);
BF_FUNCTION(bf_agg_deserialize);

/* Keys that wait together, and the payload from which on they do. */
#define BF_BATCH_KEYS			256
#define BF_BATCH_MIN_PAYLOAD	(16 * 1024)

/*
 * The memory of the aggregate's state; refuses a call from elsewhere.  A state
 * that is there already can only come from an aggregate: SQL has no values of
 * type internal.
 */
MemoryContext
bf_aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate support function called in a non-aggregate context");
	return context;
}

/* From now on keys wait, if the filter is large enough. */
static inline void
batch_if_large(BfAggregateState *state)
{
	if (VARSIZE(state->filter) - BF_HEADER_SIZE >= BF_BATCH_MIN_PAYLOAD)
		state->pending = (BfHash *)
			MemoryContextAlloc(GetMemoryChunkContext(state), BF_BATCH_KEYS * sizeof(BfHash));
}

/* A state of its own memory around a filter that already lives in context. */
static BfAggregateState *
begin(MemoryContext context, BfFilter *filter)
{
	BfAggregateState *state = (BfAggregateState *)
		MemoryContextAllocZero(context, sizeof(BfAggregateState));

	state->filter = filter;
	batch_if_large(state);
	return state;
}

/* Add the keys that wait; of a plain filter bits_set is not kept. */
static BfFilter *
with_pending(BfFilter *filter, const BfAggregateState *state)
{
	BfKind		kind = (BfKind) filter->kind;

	if (state->regions != NULL)
		bf_regions_apply(state->regions, filter);
	return bf_check_grown(bf_filter_add_batch(filter, state->pending, state->npending), kind);
}

/* The keys that wait are part of the state; this only moves them. */
static void
flush_pending(BfAggregateState *state)
{
	state->filter = with_pending(state->filter, state);
	state->npending = 0;
	if (state->regions != NULL)
		bf_regions_clear(state->regions);
}

/*
 * Give a large filter regions, which may double its memory, once it has got a
 * quarter of the positions that they hold, and those of many keys: bits that the
 * same few keys set again and again are in the cache.
 */
static void
consider_regions(BfAggregateState *state)
{
	uint64		capacity = bf_regions_capacity(state->filter);
	MemoryContext old_context;

	state->nset += BF_BATCH_KEYS * (uint64) state->filter->hashes;
	if (capacity == 0 || state->nset < Max(capacity / 4, state->nset_next_look))
		return;

	/* counting takes a while, so not too often */
	state->nset_next_look = state->nset * 2;
	bf_bloom_recount(state->filter);
	if (state->filter->bits_set < capacity / 8)
		return;
	old_context = MemoryContextSwitchTo(GetMemoryChunkContext(state));
	state->regions = bf_regions_create(state->filter);
	MemoryContextSwitchTo(old_context);
}

/* The batch is full: set its bits, or let them wait on by region. */
static void
flush_batch(BfAggregateState *state)
{
	if (state->regions == NULL)
	{
		flush_pending(state);
		consider_regions(state);
		return;
	}
	bf_regions_add(state->regions, state->filter, state->pending, state->npending);
	state->npending = 0;
}

/* The state as a filter of its own in the current context. */
static BfFilter *
state_copy(const BfAggregateState *state)
{
	BfFilter   *filter = bf_filter_copy(state->filter);

	if (state->pending != NULL)
	{
		filter = with_pending(filter, state);
		if (filter->kind == BF_KIND_BLOOM)
			bf_bloom_recount(filter);
	}
	return filter;
}

static inline BfAggregateState *
get_state(FunctionCallInfo fcinfo, int argument)
{
	return PG_ARGISNULL(argument) ? NULL :
		(BfAggregateState *) PG_GETARG_POINTER(argument);
}

/* Parameters of an aggregate are read at the first key of each group. */
static int64
get_capacity(FunctionCallInfo fcinfo, int argument)
{
	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("capacity must not be null")));
	return PG_GETARG_INT64(argument);
}

double
bf_aggregate_get_fpr(FunctionCallInfo fcinfo, int argument)
{
	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("false positive rate must not be null")));
	return PG_GETARG_FLOAT8(argument);
}

/* A key of a filter too small for keys to wait, which may grow. */
static pg_noinline void
add_at_once(BfAggregateState *state, BfHash hash)
{
	BfKind		kind = (BfKind) state->filter->kind;

	/* a key that a cuckoo filter holds is not added again */
	state->filter = bf_check_grown(kind == BF_KIND_CUCKOO_FILTER ?
								   bf_filter_add_batch(state->filter, &hash, 1) :
								   bf_filter_add(state->filter, hash), kind);
	/* one that grows is small at first */
	batch_if_large(state);
}

static inline void
add_key(FunctionCallInfo fcinfo, BfAggregateState *state)
{
	BfCallSite *site = bf_call_site(fcinfo, 1);
	BfScheme	scheme = (BfScheme) state->filter->scheme;

	if (state->pending == NULL)
	{
		add_at_once(state, bf_key_hash(&site->rule, scheme, PG_GETARG_DATUM(1)));
		return;
	}
	/* straight to its place: a copy in between costs a stalled read of it */
	state->pending[state->npending] = bf_key_hash(&site->rule, scheme, PG_GETARG_DATUM(1));
	if (++state->npending == BF_BATCH_KEYS)
		flush_batch(state);
}

/* An empty filter for an aggregate that is given a capacity and a rate. */
static BfFilter *
create_for_capacity(BfKind kind, int64 capacity, double fpr)
{
	BfGeometry	geometry;
	BfFilter   *filter;

	if (kind == BF_KIND_SCALABLE_BLOOM)
	{
		bf_check_params(bf_scalable_create(capacity, fpr, BF_DEFAULT_GROWTH,
										   BF_DEFAULT_TIGHTENING,
										   BF_SCHEME_MURMUR64A, &filter));
		return filter;
	}
	bf_check_params(bf_params_for_capacity(capacity, fpr, &geometry));
	if (kind == BF_KIND_BLOOM)
		return bf_bloom_create(geometry, BF_SCHEME_MURMUR64A, (uint64) capacity, fpr);
	bf_check_params(bf_counting_check_params(geometry, BF_DEFAULT_COUNTER_BITS));
	return bf_counting_create(geometry, BF_DEFAULT_COUNTER_BITS,
							  BF_SCHEME_MURMUR64A, (uint64) capacity, fpr);
}

static pg_attribute_always_inline Datum
capacity_transition(FunctionCallInfo fcinfo, BfKind kind)
{
	BfAggregateState *state = get_state(fcinfo, 0);
	int64		capacity;
	double		fpr;

	if (PG_ARGISNULL(1))
		return bf_aggregate_unchanged(fcinfo);

	capacity = get_capacity(fcinfo, 2);
	fpr = bf_aggregate_get_fpr(fcinfo, 3);
	if (state == NULL)
	{
		MemoryContext context = bf_aggregate_context(fcinfo);
		MemoryContext old_context = MemoryContextSwitchTo(context);

		state = begin(context, create_for_capacity(kind, capacity, fpr));
		MemoryContextSwitchTo(old_context);
	}
	else if ((uint64) capacity != state->filter->capacity || fpr != state->filter->fpr)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity and false positive rate must be the same for all rows of an aggregate")));

	add_key(fcinfo, state);
	PG_RETURN_POINTER(state);
}

/* bloom_agg(key, capacity, fpr) */
Datum
bf_bloom_agg_transition(PG_FUNCTION_ARGS)
{
	return capacity_transition(fcinfo, BF_KIND_BLOOM);
}

/* counting_bloom_agg(key, capacity, fpr) */
Datum
bf_counting_bloom_agg_transition(PG_FUNCTION_ARGS)
{
	return capacity_transition(fcinfo, BF_KIND_COUNTING_BLOOM);
}

/* scalable_bloom_agg(key, initial_capacity, fpr) */
Datum
bf_scalable_bloom_agg_transition(PG_FUNCTION_ARGS)
{
	return capacity_transition(fcinfo, BF_KIND_SCALABLE_BLOOM);
}

/* An integer parameter of cuckoo_agg. */
static int32
get_cuckoo_parameter(FunctionCallInfo fcinfo, int argument)
{
	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("bucket size and bits of a fingerprint must not be null")));
	return PG_GETARG_INT32(argument);
}

static pg_attribute_always_inline Datum
cuckoo_transition(FunctionCallInfo fcinfo, bool has_params)
{
	BfAggregateState *state = get_state(fcinfo, 0);
	BfCuckooParams params = BF_CUCKOO_DEFAULTS;
	int64		capacity;

	if (PG_ARGISNULL(1))
		return bf_aggregate_unchanged(fcinfo);

	capacity = get_capacity(fcinfo, 2);
	if (has_params)
	{
		params.bucket_size = get_cuckoo_parameter(fcinfo, 3);
		params.fingerprint_bits = get_cuckoo_parameter(fcinfo, 4);
	}
	if (state == NULL)
	{
		MemoryContext context = bf_aggregate_context(fcinfo);
		MemoryContext old_context = MemoryContextSwitchTo(context);
		BfFilter   *filter;

		bf_check_params(bf_cuckoo_create(capacity, &params, &filter));
		state = begin(context, filter);
		MemoryContextSwitchTo(old_context);
	}
	else if ((uint64) capacity != state->filter->capacity ||
			 (uint32) params.bucket_size != bf_cuckoo_bucket_size(state->filter) ||
			 (uint32) params.fingerprint_bits != bf_cuckoo_fingerprint_bits(state->filter))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity, bucket size and bits of a fingerprint must be the same for all rows of an aggregate")));

	add_key(fcinfo, state);
	PG_RETURN_POINTER(state);
}

/* cuckoo_agg(key, capacity) */
Datum
bf_cuckoo_filter_agg_transition(PG_FUNCTION_ARGS)
{
	return cuckoo_transition(fcinfo, false);
}

/* cuckoo_agg(key, capacity, bucket_size, fingerprint_bits) */
Datum
bf_cuckoo_filter_agg_params_transition(PG_FUNCTION_ARGS)
{
	return cuckoo_transition(fcinfo, true);
}

/*
 * Whether a row's template is certainly the one of the row before: the same
 * stored value, whose head need not be fetched again.
 */
static bool
is_last_template(BfCallSite *site, Datum template)
{
	struct varatt_external pointer;

	if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(template)))
		return false;
	VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(template));
	if (memcmp(&pointer, &site->last_template, sizeof(pointer)) == 0)
		return true;
	site->last_template = pointer;
	return false;
}

/* bloom_agg(key, template): a filter made as the template, of whatever keys */
Datum
bf_agg_template_transition(PG_FUNCTION_ARGS)
{
	BfAggregateState *state = get_state(fcinfo, 0);
	BfCallSite *site;

	if (PG_ARGISNULL(1))
		return bf_aggregate_unchanged(fcinfo);

	if (PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("template filter must not be null")));
	site = bf_call_site(fcinfo, 1);
	if (!is_last_template(site, PG_GETARG_DATUM(2)) || state == NULL)
	{
		BfFilter   *head = BF_GETARG_HEAD(2);

		if (state == NULL)
		{
			MemoryContext context = bf_aggregate_context(fcinfo);
			MemoryContext old_context = MemoryContextSwitchTo(context);

			state = begin(context, bf_check_grown(bf_filter_empty_like(head),
												  (BfKind) head->kind));
			MemoryContextSwitchTo(old_context);
		}
		else if (!bf_filter_same_geometry(state->filter, head) ||
				 state->filter->capacity != head->capacity ||
				 state->filter->fpr != head->fpr)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("template filter must be the same for all rows of an aggregate")));
		pfree(head);
	}

	add_key(fcinfo, state);
	PG_RETURN_POINTER(state);
}

/* How the union and intersection aggregates take one filter in. */
static Datum
combine_filter(FunctionCallInfo fcinfo,
			   BfFilter *(*combine) (BfFilter *target, const BfFilter *source))
{
	MemoryContext context = bf_aggregate_context(fcinfo);
	BfAggregateState *state = get_state(fcinfo, 0);
	const BfFilter *filter;

	if (PG_ARGISNULL(1))
		return bf_aggregate_unchanged(fcinfo);

	filter = BF_GETARG_FILTER(1);
	if (state == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(context);

		state = (BfAggregateState *) palloc0(sizeof(BfAggregateState));
		state->filter = bf_filter_copy(filter);
		MemoryContextSwitchTo(old_context);
	}
	else
	{
		bf_check_same_geometry(state->filter, filter);
		state->filter = bf_check_grown(combine(state->filter, filter),
									   (BfKind) filter->kind);
	}
	bf_release(filter, PG_GETARG_DATUM(1));
	PG_RETURN_POINTER(state);
}

/* bloom_union_agg(filter) */
Datum
bf_agg_union_transition(PG_FUNCTION_ARGS)
{
	return combine_filter(fcinfo, bf_filter_union);
}

/* bloom_intersect_agg(filter) */
Datum
bf_agg_intersect_transition(PG_FUNCTION_ARGS)
{
	return combine_filter(fcinfo, bf_filter_intersect);
}

/* How two states, of two workers, become one. */
static Datum
combine_states(FunctionCallInfo fcinfo,
			   BfFilter *(*combine) (BfFilter *target, const BfFilter *source))
{
	MemoryContext context = bf_aggregate_context(fcinfo);
	BfAggregateState *state = get_state(fcinfo, 0);
	const BfAggregateState *other = get_state(fcinfo, 1);
	const BfFilter *source;

	if (other == NULL)
		return bf_aggregate_unchanged(fcinfo);

	if (state == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(context);

		/* the other state lives only as long as this call */
		state = begin(context, state_copy(other));
		MemoryContextSwitchTo(old_context);
		PG_RETURN_POINTER(state);
	}

	bf_check_same_geometry(state->filter, other->filter);
	if (state->pending != NULL)
		flush_pending(state);
	source = other->npending > 0 || other->regions != NULL ? state_copy(other) : other->filter;
	state->filter = bf_check_grown(combine(state->filter, source), (BfKind) source->kind);
	PG_RETURN_POINTER(state);
}

/* of bloom_agg and bloom_union_agg */
Datum
bf_agg_union_combine(PG_FUNCTION_ARGS)
{
	return combine_states(fcinfo, bf_filter_union);
}

/* of bloom_intersect_agg */
Datum
bf_agg_intersect_combine(PG_FUNCTION_ARGS)
{
	return combine_states(fcinfo, bf_filter_intersect);
}

Datum
bf_agg_final(PG_FUNCTION_ARGS)
{
	const BfAggregateState *state = get_state(fcinfo, 0);

	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(state_copy(state));
}

Datum
bf_agg_serialize(PG_FUNCTION_ARGS)
{
	BfAggregateState *state = (BfAggregateState *) PG_GETARG_POINTER(0);

	bf_aggregate_context(fcinfo);
	if (state->pending != NULL)
	{
		flush_pending(state);
		if (state->filter->kind == BF_KIND_BLOOM)
			bf_bloom_recount(state->filter);
	}
	PG_RETURN_BYTEA_P(bf_export(state->filter));
}

Datum
bf_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *data = PG_GETARG_BYTEA_PP(0);

	bf_aggregate_context(fcinfo);
	PG_RETURN_POINTER(begin(CurrentMemoryContext,
										 bf_import(VARDATA_ANY(data),
												   VARSIZE_ANY_EXHDR(data),
												   BF_KIND_ANY)));
}
