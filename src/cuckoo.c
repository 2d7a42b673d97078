/*-------------------------------------------------------------------------
 *
 * cuckoo.c
 *	  The cuckoo filter: a table of short fingerprints, from which keys can
 *	  be removed.
 *
 * Fan, Andersen, Kaminsky and Mitzenmacher, "Cuckoo Filter: Practically Better
 * Than Bloom", 2014.  A key may be in two buckets; the second is found from
 * the first and the fingerprint alone, so a fingerprint can be moved to its
 * other bucket without its key.  With 8 bits it is RedisBloom's filter bit for
 * bit: the fingerprint of hash h is h % (2^bits - 1) + 1, so that 0 is a free
 * slot; its buckets are those of h and of h ^ fingerprint * 0x5bd1e995, modulo
 * the number of buckets.  What finds no place goes to a further sub-filter.
 *
 * Header: hashes = 2, the buckets of a key; detail and extra[0] = see cuckoo.h;
 * extra[1] = keys removed since fingerprints last moved to older sub-filters;
 * bits = slots * fingerprint bits; bits_set = slots in use; fpr = the bound of
 * one full sub-filter.  Payload: the sub-filters, oldest first; fingerprints
 * little-endian.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo.h"

#include <math.h>

#include "port/pg_bitutils.h"

/* A sub-filter of that number, which need not exist yet. */
BfSubFilter
bf_cuckoo_sub_filter(const BfFilter *header, uint32 number)
{
	BfSubFilter sub = {0, UINT64CONST(1) << bf_cuckoo_log2_buckets(header), 0};

	while (sub.number < number)
	{
		sub.offset += sub.buckets * bf_cuckoo_bucket_bytes(header);
		sub.buckets *= bf_cuckoo_expansion(header);
		sub.number++;
	}
	return sub;
}

/* The bound of one sub-filter: in each slot of two buckets, one of so many. */
static double
full_fpr(uint32 bucket_size, uint32 fingerprint_bits)
{
	double		fingerprints = ldexp(1.0, (int) fingerprint_bits) - 1.0;
	double		fpr;

	/* a rate is below 1; 128 and more slots of 8 bits would make it more */
	fpr = Min(2.0 * bucket_size, fingerprints - 1.0) / fingerprints;
	return fpr;
}

/*
 * Buckets of the first sub-filter, RedisBloom's: the power of two that has so
 * many slots.  Returns its logarithm, of at most 33.
 */
static uint32
log2_buckets_for(uint64 capacity, uint32 bucket_size)
{
	uint64		buckets = capacity / bucket_size;

	if (buckets <= 1)
		return 0;
	return Min((uint32) pg_leftmost_one_pos64(buckets - 1) + 1, 33);
}

/* Bits of all sub-filters; anything above BF_MAX_BITS if they are too many. */
static uint64
total_bits(const BfFilter *header)
{
	uint64		bucket_bits = (uint64) bf_cuckoo_bucket_bytes(header) * 8;
	uint64		buckets = UINT64CONST(1) << bf_cuckoo_log2_buckets(header);
	uint64		bits = 0;

	/* below 2^33 buckets, times 32768 at most before the loop ends */
	for (uint32 i = 0; i < bf_cuckoo_sub_filters(header) && bits <= BF_MAX_BITS; i++)
	{
		if (buckets > BF_MAX_BITS / bucket_bits)
			return PG_UINT64_MAX;
		bits += buckets * bucket_bits;
		buckets *= bf_cuckoo_expansion(header);
	}
	return bits;
}

static const char *
cuckoo_check_header(const BfFilter *header)
{
	uint32		bucket_size = bf_cuckoo_bucket_size(header);
	uint32		fingerprint_bits = bf_cuckoo_fingerprint_bits(header);
	uint32		expansion = bf_cuckoo_expansion(header);
	double		fpr = full_fpr(bucket_size, fingerprint_bits);

	if (header->hashes != 2)
		return "The number of hashes is not 2.";
	if (bucket_size < 1)
		return "The size of a bucket is out of range.";
	if (fingerprint_bits != 8 && fingerprint_bits != 16 && fingerprint_bits != 32)
		return "The number of bits of a fingerprint is neither 8 nor 16 nor 32.";
	if (bf_cuckoo_max_iterations(header) < 1)
		return "The number of iterations is out of range.";
	if ((expansion & (expansion - 1)) != 0)
		return "The expansion is not a power of two.";
	if (bf_cuckoo_sub_filters(header) < 1 ||
		bf_cuckoo_sub_filters(header) > (expansion == 0 ? 1 : BF_MAX_SUB_FILTERS))
		return "The number of sub-filters is out of range.";
	if (bf_cuckoo_log2_buckets(header) > 32 ||
		bf_cuckoo_log2_buckets(header) != log2_buckets_for(header->capacity, bucket_size))
		return "The number of buckets is not that of the capacity.";
	if (header->extra[1] > PG_INT64_MAX)
		return "The number of removed keys is out of range.";
	/* one division of integers, so exact on every machine */
	if (header->fpr != fpr)
		return "The false positive rate is not that of the fingerprints.";
	if (header->bits != total_bits(header))
		return "The number of bits is not that of the sub-filters.";
	if (header->bits_set > bf_cuckoo_slots(header))
		return "More fingerprints are said to be there than there are slots.";
	return NULL;
}

static uint64
cuckoo_payload_size(const BfFilter *header)
{
	return header->bits / 8;
}

static const char *
cuckoo_check_payload(const BfFilter *filter)
{
	return bf_cuckoo_used_slots(filter) == filter->bits_set ? NULL :
		"The number of fingerprints is not what the header says.";
}

/* A new, empty filter in the current memory context. */
BfParamsError
bf_cuckoo_create(int64 capacity, const BfCuckooParams *params, BfFilter **result)
{
	BfFilter	header = {0};
	BfGeometry	geometry;
	uint32		expansion = (uint32) params->expansion;
	BfFilter   *filter;

	if (capacity < 1)
		return BF_PARAMS_CAPACITY;
	if (params->bucket_size < 1 || params->bucket_size > BF_MAX_BUCKET_SIZE)
		return BF_PARAMS_BUCKET_SIZE;
	if (params->fingerprint_bits != 8 && params->fingerprint_bits != 16 &&
		params->fingerprint_bits != 32)
		return BF_PARAMS_FINGERPRINT_BITS;
	if (params->max_iterations < 1 || params->max_iterations > BF_MAX_ITERATIONS)
		return BF_PARAMS_ITERATIONS;
	if (params->expansion < 0 || params->expansion > BF_MAX_EXPANSION)
		return BF_PARAMS_EXPANSION;

	/* RedisBloom takes the next power of two */
	if (expansion > 0)
		expansion = pg_nextpower2_32(expansion);
	header.detail = (uint32) params->bucket_size | (uint32) params->fingerprint_bits << 8 |
		(uint32) params->max_iterations << 16;
	header.extra[0] = (uint64) expansion | UINT64CONST(1) << 16 |
		(uint64) log2_buckets_for((uint64) capacity, (uint32) params->bucket_size) << 32;
	geometry.bits = total_bits(&header);
	geometry.hashes = 2;
	if (geometry.bits > BF_MAX_BITS)
		return BF_PARAMS_TOO_MANY_FINGERPRINTS;

	filter = bf_format_create(BF_KIND_CUCKOO_FILTER, geometry.bits / 8, geometry,
							  BF_SCHEME_MURMUR64A_SEED0, (uint64) capacity,
							  full_fpr((uint32) params->bucket_size,
									   (uint32) params->fingerprint_bits));
	filter->detail = header.detail;
	filter->extra[0] = header.extra[0];
	*result = filter;
	return BF_PARAMS_OK;
}

static BfFilter *
cuckoo_empty_like(const BfFilter *header)
{
	BfCuckooParams params;
	BfFilter   *filter = NULL;

	params.bucket_size = (int32) bf_cuckoo_bucket_size(header);
	params.fingerprint_bits = (int32) bf_cuckoo_fingerprint_bits(header);
	params.max_iterations = (int32) bf_cuckoo_max_iterations(header);
	params.expansion = (int32) bf_cuckoo_expansion(header);
	(void) bf_cuckoo_create((int64) header->capacity, &params, &filter);
	return filter;
}

static bool
cuckoo_same_geometry(const BfFilter *a, const BfFilter *b)
{
	return bf_cuckoo_bucket_size(a) == bf_cuckoo_bucket_size(b) &&
		bf_cuckoo_fingerprint_bits(a) == bf_cuckoo_fingerprint_bits(b) &&
		bf_cuckoo_expansion(a) == bf_cuckoo_expansion(b) &&
		bf_cuckoo_log2_buckets(a) == bf_cuckoo_log2_buckets(b);
}

static double
cuckoo_count(const BfFilter *header)
{
	return (double) header->bits_set;
}

/* The rate when a probe looks at so many slots that are in use. */
static double
fpr_of_slots(const BfFilter *header, double slots)
{
	double		fingerprints = ldexp(1.0, (int) bf_cuckoo_fingerprint_bits(header)) - 1.0;

	return -expm1(slots * log1p(-1.0 / fingerprints));
}

/*
 * The rate by the slots in use.  Of sub-filters of different sizes the header
 * does not tell how full each is: then it is the most it can be, with the
 * smaller ones full.
 */
static double
cuckoo_fpr(const BfFilter *header)
{
	double		bucket_size = bf_cuckoo_bucket_size(header);
	double		items = (double) header->bits_set;
	double		slots = 0.0;

	for (uint32 i = 0; i < bf_cuckoo_sub_filters(header); i++)
	{
		double		here = (double) bf_cuckoo_sub_filter(header, i).buckets * bucket_size;

		slots += 2.0 * bucket_size * Min(items / here, 1.0);
		items -= Min(items, here);
	}
	return fpr_of_slots(header, slots);
}

/* When every slot is in use. */
static double
cuckoo_fpr_bound(const BfFilter *header)
{
	return fpr_of_slots(header, 2.0 * bf_cuckoo_bucket_size(header) *
						bf_cuckoo_sub_filters(header));
}

const BfMethods bf_cuckoo_methods = {
	.format = {
		.type_name = "cuckoo_filter",
		.scheme = BF_SCHEME_MURMUR64A_SEED0,
		.check_header = cuckoo_check_header,
		.payload_size = cuckoo_payload_size,
		.check_payload = cuckoo_check_payload
	},
	.empty_like = cuckoo_empty_like,
	.contains = bf_cuckoo_contains,
	.contains_by_byte = bf_cuckoo_contains_by_byte,
	.add = bf_cuckoo_add,
	.add_batch = bf_cuckoo_add_new,
	.same_geometry = cuckoo_same_geometry,
	.unite = bf_cuckoo_unite,
	.count = cuckoo_count,
	.fpr = cuckoo_fpr,
	.fpr_bound = cuckoo_fpr_bound
};
