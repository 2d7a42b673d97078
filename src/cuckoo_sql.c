/*-------------------------------------------------------------------------
 *
 * cuckoo_sql.c
 *	  SQL functions that only the type cuckoo_filter has.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "callsite.h"
#include "cuckoo.h"
#include "errors.h"
#include "funcapi.h"
#include "gateway.h"
#include "io.h"
#include "stored.h"

BF_FUNCTION(bf_cuckoo_create_sql);
BF_FUNCTION(bf_cuckoo_remove_sql);
BF_FUNCTION(bf_cuckoo_remove_all);
BF_FUNCTION(bf_cuckoo_key_count_sql);
BF_FUNCTION(bf_cuckoo_count);
BF_FUNCTION(bf_cuckoo_fpr);
BF_FUNCTION(bf_cuckoo_info);

BF_DEFINE_INPUT_FUNCTIONS(cuckoo_filter, BF_KIND_CUCKOO_FILTER)

/* Columns of cuckoo_info, in the order of its declaration. */
enum
{
	INFO_CAPACITY,
	INFO_BUCKETS,
	INFO_BUCKET_SIZE,
	INFO_FINGERPRINT_BITS,
	INFO_MAX_ITERATIONS,
	INFO_EXPANSION,
	INFO_SUB_FILTERS,
	INFO_SLOTS,
	INFO_KEYS,
	INFO_REMOVED,
	INFO_FILL,
	INFO_ESTIMATED_FPR,
	INFO_FPR_BOUND,
	INFO_SIZE_BYTES,
	INFO_COLUMNS
};

/* cuckoo_create(capacity, bucket_size, fingerprint_bits, max_iterations, expansion) */
Datum
bf_cuckoo_create_sql(PG_FUNCTION_ARGS)
{
	BfCuckooParams params;
	BfFilter   *filter;

	params.bucket_size = PG_GETARG_INT32(1);
	params.fingerprint_bits = PG_GETARG_INT32(2);
	params.max_iterations = PG_GETARG_INT32(3);
	params.expansion = PG_GETARG_INT32(4);
	bf_check_params(bf_cuckoo_create(PG_GETARG_INT64(0), &params, &filter));
	PG_RETURN_POINTER(filter);
}

/*
 * cuckoo_remove(filter, key); one certainly absent removes nothing.  To shrink a
 * filter can take seconds, in which it can be cancelled: so this is done to a
 * copy, which is rare, and never to the caller's own object.
 */
Datum
bf_cuckoo_remove_sql(PG_FUNCTION_ARGS)
{
	if (!PG_ARGISNULL(0) && bf_expanded_is_writable(PG_GETARG_DATUM(0)))
	{
		BfExpanded *object = bf_expanded(PG_GETARG_DATUM(0));

		if (object->filter->kind == BF_KIND_CUCKOO_FILTER &&
			bf_cuckoo_shrinks_next(object->filter))
			fcinfo->args[0].value = EOHPGetRODatum(&object->header);
	}
	return bf_change_by_key(fcinfo, BF_KIND_CUCKOO_FILTER, bf_cuckoo_contains, bf_cuckoo_remove);
}

/* cuckoo_remove_all(filter, keys) */
Datum
bf_cuckoo_remove_all(PG_FUNCTION_ARGS)
{
	return bf_change_by_keys(fcinfo, BF_KIND_CUCKOO_FILTER, bf_cuckoo_remove);
}

/* cuckoo_key_count(filter, key) */
Datum
bf_cuckoo_key_count_sql(PG_FUNCTION_ARGS)
{
	BfCallSite *site = bf_call_site(fcinfo, 1);
	const BfFilter *filter = bf_keep_filter(site, PG_GETARG_DATUM(0), BF_KIND_CUCKOO_FILTER);
	BfHash		hash = bf_key_hash(&site->rule, (BfScheme) filter->scheme, PG_GETARG_DATUM(1));

	/* at most 2 * 255 in each of 32 sub-filters */
	PG_RETURN_INT32((int32) bf_cuckoo_key_count(filter, hash));
}

static const BfFilter *
get_head(FunctionCallInfo fcinfo)
{
	return bf_get_head(PG_GETARG_DATUM(0), BF_KIND_CUCKOO_FILTER);
}

/* cuckoo_count(filter) */
Datum
bf_cuckoo_count(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) get_head(fcinfo)->bits_set);
}

/* cuckoo_fpr(filter) */
Datum
bf_cuckoo_fpr(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(bf_filter_fpr(get_head(fcinfo)));
}

/* cuckoo_info(filter): one row */
Datum
bf_cuckoo_info(PG_FUNCTION_ARGS)
{
	const BfFilter *head = get_head(fcinfo);
	uint64		slots = bf_cuckoo_slots(head);
	TupleDesc	columns;
	Datum		values[INFO_COLUMNS];
	bool		nulls[INFO_COLUMNS] = {false};

	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE ||
		columns->natts != INFO_COLUMNS)
		elog(ERROR, "function is not declared as this library expects");

	values[INFO_CAPACITY] = Int64GetDatum((int64) head->capacity);
	values[INFO_BUCKETS] = Int64GetDatum((int64) bf_cuckoo_sub_filter(head, 0).buckets);
	values[INFO_BUCKET_SIZE] = Int32GetDatum((int32) bf_cuckoo_bucket_size(head));
	values[INFO_FINGERPRINT_BITS] = Int32GetDatum((int32) bf_cuckoo_fingerprint_bits(head));
	values[INFO_MAX_ITERATIONS] = Int32GetDatum((int32) bf_cuckoo_max_iterations(head));
	values[INFO_EXPANSION] = Int32GetDatum((int32) bf_cuckoo_expansion(head));
	values[INFO_SUB_FILTERS] = Int32GetDatum((int32) bf_cuckoo_sub_filters(head));
	values[INFO_SLOTS] = Int64GetDatum((int64) slots);
	values[INFO_KEYS] = Int64GetDatum((int64) head->bits_set);
	values[INFO_REMOVED] = Int64GetDatum((int64) bf_cuckoo_deletes(head));
	values[INFO_FILL] = Float8GetDatum((double) head->bits_set / (double) slots);
	values[INFO_ESTIMATED_FPR] = Float8GetDatum(bf_filter_fpr(head));
	values[INFO_FPR_BOUND] = Float8GetDatum(bf_filter_fpr_bound(head));
	values[INFO_SIZE_BYTES] = Int64GetDatum((int64) VARSIZE(head));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls)));
}
