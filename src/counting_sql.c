/*-------------------------------------------------------------------------
 *
 * counting_sql.c
 *	  SQL functions that only the type counting_bloom has.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "callsite.h"
#include "counting.h"
#include "errors.h"
#include "gateway.h"
#include "io.h"
#include "stored.h"

BF_FUNCTION(bf_counting_create_sql);
BF_FUNCTION(bf_counting_create_with_params);
BF_FUNCTION(bf_counting_remove_sql);
BF_FUNCTION(bf_counting_remove_all);
BF_FUNCTION(bf_counting_key_count_sql);
BF_FUNCTION(bf_counting_to_bloom_sql);

BF_DEFINE_INPUT_FUNCTIONS(counting_bloom, BF_KIND_COUNTING_BLOOM)

/* counting_bloom_create(capacity, fpr, counter_bits, hash) */
Datum
bf_counting_create_sql(PG_FUNCTION_ARGS)
{
	int64		capacity = PG_GETARG_INT64(0);
	double		fpr = PG_GETARG_FLOAT8(1);
	int32		counter_bits = PG_GETARG_INT32(2);
	BfScheme	scheme = bf_get_scheme(PG_GETARG_TEXT_PP(3));
	BfGeometry	geometry;

	bf_check_params(bf_params_for_capacity(capacity, fpr, &geometry));
	bf_check_params(bf_counting_check_params(geometry, counter_bits));
	PG_RETURN_POINTER(bf_counting_create(geometry, counter_bits, scheme,
										 (uint64) capacity, fpr));
}

/* counting_bloom_create_with_params(counters, hashes, counter_bits, hash) */
Datum
bf_counting_create_with_params(PG_FUNCTION_ARGS)
{
	int32		counter_bits = PG_GETARG_INT32(2);
	BfScheme	scheme = bf_get_scheme(PG_GETARG_TEXT_PP(3));
	BfGeometry	geometry;

	bf_check_params(bf_params_check_geometry(PG_GETARG_INT64(0), PG_GETARG_INT32(1)));
	geometry.bits = (uint64) PG_GETARG_INT64(0);
	geometry.hashes = (uint32) PG_GETARG_INT32(1);
	bf_check_params(bf_counting_check_params(geometry, counter_bits));
	PG_RETURN_POINTER(bf_counting_create(geometry, counter_bits, scheme,
										 bf_params_capacity(geometry),
										 bf_params_fpr(geometry.hashes)));
}

static BfFilter *
remove_hash(BfFilter *filter, BfHash hash)
{
	bf_counting_remove(filter, hash);
	return filter;
}

/* bloom_remove(filter, key); one certainly absent removes nothing */
Datum
bf_counting_remove_sql(PG_FUNCTION_ARGS)
{
	return bf_change_by_key(fcinfo, BF_KIND_COUNTING_BLOOM, bf_filter_contains, remove_hash);
}

/* bloom_remove_all(filter, keys) */
Datum
bf_counting_remove_all(PG_FUNCTION_ARGS)
{
	return bf_change_by_keys(fcinfo, BF_KIND_COUNTING_BLOOM, remove_hash);
}

/* bloom_key_count(filter, key) */
Datum
bf_counting_key_count_sql(PG_FUNCTION_ARGS)
{
	BfCallSite *site = bf_call_site(fcinfo, 1);
	const BfFilter *filter = bf_keep_filter(site, PG_GETARG_DATUM(0),
											 BF_KIND_COUNTING_BLOOM);

	PG_RETURN_INT32((int32) bf_counting_key_count(filter,
												  bf_key_hash(&site->rule,
															  (BfScheme) filter->scheme,
															  PG_GETARG_DATUM(1))));
}

/* The cast to bloom. */
Datum
bf_counting_to_bloom_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bf_counting_to_bloom(bf_get_filter(PG_GETARG_DATUM(0),
														 BF_KIND_COUNTING_BLOOM)));
}
