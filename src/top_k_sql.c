/*-------------------------------------------------------------------------
 *
 * top_k_sql.c
 *	  SQL functions of the type top_k; its aggregates are in
 *	  top_k_agg_sql.c.
 *
 * None writes into its argument.  One that has nothing to change returns it.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "top_k_sql.h"

#include "bits.h"
#include "callsite.h"
#include "funcapi.h"
#include "gateway.h"
#include "io.h"
#include "mb/pg_wchar.h"
#include "stored.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

BF_FUNCTION(bf_top_k_create_sql);
BF_FUNCTION(bf_top_k_create_by_error);
BF_FUNCTION(bf_top_k_add_sql);
BF_FUNCTION(bf_top_k_add_all);
BF_FUNCTION(bf_top_k_count);
BF_FUNCTION(bf_top_k_list);
BF_FUNCTION(bf_top_k_union);
BF_FUNCTION(bf_top_k_to_count_min);
BF_FUNCTION(bf_top_k_info);

BF_DEFINE_INPUT_FUNCTIONS(top_k, BF_KIND_TOP_K)

/* Where nobody chooses an error and a probability: see the README. */
#define BF_TOP_K_ERROR			0.001
#define BF_TOP_K_ERROR_TIMES_K	0.02
#define BF_TOP_K_PROBABILITY	0.01

void
bf_top_k_check_k(int32 k)
{
	if (k < 1 || k > BF_MAX_TOP_K)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k must be between 1 and %d", BF_MAX_TOP_K)));
}

/*
 * The longer the list, the lighter the keys at its end.  Of a Zipf stream (of
 * exponent 1, a million distinct keys) key k is 0.07 / k of the total, so
 * that the error is less than a third of it.
 */
void
bf_top_k_default_error(int32 k, double *error, double *probability)
{
	*error = Min(BF_TOP_K_ERROR, BF_TOP_K_ERROR_TIMES_K / k);
	*probability = BF_TOP_K_PROBABILITY;
}

static void
report_damage(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("invalid value of type %s", "top_k"),
			 errdetail("A candidate is not all there.")));
}

BfTopK *
bf_top_k_open_value(const BfFilter *value)
{
	BfTopK	   *top = bf_top_k_open(value);

	if (top == NULL)
		report_damage();
	return top;
}

/* Take in a value, whose shape is checked here; memory is that of the top_k. */
void
bf_top_k_absorb_value(BfTopK *top, MemoryContext context, const BfFilter *value)
{
	BfCandidate *candidates;
	MemoryContext old_context;

	bf_sketch_check_same(top->sketch, value);
	candidates = bf_top_k_candidates(value);
	if (candidates == NULL)
		report_damage();
	old_context = MemoryContextSwitchTo(context);
	bf_top_k_absorb(top, value, candidates, bf_top_k_ncandidates(value));
	MemoryContextSwitchTo(old_context);
	pfree(candidates);
}

/* What was added, as a value in the current memory context. */
BfFilter *
bf_top_k_result(const BfTopK *top)
{
	BfFilter   *value = bf_top_k_build(top);

	if (value == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("top_k would be too large"),
				 errdetail("Its counters and keys have at most " UINT64_FORMAT " bytes.",
						   BF_MAX_PAYLOAD),
				 errhint("Use a smaller k, a greater error or shorter keys.")));
	return value;
}

/* Refuse keys that could not be listed as what was added. */
static void
check_has_text(const BfKeyRule *rule)
{
	if (rule->form == BF_KEY_BYTEA)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot use a value of type %s as a key of top_k",
						format_type_be(rule->type)),
				 errdetail("Keys of top_k are listed as text."),
				 errhint("Use encode(x, 'hex') or, if it holds text, convert_from(x, 'UTF8').")));
	if (rule->form == BF_KEY_HASHED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot use a value of type %s as a key of top_k",
						format_type_be(rule->type)),
				 errdetail("Keys of top_k are listed as text, and only a hash of such a value is a key."),
				 errhint("Use x::text.")));
}

static inline void
check_length(size_t length)
{
	if (length > BF_MAX_TOP_K_KEY)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("key of top_k is too long"),
				 errdetail("It has %zu bytes, and at most %d are kept.",
						   length, BF_MAX_TOP_K_KEY),
				 errhint("Use a part or a digest of it, such as md5(x).")));
}

/* The bytes of a key that can be listed. */
BfKey
bf_top_k_key(BfKeyRule *rule, Datum value, char *buffer)
{
	BfKey		key;

	check_has_text(rule);
	key = bf_key_bytes(rule, value, buffer);
	check_length(key.length);
	return key;
}

/* Tell a top_k of a key whose count has passed the threshold. */
static pg_noinline void
track(BfTopK *top, MemoryContext context, uint32 hash, const char *key, size_t length,
	  uint64 weight, uint64 count)
{
	MemoryContext old_context = MemoryContextSwitchTo(context);

	bf_top_k_track(top, hash, key, (uint32) length, weight, count);
	MemoryContextSwitchTo(old_context);
}

/* Apart, because the buffer costs the integers' way a stack check. */
static pg_noinline void
add_bytes(BfTopK *top, MemoryContext context, BfKeyRule *rule, Datum value, uint64 weight)
{
	uint32	   *hashes = top->hashes;
	char		buffer[BF_KEY_BUFFER_SIZE];
	BfKey		key = bf_top_k_key(rule, value, buffer);
	uint64		count;

	bf_murmur2_rows(key.data, key.length, top->sketch->hashes, hashes);
	count = bf_count_min_add(top->sketch, top->modulus, hashes, weight);
	if (count > top->threshold)
		track(top, context, hashes[0], key.data, key.length, weight, count);
	bf_key_release(key);
}

/* Apart for the same reason: most integers are not heavy. */
static pg_noinline void
track_integer(BfTopK *top, MemoryContext context, BfKeyRule *rule, Datum value,
			  uint32 hash, uint64 weight, uint64 count)
{
	char		buffer[BF_KEY_BUFFER_SIZE];
	BfKey		key = bf_key_bytes(rule, value, buffer);

	track(top, context, hash, key.data, key.length, weight, count);
}

/* Count a key that is not NULL; context is that of the top_k. */
void
bf_top_k_add(BfTopK *top, MemoryContext context, BfKeyRule *rule, Datum key, uint64 weight)
{
	uint32	   *hashes = top->hashes;
	uint64		number;
	uint64		count;

	if (!bf_key_is_decimal(rule, key, &number))
	{
		add_bytes(top, context, rule, key, weight);
		return;
	}
	bf_murmur2_rows_decimal(number, top->sketch->hashes, hashes);
	count = bf_count_min_add(top->sketch, top->modulus, hashes, weight);
	if (count > top->threshold)
		track_integer(top, context, rule, key, hashes[0], weight, count);
}

/* top_k_create(k integer) */
Datum
bf_top_k_create_sql(PG_FUNCTION_ARGS)
{
	int32		k = PG_GETARG_INT32(0);
	double		error;
	double		probability;

	bf_top_k_check_k(k);
	bf_top_k_default_error(k, &error, &probability);
	PG_RETURN_POINTER(bf_top_k_create((uint32) k,
									  bf_sketch_shape_for_error(error, probability)));
}

/* top_k_create(k integer, error float8, probability float8) */
Datum
bf_top_k_create_by_error(PG_FUNCTION_ARGS)
{
	int32		k = PG_GETARG_INT32(0);

	bf_top_k_check_k(k);
	PG_RETURN_POINTER(bf_top_k_create((uint32) k,
									  bf_sketch_shape_for_error(PG_GETARG_FLOAT8(1),
																PG_GETARG_FLOAT8(2))));
}

/* top_k_add(top_k, key, count bigint); a NULL key or count changes nothing */
Datum
bf_top_k_add_sql(PG_FUNCTION_ARGS)
{
	BfCallSite *site;
	BfTopK	   *top;
	uint64		weight;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	weight = bf_sketch_weight(PG_GETARG_INT64(2));
	site = bf_call_site(fcinfo, 1);
	if (weight == 0)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	top = bf_top_k_open_value(bf_get_filter(PG_GETARG_DATUM(0), BF_KIND_TOP_K));
	bf_top_k_add(top, CurrentMemoryContext, &site->rule, PG_GETARG_DATUM(1), weight);
	PG_RETURN_POINTER(bf_top_k_result(top));
}

/* top_k_add_all(top_k, keys): each counts once more; NULLs change nothing */
Datum
bf_top_k_add_all(PG_FUNCTION_ARGS)
{
	BfCallSite *site;
	BfTopK	   *top;
	Datum	   *keys;
	bool	   *nulls;
	int			count;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	site = bf_call_site_for_keys(fcinfo, 1);
	bf_get_keys(PG_GETARG_DATUM(1), site, &keys, &nulls, &count);
	top = bf_top_k_open_value(bf_get_filter(PG_GETARG_DATUM(0), BF_KIND_TOP_K));
	for (int i = 0; i < count; i++)
	{
		/* a long key takes a while in many rows */
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			bf_top_k_add(top, CurrentMemoryContext, &site->rule, keys[i], 1);
	}
	PG_RETURN_POINTER(bf_top_k_result(top));
}

/* top_k_count(top_k, key): of any key, also one that is not listed */
Datum
bf_top_k_count(PG_FUNCTION_ARGS)
{
	BfCallSite *site = bf_call_site(fcinfo, 1);
	const BfFilter *value = bf_keep_filter(site, PG_GETARG_DATUM(0), BF_KIND_TOP_K);
	uint32		hashes[BF_MAX_DEPTH];

	check_has_text(&site->rule);
	bf_key_row_hashes(&site->rule, PG_GETARG_DATUM(1), value->hashes, hashes);
	PG_RETURN_INT64((int64) bf_count_min_count(value, bf_modulus32((uint32) value->bits), hashes));
}

/* A key as text in the server encoding. */
static text *
key_text(const BfCandidate *candidate)
{
	char	   *converted;

	/* there a key is whatever bytes it had */
	if (GetDatabaseEncoding() == PG_SQL_ASCII)
		return cstring_to_text_with_len(candidate->key, (int) candidate->length);
	converted = pg_any_to_server(candidate->key, (int) candidate->length, PG_UTF8);
	if (converted == candidate->key)
		return cstring_to_text_with_len(candidate->key, (int) candidate->length);
	return cstring_to_text(converted);
}

/* Columns of top_k_list, in the order of its declaration. */
enum
{
	LIST_RANK,
	LIST_KEY,
	LIST_COUNT,
	LIST_ERROR_BOUND,
	LIST_COLUMNS
};

/* top_k_list(top_k): a row for each of the k heaviest keys */
Datum
bf_top_k_list(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	const BfFilter *value = bf_get_filter(PG_GETARG_DATUM(0), BF_KIND_TOP_K);
	BfCandidate *candidates = bf_top_k_candidates(value);
	uint32		count;

	if (candidates == NULL)
		report_damage();
	/* to find the row type by itself would leave memory until the query ends */
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	count = bf_top_k_heaviest(candidates, bf_top_k_ncandidates(value), bf_top_k_k(value));
	for (uint32 i = 0; i < count; i++)
	{
		const BfCandidate *candidate = &candidates[i];
		text	   *key = key_text(candidate);
		Datum		values[LIST_COLUMNS];
		bool		nulls[LIST_COLUMNS] = {false};

		CHECK_FOR_INTERRUPTS();
		values[LIST_RANK] = Int32GetDatum((int32) i + 1);
		values[LIST_KEY] = PointerGetDatum(key);
		values[LIST_COUNT] = Int64GetDatum((int64) candidate->count);
		values[LIST_ERROR_BOUND] = Int64GetDatum((int64) (candidate->count - candidate->observed));
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		pfree(key);
	}
	return (Datum) 0;
}

/* left | right */
Datum
bf_top_k_union(PG_FUNCTION_ARGS)
{
	const BfFilter *left = bf_get_filter(PG_GETARG_DATUM(0), BF_KIND_TOP_K);
	const BfFilter *right = bf_get_filter(PG_GETARG_DATUM(1), BF_KIND_TOP_K);
	BfTopK	   *top;

	bf_sketch_check_same(left, right);
	top = bf_top_k_open_value(left);
	bf_top_k_absorb_value(top, CurrentMemoryContext, right);
	PG_RETURN_POINTER(bf_top_k_result(top));
}

/* The cast to count_min_sketch. */
Datum
bf_top_k_to_count_min(PG_FUNCTION_ARGS)
{
	const BfFilter *value = bf_get_filter(PG_GETARG_DATUM(0), BF_KIND_TOP_K);
	BfFilter   *sketch = bf_count_min_create(bf_shape(value));

	sketch->extra[0] = bf_count_min_total(value);
	bf_bytes_copy(sketch->payload, value->payload, bf_shape_bytes(bf_shape(value)));
	PG_RETURN_POINTER(sketch);
}

/* Columns of top_k_info, in the order of its declaration. */
enum
{
	INFO_K,
	INFO_WIDTH,
	INFO_DEPTH,
	INFO_ERROR,
	INFO_PROBABILITY,
	INFO_TOTAL,
	INFO_ERROR_BOUND,
	INFO_CANDIDATES,
	INFO_SIZE_BYTES,
	INFO_COLUMNS
};

/* top_k_info(top_k): one row */
Datum
bf_top_k_info(PG_FUNCTION_ARGS)
{
	BfFilter   *head = bf_get_head(PG_GETARG_DATUM(0), BF_KIND_TOP_K);
	BfShape		shape = bf_shape(head);
	TupleDesc	columns;
	Datum		values[INFO_COLUMNS];
	bool		nulls[INFO_COLUMNS] = {false};

	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE ||
		columns->natts != INFO_COLUMNS)
		elog(ERROR, "function is not declared as this library expects");
	columns = BlessTupleDesc(columns);

	values[INFO_K] = Int32GetDatum((int32) bf_top_k_k(head));
	values[INFO_WIDTH] = Int64GetDatum((int64) shape.width);
	values[INFO_DEPTH] = Int32GetDatum((int32) shape.depth);
	values[INFO_ERROR] = Float8GetDatum(bf_shape_error(shape));
	values[INFO_PROBABILITY] = Float8GetDatum(bf_shape_probability(shape));
	values[INFO_TOTAL] = Int64GetDatum((int64) bf_count_min_total(head));
	values[INFO_ERROR_BOUND] = Float8GetDatum(bf_sketch_error_bound(head));
	values[INFO_CANDIDATES] = Int32GetDatum((int32) bf_top_k_ncandidates(head));
	values[INFO_SIZE_BYTES] = Int64GetDatum((int64) VARSIZE(head));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(columns, values, nulls)));
}
