/*-------------------------------------------------------------------------
 *
 * counting.h
 *	  The counting Bloom filter (Fan and others 2000), free of fmgr.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_COUNTING_H
#define BF_COUNTING_H

#include "filter.h"

extern const BfMethods bf_counting_methods;

extern BfParamsError bf_counting_check_params(BfGeometry geometry, int counter_bits);
extern BfFilter *bf_counting_create(BfGeometry geometry, int counter_bits,
									BfScheme scheme, uint64 capacity, double fpr);
extern void bf_counting_remove(BfFilter *filter, BfHash hash);
extern uint32 bf_counting_key_count(const BfFilter *filter, BfHash hash);
extern BfFilter *bf_counting_to_bloom(const BfFilter *filter);

/* Header fields of the kind. */
static inline uint32
bf_counting_counter_bits(const BfFilter *header)
{
	return header->detail;
}

static inline uint64
bf_counting_saturated(const BfFilter *header)
{
	return header->extra[0];
}

#endif							/* BF_COUNTING_H */
