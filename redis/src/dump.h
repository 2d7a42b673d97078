/*-------------------------------------------------------------------------
 *
 * dump.h
 *	  The header of RedisBloom's dumps: BF.SCANDUMP and BF.LOADCHUNK.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_REDIS_DUMP_H
#define BF_REDIS_DUMP_H

#include "filter.h"

/* RedisBloom's own limits; above the rate it would silently use the limit. */
#define BF_REDIS_MAX_CAPACITY	(INT64CONST(1) << 30)
#define BF_REDIS_MAX_FPR		0.25

/* RedisBloom's header of a cuckoo filter. */
#define BF_CUCKOO_DUMP_HEADER_SIZE	38

/* One filter of a chain. */
typedef struct BfDumpLink
{
	uint64		bytes;
	uint64		bits;
	uint64		items;
	double		error;
	double		bits_per_entry;
	uint32		hashes;
	uint64		entries;
} BfDumpLink;

typedef struct BfDump
{
	bool		scaling;
	uint32		growth;
	uint32		nlinks;
	BfDumpLink *links;
	uint64		bytes;			/* of all links */
} BfDump;

extern const char *bf_dump_of_filter(const BfFilter *filter, BfDump *dump);
extern const uint8 *bf_dump_bits(const BfFilter *filter);
extern uint8 *bf_dump_encode(const BfDump *dump, size_t *size);
extern const char *bf_dump_decode(const uint8 *data, size_t size, BfDump *dump);
extern BfFilter *bf_dump_to_filter(const BfDump *dump, BfKind kind);
extern void bf_dump_finish_filter(BfFilter *filter);
extern const char *bf_dump_cuckoo(const BfFilter *filter,
								  uint8 header[BF_CUCKOO_DUMP_HEADER_SIZE]);

#endif							/* BF_REDIS_DUMP_H */
