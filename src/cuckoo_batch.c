/*-------------------------------------------------------------------------
 *
 * cuckoo_batch.c
 *	  Many keys at once into a cuckoo filter, for aggregates.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_table.h"

#include "port/pg_bitutils.h"

/* Keys whose buckets are fetched before the first is added. */
#define BF_CUCKOO_AHEAD		64

/*
 * The lanes of a word that are zero, by the top bit of each; above the lowest
 * of them there may be false ones.
 */
static pg_attribute_always_inline uint64
zero_lanes(uint64 word, uint64 lanes, uint32 width)
{
	return (word - lanes) & ~word & (lanes << (8 * width - 1));
}

/* Bytes of a bucket, of which there are 2, 4 or 8, as a little-endian number. */
static pg_attribute_always_inline uint64
load_bucket(const uint8 *bucket, uint32 bytes)
{
	if (bytes == 2)
		return bf_cuckoo_get_slot(bucket, 2);
	if (bytes == 4)
		return bf_cuckoo_get_slot(bucket, 4);
	return bf_cuckoo_get_slot(bucket, 4) | (uint64) bf_cuckoo_get_slot(bucket + 4, 4) << 32;
}

/*
 * Whether a sub-filter holds a key; if not, free_slot is set to the first one
 * that is free, unless it is set already.  All slots of a bucket are compared
 * at once, and of smaller buckets both: where a slot is free no branch
 * predictor could guess.
 */
static pg_attribute_always_inline bool
is_held_here(const BfFilter *filter, const BfSubFilter *sub, BfCuckooPlace place,
			 uint32 width, uint32 bucket_size, uint8 **free_slot)
{
	uint32		bytes = width * bucket_size;
	uint8	   *first = bf_cuckoo_bucket(filter, sub, place.h1);
	uint8	   *second = bf_cuckoo_bucket(filter, sub, place.h2);
	uint64		lanes = width == 1 ? UINT64CONST(0x0101010101010101) :
		width == 2 ? UINT64CONST(0x0001000100010001) : UINT64CONST(0x0000000100000001);
	uint64		word = load_bucket(first, bytes);
	uint64		second_word = load_bucket(second, bytes);
	uint64		wanted;
	uint64		free_lanes;

	if (bytes < 8)
	{
		word |= second_word << (8 * bytes);
		/* of the smallest buckets half of the word is not theirs */
		if (bytes == 2)
			lanes &= PG_UINT32_MAX;
	}
	wanted = place.fingerprint * lanes;
	free_lanes = zero_lanes(word, lanes, width);
	if (zero_lanes(word ^ wanted, lanes, width) != 0)
		return true;
	if (bytes == 8)
	{
		if (zero_lanes(second_word ^ wanted, lanes, width) != 0)
			return true;
		if (free_lanes == 0)
		{
			first = second;
			free_lanes = zero_lanes(second_word, lanes, width);
		}
	}
	if (*free_slot == NULL && free_lanes != 0)
	{
		uint32		offset = (uint32) pg_rightmost_one_pos64(free_lanes) / (8 * width) * width;

		*free_slot = (offset < bytes ? first : second - bytes) + offset;
	}
	return false;
}

/*
 * Add a key that is not held; false when that is not so simple.  Sub is the
 * newest sub-filter.
 */
static pg_attribute_always_inline bool
add_simply(BfFilter *filter, BfSubFilter sub, BfCuckooPlace place,
		   uint32 width, uint32 bucket_size)
{
	uint8	   *free_slot = NULL;

	do
	{
		if (is_held_here(filter, &sub, place, width, bucket_size, &free_slot))
			return true;
	} while (bf_cuckoo_to_older(filter, &sub));
	if (free_slot == NULL)
		return false;
	bf_cuckoo_set_slot(free_slot, width, place.fingerprint);
	filter->bits_set++;
	return true;
}

/* A bucket size of 0 stands for the sizes that are not usual. */
static pg_attribute_always_inline BfFilter *
add_new(BfFilter *filter, const BfHash *hashes, int count, uint32 width, uint32 bucket_size)
{
	BfCuckooPlace places[BF_CUCKOO_AHEAD];
	BfSubFilter newest = bf_cuckoo_newest(filter);

	for (int from = 0; from < count; from += BF_CUCKOO_AHEAD)
	{
		int			n = Min(count - from, BF_CUCKOO_AHEAD);

		for (int i = 0; i < n; i++)
		{
			BfSubFilter sub = newest;

			places[i] = bf_cuckoo_place_of_key(hashes[from + i], width);
			do
			{
				bf_prefetch_write(bf_cuckoo_bucket(filter, &sub, places[i].h1));
				bf_prefetch_write(bf_cuckoo_bucket(filter, &sub, places[i].h2));
			} while (bf_cuckoo_to_older(filter, &sub));
		}
		for (int i = 0; i < n; i++)
		{
			if (bucket_size != 0 ? add_simply(filter, newest, places[i], width, bucket_size) :
				bf_cuckoo_is_held(filter, places[i], width))
				continue;
			filter = bf_cuckoo_insert(filter, places[i], BF_ANY_SUB_FILTER);
			if (filter == NULL)
				return NULL;
			newest = bf_cuckoo_newest(filter);
		}
	}
	return filter;
}

/* Add the keys of a batch that are not held, truly or not; NULL if one cannot be. */
BfFilter *
bf_cuckoo_add_new(BfFilter *filter, const BfHash *hashes, int count)
{
	uint32		width = bf_cuckoo_fingerprint_width(filter);

	switch (bf_cuckoo_bucket_size(filter))
	{
		case 2:
			if (width == 1)
				return add_new(filter, hashes, count, 1, 2);
			if (width == 2)
				return add_new(filter, hashes, count, 2, 2);
			return add_new(filter, hashes, count, 4, 2);
		case 4:
			if (width == 1)
				return add_new(filter, hashes, count, 1, 4);
			if (width == 2)
				return add_new(filter, hashes, count, 2, 4);
			break;
	}
	return add_new(filter, hashes, count, width, 0);
}
