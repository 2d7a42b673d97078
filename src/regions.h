/*-------------------------------------------------------------------------
 *
 * regions.h
 *	  Positions of a large Bloom filter that wait to be set, region by region.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_REGIONS_H
#define BF_REGIONS_H

#include "filter.h"

/*
 * How many regions an array is divided into, at most: with more, the ends of all
 * runs do not stay in the first-level cache; with fewer, a region leaves too
 * little of the second-level one.
 */
#define BF_REGIONS		256

/*
 * The positions that wait: for each region a run of room for as many, which is a
 * power of two, so that a run is full when its end is a multiple of that.
 */
typedef struct BfRegions
{
	uint32		shift;			/* position >> shift is its region */
	uint32		count;			/* regions */
	uint32		room;			/* positions that one of them can hold */
	uint32		ends[BF_REGIONS];	/* of each run, as an index into positions */
	uint32		positions[FLEXIBLE_ARRAY_MEMBER];
} BfRegions;

extern uint64 bf_regions_capacity(const BfFilter *filter);
extern BfRegions *bf_regions_create(const BfFilter *filter);
extern void bf_regions_add(BfRegions *regions, BfFilter *filter,
						   const BfHash *hashes, int count);
extern void bf_regions_apply(const BfRegions *regions, BfFilter *filter);
extern void bf_regions_clear(BfRegions *regions);

#endif							/* BF_REGIONS_H */
