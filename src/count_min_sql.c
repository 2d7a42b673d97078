/*-------------------------------------------------------------------------
 *
 * count_min_sql.c
 *	  SQL functions of the type count_min_sketch; its aggregates are in
 *	  count_min_agg_sql.c.
 *
 * None writes into its argument.  One that has nothing to change returns it.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "callsite.h"
#include "funcapi.h"
#include "gateway.h"
#include "io.h"
#include "sketch_sql.h"
#include "stored.h"
#include "catalog/pg_type.h"
#include "utils/array.h"

BF_FUNCTION(bf_count_min_create_sql);
BF_FUNCTION(bf_count_min_create_by_error);
BF_FUNCTION(bf_count_min_add_sql);
BF_FUNCTION(bf_count_min_add_all);
BF_FUNCTION(bf_count_min_count_sql);
BF_FUNCTION(bf_count_min_count_each);
BF_FUNCTION(bf_count_min_total_sql);
BF_FUNCTION(bf_count_min_error_bound);
BF_FUNCTION(bf_count_min_union);
BF_FUNCTION(bf_count_min_inner_product_sql);
BF_FUNCTION(bf_count_min_info);

BF_DEFINE_INPUT_FUNCTIONS(count_min_sketch, BF_KIND_COUNT_MIN_SKETCH)

static inline const BfFilter *
get_sketch(FunctionCallInfo fcinfo, int argument)
{
	return bf_get_filter(PG_GETARG_DATUM(argument), BF_KIND_COUNT_MIN_SKETCH);
}

/* cms_create(width bigint, depth integer) */
Datum
bf_count_min_create_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bf_count_min_create(bf_sketch_shape(PG_GETARG_INT64(0),
														  PG_GETARG_INT32(1))));
}

/* cms_create_by_error(error float8, probability float8) */
Datum
bf_count_min_create_by_error(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bf_count_min_create(bf_sketch_shape_for_error(PG_GETARG_FLOAT8(0),
																	PG_GETARG_FLOAT8(1))));
}

static inline void
add_key(BfFilter *sketch, BfModulus32 modulus, BfCallSite *site, Datum key, uint64 weight)
{
	uint32		hashes[BF_MAX_DEPTH];

	bf_key_row_hashes(&site->rule, key, sketch->hashes, hashes);
	(void) bf_count_min_add(sketch, modulus, hashes, weight);
}

/* cms_add(sketch, key, count bigint); a NULL key or count changes nothing */
Datum
bf_count_min_add_sql(PG_FUNCTION_ARGS)
{
	BfCallSite *site;
	BfFilter   *result;
	uint64		weight;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	weight = bf_sketch_weight(PG_GETARG_INT64(2));
	site = bf_call_site(fcinfo, 1);
	result = bf_get_filter_copy(PG_GETARG_DATUM(0), BF_KIND_COUNT_MIN_SKETCH);
	if (weight > 0)
		add_key(result, bf_modulus32((uint32) result->bits), site, PG_GETARG_DATUM(1), weight);
	PG_RETURN_POINTER(result);
}

/* cms_add_all(sketch, keys): each counts once more; NULLs change nothing */
Datum
bf_count_min_add_all(PG_FUNCTION_ARGS)
{
	BfCallSite *site;
	BfFilter   *result;
	BfModulus32	modulus;
	Datum	   *keys;
	bool	   *nulls;
	int			count;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	site = bf_call_site_for_keys(fcinfo, 1);
	bf_get_keys(PG_GETARG_DATUM(1), site, &keys, &nulls, &count);
	result = bf_get_filter_copy(PG_GETARG_DATUM(0), BF_KIND_COUNT_MIN_SKETCH);
	modulus = bf_modulus32((uint32) result->bits);
	for (int i = 0; i < count; i++)
	{
		/* a long key takes a while in many rows */
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			add_key(result, modulus, site, keys[i], 1);
	}
	PG_RETURN_POINTER(result);
}

static inline int64
key_count(const BfFilter *sketch, BfModulus32 modulus, BfCallSite *site, Datum key)
{
	uint32		hashes[BF_MAX_DEPTH];

	bf_key_row_hashes(&site->rule, key, sketch->hashes, hashes);
	return (int64) bf_count_min_count(sketch, modulus, hashes);
}

/* cms_count(sketch, key) */
Datum
bf_count_min_count_sql(PG_FUNCTION_ARGS)
{
	BfCallSite *site = bf_call_site(fcinfo, 1);
	const BfFilter *sketch = bf_keep_filter(site, PG_GETARG_DATUM(0),
											BF_KIND_COUNT_MIN_SKETCH);

	PG_RETURN_INT64(key_count(sketch, bf_modulus32((uint32) sketch->bits), site, PG_GETARG_DATUM(1)));
}

/* cms_count_each(sketch, keys): an array of the same shape, NULL for NULL */
Datum
bf_count_min_count_each(PG_FUNCTION_ARGS)
{
	BfCallSite *site = bf_call_site_for_keys(fcinfo, 1);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	const BfFilter *sketch = bf_keep_filter(site, PG_GETARG_DATUM(0),
											BF_KIND_COUNT_MIN_SKETCH);
	BfModulus32	modulus = bf_modulus32((uint32) sketch->bits);
	Datum	   *keys;
	bool	   *nulls;
	int			count;

	bf_get_keys(PointerGetDatum(array), site, &keys, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		/* a long key takes a while in many rows */
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			keys[i] = Int64GetDatum(key_count(sketch, modulus, site, keys[i]));
	}
	PG_RETURN_ARRAYTYPE_P(construct_md_array(keys, nulls, ARR_NDIM(array),
											 ARR_DIMS(array), ARR_LBOUND(array),
											 INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
											 TYPALIGN_DOUBLE));
}

/* cms_total(sketch) */
Datum
bf_count_min_total_sql(PG_FUNCTION_ARGS)
{
	BfFilter   *head = bf_get_head(PG_GETARG_DATUM(0), BF_KIND_COUNT_MIN_SKETCH);

	PG_RETURN_INT64((int64) bf_count_min_total(head));
}

/* cms_error_bound(sketch) */
Datum
bf_count_min_error_bound(PG_FUNCTION_ARGS)
{
	BfFilter   *head = bf_get_head(PG_GETARG_DATUM(0), BF_KIND_COUNT_MIN_SKETCH);

	PG_RETURN_FLOAT8(bf_sketch_error_bound(head));
}

/* left | right */
Datum
bf_count_min_union(PG_FUNCTION_ARGS)
{
	const BfFilter *right = get_sketch(fcinfo, 1);
	BfFilter   *result = bf_get_filter_copy(PG_GETARG_DATUM(0), BF_KIND_COUNT_MIN_SKETCH);

	bf_sketch_check_same(result, right);
	bf_count_min_unite(result, right);
	PG_RETURN_POINTER(result);
}

/* cms_inner_product(left, right) */
Datum
bf_count_min_inner_product_sql(PG_FUNCTION_ARGS)
{
	const BfFilter *left = get_sketch(fcinfo, 0);
	const BfFilter *right = get_sketch(fcinfo, 1);

	bf_sketch_check_same(left, right);
	PG_RETURN_FLOAT8(bf_count_min_inner_product(left, right));
}

/* Columns of cms_info, in the order of its declaration. */
enum
{
	INFO_WIDTH,
	INFO_DEPTH,
	INFO_ERROR,
	INFO_PROBABILITY,
	INFO_TOTAL,
	INFO_ERROR_BOUND,
	INFO_SIZE_BYTES,
	INFO_COLUMNS
};

/* cms_info(sketch): one row */
Datum
bf_count_min_info(PG_FUNCTION_ARGS)
{
	BfFilter   *head = bf_get_head(PG_GETARG_DATUM(0), BF_KIND_COUNT_MIN_SKETCH);
	BfShape		shape = bf_shape(head);
	TupleDesc	columns;
	Datum		values[INFO_COLUMNS];
	bool		nulls[INFO_COLUMNS] = {false};

	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE ||
		columns->natts != INFO_COLUMNS)
		elog(ERROR, "function is not declared as this library expects");
	columns = BlessTupleDesc(columns);

	values[INFO_WIDTH] = Int64GetDatum((int64) shape.width);
	values[INFO_DEPTH] = Int32GetDatum((int32) shape.depth);
	values[INFO_ERROR] = Float8GetDatum(bf_shape_error(shape));
	values[INFO_PROBABILITY] = Float8GetDatum(bf_shape_probability(shape));
	values[INFO_TOTAL] = Int64GetDatum((int64) bf_count_min_total(head));
	values[INFO_ERROR_BOUND] = Float8GetDatum(bf_sketch_error_bound(head));
	values[INFO_SIZE_BYTES] = Int64GetDatum((int64) VARSIZE(head));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(columns, values, nulls)));
}
