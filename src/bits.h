/*-------------------------------------------------------------------------
 *
 * bits.h
 *	  Kernels over arrays of bits.
 *
 * Bit i is bit i % 8, least significant first, of byte i / 8.  Arrays start
 * at a multiple of 8 bytes and are a multiple of 8 bytes long, so AND, OR and
 * counting may go by words on machines of either endianness.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_BITS_H
#define BF_BITS_H

#include "compat.h"

/* Bytes that hold so many bits, in whole words. */
static inline uint64
bf_bits_bytes(uint64 bits)
{
	return (bits + 63) / 64 * 8;
}

static inline bool
bf_bit_is_set(const uint8 *bytes, uint64 position)
{
	return (bytes[position >> 3] >> (position & 7)) & 1;
}

/* Returns 1 when the bit was not set before, otherwise 0. */
static inline unsigned
bf_bit_set(uint8 *bytes, uint64 position)
{
	uint8		old = bytes[position >> 3];
	uint8		mask = (uint8) (1 << (position & 7));

	bytes[position >> 3] = old | mask;
	return (old & mask) == 0;
}

/*
 * memcpy, memset to 0 and memcmp for equality, of values that may be large:
 * touching half a gigabyte of new memory can take a second or more, so the
 * query can be cancelled meanwhile.
 */
extern void bf_bytes_copy(void *target, const void *source, size_t size);
extern void bf_bytes_zero(void *target, size_t size);
extern bool bf_bytes_equal(const void *a, const void *b, size_t size);

extern uint64 bf_bits_count(const uint8 *bytes, uint64 size);
extern uint64 bf_bits_or(uint8 *target, const uint8 *source, uint64 size);
extern uint64 bf_bits_and(uint8 *target, const uint8 *source, uint64 size);
extern uint64 bf_bits_count_or(const uint8 *a, const uint8 *b, uint64 size);
extern bool bf_bits_padding_is_zero(const uint8 *bytes, uint64 bits);

#endif							/* BF_BITS_H */
