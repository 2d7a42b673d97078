/*-------------------------------------------------------------------------
 *
 * fuzz_dump.c
 *	  The fuzz harness for whole filters out of Redis: what redis/src/pull.c
 *	  makes of the header of a dump and the chunks that follow it.
 *
 * An input is a header, as long as it says that it is, and then chunks; those
 * that are missing are zero.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include "bits.h"
#include "bloom.h"
#include "dump.h"
#include "scalable.h"

#define DUMP_HEADER_SIZE	20
#define DUMP_LINK_SIZE		53

/* Where the header ends: the number of links is at 8, little-endian. */
static size_t
header_length(const uint8 *data, size_t size)
{
	if (size < DUMP_HEADER_SIZE)
		return size;
	return Min(size, DUMP_HEADER_SIZE + (data[8] | (size_t) data[9] << 8) * DUMP_LINK_SIZE);
}

/* A filter that was taken is one of ours, and the dump of it is the same again. */
static void
require_same_dump(const BfFilter *filter)
{
	BfDump		dump;
	BfDump		again;
	uint8	   *header;
	size_t		size;

	if (bf_dump_of_filter(filter, &dump) == NULL)
	{
		header = bf_dump_encode(&dump, &size);
		REQUIRE(bf_dump_decode(header, size, &again) == NULL);
		REQUIRE(again.nlinks == dump.nlinks && again.bytes == dump.bytes &&
				again.growth == dump.growth && again.scaling == dump.scaling);
		for (uint32 i = 0; i < dump.nlinks; i++)
			REQUIRE(again.links[i].bits == dump.links[i].bits &&
					again.links[i].hashes == dump.links[i].hashes &&
					again.links[i].items == dump.links[i].items &&
					again.links[i].entries == dump.links[i].entries);
		pfree(again.links);
		pfree(header);
	}
	if (dump.links != NULL)
		pfree(dump.links);
}

static void
pull(const BfDump *dump, BfKind kind, const uint8 *chunks, size_t length)
{
	BfFilter   *filter = bf_dump_to_filter(dump, kind);
	uint64		size;

	if (filter == NULL)
		return;
	size = BF_HEADER_SIZE + bf_format(kind)->payload_size(filter);
	memcpy(unconstify(uint8 *, bf_dump_bits(filter)), chunks, Min(length, dump->bytes));
	bf_dump_finish_filter(filter);
	if (bf_format_check(filter, size, kind) == NULL)
	{
		fuzz_require_sound(filter);
		require_same_dump(filter);
	}
	pfree(filter);
}

void
fuzz_dump(const uint8 *data, size_t size)
{
	size_t		length = header_length(data, size);
	BfDump		dump;

	if (bf_dump_decode(data, length, &dump) == NULL && dump.bytes <= FUZZ_LARGE_BYTES)
	{
		pull(&dump, BF_KIND_BLOOM, data + length, size - length);
		pull(&dump, BF_KIND_SCALABLE_BLOOM, data + length, size - length);
	}
	if (dump.links != NULL)
		pfree(dump.links);
}

/* A dump to begin with; returns its length, 0 when there are no more. */
size_t
fuzz_dump_seed(int variant, uint8 *seed, size_t room)
{
	BfGeometry	geometry = {640, 5};
	BfFilter   *filter = NULL;
	BfDump		dump;
	uint8	   *header;
	size_t		size;

	if (variant >= 6)
		return 0;
	if (variant == 0)
		filter = bf_bloom_create(geometry, BF_SCHEME_MURMUR64A, 60, 0.03);
	else
		REQUIRE(bf_scalable_create(variant, 0.1, variant % 3 + 1, 0.5, BF_SCHEME_MURMUR64A,
								   &filter) == BF_PARAMS_OK);
	for (int key = 0; key < 3 * variant; key++)
	{
		filter = bf_filter_add(filter, bf_hash(BF_SCHEME_MURMUR64A, &key, sizeof(key)));
		REQUIRE(filter != NULL);
	}
	REQUIRE(bf_dump_of_filter(filter, &dump) == NULL);
	header = bf_dump_encode(&dump, &size);
	REQUIRE(size + dump.bytes <= room);
	memcpy(seed, header, size);
	memcpy(seed + size, bf_dump_bits(filter), dump.bytes);
	size += dump.bytes;
	pfree(header);
	pfree(dump.links);
	pfree(filter);
	return size;
}
