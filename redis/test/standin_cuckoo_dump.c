/*-------------------------------------------------------------------------
 *
 * standin_cuckoo_dump.c
 *	  RedisBloom's dump of a cuckoo filter.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "standin_cuckoo_dump.h"

void
cuckoo_dump_header(const BfFilter *filter, uint8 header[CUCKOO_HEADER_SIZE])
{
	Cursor		cursor = {header};

	put_integer(&cursor, filter->bits_set, 8);
	put_integer(&cursor, bf_cuckoo_sub_filter(filter, 0).buckets, 8);
	put_integer(&cursor, bf_cuckoo_deletes(filter), 8);
	put_integer(&cursor, bf_cuckoo_sub_filters(filter), 8);
	put_integer(&cursor, bf_cuckoo_bucket_size(filter), 2);
	put_integer(&cursor, bf_cuckoo_max_iterations(filter), 2);
	put_integer(&cursor, bf_cuckoo_expansion(filter), 2);
}

/*
 * Append empty sub-filters up to that number, at a new place in memory; NULL,
 * and no filter any more, when they are too large.
 */
static BfFilter *
append_sub_filters(BfFilter *filter, uint32 sub_filters)
{
	uint64		bucket_bits = (uint64) bf_cuckoo_bucket_bytes(filter) * 8;
	uint64		bits = filter->bits;
	size_t		old_size = BF_HEADER_SIZE + (size_t) (bits / 8);
	size_t		new_size;

	for (uint32 i = 1; i < sub_filters; i++)
	{
		uint64		buckets = bf_cuckoo_sub_filter(filter, i).buckets;

		if (buckets > (BF_MAX_BITS - bits) / bucket_bits)
		{
			pfree(filter);
			return NULL;
		}
		bits += buckets * bucket_bits;
	}
	new_size = BF_HEADER_SIZE + (size_t) (bits / 8);
	filter = (BfFilter *) repalloc(filter, new_size);
	memset((char *) filter + old_size, 0, new_size - old_size);
	filter->bits = bits;
	filter->extra[0] += (uint64) (sub_filters - 1) << 16;
	SET_VARSIZE(filter, new_size);
	return filter;
}

/* An empty filter from a dump's header; NULL when there can be none. */
BfFilter *
cuckoo_load_header(const char *header, size_t size)
{
	Cursor		cursor = {(uint8 *) unconstify(char *, header)};
	BfCuckooParams params = BF_CUCKOO_DEFAULTS;
	BfFilter   *filter;
	uint64		items;
	uint64		buckets;
	uint64		deletes;
	uint64		sub_filters;

	if (size != CUCKOO_HEADER_SIZE)
		return NULL;
	items = get_integer(&cursor, 8);
	buckets = get_integer(&cursor, 8);
	deletes = get_integer(&cursor, 8);
	sub_filters = get_integer(&cursor, 8);
	params.bucket_size = (int32) get_integer(&cursor, 2);
	params.max_iterations = (int32) get_integer(&cursor, 2);
	params.expansion = (int32) get_integer(&cursor, 2);

	/* RedisBloom's checks; it also takes expansions that no CF.RESERVE makes */
	if (buckets < 1 || buckets > BF_MAX_BITS || (buckets & (buckets - 1)) != 0 ||
		(params.expansion & (params.expansion - 1)) != 0 ||
		sub_filters < 1 || sub_filters > (params.expansion == 0 ? 1 : BF_MAX_SUB_FILTERS) ||
		bf_cuckoo_create((int64) (buckets * (uint64) params.bucket_size), &params, &filter) != BF_PARAMS_OK)
		return NULL;
	filter = append_sub_filters(filter, (uint32) sub_filters);
	if (filter == NULL)
		return NULL;
	filter->bits_set = items;
	filter->extra[1] = deletes;
	return filter;
}

/* Where a byte of the fingerprints is and how many more its sub-filter has; or NULL. */
uint8 *
cuckoo_find_byte(BfFilter *filter, uint64 position, uint64 *remaining)
{
	for (uint32 i = 0; i < bf_cuckoo_sub_filters(filter); i++)
	{
		BfSubFilter sub = bf_cuckoo_sub_filter(filter, i);
		uint64		end = sub.offset + sub.buckets * bf_cuckoo_bucket_bytes(filter);

		if (position < end)
		{
			*remaining = end - position;
			return filter->payload + position;
		}
	}
	return NULL;
}
