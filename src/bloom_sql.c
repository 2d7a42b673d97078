/*-------------------------------------------------------------------------
 *
 * bloom_sql.c
 *	  SQL functions that only the type bloom has.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "bloom.h"
#include "errors.h"
#include "io.h"

BF_FUNCTION(bf_bloom_create_sql);
BF_FUNCTION(bf_bloom_create_with_params);

BF_DEFINE_INPUT_FUNCTIONS(bloom, BF_KIND_BLOOM)

/* bloom_create(capacity bigint, fpr float8, hash text) */
Datum
bf_bloom_create_sql(PG_FUNCTION_ARGS)
{
	int64		capacity = PG_GETARG_INT64(0);
	double		fpr = PG_GETARG_FLOAT8(1);
	BfScheme	scheme = bf_get_scheme(PG_GETARG_TEXT_PP(2));
	BfGeometry	geometry;

	bf_check_params(bf_params_for_capacity(capacity, fpr, &geometry));
	PG_RETURN_POINTER(bf_bloom_create(geometry, scheme, capacity, fpr));
}

/* bloom_create_with_params(bits bigint, hashes int, hash text) */
Datum
bf_bloom_create_with_params(PG_FUNCTION_ARGS)
{
	int64		bits = PG_GETARG_INT64(0);
	int32		hashes = PG_GETARG_INT32(1);
	BfScheme	scheme = bf_get_scheme(PG_GETARG_TEXT_PP(2));
	BfGeometry	geometry;

	bf_check_params(bf_params_check_geometry(bits, hashes));
	geometry.bits = (uint64) bits;
	geometry.hashes = (uint32) hashes;
	PG_RETURN_POINTER(bf_bloom_create(geometry, scheme,
									  bf_params_capacity(geometry),
									  bf_params_fpr(geometry.hashes)));
}
