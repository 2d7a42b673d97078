/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  What every kind of filter can do, whatever its payload.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_FILTER_H
#define BF_FILTER_H

#include "format.h"

/* Reads one byte of a value that is not in memory, at an offset into it. */
typedef uint8 (*BfByteReader) (void *argument, uint64 offset);

/*
 * One table for each kind.  What takes a head reads nothing behind it.  A
 * filter that may grow is given back at its new place, or NULL when that
 * would break a limit: then add has left it as it was, unite perhaps with some
 * of the keys.  What makes no sense for a kind is NULL.
 */
typedef struct BfMethods
{
	BfFormat	format;

	BfFilter   *(*empty_like) (const BfFilter *header);
	bool		(*contains) (const BfFilter *filter, BfHash hash);
	bool		(*contains_by_byte) (const BfFilter *head, BfHash hash,
									 BfByteReader reader, void *argument);
	BfFilter   *(*add) (BfFilter *filter, BfHash hash);

	/*
	 * Keys of an aggregate, many at once, so that their cache misses overlap;
	 * a plain filter's bits_set is not kept, and a cuckoo filter only takes
	 * keys that it does not hold.
	 */
	BfFilter   *(*add_batch) (BfFilter *filter, const BfHash *hashes, int count);
	bool		(*same_geometry) (const BfFilter *a, const BfFilter *b);
	BfFilter   *(*unite) (BfFilter *target, const BfFilter *source);
	void		(*intersect) (BfFilter *target, const BfFilter *source);
	double		(*count) (const BfFilter *head);
	double		(*fpr) (const BfFilter *head);
	double		(*fpr_bound) (const BfFilter *head);

	/* as a plain filter of the same keys, if there is one */
	BfFilter   *(*to_bloom) (const BfFilter *filter);
} BfMethods;

extern const BfMethods *bf_methods(BfKind kind);

extern BfFilter *bf_filter_copy(const BfFilter *filter);
extern BfFilter *bf_filter_empty_like(const BfFilter *header);
extern bool bf_filter_contains(const BfFilter *filter, BfHash hash);
extern bool bf_filter_contains_by_byte(const BfFilter *head, BfHash hash,
									   BfByteReader reader, void *argument);
extern BfFilter *bf_filter_add(BfFilter *filter, BfHash hash);
extern BfFilter *bf_filter_add_batch(BfFilter *filter, const BfHash *hashes, int count);
extern bool bf_filter_has_fixed_size(const BfFilter *header);
extern bool bf_filter_same_geometry(const BfFilter *a, const BfFilter *b);
extern BfFilter *bf_filter_union(BfFilter *target, const BfFilter *source);
extern BfFilter *bf_filter_intersect(BfFilter *target, const BfFilter *source);
extern void bf_filter_widen_promise(BfFilter *target, const BfFilter *source);

extern double bf_filter_fill(const BfFilter *header);
extern double bf_filter_count(const BfFilter *head);
extern double bf_filter_fpr(const BfFilter *head);
extern double bf_filter_fpr_bound(const BfFilter *head);
extern double bf_filter_union_count(const BfFilter *a, const BfFilter *b);
extern double bf_filter_intersect_count(const BfFilter *a, const BfFilter *b);
extern double bf_filter_jaccard(const BfFilter *a, const BfFilter *b);

#endif							/* BF_FILTER_H */
