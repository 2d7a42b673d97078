/*-------------------------------------------------------------------------
 *
 * hash.c
 *	  MurmurHash64A and FNV-1a, both in the public domain, and the two ways
 *	  in which a key becomes the pair (h1, h2).
 *
 * Blocks are read little-endian on every machine, so that a filter holds the
 * same bits everywhere.  test/sql/golden.sql compares them with the values
 * recorded from RedisBloom and ling-base.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "hash.h"

#include "port/pg_bswap.h"

/* RedisBloom's seed for h1; it seeds h2 with h1. */
#define BF_MURMUR_SEED			UINT64CONST(0xc6a4a7935bd1e995)

/* Multiplier and shift of MurmurHash64A (Austin Appleby, 2008). */
#define BF_MURMUR_MULTIPLIER	UINT64CONST(0xc6a4a7935bd1e995)
#define BF_MURMUR_SHIFT			47

/* 64-bit offset basis and prime of FNV-1a (Fowler, Noll, Vo). */
#define BF_FNV_BASIS			UINT64CONST(0xcbf29ce484222325)
#define BF_FNV_PRIME			UINT64CONST(0x00000100000001b3)

/* ling-base replaces an h2 of zero, which would put all k bits in one place. */
#define BF_FNV_ZERO_STEP		UINT64CONST(0x9e3779b97f4a7c15)

static inline uint64
read_block(const uint8 *bytes)
{
	uint64		block;

	memcpy(&block, bytes, sizeof(block));
#ifdef WORDS_BIGENDIAN
	block = pg_bswap64(block);
#endif
	return block;
}

uint64
bf_murmur64a(const void *key, size_t length, uint64 seed)
{
	const uint64 multiplier = BF_MURMUR_MULTIPLIER;
	const uint8 *bytes = (const uint8 *) key;
	const uint8 *end = bytes + (length & ~(size_t) 7);
	size_t		rest = length & 7;
	uint64		h = seed ^ ((uint64) length * multiplier);

	for (; bytes < end; bytes += 8)
	{
		uint64		block = read_block(bytes);

		block *= multiplier;
		block ^= block >> BF_MURMUR_SHIFT;
		block *= multiplier;

		h ^= block;
		h *= multiplier;
	}

	if (rest > 0)
	{
		uint64		tail = 0;

		for (size_t i = 0; i < rest; i++)
			tail |= (uint64) bytes[i] << (8 * i);
		h ^= tail;
		h *= multiplier;
	}

	h ^= h >> BF_MURMUR_SHIFT;
	h *= multiplier;
	h ^= h >> BF_MURMUR_SHIFT;
	return h;
}

uint64
bf_fnv1a(const void *key, size_t length, uint64 basis)
{
	const uint8 *bytes = (const uint8 *) key;
	uint64		h = basis;

	for (size_t i = 0; i < length; i++)
	{
		h ^= bytes[i];
		h *= BF_FNV_PRIME;
	}
	return h;
}

BfHash
bf_hash(BfScheme scheme, const void *key, size_t length)
{
	BfHash		hash;

	if (scheme == BF_SCHEME_FNV1A)
	{
		/* what ling-base hashes before the key to make h2 another function */
		static const uint8 salt[4] = {0x5a, 0xc3, 0x91, 0xd7};

		hash.h1 = bf_fnv1a(key, length, BF_FNV_BASIS);
		hash.h2 = bf_fnv1a(key, length,
						   bf_fnv1a(salt, sizeof(salt), BF_FNV_BASIS));
		if (hash.h2 == 0)
			hash.h2 = BF_FNV_ZERO_STEP;
	}
	else
	{
		hash.h1 = bf_murmur64a(key, length, BF_MURMUR_SEED);
		hash.h2 = bf_murmur64a(key, length, hash.h1);
	}
	return hash;
}

/* The name that users type and bloom_info shows; NULL for an unknown id. */
const char *
bf_scheme_name(BfScheme scheme)
{
	switch (scheme)
	{
		case BF_SCHEME_MURMUR64A:
			return "murmur64a";
		case BF_SCHEME_FNV1A:
			return "fnv1a";
	}
	return NULL;
}

bool
bf_scheme_by_name(const char *name, BfScheme *scheme)
{
	for (int id = BF_SCHEME_MURMUR64A; id <= BF_SCHEME_FNV1A; id++)
	{
		if (strcmp(name, bf_scheme_name((BfScheme) id)) == 0)
		{
			*scheme = (BfScheme) id;
			return true;
		}
	}
	return false;
}
