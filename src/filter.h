/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  What every kind of Bloom filter can do, whatever its payload.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_FILTER_H
#define BF_FILTER_H

#include "format.h"

extern BfFilter *bf_filter_copy(const BfFilter *filter);
extern BfFilter *bf_filter_empty_like(const BfFilter *header);
extern bool bf_filter_contains(const BfFilter *filter, BfHash hash);
extern void bf_filter_add(BfFilter *filter, BfHash hash);
extern void bf_filter_add_batch(BfFilter *filter, const BfHash *hashes, int count);
extern bool bf_filter_same_geometry(const BfFilter *a, const BfFilter *b);
extern void bf_filter_union(BfFilter *target, const BfFilter *source);
extern void bf_filter_intersect(BfFilter *target, const BfFilter *source);

extern double bf_filter_count(const BfFilter *header);
extern double bf_filter_fpr(const BfFilter *header);
extern double bf_filter_union_count(const BfFilter *a, const BfFilter *b);
extern double bf_filter_intersect_count(const BfFilter *a, const BfFilter *b);
extern double bf_filter_jaccard(const BfFilter *a, const BfFilter *b);

#endif							/* BF_FILTER_H */
