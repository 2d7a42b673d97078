/*-------------------------------------------------------------------------
 *
 * filter_sql.c
 *	  SQL functions that change, probe and combine filters, one body for all
 *	  types: a value knows its kind.
 *
 * None writes into its argument, unless that is an expanded object which the
 * caller gave up for it: see expanded.c.  One that has nothing to change
 * returns it.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "callsite.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "errors.h"
#include "filter.h"
#include "gateway.h"
#include "stored.h"
#include "utils/array.h"

BF_FUNCTION(bf_add);
BF_FUNCTION(bf_add_all);
BF_FUNCTION(bf_clear);
BF_FUNCTION(bf_contains);
BF_FUNCTION(bf_contained);
BF_FUNCTION(bf_contains_each);
BF_FUNCTION(bf_union);
BF_FUNCTION(bf_intersect);

/* Elements of an array between two looks whether the query was cancelled. */
#define BF_KEYS_PER_INTERRUPT_CHECK		4096

/* The same when they change a filter: enough that a copy of it hardly counts. */
#define BF_KEYS_AT_ONCE					16384

/* The elements of an array of keys; site tells their type. */
void
bf_get_keys(Datum array, const BfCallSite *site, Datum **keys, bool **nulls, int *count)
{
	deconstruct_array(DatumGetArrayTypeP(array), site->rule.type,
					  site->element_length, site->element_by_value,
					  site->element_align, keys, nulls, count);
}

/* Where the result of a call belongs: of a transition function, in the state. */
static MemoryContext
result_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	return AggCheckCallContext(fcinfo, &context) ? context : CurrentMemoryContext;
}

/* Whether a changed filter is returned as an expanded object. */
static inline bool
is_worth_an_object(Datum datum)
{
	return toast_raw_datum_size(datum) >= BF_EXPANDED_MIN_SIZE;
}

/*
 * Apply a change for one key, unless it would change nothing; neither does a
 * NULL key.  An object of the caller's must not be left half changed, or where
 * its filter was before it grew: so nothing may cancel the change.
 */
Datum
bf_change_by_key(FunctionCallInfo fcinfo, BfKind kind,
				 bool (*changes) (const BfFilter *filter, BfHash hash),
				 BfFilter *(*change) (BfFilter *filter, BfHash hash))
{
	Datum		datum = PG_GETARG_DATUM(0);
	BfCallSite *site;
	bool		expand;
	bool		in_place;
	const BfFilter *filter;
	BfExpanded *object;
	BfHash		hash;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(datum);

	site = bf_call_site(fcinfo, 1);
	expand = is_worth_an_object(datum);
	/* what must be detoasted is so to where the result will be */
	if (expand && VARATT_IS_EXTENDED(DatumGetPointer(datum)) && bf_expanded(datum) == NULL)
		datum = bf_expanded_datum(bf_get_expanded_copy(datum, kind, result_context(fcinfo)));
	filter = bf_get_filter(datum, kind);
	hash = bf_key_hash(&site->rule, (BfScheme) filter->scheme, PG_GETARG_DATUM(1));
	if (!changes(filter, hash))
		PG_RETURN_DATUM(datum);
	if (!expand)
		PG_RETURN_POINTER(change(bf_filter_copy(filter), hash));
	object = bf_get_writable(datum, kind, result_context(fcinfo));
	in_place = bf_expanded(PG_GETARG_DATUM(0)) == object;
	if (in_place)
		HOLD_INTERRUPTS();
	bf_expanded_set(object, change(object->filter, hash));
	if (in_place)
		RESUME_INTERRUPTS();
	PG_RETURN_DATUM(bf_expanded_datum(object));
}

/* What counts keys counts one again; a bit is already set. */
static bool
adding_changes(const BfFilter *filter, BfHash hash)
{
	return filter->kind == BF_KIND_COUNTING_BLOOM || filter->kind == BF_KIND_CUCKOO_FILTER ||
		!bf_filter_contains(filter, hash);
}

static BfFilter *
add_key(BfFilter *filter, BfHash hash)
{
	return bf_check_added(bf_filter_add(filter, hash), filter, hash);
}

/* bloom_add(filter, key) */
Datum
bf_add(PG_FUNCTION_ARGS)
{
	return bf_change_by_key(fcinfo, BF_KIND_ANY, adding_changes, add_key);
}

/*
 * Whether nothing can go wrong between the first change of an object and the
 * last: it must not grow, and its keys, all hashed before, must be so few that
 * there is no need to look for interrupts.
 */
static inline bool
is_changed_at_once(Datum datum, BfKind kind, int count)
{
	return count <= BF_KEYS_AT_ONCE && bf_expanded(datum) != NULL &&
		bf_filter_has_fixed_size(bf_get_filter(datum, kind));
}

/*
 * Apply a change for each key in an array; NULL elements, and a NULL array,
 * change nothing.
 */
Datum
bf_change_by_keys(FunctionCallInfo fcinfo, BfKind kind,
				  BfFilter *(*change) (BfFilter *filter, BfHash hash))
{
	Datum		datum = PG_GETARG_DATUM(0);
	BfCallSite *site;
	BfExpanded *object = NULL;
	BfFilter   *filter;
	Datum	   *keys;
	bool	   *nulls;
	int			count;
	BfHash	   *hashes;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(datum);

	site = bf_call_site_for_keys(fcinfo, 1);
	bf_get_keys(PG_GETARG_DATUM(1), site, &keys, &nulls, &count);
	if (is_worth_an_object(datum))
		object = is_changed_at_once(datum, kind, count) ?
			bf_get_writable(datum, kind, result_context(fcinfo)) :
			bf_get_expanded_copy(datum, kind, result_context(fcinfo));
	filter = object != NULL ? object->filter : bf_get_filter_copy(datum, kind);
	hashes = (BfHash *) palloc(Min(count, BF_KEYS_AT_ONCE) * sizeof(BfHash));
	for (int i = 0; i < count;)
	{
		int			nhashes = 0;

		CHECK_FOR_INTERRUPTS();
		for (; i < count && nhashes < BF_KEYS_AT_ONCE; i++)
		{
			if (!nulls[i])
				hashes[nhashes++] = bf_key_hash(&site->rule, (BfScheme) filter->scheme, keys[i]);
		}
		for (int j = 0; j < nhashes; j++)
			filter = change(filter, hashes[j]);
	}
	pfree(hashes);
	if (object == NULL)
		PG_RETURN_POINTER(filter);
	bf_expanded_set(object, filter);
	PG_RETURN_DATUM(bf_expanded_datum(object));
}

/* bloom_add_all(filter, keys) */
Datum
bf_add_all(PG_FUNCTION_ARGS)
{
	return bf_change_by_keys(fcinfo, BF_KIND_ANY, add_key);
}

/* bloom_clear(filter): an empty one, made for the same */
Datum
bf_clear(PG_FUNCTION_ARGS)
{
	const BfFilter *head = BF_GETARG_HEAD(0);

	PG_RETURN_POINTER(bf_check_grown(bf_filter_empty_like(head), (BfKind) head->kind));
}

/* filter @> key */
Datum
bf_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(bf_probe(bf_call_site(fcinfo, 1),
							PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)));
}

/* key <@ filter */
Datum
bf_contained(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(bf_probe(bf_call_site(fcinfo, 0),
							PG_GETARG_DATUM(1), PG_GETARG_DATUM(0)));
}

/* bloom_contains_each(filter, keys): an array of the same shape, NULL for NULL */
Datum
bf_contains_each(PG_FUNCTION_ARGS)
{
	BfCallSite *site = bf_call_site_for_keys(fcinfo, 1);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	Datum	   *keys;
	bool	   *nulls;
	int			count;

	bf_get_keys(PointerGetDatum(array), site, &keys, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (i % BF_KEYS_PER_INTERRUPT_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			keys[i] = BoolGetDatum(bf_probe(site, PG_GETARG_DATUM(0), keys[i]));
	}
	PG_RETURN_ARRAYTYPE_P(construct_md_array(keys, nulls, ARR_NDIM(array),
											 ARR_DIMS(array), ARR_LBOUND(array),
											 BOOLOID, sizeof(bool), true,
											 TYPALIGN_CHAR));
}

/* left | right */
Datum
bf_union(PG_FUNCTION_ARGS)
{
	const BfFilter *right = BF_GETARG_FILTER(1);
	BfFilter   *result = BF_GETARG_FILTER_COPY(0);

	bf_check_same_geometry(result, right);
	PG_RETURN_POINTER(bf_check_grown(bf_filter_union(result, right), (BfKind) right->kind));
}

/* left & right */
Datum
bf_intersect(PG_FUNCTION_ARGS)
{
	const BfFilter *right = BF_GETARG_FILTER(1);
	BfFilter   *result = BF_GETARG_FILTER_COPY(0);

	bf_check_same_fixed_geometry(result, right);
	bf_filter_intersect(result, right);
	PG_RETURN_POINTER(result);
}
