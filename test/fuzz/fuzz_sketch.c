/*-------------------------------------------------------------------------
 *
 * fuzz_sketch.c
 *	  The fuzz harness for what counts keys: count_min_sketch and top_k.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include <math.h>

#include "top_k.h"

#define SEED_KEYS	20

static const BfShape small_shapes[] = {{1, 1}, {9, 2}, {30, 1}, {3, 7}};

static const uint64 weights[] = {1, 3, BF_MAX_COUNT - 2, BF_MAX_COUNT};

static BfModulus32
modulus_of(const BfFilter *sketch)
{
	return bf_modulus32((uint32) sketch->bits);
}

/* Add a weight of a key to the counters; returns what they count then. */
static uint64
add(BfFilter *sketch, const char *text, uint32 length, uint64 weight, uint32 *hashes)
{
	bf_murmur2_rows(text, length, sketch->hashes, hashes);
	return bf_count_min_add(sketch, modulus_of(sketch), hashes, weight);
}

static uint64
count_of(const BfFilter *sketch, const char *text, uint32 length)
{
	uint32		hashes[BF_MAX_DEPTH];

	bf_murmur2_rows(text, length, sketch->hashes, hashes);
	return bf_count_min_count(sketch, modulus_of(sketch), hashes);
}

/* --- counters ------------------------------------------------------------------- */

/*
 * A shape that fits the payload, and rows that have the same sum: that of the
 * first one.  Returns the bytes of the counters; 0 when there is no room.
 */
static uint64
repair_counters(BfFilter *sketch, uint64 size)
{
	uint64		room = (size - BF_HEADER_SIZE) / sizeof(uint64);
	uint64	   *counter = (uint64 *) sketch->payload;

	sketch->scheme = BF_SCHEME_MURMUR2;
	sketch->fpr = 0.0;
	sketch->extra[1] = 0;
	if (room == 0)
		return 0;
	if (sketch->hashes < 1 || sketch->hashes > Min(BF_MAX_DEPTH, room))
		sketch->hashes = 1 + sketch->hashes % (uint32) Min(8, room);
	if (sketch->bits < 1 || sketch->bits > room / sketch->hashes)
		sketch->bits = room / sketch->hashes;

	for (uint32 row = 0; row < sketch->hashes; row++)
	{
		uint64		sum = 0;

		for (uint64 i = 0; i < sketch->bits; i++, counter++)
		{
			uint64		value = bf_counter(*counter) & BF_MAX_COUNT;

			if (row > 0)
			{
				value = Min(value, sketch->extra[0] - sum);
				if (i == sketch->bits - 1)
					value = sketch->extra[0] - sum;
			}
			*counter = bf_counter(value);
			sum = bf_add_counts(sum, value);
		}
		sketch->extra[0] = sum;
	}
	return bf_shape_bytes(bf_shape(sketch));
}

/* Keys can be added to a copy, and everything still adds up. */
static void
exercise_counters(const BfFilter *sketch, const FuzzKey *keys)
{
	BfFilter   *copy = fuzz_copy(sketch);
	uint32		hashes[BF_MAX_DEPTH];

	for (int i = 0; i < FUZZ_KEYS; i++)
	{
		uint64		before = count_of(copy, keys[i].text, keys[i].length);
		uint64		after = add(copy, keys[i].text, keys[i].length, weights[i], hashes);

		bf_count_min_prefetch(copy, modulus_of(copy), hashes);
		REQUIRE(after == bf_add_counts(before, weights[i]));
		REQUIRE(after == count_of(copy, keys[i].text, keys[i].length));
		REQUIRE(after <= bf_count_min_total(copy));
		REQUIRE(bf_count_min_check_counters(copy) == NULL);
		fuzz_require_sound(copy);
	}
	bf_count_min_unite(copy, sketch);
	fuzz_require_sound(copy);
	pfree(copy);
}

static void
exercise_products(const BfFilter *a, const BfFilter *b)
{
	double		product = bf_count_min_inner_product(a, b);

	REQUIRE(product >= 0.0 && product < INFINITY);
	REQUIRE(product == bf_count_min_inner_product(b, a));
}

/* --- count_min_sketch ------------------------------------------------------------- */

static BfFilter *
make_count_min(int variant, bool filled)
{
	BfFilter   *sketch;
	uint32		hashes[BF_MAX_DEPTH];
	char		text[16];

	if (variant >= (int) lengthof(small_shapes))
		return NULL;
	sketch = bf_count_min_create(small_shapes[variant]);
	for (int key = 0; filled && key < SEED_KEYS; key++)
		add(sketch, text, (uint32) snprintf(text, sizeof(text), "%d", key), weights[key % 2], hashes);
	return sketch;
}

static bool
repair_count_min(BfFilter *sketch, uint64 size)
{
	sketch->detail = 0;
	sketch->capacity = 0;
	sketch->bits_set = 0;
	return repair_counters(sketch, size) > 0;
}

static void
exercise_count_min(const BfFilter *sketch, const FuzzKey *keys)
{
	REQUIRE(bf_shape_check((int64) sketch->bits, (int64) sketch->hashes) == BF_SHAPE_OK);
	REQUIRE(bf_shape_error(bf_shape(sketch)) > 0.0);
	REQUIRE(bf_shape_probability(bf_shape(sketch)) < 1.0);
	REQUIRE(bf_count_min_same_shape(sketch, sketch));
	exercise_counters(sketch, keys);
	exercise_products(sketch, sketch);
}

static void
exercise_count_min_pair(const BfFilter *a, const BfFilter *b, const FuzzKey *keys)
{
	BfFilter   *united;

	if (!bf_count_min_same_shape(a, b))
		return;
	united = fuzz_copy(a);
	bf_count_min_unite(united, b);
	fuzz_require_sound(united);
	REQUIRE(bf_count_min_total(united) ==
			bf_add_counts(bf_count_min_total(a), bf_count_min_total(b)));
	for (int i = 0; i < FUZZ_KEYS; i++)
		REQUIRE(count_of(united, keys[i].text, keys[i].length) >=
				bf_add_counts(count_of(a, keys[i].text, keys[i].length),
							  count_of(b, keys[i].text, keys[i].length)));
	exercise_products(a, b);
	pfree(united);
}

static void
damaged_count_min(const BfFilter *sketch, const FuzzKey *keys)
{
	BfFilter   *other = fuzz_copy(sketch);
	uint32		hashes[BF_MAX_DEPTH];

	for (int i = 0; i < FUZZ_KEYS; i++)
		(void) add(other, keys[i].text, keys[i].length, weights[i], hashes);
	bf_count_min_unite(other, sketch);
	(void) bf_count_min_inner_product(other, sketch);
	pfree(other);
}

const FuzzType fuzz_count_min = {
	"count_min_sketch", BF_KIND_COUNT_MIN_SKETCH, make_count_min, repair_count_min,
	exercise_count_min, exercise_count_min_pair, damaged_count_min
};

/* --- top_k ------------------------------------------------------------------------ */

/* What a memory context does in the server. */
static void
free_top(BfTopK *top)
{
	for (uint32 i = 0; i < top->ncandidates; i++)
		pfree(unconstify(char *, top->candidates[i].key));
	pfree(top->candidates);
	pfree(top->slots);
	pfree(top->hashes);
	pfree(top->sketch);
	pfree(top);
}

/* What top_k_sql.c does with a key. */
static void
add_to_top(BfTopK *top, const char *text, uint32 length, uint64 weight)
{
	uint64		count = add(top->sketch, text, length, weight, top->hashes);

	if (count > top->threshold)
		bf_top_k_track(top, top->hashes[0], text, length, weight, count);
}

static BfFilter *
make_top_k(int variant, bool filled)
{
	BfTopK	   *top;
	BfFilter   *value;
	char		text[16];

	if (variant >= (int) lengthof(small_shapes))
		return NULL;
	top = bf_top_k_begin(1 + (uint32) variant, small_shapes[variant]);
	for (int key = 0; filled && key < SEED_KEYS; key++)
		add_to_top(top, text, (uint32) snprintf(text, sizeof(text), "%.*d", 1 + key % 5, key),
				   weights[key % 2]);
	value = bf_top_k_build(top);
	free_top(top);
	return value;
}

/*
 * Candidates that could not be where they are are dropped, and those behind
 * them moved.  What was observed becomes as much as it can be.
 */
static bool
repair_top_k(BfFilter *value, uint64 size)
{
	uint64		counters = repair_counters(value, size);
	const uint8 *from = value->payload + counters;
	const uint8 *end = (const uint8 *) value + size;
	uint8	   *to = value->payload + counters;
	const char *last_key = NULL;
	uint32		last_length = 0;
	uint64		sum = 0;

	if (counters == 0)
		return false;
	if (value->detail < 1 || value->detail > BF_MAX_TOP_K)
		value->detail = 1 + value->detail % 10;
	value->bits_set = 0;
	while (value->bits_set < BF_TOP_K_SPARE * value->detail && end - from >= 12)
	{
		uint64		observed;
		uint32		length;
		uint64		most;
		int			order = -1;

		memcpy(&observed, from, sizeof(observed));
		memcpy(&length, from + 8, sizeof(length));
		from += 12;
		observed = bf_counter(observed);
#ifdef WORDS_BIGENDIAN
		length = pg_bswap32(length);
#endif
		length %= Min(64, end - from + 1);
		length = (uint32) strnlen((const char *) from, length);
		if (last_key != NULL)
		{
			order = memcmp(last_key, from, Min(last_length, length));
			if (order == 0)
				order = last_length < length ? -1 : 1;
		}
		most = Min(count_of(value, (const char *) from, length), value->extra[0] - sum);
		if (order < 0 && most > 0)
		{
			observed = observed < 1 || observed > most ? most : observed;
			sum += observed;
			last_key = (const char *) to + 12;
			last_length = length;
			observed = bf_counter(observed);
			memcpy(to, &observed, sizeof(observed));
#ifdef WORDS_BIGENDIAN
			memcpy(to + 8, &(uint32) {pg_bswap32(length)}, sizeof(length));
#else
			memcpy(to + 8, &length, sizeof(length));
#endif
			memmove(to + 12, from, length);
			to += 12 + length;
			value->bits_set++;
		}
		from += length;
	}
	value->capacity = (uint64) (to - (value->payload + counters));
	return true;
}

/* The list is in order, and each key's bounds are. */
static void
require_list(const BfFilter *value)
{
	BfCandidate *candidates = bf_top_k_candidates(value);
	uint32		listed;

	REQUIRE(candidates != NULL);
	listed = bf_top_k_heaviest(candidates, bf_top_k_ncandidates(value), bf_top_k_k(value));
	REQUIRE(listed <= bf_top_k_k(value));
	for (uint32 i = 0; i < listed; i++)
	{
		REQUIRE(candidates[i].observed >= 1);
		REQUIRE(candidates[i].observed <= candidates[i].count);
		REQUIRE(candidates[i].count == count_of(value, candidates[i].key, candidates[i].length));
		REQUIRE(i == 0 || candidates[i - 1].count >= candidates[i].count);
	}
	pfree(candidates);
}

static void
exercise_top_k(const BfFilter *value, const FuzzKey *keys)
{
	BfTopK	   *top = bf_top_k_open(value);
	BfFilter   *again;

	require_list(value);
	exercise_counters(value, keys);
	exercise_products(value, value);

	/* opened and closed it is the same */
	REQUIRE(top != NULL);
	again = bf_top_k_build(top);
	REQUIRE(again != NULL);
	fuzz_require_equal(value, again);
	pfree(again);

	for (int i = 0; i < FUZZ_KEYS; i++)
	{
		add_to_top(top, keys[i].text, keys[i].length, weights[i]);
		again = bf_top_k_build(top);
		REQUIRE(again != NULL);
		fuzz_require_sound(again);
		require_list(again);
		pfree(again);
	}
	free_top(top);
}

static void
exercise_top_k_pair(const BfFilter *a, const BfFilter *b, const FuzzKey *keys)
{
	BfTopK	   *top;
	BfCandidate *candidates;
	BfFilter   *united;

	if (!bf_count_min_same_shape(a, b))
		return;
	top = bf_top_k_open(a);
	candidates = bf_top_k_candidates(b);
	REQUIRE(top != NULL && candidates != NULL);
	bf_top_k_absorb(top, b, candidates, bf_top_k_ncandidates(b));
	united = bf_top_k_build(top);
	REQUIRE(united != NULL);
	fuzz_require_sound(united);
	require_list(united);
	for (int i = 0; i < FUZZ_KEYS; i++)
		REQUIRE(count_of(united, keys[i].text, keys[i].length) >=
				bf_add_counts(count_of(a, keys[i].text, keys[i].length),
							  count_of(b, keys[i].text, keys[i].length)));
	pfree(united);
	pfree(candidates);
	free_top(top);
}

static void
damaged_top_k(const BfFilter *value, const FuzzKey *keys)
{
	BfTopK	   *top = bf_top_k_open(value);
	BfFilter   *again;

	if (top == NULL)
		return;
	for (int i = 0; i < FUZZ_KEYS; i++)
		add_to_top(top, keys[i].text, keys[i].length, weights[i]);
	again = bf_top_k_build(top);
	if (again != NULL)
		pfree(again);
	free_top(top);
}

const FuzzType fuzz_top_k = {
	"top_k", BF_KIND_TOP_K, make_top_k, repair_top_k,
	exercise_top_k, exercise_top_k_pair, damaged_top_k
};
