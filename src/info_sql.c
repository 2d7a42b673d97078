/*-------------------------------------------------------------------------
 *
 * info_sql.c
 *	  SQL functions that look at filters: bloom_info and its scalars, which
 *	  read only the header, and the estimates for planning sizes.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "bits.h"
#include "counting.h"
#include "errors.h"
#include "funcapi.h"
#include "gateway.h"
#include "scalable.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

BF_FUNCTION(bf_info);
BF_FUNCTION(bf_info_bits);
BF_FUNCTION(bf_info_hashes);
BF_FUNCTION(bf_info_capacity);
BF_FUNCTION(bf_info_fill);
BF_FUNCTION(bf_info_count);
BF_FUNCTION(bf_info_fpr);
BF_FUNCTION(bf_info_layers);
BF_FUNCTION(bf_info_saturated);
BF_FUNCTION(bf_estimate);
BF_FUNCTION(bf_estimate_expected_fpr);
BF_FUNCTION(bf_estimate_max_count);
BF_FUNCTION(bf_pair_union_count);
BF_FUNCTION(bf_pair_intersect_count);
BF_FUNCTION(bf_pair_jaccard);

/* Columns of bloom_info, in the order of its declaration. */
enum
{
	INFO_KIND,
	INFO_BITS,
	INFO_HASHES,
	INFO_HASH,
	INFO_CAPACITY,
	INFO_TARGET_FPR,
	INFO_BITS_SET,
	INFO_FILL,
	INFO_ESTIMATED_COUNT,
	INFO_ESTIMATED_FPR,
	INFO_FPR_BOUND,
	INFO_SIZE_BYTES,
	INFO_LAYERS,
	INFO_COUNTER_BITS,
	INFO_SATURATED,
	INFO_GROWTH,
	INFO_TIGHTENING,
	INFO_COLUMNS
};

/* Columns of bloom_layers, likewise. */
enum
{
	LAYER_NUMBER,
	LAYER_BITS,
	LAYER_HASHES,
	LAYER_CAPACITY,
	LAYER_KEYS,
	LAYER_TARGET_FPR,
	LAYER_BITS_SET,
	LAYER_FILL,
	LAYER_ESTIMATED_COUNT,
	LAYER_ESTIMATED_FPR,
	LAYER_SIZE_BYTES,
	LAYER_COLUMNS
};

/* The row type that a function is declared to return. */
static TupleDesc
get_row_type(FunctionCallInfo fcinfo, int expected_columns)
{
	TupleDesc	columns;

	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE ||
		columns->natts != expected_columns)
		elog(ERROR, "function is not declared as this library expects");
	return BlessTupleDesc(columns);
}

/* Keys a filter is made for: of a chain, as far as it has grown. */
static uint64
capacity_now(const BfFilter *head)
{
	uint64		capacity = 0;

	if (head->kind != BF_KIND_SCALABLE_BLOOM)
		return head->capacity;
	for (uint32 i = 0; i < bf_scalable_layer_count(head); i++)
	{
		uint64		more = bf_scalable_layers(head)[i].capacity;

		/* each is in the range of a bigint, the sum need not be */
		capacity = Min(capacity + more, (uint64) PG_INT64_MAX);
	}
	return capacity;
}

/* bloom_info(filter): one row */
Datum
bf_info(PG_FUNCTION_ARGS)
{
	BfFilter   *head = BF_GETARG_HEAD(0);
	TupleDesc	columns = get_row_type(fcinfo, INFO_COLUMNS);
	Datum		values[INFO_COLUMNS] = {0};
	bool		nulls[INFO_COLUMNS] = {false};

	values[INFO_KIND] = CStringGetTextDatum(bf_format_type_name((BfKind) head->kind));
	values[INFO_BITS] = Int64GetDatum((int64) head->bits);
	values[INFO_HASHES] = Int32GetDatum((int32) head->hashes);
	values[INFO_HASH] = CStringGetTextDatum(bf_scheme_name((BfScheme) head->scheme));
	values[INFO_CAPACITY] = Int64GetDatum((int64) capacity_now(head));
	values[INFO_TARGET_FPR] = Float8GetDatum(head->fpr);
	values[INFO_BITS_SET] = Int64GetDatum((int64) head->bits_set);
	values[INFO_FILL] = Float8GetDatum(bf_filter_fill(head));
	values[INFO_ESTIMATED_COUNT] = Float8GetDatum(bf_filter_count(head));
	values[INFO_ESTIMATED_FPR] = Float8GetDatum(bf_filter_fpr(head));
	values[INFO_FPR_BOUND] = Float8GetDatum(bf_filter_fpr_bound(head));
	values[INFO_SIZE_BYTES] = Int64GetDatum((int64) VARSIZE(head));
	values[INFO_LAYERS] = Int32GetDatum(1);

	if (head->kind == BF_KIND_COUNTING_BLOOM)
	{
		values[INFO_COUNTER_BITS] = Int32GetDatum((int32) bf_counting_counter_bits(head));
		values[INFO_SATURATED] = Int64GetDatum((int64) bf_counting_saturated(head));
	}
	else
		nulls[INFO_COUNTER_BITS] = nulls[INFO_SATURATED] = true;

	if (head->kind == BF_KIND_SCALABLE_BLOOM)
	{
		values[INFO_LAYERS] = Int32GetDatum((int32) bf_scalable_layer_count(head));
		values[INFO_GROWTH] = Int32GetDatum((int32) bf_scalable_growth(head));
		values[INFO_TIGHTENING] = Float8GetDatum(bf_scalable_tightening(head));
	}
	else
		nulls[INFO_GROWTH] = nulls[INFO_TIGHTENING] = true;

	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(columns, values, nulls)));
}

/* bloom_layers(scalable_bloom): a row for each layer, oldest first */
Datum
bf_info_layers(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	BfFilter   *head = bf_get_head(PG_GETARG_DATUM(0), BF_KIND_SCALABLE_BLOOM);

	/* to find the row type by itself would leave memory until the query ends */
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	for (uint32 i = 0; i < bf_scalable_layer_count(head); i++)
	{
		const BfLayer *layer = &bf_scalable_layers(head)[i];
		BfGeometry	geometry = bf_layer_geometry(layer);
		Datum		values[LAYER_COLUMNS];
		bool		nulls[LAYER_COLUMNS] = {false};

		values[LAYER_NUMBER] = Int32GetDatum((int32) i + 1);
		values[LAYER_BITS] = Int64GetDatum((int64) layer->bits);
		values[LAYER_HASHES] = Int32GetDatum((int32) layer->hashes);
		values[LAYER_CAPACITY] = Int64GetDatum((int64) layer->capacity);
		values[LAYER_KEYS] = Int64GetDatum((int64) layer->keys);
		values[LAYER_TARGET_FPR] = Float8GetDatum(layer->fpr);
		values[LAYER_BITS_SET] = Int64GetDatum((int64) layer->bits_set);
		values[LAYER_FILL] = Float8GetDatum((double) layer->bits_set / (double) layer->bits);
		values[LAYER_ESTIMATED_COUNT] = Float8GetDatum(bf_count_for_fill(geometry, layer->bits_set));
		values[LAYER_ESTIMATED_FPR] = Float8GetDatum(bf_fpr_for_fill(geometry, layer->bits_set));
		values[LAYER_SIZE_BYTES] = Int64GetDatum((int64) (layer->bits / 8));
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

Datum
bf_info_bits(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) BF_GETARG_HEAD(0)->bits);
}

Datum
bf_info_hashes(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32((int32) BF_GETARG_HEAD(0)->hashes);
}

Datum
bf_info_capacity(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) capacity_now(BF_GETARG_HEAD(0)));
}

Datum
bf_info_fill(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(bf_filter_fill(BF_GETARG_HEAD(0)));
}

Datum
bf_info_count(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(bf_filter_count(BF_GETARG_HEAD(0)));
}

Datum
bf_info_fpr(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(bf_filter_fpr(BF_GETARG_HEAD(0)));
}

Datum
bf_info_saturated(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) bf_counting_saturated(bf_get_head(PG_GETARG_DATUM(0),
															  BF_KIND_COUNTING_BLOOM)));
}

/*
 * bloom_estimate(count, fpr): the bits and hashes of the textbook, then what
 * bloom_create would allocate.
 */
Datum
bf_estimate(PG_FUNCTION_ARGS)
{
	int64		count = PG_GETARG_INT64(0);
	double		fpr = PG_GETARG_FLOAT8(1);
	BfGeometry	geometry;
	double		bits;
	Datum		values[5];
	bool		nulls[lengthof(values)] = {false};
	TupleDesc	columns = get_row_type(fcinfo, lengthof(values));

	bf_check_params(bf_params_for_capacity(count, fpr, &geometry));
	bits = bf_textbook_bits((double) count, fpr);
	values[0] = Int64GetDatum((int64) bits);
	values[1] = Int32GetDatum((int32) bf_textbook_hashes(bits, (double) count));
	values[2] = Int64GetDatum((int64) geometry.bits);
	values[3] = Int32GetDatum((int32) geometry.hashes);
	values[4] = Int64GetDatum((int64) (BF_HEADER_SIZE + bf_bits_bytes(geometry.bits)));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(columns, values, nulls)));
}

/* The geometry in the first two arguments. */
static BfGeometry
get_geometry(FunctionCallInfo fcinfo)
{
	int64		bits = PG_GETARG_INT64(0);
	int32		hashes = PG_GETARG_INT32(1);
	BfGeometry	geometry;

	bf_check_params(bf_params_check_geometry(bits, hashes));
	geometry.bits = (uint64) bits;
	geometry.hashes = (uint32) hashes;
	return geometry;
}

/* bloom_expected_fpr(bits, hashes, count) */
Datum
bf_estimate_expected_fpr(PG_FUNCTION_ARGS)
{
	BfGeometry	geometry = get_geometry(fcinfo);
	int64		count = PG_GETARG_INT64(2);

	if (count < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of keys must not be negative")));
	PG_RETURN_FLOAT8(bf_expected_fpr(geometry, (double) count));
}

/* bloom_max_count(bits, hashes, fpr): rounded down, so that the rate holds */
Datum
bf_estimate_max_count(PG_FUNCTION_ARGS)
{
	BfGeometry	geometry = get_geometry(fcinfo);
	double		fpr = PG_GETARG_FLOAT8(2);

	bf_check_params(bf_params_check_fpr(fpr));
	PG_RETURN_INT64((int64) bf_max_count(geometry, fpr));
}

/* An estimate about two filters of one geometry. */
static Datum
estimate_pair(FunctionCallInfo fcinfo,
			  double (*estimate) (const BfFilter *left, const BfFilter *right))
{
	const BfFilter *left = BF_GETARG_FILTER(0);
	const BfFilter *right = BF_GETARG_FILTER(1);

	bf_check_same_fixed_geometry(left, right);
	PG_RETURN_FLOAT8(estimate(left, right));
}

/* bloom_union_count(filter, filter) */
Datum
bf_pair_union_count(PG_FUNCTION_ARGS)
{
	return estimate_pair(fcinfo, bf_filter_union_count);
}

/* bloom_intersect_count(filter, filter) */
Datum
bf_pair_intersect_count(PG_FUNCTION_ARGS)
{
	return estimate_pair(fcinfo, bf_filter_intersect_count);
}

/* bloom_jaccard(filter, filter) */
Datum
bf_pair_jaccard(PG_FUNCTION_ARGS)
{
	return estimate_pair(fcinfo, bf_filter_jaccard);
}
