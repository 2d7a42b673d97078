/*-------------------------------------------------------------------------
 *
 * standin_chain.c
 *	  RedisBloom's chain of plain filters, and its dump.
 *
 * The project's scalable filter is such a chain too, but one whose layers are
 * whole words and whose rate shrinks; these may be loaded with neither.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "standin_chain.h"

#include <math.h>

#define TIGHTENING			0.5

/* Digits as in params.c: the bits per entry go into a dump. */
#define LN2					0.693147180559945
#define LN2_SQUARED			0.480453013918201

/* Of a dump's header. */
#define HEADER_SIZE			20
#define LINK_SIZE			53

/* What RedisBloom's own structures take, for BF.INFO's size. */
#define CHAIN_MEMORY		32
#define LINK_MEMORY			64

void
chain_free(Chain *chain)
{
	for (uint32 i = 0; i < chain->nlinks; i++)
		redis.Free(chain->links[i].bits);
	redis.Free(chain->links);
	redis.Free(chain);
}

size_t
chain_memory(const Chain *chain)
{
	size_t		size = CHAIN_MEMORY;

	for (uint32 i = 0; i < chain->nlinks; i++)
		size += LINK_MEMORY + chain->links[i].geometry.bits / 8;
	return size;
}

/* Append an empty link, or none when the project has no geometry for it. */
static BfParamsError
chain_add_link(Chain *chain, int64 entries, double error)
{
	BfGeometry	geometry;
	BfParamsError problem = bf_params_for_capacity(entries, error, &geometry);
	Link	   *link;

	if (problem != BF_PARAMS_OK)
		return problem;
	chain->links = redis.Realloc(chain->links, (chain->nlinks + 1) * sizeof(Link));
	link = &chain->links[chain->nlinks++];
	link->geometry = geometry;
	link->entries = (uint64) entries;
	link->items = 0;
	link->error = error;
	link->bits_per_entry = -(log(error) / LN2_SQUARED);
	link->bits = redis.Calloc(1, geometry.bits / 8);
	return BF_PARAMS_OK;
}

/* A chain with one empty link; NULL, and why, when there can be none. */
Chain *
chain_create(const Request *request, BfParamsError *problem)
{
	Chain	   *chain = redis.Calloc(1, sizeof(Chain));

	chain->options = OPTION_NO_ROUND | OPTION_FORCE64 | (request->scaling ? 0 : OPTION_NO_SCALING);
	chain->growth = (uint32) request->expansion;
	*problem = chain_add_link(chain, request->capacity,
							  request->error * (request->scaling ? TIGHTENING : 1.0));
	if (*problem == BF_PARAMS_OK)
		return chain;
	chain_free(chain);
	return NULL;
}

/* Newest first: it is the largest. */
bool
chain_contains(const Chain *chain, BfHash hash)
{
	for (uint32 i = chain->nlinks; i-- > 0;)
	{
		if (bf_positions_are_set(chain->links[i].bits, chain->links[i].geometry, hash))
			return true;
	}
	return false;
}

AddResult
chain_add(Chain *chain, BfHash hash)
{
	Link	   *last = &chain->links[chain->nlinks - 1];

	if (chain_contains(chain, hash))
		return ADD_FOUND;
	if (last->items >= last->entries)
	{
		if (chain->options & OPTION_NO_SCALING)
			return ADD_FULL;
		if (chain->growth == 0 || last->entries > (uint64) PG_INT64_MAX / chain->growth ||
			chain_add_link(chain, (int64) (last->entries * chain->growth),
						   last->error * TIGHTENING) != BF_PARAMS_OK)
			return ADD_FAILED;
		last = &chain->links[chain->nlinks - 1];
	}
	(void) bf_positions_set(last->bits, last->geometry, hash);
	last->items++;
	chain->items++;
	return ADD_NEW;
}

/* A dump's header, in memory of its own. */
char *
chain_dump_header(const Chain *chain, size_t *size)
{
	char	   *header;
	Cursor		cursor;

	*size = HEADER_SIZE + (size_t) chain->nlinks * LINK_SIZE;
	header = redis.Calloc(1, *size);
	cursor.at = (uint8 *) header;
	put_integer(&cursor, chain->items, 8);
	put_integer(&cursor, chain->nlinks, 4);
	put_integer(&cursor, chain->options, 4);
	put_integer(&cursor, chain->growth, 4);
	for (uint32 i = 0; i < chain->nlinks; i++)
	{
		const Link *link = &chain->links[i];

		put_integer(&cursor, link->geometry.bits / 8, 8);
		put_integer(&cursor, link->geometry.bits, 8);
		put_integer(&cursor, link->items, 8);
		put_double(&cursor, link->error);
		put_double(&cursor, link->bits_per_entry);
		put_integer(&cursor, link->geometry.hashes, 4);
		put_integer(&cursor, link->entries, 8);
		put_integer(&cursor, 0, 1);
	}
	return header;
}

/* Read one link's fields and check them as RedisBloom does. */
static bool
load_link(Cursor *cursor, Link *link)
{
	uint64		bytes = get_integer(cursor, 8);
	double		hashes;
	uint64		bits_exponent;

	link->geometry.bits = get_integer(cursor, 8);
	link->items = get_integer(cursor, 8);
	link->error = get_double(cursor);
	link->bits_per_entry = get_double(cursor);
	link->geometry.hashes = (uint32) get_integer(cursor, 4);
	link->entries = get_integer(cursor, 8);
	bits_exponent = get_integer(cursor, 1);

	/* written so that NaN fails */
	hashes = ceil(LN2 * link->bits_per_entry);
	return link->error > 0.0 && link->error < 1.0 && bits_exponent == 0 &&
		bytes >= 1 && bytes <= MAX_FILTER_SIZE && link->geometry.bits == bytes * 8 &&
		hashes == (double) link->geometry.hashes;
}

/* An empty chain from a dump's header; NULL when that is not one. */
Chain *
chain_load_header(const char *header, size_t size)
{
	Cursor		cursor = {(uint8 *) unconstify(char *, header)};
	Chain	   *chain;
	uint64		items = 0;
	uint64		total = 0;
	uint32		nlinks;
	bool		good;

	if (size < HEADER_SIZE)
		return NULL;
	chain = redis.Calloc(1, sizeof(Chain));
	chain->items = get_integer(&cursor, 8);
	nlinks = (uint32) get_integer(&cursor, 4);
	chain->options = (uint32) get_integer(&cursor, 4);
	chain->growth = (uint32) get_integer(&cursor, 4);
	good = nlinks > 0 && size == HEADER_SIZE + (size_t) nlinks * LINK_SIZE &&
		(chain->options & ~OPTION_NO_SCALING) == (OPTION_NO_ROUND | OPTION_FORCE64);
	if (good)
		chain->links = redis.Calloc(nlinks, sizeof(Link));
	while (good && chain->nlinks < nlinks)
	{
		Link	   *link = &chain->links[chain->nlinks];

		good = load_link(&cursor, link) && link->items <= PG_UINT64_MAX - items &&
			(total += link->geometry.bits / 8) <= MAX_FILTER_SIZE;
		if (good)
		{
			items += link->items;
			link->bits = redis.Calloc(1, link->geometry.bits / 8);
			chain->nlinks++;
		}
	}
	if (good && items == chain->items)
		return chain;
	chain_free(chain);
	return NULL;
}

/* The link that holds a byte of all links' bits, and where in it; NULL when none does. */
Link *
chain_find_link(const Chain *chain, uint64 position, uint64 *offset)
{
	for (uint32 i = 0; i < chain->nlinks; i++)
	{
		uint64		bytes = chain->links[i].geometry.bits / 8;

		if (position < bytes)
		{
			*offset = position;
			return &chain->links[i];
		}
		position -= bytes;
	}
	return NULL;
}
