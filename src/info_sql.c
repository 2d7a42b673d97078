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
#include "errors.h"
#include "filter.h"
#include "funcapi.h"
#include "gateway.h"
#include "utils/builtins.h"

BF_FUNCTION(bf_info);
BF_FUNCTION(bf_info_bits);
BF_FUNCTION(bf_info_hashes);
BF_FUNCTION(bf_info_capacity);
BF_FUNCTION(bf_info_fill);
BF_FUNCTION(bf_info_count);
BF_FUNCTION(bf_info_fpr);
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
	INFO_SIZE_BYTES,
	INFO_LAYERS,
	INFO_COLUMNS
};

static double
fill(const BfFilter *header)
{
	return (double) header->bits_set / (double) header->bits;
}

/* bloom_info(filter): one row */
Datum
bf_info(PG_FUNCTION_ARGS)
{
	BfFilter	header;
	Size		size = bf_get_header(PG_GETARG_DATUM(0), BF_KIND_ANY, &header);
	TupleDesc	columns;
	Datum		values[INFO_COLUMNS];
	bool		nulls[INFO_COLUMNS] = {false};

	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE ||
		columns->natts != INFO_COLUMNS)
		elog(ERROR, "bloom_info is not declared as this library expects");
	columns = BlessTupleDesc(columns);

	values[INFO_KIND] = CStringGetTextDatum(bf_format(&header)->type_name);
	values[INFO_BITS] = Int64GetDatum((int64) header.bits);
	values[INFO_HASHES] = Int32GetDatum((int32) header.hashes);
	values[INFO_HASH] = CStringGetTextDatum(bf_scheme_name((BfScheme) header.scheme));
	values[INFO_CAPACITY] = Int64GetDatum((int64) header.capacity);
	values[INFO_TARGET_FPR] = Float8GetDatum(header.fpr);
	values[INFO_BITS_SET] = Int64GetDatum((int64) header.bits_set);
	values[INFO_FILL] = Float8GetDatum(fill(&header));
	values[INFO_ESTIMATED_COUNT] = Float8GetDatum(bf_filter_count(&header));
	values[INFO_ESTIMATED_FPR] = Float8GetDatum(bf_filter_fpr(&header));
	values[INFO_SIZE_BYTES] = Int64GetDatum((int64) size);
	values[INFO_LAYERS] = Int32GetDatum(1);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(columns, values, nulls)));
}

Datum
bf_info_bits(PG_FUNCTION_ARGS)
{
	BfFilter	header;

	bf_get_header(PG_GETARG_DATUM(0), BF_KIND_ANY, &header);
	PG_RETURN_INT64((int64) header.bits);
}

Datum
bf_info_hashes(PG_FUNCTION_ARGS)
{
	BfFilter	header;

	bf_get_header(PG_GETARG_DATUM(0), BF_KIND_ANY, &header);
	PG_RETURN_INT32((int32) header.hashes);
}

Datum
bf_info_capacity(PG_FUNCTION_ARGS)
{
	BfFilter	header;

	bf_get_header(PG_GETARG_DATUM(0), BF_KIND_ANY, &header);
	PG_RETURN_INT64((int64) header.capacity);
}

Datum
bf_info_fill(PG_FUNCTION_ARGS)
{
	BfFilter	header;

	bf_get_header(PG_GETARG_DATUM(0), BF_KIND_ANY, &header);
	PG_RETURN_FLOAT8(fill(&header));
}

Datum
bf_info_count(PG_FUNCTION_ARGS)
{
	BfFilter	header;

	bf_get_header(PG_GETARG_DATUM(0), BF_KIND_ANY, &header);
	PG_RETURN_FLOAT8(bf_filter_count(&header));
}

Datum
bf_info_fpr(PG_FUNCTION_ARGS)
{
	BfFilter	header;

	bf_get_header(PG_GETARG_DATUM(0), BF_KIND_ANY, &header);
	PG_RETURN_FLOAT8(bf_filter_fpr(&header));
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
	TupleDesc	columns;
	Datum		values[5];
	bool		nulls[5] = {false};

	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE ||
		columns->natts != lengthof(values))
		elog(ERROR, "bloom_estimate is not declared as this library expects");
	columns = BlessTupleDesc(columns);

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

/* Two filters of one geometry, for the estimates about both. */
static void
get_pair(FunctionCallInfo fcinfo, const BfFilter **left, const BfFilter **right)
{
	*left = BF_GETARG_FILTER(0);
	*right = BF_GETARG_FILTER(1);
	bf_check_same_geometry(*left, *right);
}

Datum
bf_pair_union_count(PG_FUNCTION_ARGS)
{
	const BfFilter *left;
	const BfFilter *right;

	get_pair(fcinfo, &left, &right);
	PG_RETURN_FLOAT8(bf_filter_union_count(left, right));
}

Datum
bf_pair_intersect_count(PG_FUNCTION_ARGS)
{
	const BfFilter *left;
	const BfFilter *right;

	get_pair(fcinfo, &left, &right);
	PG_RETURN_FLOAT8(bf_filter_intersect_count(left, right));
}

Datum
bf_pair_jaccard(PG_FUNCTION_ARGS)
{
	const BfFilter *left;
	const BfFilter *right;

	get_pair(fcinfo, &left, &right);
	PG_RETURN_FLOAT8(bf_filter_jaccard(left, right));
}
