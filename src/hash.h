/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  The hash schemes, frozen: their ids and values are stored in filters
 *	  and shared with other systems.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_HASH_H
#define BF_HASH_H

#include "compat.h"

/* Stored in the header; 0 stays invalid so that a zeroed header is refused. */
typedef enum BfScheme
{
	BF_SCHEME_MURMUR64A = 1,	/* RedisBloom's */
	BF_SCHEME_FNV1A = 2,		/* ling-base's common/bloom */
	BF_SCHEME_MURMUR64A_SEED0 = 3,	/* of cuckoo filters; h1 only, h2 is 0 */
	BF_SCHEME_MURMUR2 = 4		/* of count-min sketches: see bf_murmur2_rows() */
} BfScheme;

/*
 * What a key becomes.  Position i of k is (h1 + i * h2 mod 2^64) mod m
 * (Kirsch and Mitzenmacher, "Less Hashing, Same Performance", 2006).
 */
typedef struct BfHash
{
	uint64		h1;
	uint64		h2;
} BfHash;

extern BfHash bf_hash(BfScheme scheme, const void *key, size_t length);

/* Up to, not including, what bf_hash_decimal() takes. */
#define BF_HASH_DECIMAL_LIMIT	UINT64CONST(10000000000000000)

extern BfHash bf_hash_decimal(BfScheme scheme, uint64 number);

/*
 * The 32-bit MurmurHash2 of a key with the seeds 0 .. nrows - 1: one hash for
 * each row of a count-min sketch, as in RedisBloom.
 */
extern void bf_murmur2_rows(const void *key, size_t length, uint32 nrows, uint32 *hashes);
extern void bf_murmur2_rows_decimal(uint64 number, uint32 nrows, uint32 *hashes);

extern const char *bf_scheme_name(BfScheme scheme);
extern bool bf_scheme_by_name(const char *name, BfScheme *scheme);

/*
 * Reduction modulo m without a division.  With r = floor((2^64 - 1) / m), the
 * quotient estimate q = floor(h * r / 2^64) satisfies h / m - 2 < q <= h / m
 * for every h, so h - q * m is below 2m and one subtraction makes it exact.
 */
typedef struct BfModulus
{
	uint64		m;
	uint64		reciprocal;
} BfModulus;

static inline BfModulus
bf_modulus(uint64 m)
{
	BfModulus	modulus;

	modulus.m = m;
	modulus.reciprocal = PG_UINT64_MAX / m;
	return modulus;
}

static inline uint64
bf_mod(BfModulus modulus, uint64 h)
{
#ifdef HAVE_INT128
	uint64		q = (uint64) (((uint128) h * modulus.reciprocal) >> 64);
	uint64		r = h - q * modulus.m;

	return r >= modulus.m ? r - modulus.m : r;
#else
	return h % modulus.m;
#endif
}

/*
 * The same of 32-bit numbers, with no correction.  With f = floor((2^64 - 1) /
 * m) + 1, the fraction of h / m is h * f mod 2^64 in units of 2^-64, and m times
 * that, rounded down, is the remainder (Lemire, Kaser and Kurz, "Faster
 * Remainder by Direct Computation", 2019).  Of m = 1, f wraps to 0 and so is
 * every remainder.
 */
typedef struct BfModulus32
{
	uint32		m;
	uint64		factor;
} BfModulus32;

static inline BfModulus32
bf_modulus32(uint32 m)
{
	BfModulus32 modulus;

	modulus.m = m;
	modulus.factor = PG_UINT64_MAX / m + 1;
	return modulus;
}

static inline uint32
bf_mod32(BfModulus32 modulus, uint32 h)
{
#ifdef HAVE_INT128
	return (uint32) (((uint128) (h * modulus.factor) * modulus.m) >> 64);
#else
	return h % modulus.m;
#endif
}

#endif							/* BF_HASH_H */
