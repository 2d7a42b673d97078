/*-------------------------------------------------------------------------
 *
 * count_min.h
 *	  The count-min sketch (Cormode and Muthukrishnan 2005), free of fmgr.
 *
 * A top_k has the same header fields and begins with the same counters, so
 * what is declared here works on both; "sketch" stands for either.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_COUNT_MIN_H
#define BF_COUNT_MIN_H

#include "format.h"

#include "port/pg_bswap.h"

extern const BfFormat bf_count_min_format;

/* Where counters and totals stop: the largest bigint. */
#define BF_MAX_COUNT	((uint64) PG_INT64_MAX)

/* Rows there can be at most; columns only by BF_MAX_PAYLOAD. */
#define BF_MAX_DEPTH	BF_MAX_HASHES

/* Depth rows of width counters each. */
typedef struct BfShape
{
	uint64		width;
	uint32		depth;
} BfShape;

typedef enum BfShapeError
{
	BF_SHAPE_OK,
	BF_SHAPE_WIDTH,				/* below 1 */
	BF_SHAPE_DEPTH,				/* not between 1 and BF_MAX_DEPTH */
	BF_SHAPE_ERROR,				/* not between 0 and 1, or NaN */
	BF_SHAPE_PROBABILITY,		/* not between 0 and 1, or NaN */
	BF_SHAPE_PROBABILITY_TOO_SMALL, /* needs more than BF_MAX_DEPTH */
	BF_SHAPE_TOO_LARGE			/* needs more than BF_MAX_PAYLOAD */
} BfShapeError;

/* Header fields of the kind. */
static inline BfShape
bf_shape(const BfFilter *header)
{
	BfShape		shape;

	shape.width = header->bits;
	shape.depth = header->hashes;
	return shape;
}

static inline uint64
bf_count_min_total(const BfFilter *header)
{
	return header->extra[0];
}

static inline uint64
bf_shape_bytes(BfShape shape)
{
	return shape.width * shape.depth * sizeof(uint64);
}

/* Counters are stored little-endian on every machine. */
static inline uint64
bf_counter(uint64 stored)
{
#ifdef WORDS_BIGENDIAN
	return pg_bswap64(stored);
#else
	return stored;
#endif
}

/* A sum of two counts, or the largest count. */
static inline uint64
bf_add_counts(uint64 a, uint64 b)
{
	uint64		sum = a + b;

	return Min(sum, BF_MAX_COUNT);
}

/*
 * Add weight to a key's counter in each row: one at least, so that its count
 * rises.  Returns its count then.  The modulus is that of the width.
 */
static inline uint64
bf_count_min_add(BfFilter *sketch, BfModulus32 modulus, const uint32 *hashes, uint64 weight)
{
	uint64	   *row = (uint64 *) sketch->payload;
	uint64		total = bf_count_min_total(sketch) + weight;
	uint64		count = BF_MAX_COUNT;
	uint32		depth = sketch->hashes;

	if (likely(total <= BF_MAX_COUNT))
	{
		/* no counter is greater than the total */
		for (uint32 i = 0; i < depth; i++, row += modulus.m)
		{
			uint64	   *counter = &row[bf_mod32(modulus, hashes[i])];
			uint64		sum = bf_counter(*counter) + weight;

			*counter = bf_counter(sum);
			count = Min(count, sum);
		}
		sketch->extra[0] = total;
		return count;
	}
	for (uint32 i = 0; i < depth; i++, row += modulus.m)
	{
		uint64	   *counter = &row[bf_mod32(modulus, hashes[i])];
		uint64		sum = bf_add_counts(bf_counter(*counter), weight);

		*counter = bf_counter(sum);
		count = Min(count, sum);
	}
	sketch->extra[0] = BF_MAX_COUNT;
	return count;
}

/* Have a key's counters fetched, for bf_count_min_add() some keys later. */
static inline void
bf_count_min_prefetch(const BfFilter *sketch, BfModulus32 modulus, const uint32 *hashes)
{
	const uint64 *row = (const uint64 *) sketch->payload;

	for (uint32 i = 0; i < sketch->hashes; i++, row += modulus.m)
		bf_prefetch_write(&row[bf_mod32(modulus, hashes[i])]);
}

/* The count of a key: its smallest counter. */
static inline uint64
bf_count_min_count(const BfFilter *sketch, BfModulus32 modulus, const uint32 *hashes)
{
	const uint64 *row = (const uint64 *) sketch->payload;
	uint64		count = BF_MAX_COUNT;

	for (uint32 i = 0; i < sketch->hashes; i++, row += modulus.m)
		count = Min(count, bf_counter(row[bf_mod32(modulus, hashes[i])]));
	return count;
}

extern BfShapeError bf_shape_check(int64 width, int64 depth);
extern BfShapeError bf_shape_for_error(double error, double probability, BfShape *shape);
extern double bf_shape_error(BfShape shape);
extern double bf_shape_probability(BfShape shape);

extern BfFilter *bf_count_min_create(BfShape shape);
extern const char *bf_count_min_check_fields(const BfFilter *header);
extern const char *bf_count_min_check_counters(const BfFilter *sketch);
extern bool bf_count_min_same_shape(const BfFilter *a, const BfFilter *b);
extern void bf_count_min_unite(BfFilter *target, const BfFilter *source);
extern double bf_count_min_inner_product(const BfFilter *a, const BfFilter *b);

#endif							/* BF_COUNT_MIN_H */
