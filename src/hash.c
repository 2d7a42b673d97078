/*-------------------------------------------------------------------------
 *
 * hash.c
 *	  MurmurHash64A and FNV-1a, both in the public domain, and the two ways
 *	  in which a key becomes the pair (h1, h2); MurmurHash2 for sketches.
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

#include "port/pg_bitutils.h"
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

static inline uint64
read_half_block(const uint8 *bytes)
{
	uint32		half;

	memcpy(&half, bytes, sizeof(half));
#ifdef WORDS_BIGENDIAN
	half = pg_bswap32(half);
#endif
	return half;
}

/*
 * The last 1 to 7 bytes of a key of that length, as a little-endian number.
 * Reads that overlap are cheaper than a loop over bytes.
 */
static inline uint64
read_tail(const uint8 *tail, size_t rest, size_t length)
{
	if (length >= 8)
		return read_block(tail + rest - 8) >> (64 - 8 * rest);
	if (rest >= 4)
		return read_half_block(tail) |
			read_half_block(tail + rest - 4) << (8 * (rest - 4));
	return (uint64) tail[0] |
		(uint64) tail[rest / 2] << (8 * (rest / 2)) |
		(uint64) tail[rest - 1] << (8 * (rest - 1));
}

/* What of a block does not depend on the hash so far. */
static inline uint64
murmur_mix(uint64 block)
{
	block *= BF_MURMUR_MULTIPLIER;
	block ^= block >> BF_MURMUR_SHIFT;
	return block * BF_MURMUR_MULTIPLIER;
}

static inline uint64
murmur_start(size_t length, uint64 seed)
{
	return seed ^ ((uint64) length * BF_MURMUR_MULTIPLIER);
}

/* Takes in a mixed block, or the bytes behind the last whole one as they are. */
static inline uint64
murmur_step(uint64 h, uint64 mixed)
{
	return (h ^ mixed) * BF_MURMUR_MULTIPLIER;
}

static inline uint64
murmur_finish(uint64 h)
{
	h ^= h >> BF_MURMUR_SHIFT;
	h *= BF_MURMUR_MULTIPLIER;
	return h ^ (h >> BF_MURMUR_SHIFT);
}

static uint64
murmur64a(const void *key, size_t length, uint64 seed)
{
	const uint8 *bytes = (const uint8 *) key;
	const uint8 *end = bytes + (length & ~(size_t) 7);
	size_t		rest = length & 7;
	uint64		h = murmur_start(length, seed);

	for (; bytes < end; bytes += 8)
		h = murmur_step(h, murmur_mix(read_block(bytes)));
	if (rest > 0)
		h = murmur_step(h, read_tail(end, rest, length));
	return murmur_finish(h);
}

/*
 * MurmurHash64A of a key of 1 to 16 bytes: a mixed block if it has 8 or more,
 * and what follows it, a second mixed block or the bytes as they are.
 */
static inline uint64
murmur_short(size_t length, uint64 seed, uint64 block, uint64 rest)
{
	uint64		h = murmur_start(length, seed);

	if (length >= 8)
		h = murmur_step(h, block);
	if (length != 8)
		h = murmur_step(h, rest);
	return murmur_finish(h);
}

/* Both hashes of such a key. */
static inline BfHash
murmur_short_pair(size_t length, uint64 block, uint64 rest)
{
	BfHash		hash;

	hash.h1 = murmur_short(length, BF_MURMUR_SEED, block, rest);
	hash.h2 = murmur_short(length, hash.h1, block, rest);
	return hash;
}

/* Keys of up to so many blocks are read and mixed once for both hashes. */
#define BF_PAIR_BLOCKS	8

/*
 * The hash seeded by RedisBloom's seed and the one seeded by that hash, of a
 * key of length bytes: its mixed blocks, then the bytes behind them.
 */
static inline BfHash
murmur_pair_of_blocks(const uint64 *mixed, uint64 tail, size_t length)
{
	size_t		nblocks = length / 8;
	BfHash		hash;

	hash.h1 = murmur_start(length, BF_MURMUR_SEED);
	for (size_t i = 0; i < nblocks; i++)
		hash.h1 = murmur_step(hash.h1, mixed[i]);
	if (length % 8 != 0)
		hash.h1 = murmur_step(hash.h1, tail);
	hash.h1 = murmur_finish(hash.h1);

	hash.h2 = murmur_start(length, hash.h1);
	for (size_t i = 0; i < nblocks; i++)
		hash.h2 = murmur_step(hash.h2, mixed[i]);
	if (length % 8 != 0)
		hash.h2 = murmur_step(hash.h2, tail);
	hash.h2 = murmur_finish(hash.h2);
	return hash;
}

static BfHash
murmur_pair(const uint8 *bytes, size_t length)
{
	uint64		mixed[BF_PAIR_BLOCKS];
	uint64		tail = 0;
	size_t		nblocks = length / 8;
	BfHash		hash;

	/* most keys: in registers */
	if (length - 1 < 16)
	{
		uint64		block = length < 8 ? 0 : murmur_mix(read_block(bytes));

		if (length == 16)
			tail = murmur_mix(read_block(bytes + 8));
		else if (length != 8)
			tail = read_tail(bytes + 8 * nblocks, length % 8, length);
		return murmur_short_pair(length, block, tail);
	}
	if (nblocks > BF_PAIR_BLOCKS)
	{
		hash.h1 = murmur64a(bytes, length, BF_MURMUR_SEED);
		hash.h2 = murmur64a(bytes, length, hash.h1);
		return hash;
	}

	for (size_t i = 0; i < nblocks; i++)
		mixed[i] = murmur_mix(read_block(bytes + 8 * i));
	if (length % 8 != 0)
		tail = read_tail(bytes + 8 * nblocks, length % 8, length);
	return murmur_pair_of_blocks(mixed, tail, length);
}

static uint64
fnv1a(const void *key, size_t length, uint64 basis)
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

/* ling-base's two FNV-1a hashes. */
static BfHash
fnv1a_pair(const void *key, size_t length)
{
	/* what it hashes before the key, to make h2 another function */
	static const uint8 salt[4] = {0x5a, 0xc3, 0x91, 0xd7};
	BfHash		hash;

	hash.h1 = fnv1a(key, length, BF_FNV_BASIS);
	hash.h2 = fnv1a(key, length,
					   fnv1a(salt, sizeof(salt), BF_FNV_BASIS));
	if (hash.h2 == 0)
		hash.h2 = BF_FNV_ZERO_STEP;
	return hash;
}

/* The same of a key of up to 16 bytes in two little-endian words. */
static pg_noinline BfHash
fnv1a_of_words(uint64 first, uint64 second, size_t length)
{
	uint8		bytes[16];

	for (size_t i = 0; i < length; i++)
		bytes[i] = (uint8) ((i < 8 ? first : second) >> (i % 8 * 8));
	return fnv1a_pair(bytes, length);
}

/*
 * A number below 10^8 as eight decimal digits, the first in the lowest byte:
 * halves, then quarters, then eighths of the word are divided at once.
 */
static inline uint64
eight_digits(uint32 number)
{
	uint64		word = (number / 10000) | (uint64) (number % 10000) << 32;
	uint64		quotient;

	/* x / 100 of each x below 10000, then x / 10 of each below 100 */
	quotient = ((word * 10486) >> 20) & UINT64CONST(0x0000007f0000007f);
	word = quotient | (word - 100 * quotient) << 16;
	quotient = ((word * 103) >> 10) & UINT64CONST(0x000f000f000f000f);
	word = quotient | (word - 10 * quotient) << 8;
	return word | UINT64CONST(0x3030303030303030);
}

/*
 * The shortest decimal of a number from 0 to below 10^16 in two little-endian
 * words, zero padded; returns its length.
 */
static inline unsigned
decimal_words(uint64 number, uint64 *first, uint64 *second)
{
	const uint32 eight = 100000000;
	uint64		high;
	uint64		low = 0;
	unsigned	leading;
	unsigned	length = 8;

	Assert(number < BF_HASH_DECIMAL_LIMIT);
	if (number >= eight)
	{
		low = eight_digits((uint32) (number % eight));
		number /= eight;
		length = 16;
	}
	high = eight_digits((uint32) number);

	/* drop leading zeros, but not the only digit of 0 */
	leading = (number == 0) ? 7 :
		pg_rightmost_one_pos64(high ^ UINT64CONST(0x3030303030303030)) / 8;
	length -= leading;
	*first = high >> (8 * leading);
	*second = low;
	if (length > 8 && leading > 0)
	{
		*first |= low << (64 - 8 * leading);
		*second = low >> (8 * leading);
	}
	return length;
}

/*
 * bf_hash() of the shortest decimal of a number from 0 to below 10^16, as of
 * its text.  Keys are mostly such numbers, and reading back digits just
 * written costs more than making them in registers.
 */
BfHash
bf_hash_decimal(BfScheme scheme, uint64 number)
{
	uint64		first;
	uint64		second;
	unsigned	length = decimal_words(number, &first, &second);

	if (scheme == BF_SCHEME_FNV1A)
		return fnv1a_of_words(first, second, length);

	if (length < 8)
		second = first;
	else if (length == 16)
		second = murmur_mix(second);
	first = murmur_mix(first);
	if (scheme == BF_SCHEME_MURMUR64A_SEED0)
		return (BfHash) {murmur_short(length, 0, first, second), 0};
	return murmur_short_pair(length, first, second);
}

BfHash
bf_hash(BfScheme scheme, const void *key, size_t length)
{
	if (scheme == BF_SCHEME_FNV1A)
		return fnv1a_pair(key, length);
	if (scheme == BF_SCHEME_MURMUR64A_SEED0)
		return (BfHash) {murmur64a(key, length, 0), 0};
	return murmur_pair((const uint8 *) key, length);
}

/* Multiplier and shift of the 32-bit MurmurHash2 (Austin Appleby, 2008). */
#define BF_MURMUR2_MULTIPLIER	0x5bd1e995
#define BF_MURMUR2_SHIFT		24

/* What of a block does not depend on the hash so far. */
static inline uint32
murmur2_mix(uint32 block)
{
	block *= BF_MURMUR2_MULTIPLIER;
	block ^= block >> BF_MURMUR2_SHIFT;
	return block * BF_MURMUR2_MULTIPLIER;
}

/* Takes in one more block, mixed. */
static inline uint32
murmur2_step(uint32 h, uint32 mixed)
{
	return h * BF_MURMUR2_MULTIPLIER ^ mixed;
}

/* Takes in the up to 3 bytes behind the last whole block and finishes. */
static inline uint32
murmur2_finish(uint32 h, uint32 tail, bool has_tail)
{
	if (has_tail)
		h = (h ^ tail) * BF_MURMUR2_MULTIPLIER;
	h ^= h >> 13;
	h *= BF_MURMUR2_MULTIPLIER;
	return h ^ (h >> 15);
}

/* The hashes of a key of which the mixed blocks and the tail are at hand. */
static inline void
murmur2_rows_of_blocks(const uint32 *mixed, uint32 tail, size_t length,
					   uint32 nrows, uint32 *hashes)
{
	size_t		nblocks = length / 4;

	for (uint32 row = 0; row < nrows; row++)
	{
		uint32		h = row ^ (uint32) length;

		for (size_t i = 0; i < nblocks; i++)
			h = murmur2_step(h, mixed[i]);
		hashes[row] = murmur2_finish(h, tail, length % 4 != 0);
	}
}

/* Keys of up to so many blocks are read and mixed once for all rows. */
#define BF_MURMUR2_BLOCKS	16

/* Blocks of longer ones between two looks whether the query was cancelled. */
#define BF_BLOCKS_PER_INTERRUPT_CHECK	65536

void
bf_murmur2_rows(const void *key, size_t length, uint32 nrows, uint32 *hashes)
{
	const uint8 *bytes = (const uint8 *) key;
	size_t		nblocks = length / 4;
	uint32		mixed[BF_MURMUR2_BLOCKS];
	uint32		tail = 0;

	for (size_t i = 4 * nblocks; i < length; i++)
		tail |= (uint32) bytes[i] << (8 * (i % 4));

	if (nblocks <= BF_MURMUR2_BLOCKS)
	{
		for (size_t i = 0; i < nblocks; i++)
			mixed[i] = murmur2_mix((uint32) read_half_block(bytes + 4 * i));
		murmur2_rows_of_blocks(mixed, tail, length, nrows, hashes);
		return;
	}

	for (uint32 row = 0; row < nrows; row++)
		hashes[row] = row ^ (uint32) length;
	for (size_t i = 0; i < nblocks; i++)
	{
		uint32		block = murmur2_mix((uint32) read_half_block(bytes + 4 * i));

		if (i % BF_BLOCKS_PER_INTERRUPT_CHECK == 0)
			BF_CHECK_FOR_INTERRUPTS();
		for (uint32 row = 0; row < nrows; row++)
			hashes[row] = murmur2_step(hashes[row], block);
	}
	for (uint32 row = 0; row < nrows; row++)
		hashes[row] = murmur2_finish(hashes[row], tail, length % 4 != 0);
}

/* Two mixed blocks in each word, the first in the lower half. */
static inline uint64
murmur2_mix_pair(uint64 word)
{
	return murmur2_mix((uint32) word) | (uint64) murmur2_mix((uint32) (word >> 32)) << 32;
}

/*
 * The hashes of a key of up to 16 bytes in registers.  Where the compiler knows
 * the number of blocks, nothing keeps the processor from computing the rows side
 * by side.
 */
static pg_attribute_always_inline void
murmur2_rows_of_words(uint64 first, uint64 second, uint32 nblocks, uint32 tail,
					  bool has_tail, unsigned length, uint32 nrows, uint32 *hashes)
{
	for (uint32 row = 0; row < nrows; row++)
	{
		uint32		h = row ^ length;

		if (nblocks > 0)
			h = murmur2_step(h, (uint32) first);
		if (nblocks > 1)
			h = murmur2_step(h, (uint32) (first >> 32));
		if (nblocks > 2)
			h = murmur2_step(h, (uint32) second);
		if (nblocks > 3)
			h = murmur2_step(h, (uint32) (second >> 32));
		hashes[row] = murmur2_finish(h, tail, has_tail);
	}
}

/* The same of the shortest decimal of a number: see bf_hash_decimal(). */
void
bf_murmur2_rows_decimal(uint64 number, uint32 nrows, uint32 *hashes)
{
	uint64		first;
	uint64		second;
	unsigned	length = decimal_words(number, &first, &second);
	unsigned	nblocks = length / 4;
	bool		has_tail = length % 4 != 0;
	uint32		tail = (uint32) ((nblocks < 2 ? first : second) >> (nblocks % 2 * 32));

	first = murmur2_mix_pair(first);
	if (nblocks == 2 && has_tail)
		murmur2_rows_of_words(first, 0, 2, tail, true, length, nrows, hashes);
	else if (nblocks == 1 && has_tail)
		murmur2_rows_of_words(first, 0, 1, tail, true, length, nrows, hashes);
	else
		murmur2_rows_of_words(first, murmur2_mix_pair(second), nblocks, tail, has_tail,
							  length, nrows, hashes);
}

/* The name that users type and bloom_info shows; NULL for an id they cannot choose. */
const char *
bf_scheme_name(BfScheme scheme)
{
	switch (scheme)
	{
		case BF_SCHEME_MURMUR64A:
			return "murmur64a";
		case BF_SCHEME_FNV1A:
			return "fnv1a";
		case BF_SCHEME_MURMUR64A_SEED0:
		case BF_SCHEME_MURMUR2:
			break;
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
