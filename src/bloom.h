/*-------------------------------------------------------------------------
 *
 * bloom.h
 *	  The plain Bloom filter (Bloom 1970), free of fmgr.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_BLOOM_H
#define BF_BLOOM_H

#include "bits.h"
#include "filter.h"

extern const BfMethods bf_bloom_methods;

/*
 * Positions that a probe looks at before it decides.  Of a half full filter
 * each rejects an absent key with a chance of one half: a branch for each
 * would be mispredicted every other time, and their cache misses would come
 * one after the other.
 */
#define BF_PROBE_GROUP	4

/*
 * The k positions of a key in an array of bits: also what a layer of a
 * scalable filter consists of.
 */
static inline bool
bf_positions_are_set(const uint8 *bytes, BfGeometry geometry, BfHash hash)
{
	BfModulus	modulus = bf_modulus(geometry.bits);
	uint64		h = hash.h1;
	uint32		i = 0;

	for (; i + BF_PROBE_GROUP <= geometry.hashes; i += BF_PROBE_GROUP)
	{
		bool		all = true;

		for (int j = 0; j < BF_PROBE_GROUP; j++, h += hash.h2)
			all &= bf_bit_is_set(bytes, bf_mod(modulus, h));
		if (!all)
			return false;
	}
	for (; i < geometry.hashes; i++, h += hash.h2)
	{
		if (!bf_bit_is_set(bytes, bf_mod(modulus, h)))
			return false;
	}
	return true;
}

/* The same, of an array that starts at an offset into a value not in memory. */
static inline bool
bf_positions_are_set_by_byte(uint64 offset, BfGeometry geometry, BfHash hash,
							 BfByteReader reader, void *argument)
{
	BfModulus	modulus = bf_modulus(geometry.bits);
	uint64		h = hash.h1;

	for (uint32 i = 0; i < geometry.hashes; i++, h += hash.h2)
	{
		uint64		position = bf_mod(modulus, h);

		if (!((reader(argument, offset + position / 8) >> (position % 8)) & 1))
			return false;
	}
	return true;
}

/* Returns how many bits were not set before. */
static inline unsigned
bf_positions_set(uint8 *bytes, BfGeometry geometry, BfHash hash)
{
	BfModulus	modulus = bf_modulus(geometry.bits);
	uint64		h = hash.h1;
	unsigned	fresh = 0;

	for (uint32 i = 0; i < geometry.hashes; i++, h += hash.h2)
		fresh += bf_bit_set(bytes, bf_mod(modulus, h));
	return fresh;
}

extern BfFilter *bf_bloom_create(BfGeometry geometry, BfScheme scheme,
								 uint64 capacity, double fpr);
extern BfFilter *bf_bloom_set_batch(BfFilter *filter, const BfHash *hashes, int count);
extern void bf_bloom_recount(BfFilter *filter);
extern double bf_bloom_count(const BfFilter *header);
extern double bf_bloom_fpr(const BfFilter *header);
extern double bf_bloom_fpr_bound(const BfFilter *header);
extern uint64 bf_bloom_union_bits_set(const BfFilter *a, const BfFilter *b);

#endif							/* BF_BLOOM_H */
