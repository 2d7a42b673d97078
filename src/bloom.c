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

static const char *bloom_check_header(const BfFilter *header);
static uint64 bloom_payload_size(const BfFilter *header);
static const char *bloom_check_payload(const BfFilter *filter);

const BfFormat bf_bloom_format = {
	.type_name = "bloom",
	.check_header = bloom_check_header,
	.payload_size = bloom_payload_size,
	.check_payload = bloom_check_payload
};

static const char *
bloom_check_header(const BfFilter *header)
{
	if (header->bits < 1 || header->bits > BF_MAX_BITS)
		return "The number of bits is out of range.";
	if (header->hashes < 1 || header->hashes > BF_MAX_HASHES)
		return "The number of hashes is out of range.";
	if (header->bits_set > header->bits)
		return "More bits are said to be set than there are.";
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
	Size		size = BF_HEADER_SIZE + bf_bits_bytes(geometry.bits);
	BfFilter   *filter = (BfFilter *) palloc0(size);

	SET_VARSIZE(filter, size);
	filter->kind = BF_KIND_BLOOM;
	filter->version = BF_FORMAT_VERSION;
	filter->scheme = (uint8) scheme;
	filter->hashes = geometry.hashes;
	filter->bits = geometry.bits;
	filter->capacity = capacity;
	filter->fpr = fpr;
	return filter;
}

bool
bf_bloom_contains(const BfFilter *filter, BfHash hash)
{
	return bf_positions_are_set(filter->payload, bf_geometry(filter), hash);
}

void
bf_bloom_add(BfFilter *filter, BfHash hash)
{
	filter->bits_set += bf_positions_set(filter->payload, bf_geometry(filter), hash);
}

/*
 * Add many keys.  A large array misses the cache at nearly every position, so
 * the positions of a group of keys are computed and prefetched before the
 * bits of the group are set: the misses then overlap.
 */
void
bf_bloom_add_batch(BfFilter *filter, const BfHash *hashes, int count)
{
	enum
	{
		max_positions = 256
	};
	uint32		positions[max_positions];
	BfModulus	modulus = bf_modulus(filter->bits);
	int			group = Max(1, max_positions / (int) filter->hashes);
	uint64		fresh = 0;

	for (int start = 0; start < count; start += group)
	{
		int			end = Min(start + group, count);
		int			npositions = 0;

		for (int key = start; key < end; key++)
		{
			uint64		h = hashes[key].h1;

			for (uint32 i = 0; i < filter->hashes; i++, h += hashes[key].h2)
			{
				/* below BF_MAX_BITS, so 32 bits hold it */
				uint32		position = (uint32) bf_mod(modulus, h);

				bf_prefetch_write(filter->payload + (position >> 3));
				positions[npositions++] = position;
			}
		}
		for (int i = 0; i < npositions; i++)
			fresh += bf_bit_set(filter->payload, positions[i]);
	}
	filter->bits_set += fresh;
}

/* What target was made for becomes the larger of both, whatever the order. */
static void
widen_promise(BfFilter *target, const BfFilter *source)
{
	target->capacity = Max(target->capacity, source->capacity);
	target->fpr = Max(target->fpr, source->fpr);
}

/* target |= source; the caller has compared geometry and scheme. */
void
bf_bloom_union(BfFilter *target, const BfFilter *source)
{
	target->bits_set = bf_bits_or(target->payload, source->payload,
								  bf_bits_bytes(target->bits));
	widen_promise(target, source);
}

/* target &= source; the caller has compared geometry and scheme. */
void
bf_bloom_intersect(BfFilter *target, const BfFilter *source)
{
	target->bits_set = bf_bits_and(target->payload, source->payload,
								   bf_bits_bytes(target->bits));
	widen_promise(target, source);
}

/* How many bits the union of two filters of one geometry would have set. */
uint64
bf_bloom_union_bits_set(const BfFilter *a, const BfFilter *b)
{
	return bf_bits_count_or(a->payload, b->payload, bf_bits_bytes(a->bits));
}
