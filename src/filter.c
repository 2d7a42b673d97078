/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  What every kind of filter can do: dispatch to the kind, and the
 *	  estimates about two filters.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "filter.h"

#include <math.h>

#include "bits.h"
#include "bloom.h"
#include "counting.h"
#include "cuckoo.h"
#include "scalable.h"

/* The kind's table, or NULL for one that does not exist or is a sketch. */
const BfMethods *
bf_methods(BfKind kind)
{
	switch (kind)
	{
		case BF_KIND_BLOOM:
			return &bf_bloom_methods;
		case BF_KIND_COUNTING_BLOOM:
			return &bf_counting_methods;
		case BF_KIND_SCALABLE_BLOOM:
			return &bf_scalable_methods;
		case BF_KIND_CUCKOO_FILTER:
			return &bf_cuckoo_methods;
		case BF_KIND_COUNT_MIN_SKETCH:
		case BF_KIND_TOP_K:
		case BF_KIND_ANY:
		case BF_KIND_ANY_TYPE:
			break;
	}
	return NULL;
}

static inline const BfMethods *
methods_of(const BfFilter *filter)
{
	return bf_methods((BfKind) filter->kind);
}

/* A copy in the current memory context. */
BfFilter *
bf_filter_copy(const BfFilter *filter)
{
	size_t		size = (size_t) bf_format_size(filter);
	BfFilter   *copy = (BfFilter *) palloc(size);

	bf_advise_large_pages(copy, size);
	bf_bytes_copy(copy, filter, size);
	return copy;
}

/* An empty filter made as another one; only that one's head is read. */
BfFilter *
bf_filter_empty_like(const BfFilter *head)
{
	return methods_of(head)->empty_like(head);
}

bool
bf_filter_contains(const BfFilter *filter, BfHash hash)
{
	return methods_of(filter)->contains(filter, hash);
}

/* The same of a value of which only the head is in memory. */
bool
bf_filter_contains_by_byte(const BfFilter *head, BfHash hash,
						   BfByteReader reader, void *argument)
{
	return methods_of(head)->contains_by_byte(head, hash, reader, argument);
}

/* See BfMethods about growing. */
BfFilter *
bf_filter_add(BfFilter *filter, BfHash hash)
{
	return methods_of(filter)->add(filter, hash);
}

/* See BfMethods about what this does not do. */
BfFilter *
bf_filter_add_batch(BfFilter *filter, const BfHash *hashes, int count)
{
	return methods_of(filter)->add_batch(filter, hashes, count);
}

/* Whether two filters of one type can be combined. */
bool
bf_filter_same_geometry(const BfFilter *a, const BfFilter *b)
{
	return a->kind == b->kind && methods_of(a)->same_geometry(a, b);
}

/* target |= source; the caller has compared geometries. */
BfFilter *
bf_filter_union(BfFilter *target, const BfFilter *source)
{
	return methods_of(target)->unite(target, source);
}

/* Whether a filter can be intersected and compared with others. */
bool
bf_filter_has_fixed_size(const BfFilter *header)
{
	return methods_of(header)->intersect != NULL;
}

/* target &= source, of fixed size; the caller has compared geometries. */
BfFilter *
bf_filter_intersect(BfFilter *target, const BfFilter *source)
{
	methods_of(target)->intersect(target, source);
	return target;
}

/* What target was made for becomes the larger of both, whatever the order. */
void
bf_filter_widen_promise(BfFilter *target, const BfFilter *source)
{
	target->capacity = Max(target->capacity, source->capacity);
	target->fpr = Max(target->fpr, source->fpr);
}

/* The share of the bits that are set. */
double
bf_filter_fill(const BfFilter *header)
{
	return (double) header->bits_set / (double) header->bits;
}

/* Estimated number of distinct keys; Infinity for a full filter. */
double
bf_filter_count(const BfFilter *head)
{
	return methods_of(head)->count(head);
}

/* The rate at which absent keys pass now. */
double
bf_filter_fpr(const BfFilter *head)
{
	return methods_of(head)->fpr(head);
}

/* The rate that is kept while each layer holds what it was made for. */
double
bf_filter_fpr_bound(const BfFilter *head)
{
	return methods_of(head)->fpr_bound(head);
}

/* Estimated number of distinct keys in either of two filters. */
double
bf_filter_union_count(const BfFilter *a, const BfFilter *b)
{
	BfFilter   *plain_a = methods_of(a)->to_bloom(a);
	BfFilter   *plain_b = methods_of(b)->to_bloom(b);
	double		count;

	count = bf_count_for_fill(bf_geometry(a), bf_bloom_union_bits_set(plain_a, plain_b));
	if (plain_a != a)
		pfree(plain_a);
	if (plain_b != b)
		pfree(plain_b);
	return count;
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
	double		count_shared = intersect_count(bf_filter_count(a), bf_filter_count(b),
											   count_union);

	if (count_union == count_shared)
		return 1.0;
	if (isinf(count_union))
		return 0.0;
	return Min(1.0, count_shared / count_union);
}
