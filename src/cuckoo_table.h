/*-------------------------------------------------------------------------
 *
 * cuckoo_table.h
 *	  Buckets and fingerprints of the cuckoo filter: for cuckoo_*.c only.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_CUCKOO_TABLE_H
#define BF_CUCKOO_TABLE_H

#include "cuckoo.h"

/* No sub-filter is too large or too new: see bf_cuckoo_insert(). */
#define BF_ANY_SUB_FILTER	BF_MAX_SUB_FILTERS

/* What RedisBloom multiplies a fingerprint by: MurmurHash2's multiplier. */
#define BF_ALTERNATE_MULTIPLIER	UINT64CONST(0x5bd1e995)

#define BF_FREE_SLOT	0

/* Where a key may be: the buckets are h1 and h2 modulo their number. */
typedef struct BfCuckooPlace
{
	uint64		h1;
	uint64		h2;
	uint32		fingerprint;
} BfCuckooPlace;

static inline uint64
bf_cuckoo_alternate(uint64 h, uint32 fingerprint)
{
	return h ^ (fingerprint * BF_ALTERNATE_MULTIPLIER);
}

static inline BfCuckooPlace
bf_cuckoo_place(uint64 h, uint32 fingerprint)
{
	BfCuckooPlace place;

	place.h1 = h;
	place.h2 = bf_cuckoo_alternate(h, fingerprint);
	place.fingerprint = fingerprint;
	return place;
}

/* Width is that of a fingerprint in bytes; constants make it fast. */
static pg_attribute_always_inline BfCuckooPlace
bf_cuckoo_place_of_key(BfHash hash, uint32 width)
{
	uint64		h = hash.h1;

	return bf_cuckoo_place(h, (uint32) (width == 1 ? h % 255 :
										width == 2 ? h % 65535 : h % PG_UINT32_MAX) + 1);
}

static pg_attribute_always_inline uint32
bf_cuckoo_get_slot(const uint8 *slot, uint32 width)
{
	if (width == 1)
		return slot[0];
	if (width == 2)
		return slot[0] | (uint32) slot[1] << 8;
	return slot[0] | (uint32) slot[1] << 8 | (uint32) slot[2] << 16 | (uint32) slot[3] << 24;
}

static pg_attribute_always_inline void
bf_cuckoo_set_slot(uint8 *slot, uint32 width, uint32 fingerprint)
{
	for (uint32 i = 0; i < width; i++)
		slot[i] = (uint8) (fingerprint >> (8 * i));
}

/* The bucket of a sub-filter that a hash falls into. */
static inline uint8 *
bf_cuckoo_bucket(const BfFilter *filter, const BfSubFilter *sub, uint64 h)
{
	return unconstify(uint8 *, &filter->payload[0]) + sub->offset +
		(h & (sub->buckets - 1)) * bf_cuckoo_bucket_bytes(filter);
}

/* The first slot of a bucket with that fingerprint, or that is free; or NULL. */
static pg_attribute_always_inline uint8 *
bf_cuckoo_find_in_bucket(uint8 *bucket, uint32 bucket_size, uint32 width, uint32 fingerprint)
{
	for (uint32 i = 0; i < bucket_size; i++, bucket += width)
	{
		if (bf_cuckoo_get_slot(bucket, width) == fingerprint)
			return bucket;
	}
	return NULL;
}

/* The same in both buckets of a place. */
static pg_attribute_always_inline uint8 *
bf_cuckoo_find(const BfFilter *filter, const BfSubFilter *sub, BfCuckooPlace place,
			   uint32 width, uint32 fingerprint)
{
	uint32		bucket_size = bf_cuckoo_bucket_size(filter);
	uint8	   *first = bf_cuckoo_bucket(filter, sub, place.h1);
	uint8	   *second = bf_cuckoo_bucket(filter, sub, place.h2);
	uint8	   *slot = bf_cuckoo_find_in_bucket(first, bucket_size, width, fingerprint);

	return slot != NULL ? slot :
		bf_cuckoo_find_in_bucket(second, bucket_size, width, fingerprint);
}

static inline BfSubFilter
bf_cuckoo_newest(const BfFilter *header)
{
	return bf_cuckoo_sub_filter(header, bf_cuckoo_sub_filters(header) - 1);
}

/* Go to the next older sub-filter; false from the oldest. */
static inline bool
bf_cuckoo_to_older(const BfFilter *header, BfSubFilter *sub)
{
	if (sub->number == 0)
		return false;
	sub->number--;
	sub->buckets /= bf_cuckoo_expansion(header);
	sub->offset -= sub->buckets * bf_cuckoo_bucket_bytes(header);
	return true;
}

/* Whether any sub-filter holds a fingerprint. */
static pg_attribute_always_inline bool
bf_cuckoo_is_held(const BfFilter *filter, BfCuckooPlace place, uint32 width)
{
	BfSubFilter sub = bf_cuckoo_newest(filter);

	do
	{
		if (bf_cuckoo_find(filter, &sub, place, width, place.fingerprint) != NULL)
			return true;
	} while (bf_cuckoo_to_older(filter, &sub));
	return false;
}

extern BfFilter *bf_cuckoo_insert(BfFilter *filter, BfCuckooPlace place, uint32 up_to);

#endif							/* BF_CUCKOO_TABLE_H */
