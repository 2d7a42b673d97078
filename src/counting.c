/*-------------------------------------------------------------------------
 *
 * counting.c
 *	  The counting Bloom filter: a counter where a plain one has a bit, so
 *	  that keys can be removed.
 *
 * Fan, Cao, Almeida and Broder, "Summary Cache: A Scalable Wide-Area Web Cache
 * Sharing Protocol", 2000.  There, too, 4 bits are shown to be enough: at the
 * optimal number of hashes the chance that any of m counters reaches 16 is
 * below 1.37e-15 * m, as long as no key is added twice.
 *
 * A counter that has reached its maximum no longer knows its value, so it
 * stays there: taking one away could make it reach 0 too early, and a present
 * key absent.
 *
 * Header: detail = bits of a counter, 4 or 8; extra[0] = counters at their
 * maximum; bits_set = counters above 0.  Payload: the counters, zero padded to
 * whole 64-bit words; of two in a byte the low half comes first.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "counting.h"

#include "bits.h"
#include "bloom.h"

/* Payload bytes between two looks whether the query was cancelled. */
#define BF_COUNTERS_SLICE	(1024 * 1024)

static inline uint8
maximum(const BfFilter *header)
{
	return header->detail == 8 ? 255 : 15;
}

static inline uint64
counters_size(uint64 counters, uint32 counter_bits)
{
	return bf_bits_bytes(counters * counter_bits);
}

static inline uint8
get_counter(const BfFilter *filter, uint64 position)
{
	if (filter->detail == 8)
		return filter->payload[position];
	return (filter->payload[position / 2] >> (position % 2 * 4)) & 15;
}

static inline void
set_counter(BfFilter *filter, uint64 position, uint8 value)
{
	if (filter->detail == 8)
		filter->payload[position] = value;
	else
	{
		uint8	   *byte = &filter->payload[position / 2];
		int			shift = position % 2 * 4;

		*byte = (uint8) ((*byte & ~(15 << shift)) | (value << shift));
	}
}

/*
 * Two of a key's k positions may coincide, and adding or removing the key must
 * count their counter once: leave the distinct ones.  Returns how many.
 */
static inline uint32
drop_repeated(uint32 *positions, uint32 count)
{
	uint32		n = 0;

	for (uint32 i = 0; i < count; i++)
	{
		uint32		seen = 0;

		while (seen < n && positions[seen] != positions[i])
			seen++;
		if (seen == n)
			positions[n++] = positions[i];
	}
	return n;
}

/* The distinct positions of a key, below BF_MAX_BITS, so that 32 bits hold them. */
static uint32
distinct_positions(const BfFilter *filter, BfHash hash, uint32 *positions)
{
	BfModulus	modulus = bf_modulus(filter->bits);
	uint64		h = hash.h1;

	for (uint32 i = 0; i < filter->hashes; i++, h += hash.h2)
		positions[i] = (uint32) bf_mod(modulus, h);
	return drop_repeated(positions, filter->hashes);
}

/* Count what the header says of the counters anew. */
static void
count_counters(const BfFilter *filter, uint64 *above_zero, uint64 *saturated)
{
	uint64		size = counters_size(filter->bits, filter->detail);

	*above_zero = 0;
	*saturated = 0;
	for (uint64 offset = 0; offset < size; offset += BF_COUNTERS_SLICE)
	{
		uint64		end = Min(size, offset + BF_COUNTERS_SLICE);
		uint32		slice_above_zero = 0;
		uint32		slice_saturated = 0;

		BF_CHECK_FOR_INTERRUPTS();
		if (filter->detail == 8)
		{
			for (uint64 i = offset; i < end; i++)
			{
				slice_above_zero += filter->payload[i] != 0;
				slice_saturated += filter->payload[i] == 255;
			}
		}
		else
		{
			for (uint64 i = offset; i < end; i++)
			{
				uint8		byte = filter->payload[i];

				slice_above_zero += ((byte & 15) != 0) + (byte > 15);
				slice_saturated += ((byte & 15) == 15) + (byte >= 240);
			}
		}
		*above_zero += slice_above_zero;
		*saturated += slice_saturated;
	}
}

static void
recount(BfFilter *filter)
{
	count_counters(filter, &filter->bits_set, &filter->extra[0]);
}

static const char *
counting_check_header(const BfFilter *header)
{
	if (header->detail != 4 && header->detail != 8)
		return "The number of bits of a counter is neither 4 nor 8.";
	if (counters_size(header->bits, header->detail) > BF_MAX_PAYLOAD)
		return "The number of counters is out of range.";
	if (header->extra[0] > header->bits_set)
		return "More counters are said to be saturated than are in use.";
	if (header->extra[1] != 0)
		return "Reserved fields are set.";
	return NULL;
}

static uint64
counting_payload_size(const BfFilter *header)
{
	return counters_size(header->bits, header->detail);
}

static const char *
counting_check_payload(const BfFilter *filter)
{
	uint64		above_zero;
	uint64		saturated;

	if (!bf_bits_padding_is_zero(filter->payload, filter->bits * filter->detail))
		return "Counters behind the last one are set.";
	count_counters(filter, &above_zero, &saturated);
	if (above_zero != filter->bits_set)
		return "The number of counters in use is not what the header says.";
	if (saturated != filter->extra[0])
		return "The number of saturated counters is not what the header says.";
	return NULL;
}

/* Whether so many counters can be had; the geometry itself is checked. */
BfParamsError
bf_counting_check_params(BfGeometry geometry, int counter_bits)
{
	if (counter_bits != 4 && counter_bits != 8)
		return BF_PARAMS_COUNTER_BITS;
	if (counters_size(geometry.bits, (uint32) counter_bits) > BF_MAX_PAYLOAD)
		return BF_PARAMS_TOO_MANY_COUNTERS;
	return BF_PARAMS_OK;
}

/* A new, empty filter in the current memory context; parameters are checked. */
BfFilter *
bf_counting_create(BfGeometry geometry, int counter_bits, BfScheme scheme,
				   uint64 capacity, double fpr)
{
	BfFilter   *filter;

	filter = bf_format_create(BF_KIND_COUNTING_BLOOM,
							  counters_size(geometry.bits, (uint32) counter_bits),
							  geometry, scheme, capacity, fpr);
	filter->detail = (uint32) counter_bits;
	return filter;
}

static BfFilter *
counting_empty_like(const BfFilter *header)
{
	return bf_counting_create(bf_geometry(header), (int) header->detail,
							  (BfScheme) header->scheme, header->capacity,
							  header->fpr);
}

/* The smallest of a key's counters: no less than how often it was added. */
uint32
bf_counting_key_count(const BfFilter *filter, BfHash hash)
{
	BfModulus	modulus = bf_modulus(filter->bits);
	uint64		h = hash.h1;
	uint32		count = maximum(filter);

	for (uint32 i = 0; i < filter->hashes && count > 0; i++, h += hash.h2)
		count = Min(count, get_counter(filter, bf_mod(modulus, h)));
	return count;
}

static bool
counting_contains(const BfFilter *filter, BfHash hash)
{
	return bf_counting_key_count(filter, hash) > 0;
}

static bool
counting_contains_by_byte(const BfFilter *head, BfHash hash,
						  BfByteReader reader, void *argument)
{
	BfModulus	modulus = bf_modulus(head->bits);
	uint64		h = hash.h1;

	for (uint32 i = 0; i < head->hashes; i++, h += hash.h2)
	{
		uint64		position = bf_mod(modulus, h);
		uint8		byte = reader(argument, BF_HEADER_SIZE + position * head->detail / 8);

		if (head->detail == 4)
			byte = (byte >> (position % 2 * 4)) & 15;
		if (byte == 0)
			return false;
	}
	return true;
}

static inline void
increment(BfFilter *filter, const uint32 *positions, uint32 count)
{
	for (uint32 i = 0; i < count; i++)
	{
		uint8		counter = get_counter(filter, positions[i]);

		if (counter == maximum(filter))
			continue;
		set_counter(filter, positions[i], counter + 1);
		filter->bits_set += counter == 0;
		filter->extra[0] += counter + 1 == maximum(filter);
	}
}

static BfFilter *
counting_add(BfFilter *filter, BfHash hash)
{
	uint32		positions[BF_MAX_HASHES];

	increment(filter, positions, distinct_positions(filter, hash, positions));
	return filter;
}

/* The counters of some keys are prefetched before the first is changed. */
static BfFilter *
counting_add_batch(BfFilter *filter, const BfHash *hashes, int count)
{
	enum
	{
		max_positions = 128		/* enough to cover a miss, few enough to stay */
	};
	uint32		positions[max_positions + BF_MAX_HASHES];
	BfModulus	modulus = bf_modulus(filter->bits);
	uint32		nhashes = filter->hashes;
	int			together = Max(1, max_positions / (int) nhashes);

	for (int from = 0; from < count; from += together)
	{
		int			n = Min(count - from, together);

		for (int key = 0; key < n; key++)
		{
			uint64		h = hashes[from + key].h1;

			for (uint32 i = 0; i < nhashes; i++, h += hashes[from + key].h2)
			{
				uint32		position = (uint32) bf_mod(modulus, h);

				positions[key * nhashes + i] = position;
				bf_prefetch_write(&filter->payload[filter->detail == 8 ? position : position / 2]);
			}
		}
		for (int key = 0; key < n; key++)
			increment(filter, &positions[key * nhashes],
					  drop_repeated(&positions[key * nhashes], nhashes));
	}
	return filter;
}

/* Take a key away once; one that is certainly absent changes nothing. */
void
bf_counting_remove(BfFilter *filter, BfHash hash)
{
	uint32		positions[BF_MAX_HASHES];
	uint32		n;

	if (!counting_contains(filter, hash))
		return;
	n = distinct_positions(filter, hash, positions);
	for (uint32 i = 0; i < n; i++)
	{
		uint8		counter = get_counter(filter, positions[i]);

		if (counter == maximum(filter))
			continue;
		set_counter(filter, positions[i], counter - 1);
		filter->bits_set -= counter == 1;
	}
}

static bool
counting_same_geometry(const BfFilter *a, const BfFilter *b)
{
	return a->bits == b->bits && a->hashes == b->hashes &&
		a->scheme == b->scheme && a->detail == b->detail;
}

static inline uint8
saturating_sum(uint8 a, uint8 b, uint8 limit)
{
	return (uint8) Min((unsigned) a + b, limit);
}

/*
 * Apply an operation to each pair of counters of one slice.  Loops over whole
 * bytes with both halves in one expression, which the compiler vectorises.
 */
#define COMBINE_COUNTERS(target, source, combined8, combined4) \
	do { \
		uint64		size = counters_size((target)->bits, (target)->detail); \
		uint8	   *to = (target)->payload; \
		const uint8 *from = (source)->payload; \
		for (uint64 offset = 0; offset < size; offset += BF_COUNTERS_SLICE) \
		{ \
			uint64		end = Min(size, offset + BF_COUNTERS_SLICE); \
			BF_CHECK_FOR_INTERRUPTS(); \
			if ((target)->detail == 8) \
			{ \
				for (uint64 i = offset; i < end; i++) \
				{ \
					uint8		a = to[i]; \
					uint8		b = from[i]; \
					to[i] = (combined8); \
				} \
			} \
			else \
			{ \
				for (uint64 i = offset; i < end; i++) \
				{ \
					uint8		a = to[i] & 15; \
					uint8		b = from[i] & 15; \
					uint8		low = (combined4); \
					a = to[i] >> 4; \
					b = from[i] >> 4; \
					to[i] = (uint8) (low | ((combined4) << 4)); \
				} \
			} \
		} \
	} while (0)

/* The sum: as if the keys of both had been added to one. */
static BfFilter *
counting_unite(BfFilter *target, const BfFilter *source)
{
	COMBINE_COUNTERS(target, source,
					 saturating_sum(a, b, 255), saturating_sum(a, b, 15));
	recount(target);
	bf_filter_widen_promise(target, source);
	return target;
}

/* The minimum: no key counts more than in either. */
static void
counting_intersect(BfFilter *target, const BfFilter *source)
{
	COMBINE_COUNTERS(target, source, Min(a, b), Min(a, b));
	recount(target);
	bf_filter_widen_promise(target, source);
}

/* A bit for each counter above 0, so the same answers. */
BfFilter *
bf_counting_to_bloom(const BfFilter *filter)
{
	BfFilter   *bloom = bf_bloom_create(bf_geometry(filter), (BfScheme) filter->scheme,
										filter->capacity, filter->fpr);

	for (uint64 i = 0; i < filter->bits; i++)
	{
		if (i % BF_COUNTERS_SLICE == 0)
			BF_CHECK_FOR_INTERRUPTS();
		bloom->payload[i / 8] |= (uint8) ((get_counter(filter, i) != 0) << (i % 8));
	}
	bloom->bits_set = filter->bits_set;
	return bloom;
}

const BfMethods bf_counting_methods = {
	.format = {
		.type_name = "counting_bloom",
		.check_header = counting_check_header,
		.payload_size = counting_payload_size,
		.check_payload = counting_check_payload
	},
	.empty_like = counting_empty_like,
	.contains = counting_contains,
	.contains_by_byte = counting_contains_by_byte,
	.add = counting_add,
	.add_batch = counting_add_batch,
	.same_geometry = counting_same_geometry,
	.unite = counting_unite,
	.intersect = counting_intersect,
	.count = bf_bloom_count,
	.fpr = bf_bloom_fpr,
	.fpr_bound = bf_bloom_fpr_bound,
	.to_bloom = bf_counting_to_bloom
};
