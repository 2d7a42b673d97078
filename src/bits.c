/*-------------------------------------------------------------------------
 *
 * bits.c
 *	  Kernels over arrays of bits.
 *
 * Each works through its array in slices that stay in the first-level cache:
 * a plain word loop that the compiler vectorises, then the server's popcount,
 * which picks the machine's instruction at run time.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "bits.h"

#include "port/pg_bitutils.h"

#define BF_SLICE_BYTES	8192

/* How often a loop over a large array looks whether it was cancelled. */
#define BF_SLICES_PER_INTERRUPT_CHECK	512

/* The same for what is done to bytes, in pieces. */
#define BF_PIECE_BYTES	((size_t) BF_SLICES_PER_INTERRUPT_CHECK * BF_SLICE_BYTES)

void
bf_bytes_copy(void *target, const void *source, size_t size)
{
	for (size_t offset = 0; offset < size; offset += BF_PIECE_BYTES)
	{
		BF_CHECK_FOR_INTERRUPTS();
		memcpy((char *) target + offset, (const char *) source + offset,
			   Min(size - offset, BF_PIECE_BYTES));
	}
}

void
bf_bytes_zero(void *target, size_t size)
{
	for (size_t offset = 0; offset < size; offset += BF_PIECE_BYTES)
	{
		BF_CHECK_FOR_INTERRUPTS();
		memset((char *) target + offset, 0, Min(size - offset, BF_PIECE_BYTES));
	}
}

bool
bf_bytes_equal(const void *a, const void *b, size_t size)
{
	for (size_t offset = 0; offset < size; offset += BF_PIECE_BYTES)
	{
		BF_CHECK_FOR_INTERRUPTS();
		if (memcmp((const char *) a + offset, (const char *) b + offset,
				   Min(size - offset, BF_PIECE_BYTES)) != 0)
			return false;
	}
	return true;
}

static inline void
check_for_interrupts(uint64 offset)
{
	if ((offset / BF_SLICE_BYTES) % BF_SLICES_PER_INTERRUPT_CHECK == 0)
		BF_CHECK_FOR_INTERRUPTS();
}

static inline uint64
slice_size(uint64 offset, uint64 size)
{
	return Min(size - offset, BF_SLICE_BYTES);
}

/* The number of bits set in size bytes. */
uint64
bf_bits_count(const uint8 *bytes, uint64 size)
{
	uint64		count = 0;

	for (uint64 offset = 0; offset < size; offset += BF_SLICE_BYTES)
	{
		check_for_interrupts(offset);
		count += pg_popcount((const char *) bytes + offset,
							 (int) slice_size(offset, size));
	}
	return count;
}

/* target |= source; returns the number of bits then set in target. */
uint64
bf_bits_or(uint8 *target, const uint8 *source, uint64 size)
{
	uint64		count = 0;

	for (uint64 offset = 0; offset < size; offset += BF_SLICE_BYTES)
	{
		uint64	   *to = (uint64 *) (target + offset);
		const uint64 *from = (const uint64 *) (source + offset);
		uint64		bytes = slice_size(offset, size);

		check_for_interrupts(offset);
		for (uint64 i = 0; i < bytes / sizeof(uint64); i++)
			to[i] |= from[i];
		count += pg_popcount((const char *) to, (int) bytes);
	}
	return count;
}

/* target &= source; returns the number of bits then set in target. */
uint64
bf_bits_and(uint8 *target, const uint8 *source, uint64 size)
{
	uint64		count = 0;

	for (uint64 offset = 0; offset < size; offset += BF_SLICE_BYTES)
	{
		uint64	   *to = (uint64 *) (target + offset);
		const uint64 *from = (const uint64 *) (source + offset);
		uint64		bytes = slice_size(offset, size);

		check_for_interrupts(offset);
		for (uint64 i = 0; i < bytes / sizeof(uint64); i++)
			to[i] &= from[i];
		count += pg_popcount((const char *) to, (int) bytes);
	}
	return count;
}

/* The number of bits set in a | b, without writing it anywhere. */
uint64
bf_bits_count_or(const uint8 *a, const uint8 *b, uint64 size)
{
	uint64		slice[BF_SLICE_BYTES / sizeof(uint64)];
	uint64		count = 0;

	for (uint64 offset = 0; offset < size; offset += BF_SLICE_BYTES)
	{
		const uint64 *left = (const uint64 *) (a + offset);
		const uint64 *right = (const uint64 *) (b + offset);
		uint64		bytes = slice_size(offset, size);

		check_for_interrupts(offset);
		for (uint64 i = 0; i < bytes / sizeof(uint64); i++)
			slice[i] = left[i] | right[i];
		count += pg_popcount((const char *) slice, (int) bytes);
	}
	return count;
}

/* Whether the bits behind the last one, up to the next whole word, are zero. */
bool
bf_bits_padding_is_zero(const uint8 *bytes, uint64 bits)
{
	for (uint64 i = bits; i < bf_bits_bytes(bits) * 8; i++)
	{
		if (bf_bit_is_set(bytes, i))
			return false;
	}
	return true;
}
