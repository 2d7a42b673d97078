/*-------------------------------------------------------------------------
 *
 * cuckoo.h
 *	  The cuckoo filter (Fan and others 2014), free of fmgr.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_CUCKOO_H
#define BF_CUCKOO_H

#include "filter.h"

/* RedisBloom's limits, and how many sub-filters it grows. */
#define BF_MAX_BUCKET_SIZE		255
#define BF_MAX_ITERATIONS		65535
#define BF_MAX_EXPANSION		32768
#define BF_MAX_SUB_FILTERS		32

/* What a user chooses of a cuckoo filter, besides the capacity. */
typedef struct BfCuckooParams
{
	int32		bucket_size;	/* fingerprints in a bucket */
	int32		fingerprint_bits;	/* 8, 16 or 32 */
	int32		max_iterations; /* fingerprints moved to make room for one */
	int32		expansion;		/* of a sub-filter's size; 0: there is only one */
} BfCuckooParams;

/* As declared in SQL, for what has no parameters for them. */
#define BF_CUCKOO_DEFAULTS	{2, 8, 20, 1}

/* Where a sub-filter lies in the payload; they follow each other, oldest first. */
typedef struct BfSubFilter
{
	uint32		number;			/* 0 is the oldest */
	uint64		buckets;		/* a power of two */
	uint64		offset;			/* of its first byte */
} BfSubFilter;

extern const BfMethods bf_cuckoo_methods;

extern BfParamsError bf_cuckoo_create(int64 capacity, const BfCuckooParams *params,
									  BfFilter **filter);
extern BfSubFilter bf_cuckoo_sub_filter(const BfFilter *header, uint32 number);

/* cuckoo_table.c */
extern uint64 bf_cuckoo_used_slots(const BfFilter *filter);
extern bool bf_cuckoo_contains(const BfFilter *filter, BfHash hash);
extern bool bf_cuckoo_contains_by_byte(const BfFilter *head, BfHash hash,
									   BfByteReader reader, void *argument);
extern BfFilter *bf_cuckoo_add(BfFilter *filter, BfHash hash);
extern BfFilter *bf_cuckoo_add_new(BfFilter *filter, const BfHash *hashes, int count);
extern BfFilter *bf_cuckoo_remove(BfFilter *filter, BfHash hash);
extern bool bf_cuckoo_shrinks_next(const BfFilter *header);
extern uint64 bf_cuckoo_key_count(const BfFilter *filter, BfHash hash);
extern BfFilter *bf_cuckoo_unite(BfFilter *target, const BfFilter *source);

/* Header fields of the kind. */
static inline uint32
bf_cuckoo_bucket_size(const BfFilter *header)
{
	return header->detail & 0xff;
}

static inline uint32
bf_cuckoo_fingerprint_bits(const BfFilter *header)
{
	return (header->detail >> 8) & 0xff;
}

static inline uint32
bf_cuckoo_max_iterations(const BfFilter *header)
{
	return header->detail >> 16;
}

static inline uint32
bf_cuckoo_expansion(const BfFilter *header)
{
	return (uint32) (header->extra[0] & 0xffff);
}

static inline uint32
bf_cuckoo_sub_filters(const BfFilter *header)
{
	return (uint32) (header->extra[0] >> 16) & 0xffff;
}

/* Of the first sub-filter: two to this power. */
static inline uint32
bf_cuckoo_log2_buckets(const BfFilter *header)
{
	return (uint32) (header->extra[0] >> 32);
}

/* Since fingerprints were last moved to older sub-filters. */
static inline uint64
bf_cuckoo_deletes(const BfFilter *header)
{
	return header->extra[1];
}

/* Bytes of a fingerprint. */
static inline uint32
bf_cuckoo_fingerprint_width(const BfFilter *header)
{
	return bf_cuckoo_fingerprint_bits(header) / 8;
}

static inline uint32
bf_cuckoo_bucket_bytes(const BfFilter *header)
{
	return bf_cuckoo_bucket_size(header) * bf_cuckoo_fingerprint_width(header);
}

/* Fingerprints there is room for. */
static inline uint64
bf_cuckoo_slots(const BfFilter *header)
{
	return header->bits / bf_cuckoo_fingerprint_bits(header);
}

/* As often as this a key can be held: that many slots its buckets have. */
static inline uint32
bf_cuckoo_max_copies(const BfFilter *header)
{
	return 2 * bf_cuckoo_bucket_size(header);
}

#endif							/* BF_CUCKOO_H */
