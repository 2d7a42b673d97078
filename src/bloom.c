/*-------------------------------------------------------------------------
 *
 * bloom.c
 *	  The plain Bloom filter: an array of bits, of which each key sets k.
 *
 * Payload: the bits, zero padded to whole 64-bit words.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "bloom.h"

static const char *
bloom_check_header(const BfFilter *header)
{
	if (header->detail != 0 || header->extra[0] != 0 || header->extra[1] != 0)
		return "Reserved fields are set.";
	return NULL;
}

static uint64
bloom_payload_size(const BfFilter *header)
{
	return bf_bits_bytes(header->bits);
}

static const char *
bloom_check_payload(const BfFilter *filter)
{
	if (!bf_bits_padding_is_zero(filter->payload, filter->bits))
		return "Bits behind the last one are set.";
	if (bf_bits_count(filter->payload, bf_bits_bytes(filter->bits)) != filter->bits_set)
		return "The number of bits set is not what the header says.";
	return NULL;
}

/* A new, empty filter in the current memory context; the geometry is checked. */
BfFilter *
bf_bloom_create(BfGeometry geometry, BfScheme scheme, uint64 capacity, double fpr)
{
	return bf_format_create(BF_KIND_BLOOM, bf_bits_bytes(geometry.bits), geometry,
							scheme, capacity, fpr);
}

static BfFilter *
bloom_empty_like(const BfFilter *header)
{
	return bf_bloom_create(bf_geometry(header), (BfScheme) header->scheme,
						   header->capacity, header->fpr);
}

static bool
bloom_contains(const BfFilter *filter, BfHash hash)
{
	return bf_positions_are_set(filter->payload, bf_geometry(filter), hash);
}

static bool
bloom_contains_by_byte(const BfFilter *head, BfHash hash,
					   BfByteReader reader, void *argument)
{
	return bf_positions_are_set_by_byte(BF_HEADER_SIZE, bf_geometry(head), hash,
										reader, argument);
}

static BfFilter *
bloom_add(BfFilter *filter, BfHash hash)
{
	filter->bits_set += bf_positions_set(filter->payload, bf_geometry(filter), hash);
	return filter;
}

/*
 * Set the bits of many keys, without counting them: bf_bloom_recount() must
 * follow before bits_set is read.  A large array misses the cache at nearly
 * every position, so a key's positions are computed and prefetched some keys
 * ahead of setting them: the misses then overlap.
 */
BfFilter *
bf_bloom_set_batch(BfFilter *filter, const BfHash *hashes, int count)
{
	enum
	{
		max_positions = 64		/* enough to cover a miss, few enough to stay */
	};
	uint32		positions[max_positions + BF_MAX_HASHES];
	BfModulus	modulus = bf_modulus(filter->bits);
	uint32		nhashes = filter->hashes;
	uint8	   *bytes = filter->payload;
	int			ahead = Max(1, max_positions / (int) nhashes);
	uint32	   *slot = positions;
	uint32	   *slots_end = positions + ahead * nhashes;

	/* a ring of the positions of the keys ahead, one slot for each */
	for (int key = 0; key < count + ahead; key++)
	{
		if (key >= ahead)
		{
			for (uint32 i = 0; i < nhashes; i++)
				bytes[slot[i] >> 3] |= (uint8) (1 << (slot[i] & 7));
		}
		if (key < count)
		{
			uint64		h = hashes[key].h1;

			for (uint32 i = 0; i < nhashes; i++, h += hashes[key].h2)
			{
				/* below BF_MAX_BITS, so 32 bits hold it */
				slot[i] = (uint32) bf_mod(modulus, h);
				bf_prefetch_write(bytes + (slot[i] >> 3));
			}
		}
		slot += nhashes;
		if (slot == slots_end)
			slot = positions;
	}
	return filter;
}

/* Make bits_set true again. */
void
bf_bloom_recount(BfFilter *filter)
{
	filter->bits_set = bf_bits_count(filter->payload, bf_bits_bytes(filter->bits));
}

static bool
bloom_same_geometry(const BfFilter *a, const BfFilter *b)
{
	return a->bits == b->bits && a->hashes == b->hashes && a->scheme == b->scheme;
}

static BfFilter *
bloom_unite(BfFilter *target, const BfFilter *source)
{
	target->bits_set = bf_bits_or(target->payload, source->payload,
								  bf_bits_bytes(target->bits));
	bf_filter_widen_promise(target, source);
	return target;
}

static void
bloom_intersect(BfFilter *target, const BfFilter *source)
{
	target->bits_set = bf_bits_and(target->payload, source->payload,
								   bf_bits_bytes(target->bits));
	bf_filter_widen_promise(target, source);
}

/* The estimates of a filter of one array: a counting filter shares them. */
double
bf_bloom_count(const BfFilter *header)
{
	return bf_count_for_fill(bf_geometry(header), header->bits_set);
}

double
bf_bloom_fpr(const BfFilter *header)
{
	return bf_fpr_for_fill(bf_geometry(header), header->bits_set);
}

double
bf_bloom_fpr_bound(const BfFilter *header)
{
	return Max(header->fpr, bf_bloom_fpr(header));
}

static BfFilter *
bloom_to_bloom(const BfFilter *filter)
{
	return unconstify(BfFilter *, filter);
}

/* How many bits the union of two filters of one geometry would have set. */
uint64
bf_bloom_union_bits_set(const BfFilter *a, const BfFilter *b)
{
	return bf_bits_count_or(a->payload, b->payload, bf_bits_bytes(a->bits));
}

const BfMethods bf_bloom_methods = {
	.format = {
		.type_name = "bloom",
		.check_header = bloom_check_header,
		.payload_size = bloom_payload_size,
		.check_payload = bloom_check_payload
	},
	.empty_like = bloom_empty_like,
	.contains = bloom_contains,
	.contains_by_byte = bloom_contains_by_byte,
	.add = bloom_add,
	.add_batch = bf_bloom_set_batch,
	.same_geometry = bloom_same_geometry,
	.unite = bloom_unite,
	.intersect = bloom_intersect,
	.count = bf_bloom_count,
	.fpr = bf_bloom_fpr,
	.fpr_bound = bf_bloom_fpr_bound,
	.to_bloom = bloom_to_bloom
};
