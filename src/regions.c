/*-------------------------------------------------------------------------
 *
 * regions.c
 *	  Positions of a large Bloom filter that wait to be set, region by region.
 *
 * A position of an array that the cache does not hold costs a miss, and a key
 * has seven of them.  So positions are first written behind each other, one run
 * for each region of the array, which the cache is good at; a region whose run
 * is full is then set as a whole, in the second-level cache, and its lines are
 * fetched once for many positions (the radix partitioning of hash joins:
 * Manegold, Boncz and Kersten, "Optimizing Main-Memory Join on Modern Hardware",
 * 2002).
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "regions.h"

#include "bits.h"
#include "bloom.h"

/*
 * The arrays for which it is done.  Of smaller ones so many lines stay in the
 * second-level cache that prefetching serves as well.  The room is as large as
 * the array, so that a line of a region is fetched for some 16 positions, but not
 * larger than the third-level cache of most machines; of an array four times as
 * large a line is still fetched for 4, which is where the gain ends.
 */
#define BF_REGIONS_MIN_PAYLOAD	(8 * 1024 * 1024)
#define BF_REGIONS_MAX_SIZE		(32 * 1024 * 1024)
#define BF_REGIONS_MAX_PAYLOAD	(4 * BF_REGIONS_MAX_SIZE)

/* The shift, the number of regions and the room of each, for an array of so many bits. */
static void
divide(BfRegions *regions, uint64 bits)
{
	regions->shift = 0;
	while ((bits - 1) >> regions->shift >= BF_REGIONS)
		regions->shift++;
	regions->count = (uint32) ((bits - 1) >> regions->shift) + 1;
	/* as many bits as a region has */
	regions->room = (uint32) ((UINT64CONST(1) << regions->shift) / (8 * sizeof(uint32)));
	while ((uint64) regions->count * regions->room * sizeof(uint32) > BF_REGIONS_MAX_SIZE)
		regions->room /= 2;
}

/* How many positions the regions of a filter hold; 0 if it should have none. */
uint64
bf_regions_capacity(const BfFilter *filter)
{
	BfRegions	regions;
	uint64		size = bf_bits_bytes(filter->bits);

	if (filter->kind != BF_KIND_BLOOM ||
		size < BF_REGIONS_MIN_PAYLOAD || size > BF_REGIONS_MAX_PAYLOAD)
		return 0;
	divide(&regions, filter->bits);
	return (uint64) regions.count * regions.room;
}

/* Empty ones, in the current memory context. */
BfRegions *
bf_regions_create(const BfFilter *filter)
{
	BfRegions	shape;
	BfRegions  *regions;
	size_t		size;

	divide(&shape, filter->bits);
	size = offsetof(BfRegions, positions) + (size_t) shape.count * shape.room * sizeof(uint32);
	regions = (BfRegions *) palloc(size);
	bf_advise_large_pages(regions, size);
	divide(regions, filter->bits);
	bf_regions_clear(regions);
	return regions;
}

/* How far ahead of its use a line is fetched: every 4th to 16th position brings a new one. */
#define BF_REGIONS_AHEAD		64

static inline void
set_position(uint8 *bytes, uint32 position)
{
	bytes[position >> 3] |= (uint8) (1 << (position & 7));
}

static void
set_positions(uint8 *bytes, const uint32 *positions, uint32 count)
{
	uint32		i = 0;

	for (; i + BF_REGIONS_AHEAD < count; i++)
	{
		bf_prefetch_write(bytes + (positions[i + BF_REGIONS_AHEAD] >> 3));
		set_position(bytes, positions[i]);
	}
	for (; i < count; i++)
		set_position(bytes, positions[i]);
}

/*
 * Add keys, without counting the bits that are set: bf_bloom_recount() must
 * follow before bits_set is read.
 */
void
bf_regions_add(BfRegions *regions, BfFilter *filter, const BfHash *hashes, int count)
{
	BfModulus	modulus = bf_modulus(filter->bits);
	uint32		nhashes = filter->hashes;
	uint32		shift = regions->shift;
	uint32		mask = regions->room - 1;
	uint32	   *positions = regions->positions;

	for (int key = 0; key < count; key++)
	{
		uint64		h = hashes[key].h1;

		for (uint32 i = 0; i < nhashes; i++, h += hashes[key].h2)
		{
			/* below BF_MAX_BITS, so 32 bits hold it */
			uint32		position = (uint32) bf_mod(modulus, h);
			uint32		region = position >> shift;
			uint32		end = regions->ends[region];

			positions[end++] = position;
			if (unlikely((end & mask) == 0))
			{
				end -= regions->room;
				set_positions(filter->payload, positions + end, regions->room);
			}
			regions->ends[region] = end;
		}
	}
}

/* Set what waits in a filter, which may be a copy. */
void
bf_regions_apply(const BfRegions *regions, BfFilter *filter)
{
	for (uint32 region = 0; region < regions->count; region++)
	{
		uint32		begin = region * regions->room;

		BF_CHECK_FOR_INTERRUPTS();
		set_positions(filter->payload, regions->positions + begin,
					  regions->ends[region] - begin);
	}
}

void
bf_regions_clear(BfRegions *regions)
{
	for (uint32 region = 0; region < regions->count; region++)
		regions->ends[region] = region * regions->room;
}
