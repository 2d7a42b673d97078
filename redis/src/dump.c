/*-------------------------------------------------------------------------
 *
 * dump.c
 *	  The header of RedisBloom's dumps, and filters made from it and turned
 *	  into it.
 *
 * Packed and little-endian: u64 items, u32 links, u32 options, u32 growth, then
 * for each link u64 bytes, u64 bits, u64 items, f64 error, f64 bits per entry,
 * u32 hashes, u64 entries, u8 n2 (0 in all filters since 2.0).  The links' bits
 * follow in chunks, as our filters have them: least significant bit first.
 *
 * The header of a cuckoo filter: u64 items, u64 buckets, u64 deletes, u64
 * filters, u16 bucket size, u16 maximum of iterations, u16 expansion; then the
 * fingerprints of each filter.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "dump.h"

#include <math.h>

#include "bits.h"
#include "bloom.h"
#include "cuckoo.h"
#include "port/pg_bswap.h"
#include "scalable.h"

#define HEADER_SIZE		20
#define LINK_SIZE		53

/* 64-bit hashes and no rounding up, which all filters have; and the choice. */
#define OPTIONS_SCALING	5
#define OPTIONS_FIXED	13

/* RedisBloom's digits: it compares what comes of them with our hashes. */
#define LN2				0.693147180559945
#define LN2_SQUARED		0.480453013918201

#define TIGHTENING		0.5

/* --- writing and reading little-endian fields ------------------------------- */

static uint8 *
put_uint16(uint8 *to, uint16 value)
{
	to[0] = (uint8) value;
	to[1] = (uint8) (value >> 8);
	return to + sizeof(value);
}

static uint8 *
put_uint32(uint8 *to, uint32 value)
{
#ifdef WORDS_BIGENDIAN
	value = pg_bswap32(value);
#endif
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static uint8 *
put_uint64(uint8 *to, uint64 value)
{
#ifdef WORDS_BIGENDIAN
	value = pg_bswap64(value);
#endif
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static uint8 *
put_double(uint8 *to, double value)
{
	uint64		bits;

	memcpy(&bits, &value, sizeof(bits));
	return put_uint64(to, bits);
}

static uint32
get_uint32(const uint8 **from)
{
	uint32		value;

	memcpy(&value, *from, sizeof(value));
	*from += sizeof(value);
#ifdef WORDS_BIGENDIAN
	value = pg_bswap32(value);
#endif
	return value;
}

static uint64
get_uint64(const uint8 **from)
{
	uint64		value;

	memcpy(&value, *from, sizeof(value));
	*from += sizeof(value);
#ifdef WORDS_BIGENDIAN
	value = pg_bswap64(value);
#endif
	return value;
}

static double
get_double(const uint8 **from)
{
	uint64		bits = get_uint64(from);
	double		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* --- from a filter ----------------------------------------------------------- */

/*
 * Bits per entry as RedisBloom computes it from the rate, or what makes it
 * find the same number of hashes, for a filter that was made by that number.
 */
static double
bits_per_entry(double error, uint32 hashes)
{
	double		result = -(log(error) / LN2_SQUARED);

	return ceil(LN2 * result) == (double) hashes ? result : ((double) hashes - 0.5) / LN2;
}

static void
fill_link(BfDumpLink *link, BfGeometry geometry, double error, uint64 entries, uint64 items)
{
	link->bytes = geometry.bits / 8;
	link->bits = geometry.bits;
	link->items = items;
	link->error = error;
	link->bits_per_entry = bits_per_entry(error, geometry.hashes);
	link->hashes = geometry.hashes;
	link->entries = entries;
}

/*
 * Keys in a plain filter, which does not count them: never more than its
 * capacity, nor than its bits, of which each key that RedisBloom counts set one.
 */
static uint64
estimate_items(const BfFilter *filter)
{
	uint64		limit = Min(filter->capacity, filter->bits);
	double		count = bf_filter_count(filter);

	return count < (double) limit ? (uint64) rint(count) : limit;
}

/*
 * How RedisBloom would describe a plain or scalable filter; or why it cannot
 * hold it.
 */
const char *
bf_dump_of_filter(const BfFilter *filter, BfDump *dump)
{
	memset(dump, 0, sizeof(*dump));
	if (filter->scheme != BF_SCHEME_MURMUR64A)
		return "RedisBloom hashes by \"murmur64a\" only.";
	dump->scaling = filter->kind == BF_KIND_SCALABLE_BLOOM;
	dump->nlinks = dump->scaling ? bf_scalable_layer_count(filter) : 1;
	dump->links = (BfDumpLink *) palloc0(dump->nlinks * sizeof(BfDumpLink));
	if (dump->scaling)
	{
		const BfLayer *layers = bf_scalable_layers(filter);

		if (bf_scalable_tightening(filter) != TIGHTENING)
			return "RedisBloom tightens the rate of each layer by 0.5 and no other factor.";
		dump->growth = (uint32) bf_scalable_growth(filter);
		for (uint32 i = 0; i < dump->nlinks; i++)
			fill_link(&dump->links[i], bf_layer_geometry(&layers[i]), layers[i].fpr,
					  layers[i].capacity, layers[i].keys);
	}
	else
	{
		dump->growth = BF_DEFAULT_GROWTH;
		fill_link(&dump->links[0], bf_geometry(filter), filter->fpr, filter->capacity,
				  estimate_items(filter));
	}
	for (uint32 i = 0; i < dump->nlinks; i++)
	{
		if (dump->links[i].bits % 8 != 0)
			return "RedisBloom's filters have whole bytes of bits.";
		if (dump->links[i].error > BF_REDIS_MAX_FPR)
			return "RedisBloom takes no rate above 0.25.";
		dump->bytes += dump->links[i].bytes;
	}
	return NULL;
}

/* The bits of all links of such a filter, one after the other. */
const uint8 *
bf_dump_bits(const BfFilter *filter)
{
	return filter->payload + (bf_format_head_size(filter) - BF_HEADER_SIZE);
}

/* The header as RedisBloom reads it. */
uint8 *
bf_dump_encode(const BfDump *dump, size_t *size)
{
	uint8	   *result;
	uint8	   *to;
	uint64		items = 0;

	*size = HEADER_SIZE + (size_t) dump->nlinks * LINK_SIZE;
	result = (uint8 *) palloc(*size);
	for (uint32 i = 0; i < dump->nlinks; i++)
		items += dump->links[i].items;

	to = put_uint64(result, items);
	to = put_uint32(to, dump->nlinks);
	to = put_uint32(to, dump->scaling ? OPTIONS_SCALING : OPTIONS_FIXED);
	to = put_uint32(to, dump->growth);
	for (uint32 i = 0; i < dump->nlinks; i++)
	{
		const BfDumpLink *link = &dump->links[i];

		to = put_uint64(to, link->bytes);
		to = put_uint64(to, link->bits);
		to = put_uint64(to, link->items);
		to = put_double(to, link->error);
		to = put_double(to, link->bits_per_entry);
		to = put_uint32(to, link->hashes);
		to = put_uint64(to, link->entries);
		*to++ = 0;
	}
	return result;
}

/* --- to a filter ------------------------------------------------------------- */

static const char *
check_link(const BfDumpLink *link, uint8 n2)
{
	if (link->bits < 1 || link->bits > BF_MAX_BITS || n2 != 0)
		return "The number of bits is out of range.";
	if (link->bytes != link->bits / 8 || link->bits % 8 != 0)
		return "The number of bytes is not that of the bits.";
	if (link->hashes < 1 || link->hashes > BF_MAX_HASHES)
		return "The number of hashes is out of range.";
	if (bf_params_check_fpr(link->error) != BF_PARAMS_OK)
		return "The error rate is out of range.";
	if (link->entries < 1 || link->entries > PG_INT64_MAX)
		return "The capacity is out of range.";
	return NULL;
}

/* Read a header that came from outside; the answer is what is wrong with it. */
const char *
bf_dump_decode(const uint8 *data, size_t size, BfDump *dump)
{
	const uint8 *from = data;
	uint64		items;
	uint64		sum = 0;
	uint32		options;

	memset(dump, 0, sizeof(*dump));
	if (size < HEADER_SIZE)
		return "It is shorter than a header.";
	items = get_uint64(&from);
	dump->nlinks = get_uint32(&from);
	options = get_uint32(&from);
	dump->growth = get_uint32(&from);
	if (options != OPTIONS_SCALING && options != OPTIONS_FIXED)
		return "It is of a kind that RedisBloom no longer makes.";
	dump->scaling = options == OPTIONS_SCALING;
	if (dump->nlinks < 1 || dump->nlinks > BF_MAX_LAYERS)
		return "The number of filters in the chain is out of range.";
	if (size != HEADER_SIZE + (size_t) dump->nlinks * LINK_SIZE)
		return "Its length does not fit the number of filters in the chain.";
	if (dump->scaling && (dump->growth < 1 || dump->growth > BF_MAX_GROWTH))
		return "The growth is out of range.";

	dump->links = (BfDumpLink *) palloc0(dump->nlinks * sizeof(BfDumpLink));
	for (uint32 i = 0; i < dump->nlinks; i++)
	{
		BfDumpLink *link = &dump->links[i];
		const char *problem;

		link->bytes = get_uint64(&from);
		link->bits = get_uint64(&from);
		link->items = get_uint64(&from);
		link->error = get_double(&from);
		link->bits_per_entry = get_double(&from);
		link->hashes = get_uint32(&from);
		link->entries = get_uint64(&from);
		problem = check_link(link, *from++);
		if (problem != NULL)
			return problem;
		if (link->items > link->bits * (uint64) BF_MAX_HASHES)
			return "The number of items is out of range.";
		sum += link->items;
		dump->bytes += link->bytes;
	}
	if (sum != items)
		return "The items of the chain do not add up.";
	if (dump->bytes > BF_MAX_PAYLOAD)
		return "The chain is larger than a filter may be.";
	return NULL;
}

static BfFilter *
to_bloom(const BfDump *dump)
{
	const BfDumpLink *link = &dump->links[0];
	BfGeometry	geometry = {link->bits, link->hashes};

	return bf_bloom_create(geometry, BF_SCHEME_MURMUR64A, link->entries, link->error);
}

static BfFilter *
to_scalable(const BfDump *dump)
{
	const BfDumpLink *last = &dump->links[dump->nlinks - 1];
	BfGeometry	geometry = {dump->bytes * 8, last->hashes};
	double		tightening = TIGHTENING;
	BfFilter   *filter = bf_format_create(BF_KIND_SCALABLE_BLOOM,
										  dump->nlinks * sizeof(BfLayer) + dump->bytes,
										  geometry, BF_SCHEME_MURMUR64A,
										  dump->links[0].entries,
										  dump->links[0].error / TIGHTENING);

	filter->detail = dump->nlinks;
	filter->extra[0] = dump->growth;
	memcpy(&filter->extra[1], &tightening, sizeof(tightening));
	for (uint32 i = 0; i < dump->nlinks; i++)
	{
		BfLayer    *layer = &bf_scalable_layers(filter)[i];

		layer->bits = dump->links[i].bits;
		layer->capacity = dump->links[i].entries;
		layer->keys = dump->links[i].items;
		layer->fpr = dump->links[i].error;
		layer->hashes = dump->links[i].hashes;
	}
	return filter;
}

/*
 * A filter of that kind with the geometry of a checked dump and no bits yet;
 * NULL when the kind cannot hold it.
 */
BfFilter *
bf_dump_to_filter(const BfDump *dump, BfKind kind)
{
	if (kind == BF_KIND_SCALABLE_BLOOM)
		return dump->scaling && dump->links[0].error < TIGHTENING ? to_scalable(dump) : NULL;
	return dump->nlinks == 1 ? to_bloom(dump) : NULL;
}

/* Count the bits that have been filled in. */
void
bf_dump_finish_filter(BfFilter *filter)
{
	const uint8 *bits = bf_dump_bits(filter);

	if (filter->kind == BF_KIND_BLOOM)
	{
		bf_bloom_recount(filter);
		return;
	}
	filter->bits_set = 0;
	for (uint32 i = 0; i < filter->detail; i++)
	{
		BfLayer    *layer = &bf_scalable_layers(filter)[i];

		layer->bits_set = bf_bits_count(bits, layer->bits / 8);
		filter->bits_set += layer->bits_set;
		bits += layer->bits / 8;
	}
}

/* The header of a cuckoo filter's dump; or why RedisBloom cannot hold it. */
const char *
bf_dump_cuckoo(const BfFilter *filter, uint8 header[BF_CUCKOO_DUMP_HEADER_SIZE])
{
	uint8	   *to = header;

	if (bf_cuckoo_fingerprint_bits(filter) != 8)
		return "RedisBloom's fingerprints have 8 bits.";
	to = put_uint64(to, filter->bits_set);
	to = put_uint64(to, bf_cuckoo_sub_filter(filter, 0).buckets);
	to = put_uint64(to, bf_cuckoo_deletes(filter));
	to = put_uint64(to, bf_cuckoo_sub_filters(filter));
	to = put_uint16(to, (uint16) bf_cuckoo_bucket_size(filter));
	to = put_uint16(to, (uint16) bf_cuckoo_max_iterations(filter));
	to = put_uint16(to, (uint16) bf_cuckoo_expansion(filter));
	Assert(to == header + BF_CUCKOO_DUMP_HEADER_SIZE);
	return NULL;
}
