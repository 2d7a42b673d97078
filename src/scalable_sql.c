/*-------------------------------------------------------------------------
 *
 * scalable_sql.c
 *	  SQL functions that only the type scalable_bloom has.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "errors.h"
#include "io.h"
#include "scalable.h"

BF_FUNCTION(bf_scalable_create_sql);

BF_DEFINE_INPUT_FUNCTIONS(scalable_bloom, BF_KIND_SCALABLE_BLOOM)

/* scalable_bloom_create(initial_capacity, fpr, growth, tightening, hash) */
Datum
bf_scalable_create_sql(PG_FUNCTION_ARGS)
{
	BfScheme	scheme = bf_get_scheme(PG_GETARG_TEXT_PP(4));
	BfFilter   *filter;

	bf_check_params(bf_scalable_create(PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1),
									   PG_GETARG_INT32(2), PG_GETARG_FLOAT8(3),
									   scheme, &filter));
	PG_RETURN_POINTER(filter);
}
