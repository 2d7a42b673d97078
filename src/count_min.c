/*-------------------------------------------------------------------------
 *
 * count_min.c
 *	  The count-min sketch: depth rows of width counters, of which each key
 *	  has one in every row.
 *
 * Cormode and Muthukrishnan, "An Improved Data Stream Summary: The Count-Min
 * Sketch and its Applications", 2005.  A key's count is its smallest counter:
 * never below the truth, because other keys only add to it, and with a width
 * of e / error and a depth of ln(1 / probability) above it by more than
 * error * total with at most that probability.
 *
 * Row i hashes with MurmurHash2 seeded with i, modulo the width, as RedisBloom
 * does; other than there, counters have 64 bits and stop at the largest
 * bigint, from where they are a lower bound.
 *
 * Header: scheme murmur2, hashes is the depth, bits the width, the first extra
 * field the total of all weights; the others are zero.  Payload: the counters
 * row by row, 8 bytes each, little-endian.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "count_min.h"

#include <math.h>

/* Counters between two looks whether the query was cancelled. */
#define BF_COUNTERS_PER_INTERRUPT_CHECK		(1024 * 1024)

/* Whether a shape that a user wrote down can be had. */
BfShapeError
bf_shape_check(int64 width, int64 depth)
{
	if (width < 1)
		return BF_SHAPE_WIDTH;
	if (depth < 1 || depth > BF_MAX_DEPTH)
		return BF_SHAPE_DEPTH;
	if ((uint64) width > BF_MAX_PAYLOAD / sizeof(uint64) / (uint64) depth)
		return BF_SHAPE_TOO_LARGE;
	return BF_SHAPE_OK;
}

/* The smallest shape that keeps an error with a probability of failure. */
BfShapeError
bf_shape_for_error(double error, double probability, BfShape *shape)
{
	double		width;
	double		depth;

	/* written so that NaN fails */
	if (!(error > 0.0 && error < 1.0))
		return BF_SHAPE_ERROR;
	if (!(probability > 0.0 && probability < 1.0))
		return BF_SHAPE_PROBABILITY;

	width = ceil(M_E / error);
	depth = Max(1.0, ceil(-log(probability)));
	if (depth > BF_MAX_DEPTH)
		return BF_SHAPE_PROBABILITY_TOO_SMALL;
	if (width * depth > (double) (BF_MAX_PAYLOAD / sizeof(uint64)))
		return BF_SHAPE_TOO_LARGE;
	shape->width = (uint64) width;
	shape->depth = (uint32) depth;
	return BF_SHAPE_OK;
}

/* The error that a shape keeps, as a share of the total. */
double
bf_shape_error(BfShape shape)
{
	return M_E / (double) shape.width;
}

/* The probability that a count exceeds that error. */
double
bf_shape_probability(BfShape shape)
{
	return exp(-(double) shape.depth);
}

/* A new, empty sketch in the current memory context; the shape is checked. */
BfFilter *
bf_count_min_create(BfShape shape)
{
	BfGeometry	geometry;

	geometry.bits = shape.width;
	geometry.hashes = shape.depth;
	return bf_format_create(BF_KIND_COUNT_MIN_SKETCH, bf_shape_bytes(shape), geometry,
							BF_SCHEME_MURMUR2, 0, 0.0);
}

/* Check the fields that all sketches have, and those that none uses. */
const char *
bf_count_min_check_fields(const BfFilter *header)
{
	uint64		fpr;

	/* -0 is not 0 here */
	memcpy(&fpr, &header->fpr, sizeof(fpr));
	if (fpr != 0 || header->extra[1] != 0)
		return "Reserved fields are set.";
	if (header->hashes < 1 || header->hashes > BF_MAX_DEPTH)
		return "The depth is out of range.";
	if (header->bits < 1 ||
		header->bits > BF_MAX_PAYLOAD / sizeof(uint64) / header->hashes)
		return "The width is out of range.";
	if (bf_count_min_total(header) > BF_MAX_COUNT)
		return "The total is out of range.";
	return NULL;
}

static const char *
count_min_check_header(const BfFilter *header)
{
	if (header->detail != 0 || header->capacity != 0 || header->bits_set != 0)
		return "Reserved fields are set.";
	return bf_count_min_check_fields(header);
}

static uint64
count_min_payload_size(const BfFilter *header)
{
	return bf_shape_bytes(bf_shape(header));
}

/*
 * Every weight went into each row, so each sums up to the total; a total that
 * has stopped is where the sum stops, too.
 */
const char *
bf_count_min_check_counters(const BfFilter *sketch)
{
	const uint64 *counter = (const uint64 *) sketch->payload;

	for (uint32 row = 0; row < sketch->hashes; row++)
	{
		uint64		sum = 0;

		for (uint64 i = 0; i < sketch->bits; i++, counter++)
		{
			if (bf_counter(*counter) > BF_MAX_COUNT)
				return "A counter is out of range.";
			sum = bf_add_counts(sum, bf_counter(*counter));
		}
		if (sum != bf_count_min_total(sketch))
			return "The counters of a row do not sum up to the total.";
		BF_CHECK_FOR_INTERRUPTS();
	}
	return NULL;
}

bool
bf_count_min_same_shape(const BfFilter *a, const BfFilter *b)
{
	return a->bits == b->bits && a->hashes == b->hashes;
}

/* target += source; the caller has compared shapes. */
void
bf_count_min_unite(BfFilter *target, const BfFilter *source)
{
	uint64	   *to = (uint64 *) target->payload;
	const uint64 *from = (const uint64 *) source->payload;
	uint64		counters = target->bits * target->hashes;

	for (uint64 start = 0; start < counters; start += BF_COUNTERS_PER_INTERRUPT_CHECK)
	{
		uint64		end = Min(counters, start + BF_COUNTERS_PER_INTERRUPT_CHECK);

		BF_CHECK_FOR_INTERRUPTS();
		for (uint64 i = start; i < end; i++)
			to[i] = bf_counter(bf_add_counts(bf_counter(to[i]), bf_counter(from[i])));
	}
	target->extra[0] = bf_add_counts(target->extra[0], source->extra[0]);
}

/*
 * The sum over all keys of the product of their two counts: in the row where
 * it is smallest.  The caller has compared shapes.
 */
double
bf_count_min_inner_product(const BfFilter *a, const BfFilter *b)
{
	const uint64 *left = (const uint64 *) a->payload;
	const uint64 *right = (const uint64 *) b->payload;
	double		smallest = INFINITY;

	for (uint32 row = 0; row < a->hashes; row++)
	{
		double		sum = 0.0;

		BF_CHECK_FOR_INTERRUPTS();
		for (uint64 i = 0; i < a->bits; i++, left++, right++)
			sum += (double) bf_counter(*left) * (double) bf_counter(*right);
		smallest = Min(smallest, sum);
	}
	return smallest;
}

const BfFormat bf_count_min_format = {
	.type_name = "count_min_sketch",
	.scheme = BF_SCHEME_MURMUR2,
	.counts = true,
	.check_header = count_min_check_header,
	.payload_size = count_min_payload_size,
	.check_payload = bf_count_min_check_counters
};
