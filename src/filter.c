/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  What every kind of Bloom filter can do: dispatch to the kind, and the
 *	  estimates that only need the header.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "filter.h"

#include <math.h>

#include "bloom.h"

/* A copy in the current memory context. */
BfFilter *
bf_filter_copy(const BfFilter *filter)
{
	Size		size = (Size) bf_format_size(filter);
	BfFilter   *copy = (BfFilter *) palloc(size);

	memcpy(copy, filter, size);
	return copy;
}

/* An empty filter made as another one; only that one's header is read. */
BfFilter *
bf_filter_empty_like(const BfFilter *header)
{
	return bf_bloom_create(bf_geometry(header), (BfScheme) header->scheme,
						   header->capacity, header->fpr);
}

bool
bf_filter_contains(const BfFilter *filter, BfHash hash)
{
	return bf_bloom_contains(filter, hash);
}

void
bf_filter_add(BfFilter *filter, BfHash hash)
{
	bf_bloom_add(filter, hash);
}

void
bf_filter_add_batch(BfFilter *filter, const BfHash *hashes, int count)
{
	bf_bloom_add_batch(filter, hashes, count);
}

/* Whether union and intersection of two filters of one kind make sense. */
bool
bf_filter_same_geometry(const BfFilter *a, const BfFilter *b)
{
	return a->bits == b->bits && a->hashes == b->hashes && a->scheme == b->scheme;
}

void
bf_filter_union(BfFilter *target, const BfFilter *source)
{
	bf_bloom_union(target, source);
}

void
bf_filter_intersect(BfFilter *target, const BfFilter *source)
{
	bf_bloom_intersect(target, source);
}

/* Estimated number of distinct keys; Infinity for a full filter. */
double
bf_filter_count(const BfFilter *header)
{
	return bf_count_for_fill(bf_geometry(header), header->bits_set);
}

/* The rate at which absent keys pass now. */
double
bf_filter_fpr(const BfFilter *header)
{
	return bf_fpr_for_fill(bf_geometry(header), header->bits_set);
}

/* Estimated number of distinct keys in either of two filters. */
double
bf_filter_union_count(const BfFilter *a, const BfFilter *b)
{
	return bf_count_for_fill(bf_geometry(a), bf_bloom_union_bits_set(a, b));
}

/*
 * Estimated number of distinct keys in both, by inclusion and exclusion.  A
 * full filter contains every key, so what it shares is the other one.
 */
static double
intersect_count(double count_a, double count_b, double count_union)
{
	if (isinf(count_a))
		return count_b;
	if (isinf(count_b))
		return count_a;
	/* two filters that are not full can still fill each other up */
	if (isinf(count_union))
		return 0.0;
	return Max(0.0, count_a + count_b - count_union);
}

double
bf_filter_intersect_count(const BfFilter *a, const BfFilter *b)
{
	return intersect_count(bf_filter_count(a), bf_filter_count(b),
						   bf_filter_union_count(a, b));
}

/*
 * Estimated number of shared keys in relation to all keys: 0 to 1.  Two sets
 * without keys are the same set, and so are two of all keys.
 */
double
bf_filter_jaccard(const BfFilter *a, const BfFilter *b)
{
	double		count_union = bf_filter_union_count(a, b);
	double		count_shared = bf_filter_intersect_count(a, b);

	if (count_union == count_shared)
		return 1.0;
	if (isinf(count_union))
		return 0.0;
	return count_shared / count_union;
}
