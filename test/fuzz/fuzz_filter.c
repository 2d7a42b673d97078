/*-------------------------------------------------------------------------
 *
 * fuzz_filter.c
 *	  The fuzz harness for what holds a set of keys: the three Bloom filters
 *	  and the cuckoo filter.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include <math.h>

#include "bits.h"
#include "bloom.h"
#include "counting.h"
#include "cuckoo.h"
#include "scalable.h"

#define SEED_KEYS	20

static const BfGeometry small_geometries[] = {{1, 1}, {64, 3}, {100, 7}, {640, 16}};

/* A filter with some keys. */
static BfFilter *
fill(BfFilter *filter)
{
	for (int key = 0; key < SEED_KEYS; key++)
	{
		BfFilter   *grown = bf_filter_add(filter, bf_hash(BF_SCHEME_MURMUR64A, &key, sizeof(key)));

		if (grown != NULL)
			filter = grown;
	}
	return filter;
}

/* --- what all of them can do ------------------------------------------------ */

static void
require_rate(double rate)
{
	REQUIRE(rate >= 0.0 && rate <= 1.0);
}

static uint8
read_byte(void *argument, uint64 offset)
{
	const BfFilter *filter = (const BfFilter *) argument;

	REQUIRE(offset < bf_format_size(filter));
	return ((const uint8 *) filter)[offset];
}

static void
probe(const BfFilter *filter, const FuzzKey *keys)
{
	for (int i = 0; i < FUZZ_KEYS; i++)
		REQUIRE(bf_filter_contains(filter, keys[i].hash) ==
				bf_filter_contains_by_byte(filter, keys[i].hash, read_byte,
										   unconstify(BfFilter *, filter)));
}

/* Whether making a chain again, or its next layer, would take much memory. */
static bool
chain_grows_large(const BfFilter *filter)
{
	uint64		capacity = filter->capacity;
	double		fpr = filter->fpr * (1.0 - bf_scalable_tightening(filter));
	const BfLayer *last = &bf_scalable_layers(filter)[filter->detail - 1];
	BfGeometry	geometry;

	for (int step = 0; step < 2; step++)
	{
		if (capacity <= (uint64) PG_INT64_MAX &&
			bf_params_for_capacity((int64) capacity, fpr, &geometry) == BF_PARAMS_OK &&
			geometry.bits > FUZZ_LARGE_BYTES)
			return true;
		if (last->capacity > (uint64) PG_INT64_MAX / filter->extra[0])
			return false;
		capacity = last->capacity * filter->extra[0];
		fpr = last->fpr * bf_scalable_tightening(filter);
	}
	return false;
}

static bool
grows_large(const BfFilter *filter)
{
	if (filter->kind == BF_KIND_SCALABLE_BLOOM)
		return chain_grows_large(filter);
	if (filter->kind == BF_KIND_CUCKOO_FILTER && bf_cuckoo_expansion(filter) > 0)
		return bf_cuckoo_sub_filter(filter, bf_cuckoo_sub_filters(filter)).buckets *
			bf_cuckoo_bucket_bytes(filter) > FUZZ_LARGE_BYTES;
	return false;
}

/* Add keys to a filter that may move; gives it back. */
static BfFilter *
add_keys(BfFilter *filter, const FuzzKey *keys)
{
	for (int i = 0; i < FUZZ_KEYS && !grows_large(filter); i++)
	{
		BfFilter   *grown = bf_filter_add(filter, keys[i].hash);

		if (grown == NULL)
		{
			/* that it is held as often as it can be says the same */
			fuzz_require_sound(filter);
			continue;
		}
		filter = grown;
		REQUIRE(bf_filter_contains(filter, keys[i].hash));
	}
	return filter;
}

static void
exercise_filter(const BfFilter *filter, const FuzzKey *keys)
{
	BfFilter   *other;

	REQUIRE(bf_filter_count(filter) >= 0.0);
	require_rate(bf_filter_fpr(filter));
	require_rate(bf_filter_fpr_bound(filter));
	require_rate(bf_filter_fill(filter));
	probe(filter, keys);

	if (!grows_large(filter))
	{
		other = bf_filter_empty_like(filter);
		if (other != NULL)
		{
			fuzz_require_sound(other);
			REQUIRE(other->bits_set == 0);
			pfree(other);
		}
	}

	/* with itself, then with more keys */
	other = bf_filter_copy(filter);
	REQUIRE(bf_filter_same_geometry(other, filter));
	other = bf_filter_union(other, filter);
	if (other == NULL)
		return;					/* it may have moved before it met a limit */
	fuzz_require_sound(other);
	other = add_keys(other, keys);
	fuzz_require_sound(other);
	probe(other, keys);
	pfree(other);
}

static void
exercise_filters(const BfFilter *a, const BfFilter *b, const FuzzKey *keys)
{
	BfFilter   *united;

	if (!bf_filter_same_geometry(a, b))
		return;
	united = bf_filter_union(bf_filter_copy(a), b);
	if (united != NULL)
	{
		fuzz_require_sound(united);
		for (int i = 0; i < FUZZ_KEYS; i++)
			REQUIRE(bf_filter_contains(united, keys[i].hash) ||
					!(bf_filter_contains(a, keys[i].hash) || bf_filter_contains(b, keys[i].hash)));
		united = add_keys(united, keys);
		fuzz_require_sound(united);
		pfree(united);
	}

	if (!bf_filter_has_fixed_size(a))
		return;
	REQUIRE(bf_filter_union_count(a, b) >= 0.0);
	REQUIRE(bf_filter_intersect_count(a, b) >= 0.0);
	require_rate(bf_filter_jaccard(a, b));
	united = bf_filter_intersect(bf_filter_copy(a), b);
	fuzz_require_sound(united);
	REQUIRE(united->bits_set <= Min(a->bits_set, b->bits_set));
	pfree(united);
}

static void
damaged_filter(const BfFilter *filter, const FuzzKey *keys)
{
	BfFilter   *other = bf_filter_union(bf_filter_copy(filter), filter);

	probe(filter, keys);
	if (other == NULL)
		other = bf_filter_copy(filter);
	for (int i = 0; i < FUZZ_KEYS && !grows_large(other); i++)
	{
		BfFilter   *grown = bf_filter_add(other, keys[i].hash);

		if (grown != NULL)
			other = grown;
	}
	if (bf_filter_has_fixed_size(filter))
	{
		(void) bf_filter_jaccard(other, filter);
		(void) bf_filter_intersect(other, filter);
	}
	pfree(other);
}

/* --- bloom -------------------------------------------------------------------- */

static BfFilter *
make_bloom(int variant, bool filled)
{
	BfFilter   *filter;

	if (variant >= (int) lengthof(small_geometries))
		return NULL;
	filter = bf_bloom_create(small_geometries[variant], (BfScheme) (1 + variant % 2),
							 1 + variant * 10, 0.01);
	return filled ? fill(filter) : filter;
}

static bool
repair_bloom(BfFilter *filter, uint64 size)
{
	filter->bits_set = 0;
	filter->bits = Min(filter->bits, (size - BF_HEADER_SIZE) / 8 * 64);
	if (bf_format_check_header(filter, BF_KIND_BLOOM) != NULL)
		return false;
	for (uint64 i = filter->bits; i % 64 != 0; i++)
		filter->payload[i / 8] &= (uint8) ~(1 << i % 8);
	filter->bits_set = bf_bits_count(filter->payload, bf_bits_bytes(filter->bits));
	return true;
}

/* A batch sets the same bits as one key after the other. */
static void
exercise_bloom(const BfFilter *filter, const FuzzKey *keys)
{
	BfFilter   *batch = bf_filter_copy(filter);
	BfFilter   *single = add_keys(bf_filter_copy(filter), keys);
	BfHash		hashes[FUZZ_KEYS];

	exercise_filter(filter, keys);
	for (int i = 0; i < FUZZ_KEYS; i++)
		hashes[i] = keys[i].hash;
	bf_bloom_set_batch(batch, hashes, FUZZ_KEYS);
	bf_bloom_recount(batch);
	fuzz_require_equal(batch, single);
	pfree(batch);
	pfree(single);
}

const FuzzType fuzz_bloom = {
	"bloom", BF_KIND_BLOOM, make_bloom, repair_bloom,
	exercise_bloom, exercise_filters, damaged_filter
};

/* --- counting_bloom ------------------------------------------------------------- */

static BfFilter *
make_counting(int variant, bool filled)
{
	BfFilter   *filter;

	if (variant >= (int) lengthof(small_geometries))
		return NULL;
	filter = bf_counting_create(small_geometries[variant], variant % 2 == 0 ? 4 : 8,
								(BfScheme) (1 + variant % 2), 1 + variant * 10, 0.01);
	return filled ? fill(filter) : filter;
}

static bool
repair_counting(BfFilter *filter, uint64 size)
{
	uint64		used = 0;
	uint64		saturated = 0;
	uint32		counter_bits = filter->detail;

	if (counter_bits != 4 && counter_bits != 8)
		return false;
	filter->bits_set = 0;
	filter->extra[0] = 0;
	filter->bits = Min(filter->bits, (size - BF_HEADER_SIZE) / 8 * (64 / counter_bits));
	if (bf_format_check_header(filter, BF_KIND_COUNTING_BLOOM) != NULL)
		return false;
	for (uint64 i = filter->bits * counter_bits; i % 64 != 0; i += counter_bits)
		filter->payload[i / 8] &= i % 8 == 4 ? 15 : counter_bits == 4 ? 240 : 0;
	for (uint64 i = 0; i < filter->bits; i++)
	{
		uint8		counter = filter->payload[counter_bits == 8 ? i : i / 2];

		if (counter_bits == 4)
			counter = (counter >> (i % 2 * 4)) & 15;
		used += counter != 0;
		saturated += counter == (1 << counter_bits) - 1;
	}
	filter->bits_set = used;
	filter->extra[0] = saturated;
	return true;
}

static void
exercise_counting(const BfFilter *filter, const FuzzKey *keys)
{
	BfFilter   *other = add_keys(bf_filter_copy(filter), keys);

	exercise_filter(filter, keys);
	for (int i = 0; i < FUZZ_KEYS; i++)
	{
		uint32		before = bf_counting_key_count(other, keys[i].hash);
		BfFilter   *plain = bf_counting_to_bloom(other);

		fuzz_require_sound(plain);
		REQUIRE(bf_filter_contains(plain, keys[i].hash) == bf_filter_contains(other, keys[i].hash));
		REQUIRE(bf_filter_contains(other, keys[i].hash) == (before > 0));
		bf_counting_remove(other, keys[i].hash);
		REQUIRE(bf_counting_key_count(other, keys[i].hash) <= before);
		fuzz_require_sound(other);
		pfree(plain);
	}
	pfree(other);
}

static void
damaged_counting(const BfFilter *filter, const FuzzKey *keys)
{
	BfFilter   *other = bf_filter_copy(filter);

	damaged_filter(filter, keys);
	for (int i = 0; i < FUZZ_KEYS; i++)
		bf_counting_remove(other, keys[i].hash);
	pfree(bf_counting_to_bloom(other));
	pfree(other);
}

const FuzzType fuzz_counting = {
	"counting_bloom", BF_KIND_COUNTING_BLOOM, make_counting, repair_counting,
	exercise_counting, exercise_filters, damaged_counting
};

/* --- scalable_bloom ------------------------------------------------------------- */

static BfFilter *
make_scalable(int variant, bool filled)
{
	BfFilter   *filter = NULL;

	if (variant >= 4)
		return NULL;
	REQUIRE(bf_scalable_create(1 + variant, 0.1, 1 + variant % 2, 0.5 + 0.1 * variant,
							   BF_SCHEME_MURMUR64A, &filter) == BF_PARAMS_OK);
	return filled ? fill(filter) : filter;
}

/* Layers whose bits are not all there are dropped. */
static bool
repair_scalable(BfFilter *filter, uint64 size)
{
	BfLayer    *layers = bf_scalable_layers(filter);
	const uint8 *bits;
	uint64		rest;
	uint64		all_bits = 0;
	uint64		all_set = 0;

	filter->bits_set = 0;
	filter->bits = Max(1, Min(filter->bits, BF_MAX_BITS));
	filter->hashes = Max(1, Min(filter->hashes, BF_MAX_HASHES));
	if (bf_format_check_header(filter, BF_KIND_SCALABLE_BLOOM) != NULL ||
		bf_format_head_size(filter) > size)
		return false;
	bf_format(BF_KIND_SCALABLE_BLOOM)->swap_fields(filter);
	bits = (const uint8 *) filter + bf_format_head_size(filter);
	rest = size - bf_format_head_size(filter);
	for (uint32 i = 0; i < filter->detail; i++)
	{
		layers[i].reserved = 0;
		if (layers[i].bits < 1 || layers[i].bits > rest / 8 * 64)
			return false;
		layers[i].bits = TYPEALIGN(64, layers[i].bits);
		layers[i].hashes = Max(1, Min(layers[i].hashes, BF_MAX_HASHES));
		layers[i].bits_set = bf_bits_count(bits, layers[i].bits / 8);
		layers[i].keys = Min(layers[i].keys, layers[i].bits_set);
		layers[i].capacity = Max(1, Min(layers[i].capacity, PG_INT64_MAX));
		if (bf_params_check_fpr(layers[i].fpr) != BF_PARAMS_OK)
			return false;
		rest -= layers[i].bits / 8;
		bits += layers[i].bits / 8;
		all_bits += layers[i].bits;
		all_set += layers[i].bits_set;
	}
	filter->bits = all_bits;
	filter->bits_set = all_set;
	filter->hashes = layers[filter->detail - 1].hashes;
	return true;
}

const FuzzType fuzz_scalable = {
	"scalable_bloom", BF_KIND_SCALABLE_BLOOM, make_scalable, repair_scalable,
	exercise_filter, exercise_filters, damaged_filter
};

/* --- cuckoo_filter -------------------------------------------------------------- */

static BfFilter *
make_cuckoo(int variant, bool filled)
{
	static const BfCuckooParams params[] = {
		{2, 8, 20, 1}, {4, 8, 3, 2}, {2, 16, 500, 0}, {4, 16, 1, 4}, {2, 32, 20, 1}, {3, 8, 7, 1},
		{1, 8, 5, 2}, {255, 32, 2, 0}
	};
	BfFilter   *filter = NULL;

	if (variant >= (int) lengthof(params))
		return NULL;
	REQUIRE(bf_cuckoo_create(1 + 4 * variant, &params[variant], &filter) == BF_PARAMS_OK);
	return filled ? fill(filter) : filter;
}

/* Fields that depend on others, and as many sub-filters as the payload has. */
static bool
repair_cuckoo(BfFilter *filter, uint64 size)
{
	uint32		bucket_size = Max(1, bf_cuckoo_bucket_size(filter));
	uint32		fingerprint_bits = bf_cuckoo_fingerprint_bits(filter);
	uint32		iterations = Max(1, bf_cuckoo_max_iterations(filter));
	uint64		expansion = bf_cuckoo_expansion(filter);
	uint32		log2_buckets = bf_cuckoo_log2_buckets(filter) % 10;
	uint32		sub_filters = Max(1, Min(bf_cuckoo_sub_filters(filter), BF_MAX_SUB_FILTERS));
	double		fingerprints;

	if (fingerprint_bits != 8 && fingerprint_bits != 16 && fingerprint_bits != 32)
		fingerprint_bits = 8 << fingerprint_bits % 3;
	/* the lowest bit that is set */
	expansion &= ~expansion + 1;
	if (expansion == 0)
		sub_filters = 1;
	filter->scheme = BF_SCHEME_MURMUR64A_SEED0;
	filter->hashes = 2;
	filter->detail = bucket_size | fingerprint_bits << 8 | iterations << 16;
	filter->extra[0] = expansion | (uint64) sub_filters << 16 | (uint64) log2_buckets << 32;
	filter->extra[1] &= PG_INT64_MAX;
	while (bf_cuckoo_sub_filter(filter, sub_filters).offset > size - BF_HEADER_SIZE)
	{
		if (--sub_filters == 0)
			return false;
	}
	filter->extra[0] = expansion | (uint64) sub_filters << 16 | (uint64) log2_buckets << 32;
	filter->bits = bf_cuckoo_sub_filter(filter, sub_filters).offset * 8;
	filter->capacity = (uint64) bucket_size << log2_buckets;
	fingerprints = ldexp(1.0, (int) fingerprint_bits) - 1.0;
	filter->fpr = Min(2.0 * bucket_size, fingerprints - 1.0) / fingerprints;
	filter->bits_set = bf_cuckoo_used_slots(filter);
	return true;
}

static void
exercise_cuckoo(const BfFilter *filter, const FuzzKey *keys)
{
	BfFilter   *batch = bf_filter_copy(filter);
	BfFilter   *other = add_keys(bf_filter_copy(filter), keys);
	BfHash		hashes[FUZZ_KEYS];

	exercise_filter(filter, keys);
	for (int i = 0; i < FUZZ_KEYS; i++)
	{
		uint64		before = bf_cuckoo_key_count(other, keys[i].hash);
		uint64		after;

		REQUIRE(bf_filter_contains(other, keys[i].hash) == (before > 0));
		hashes[i] = keys[i].hash;
		other = bf_cuckoo_remove(other, keys[i].hash);
		after = bf_cuckoo_key_count(other, keys[i].hash);
		/* one copy less, and two buckets that are one count it twice */
		REQUIRE(after + 2 >= before);
		/* where fingerprints moved to fewer buckets, more may look like the key's */
		REQUIRE(before == 0 || after < before || bf_cuckoo_deletes(other) == 0);
		fuzz_require_sound(other);
		probe(other, keys);
	}
	pfree(other);
	if (grows_large(batch))
	{
		pfree(batch);
		return;
	}

	/* a batch may grow in its middle, so not by much */
	if (bf_cuckoo_expansion(filter) <= 2)
	{
		batch = bf_cuckoo_add_new(batch, hashes, FUZZ_KEYS);
		if (batch == NULL)
			return;
		fuzz_require_sound(batch);
		for (int i = 0; i < FUZZ_KEYS; i++)
			REQUIRE(bf_filter_contains(batch, hashes[i]));
	}
	pfree(batch);
}

static void
damaged_cuckoo(const BfFilter *filter, const FuzzKey *keys)
{
	BfFilter   *other = bf_filter_copy(filter);

	damaged_filter(filter, keys);
	for (int i = 0; i < FUZZ_KEYS; i++)
		other = bf_cuckoo_remove(other, keys[i].hash);
	pfree(other);
}

const FuzzType fuzz_cuckoo = {
	"cuckoo_filter", BF_KIND_CUCKOO_FILTER, make_cuckoo, repair_cuckoo,
	exercise_cuckoo, exercise_filters, damaged_cuckoo
};
