/*-------------------------------------------------------------------------
 *
 * params.h
 *	  Sizing: from what a user asks to bits and hashes, and from bits set
 *	  to counts and rates.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_PARAMS_H
#define BF_PARAMS_H

#include "compat.h"

/* Redis strings end here too; positions then fit in 32 bits. */
#define BF_MAX_BITS			(UINT64CONST(1) << 32)
/* Of any structure: text I/O and pg_dump carry base64 below 1 GB. */
#define BF_MAX_PAYLOAD		(UINT64CONST(512) * 1024 * 1024)
#define BF_MAX_HASHES		255
/* Factor from layer to layer of a scalable filter: RedisBloom's limit. */
#define BF_MAX_GROWTH		32768

/* As declared in SQL, for what has no parameter for it. */
#define BF_DEFAULT_FPR			0.01
#define BF_DEFAULT_COUNTER_BITS	4
#define BF_DEFAULT_GROWTH		2
#define BF_DEFAULT_TIGHTENING	0.5

/* How many bits a filter has and how many of them a key sets. */
typedef struct BfGeometry
{
	uint64		bits;
	uint32		hashes;
} BfGeometry;

typedef enum BfParamsError
{
	BF_PARAMS_OK,
	BF_PARAMS_CAPACITY,			/* below 1 */
	BF_PARAMS_FPR,				/* not between 0 and 1, or NaN */
	BF_PARAMS_FPR_TOO_SMALL,	/* needs more than BF_MAX_HASHES */
	BF_PARAMS_TOO_LARGE,		/* needs more than BF_MAX_BITS */
	BF_PARAMS_BITS,				/* bits given out of range */
	BF_PARAMS_HASHES,			/* hashes given out of range */
	BF_PARAMS_COUNTER_BITS,		/* neither 4 nor 8 */
	BF_PARAMS_TOO_MANY_COUNTERS,	/* needs more than BF_MAX_PAYLOAD */
	BF_PARAMS_GROWTH,			/* below 1 or above BF_MAX_GROWTH */
	BF_PARAMS_TIGHTENING,		/* not between 0 and 1, or NaN */
	BF_PARAMS_BUCKET_SIZE,		/* these five: of a cuckoo filter */
	BF_PARAMS_FINGERPRINT_BITS,
	BF_PARAMS_ITERATIONS,
	BF_PARAMS_EXPANSION,
	BF_PARAMS_TOO_MANY_FINGERPRINTS	/* need more than BF_MAX_PAYLOAD */
} BfParamsError;

extern BfParamsError bf_params_check_fpr(double fpr);
extern BfParamsError bf_params_for_capacity(int64 capacity, double fpr,
											BfGeometry *geometry);
extern BfParamsError bf_params_check_geometry(int64 bits, int64 hashes);
extern uint64 bf_params_capacity(BfGeometry geometry);
extern double bf_params_fpr(uint32 hashes);

extern double bf_textbook_bits(double count, double fpr);
extern double bf_textbook_hashes(double bits, double count);

extern double bf_expected_fpr(BfGeometry geometry, double count);
extern double bf_max_count(BfGeometry geometry, double fpr);
extern double bf_count_for_fill(BfGeometry geometry, uint64 bits_set);
extern double bf_fpr_for_fill(BfGeometry geometry, uint64 bits_set);

#endif							/* BF_PARAMS_H */
