/*-------------------------------------------------------------------------
 *
 * params.c
 *	  Sizing.
 *
 * The textbook formulas: Bloom, "Space/Time Trade-offs in Hash Coding with
 * Allowable Errors", 1970; Broder and Mitzenmacher, "Network Applications of
 * Bloom Filters", 2004.  The number of keys behind a fill: Swamidass and
 * Baldi, "Mathematical Correction for Fingerprint Similarity Measures", 2007.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "params.h"

#include <math.h>

/*
 * ln 2 and its square with RedisBloom's digits.  Its geometry is ours, and a
 * digit more could move a ceiling.
 */
#define BF_LN2			0.693147180559945
#define BF_LN2_SQUARED	0.480453013918201

BfParamsError
bf_params_check_fpr(double fpr)
{
	/* written so that NaN fails */
	return (fpr > 0.0 && fpr < 1.0) ? BF_PARAMS_OK : BF_PARAMS_FPR;
}

/*
 * RedisBloom's geometry for a capacity and a rate: bits per entry from the
 * rate alone, the product rounded down and then up to whole 64-bit words.
 */
BfParamsError
bf_params_for_capacity(int64 capacity, double fpr, BfGeometry *geometry)
{
	double		bits_per_entry;
	double		hashes;
	double		bits;

	if (capacity < 1)
		return BF_PARAMS_CAPACITY;
	if (bf_params_check_fpr(fpr) != BF_PARAMS_OK)
		return BF_PARAMS_FPR;

	bits_per_entry = -(log(fpr) / BF_LN2_SQUARED);
	hashes = ceil(BF_LN2 * bits_per_entry);
	if (hashes > BF_MAX_HASHES)
		return BF_PARAMS_FPR_TOO_SMALL;

	bits = (double) capacity * bits_per_entry;
	if (bits > (double) BF_MAX_BITS)
		return BF_PARAMS_TOO_LARGE;

	geometry->bits = Max((uint64) bits, 1);
	geometry->bits = (geometry->bits + 63) / 64 * 64;
	geometry->hashes = (uint32) hashes;
	return BF_PARAMS_OK;
}

/* Whether a geometry that a user wrote down can be had. */
BfParamsError
bf_params_check_geometry(int64 bits, int64 hashes)
{
	if (bits < 1 || (uint64) bits > BF_MAX_BITS)
		return BF_PARAMS_BITS;
	if (hashes < 1 || hashes > BF_MAX_HASHES)
		return BF_PARAMS_HASHES;
	return BF_PARAMS_OK;
}

/* The number of keys at which a geometry is half full: its optimum. */
uint64
bf_params_capacity(BfGeometry geometry)
{
	double		capacity = floor((double) geometry.bits * M_LN2 / geometry.hashes);

	return capacity < 1 ? 1 : (uint64) capacity;
}

/* The rate of a filter that is half full. */
double
bf_params_fpr(uint32 hashes)
{
	return ldexp(1.0, -(int) hashes);
}

/* m = ceil(-n ln p / ln(2)^2), unlimited. */
double
bf_textbook_bits(double count, double fpr)
{
	return ceil(-count * log(fpr) / (M_LN2 * M_LN2));
}

/* k = ceil(m / n ln 2), unlimited. */
double
bf_textbook_hashes(double bits, double count)
{
	return ceil(bits / count * M_LN2);
}

/* (1 - e^(-kn/m))^k: the rate to expect with count keys. */
double
bf_expected_fpr(BfGeometry geometry, double count)
{
	double		load = (double) geometry.hashes * count / (double) geometry.bits;

	return pow(-expm1(-load), geometry.hashes);
}

/*
 * -m/k ln(1 - p^(1/k)): the number of keys at which the rate reaches p.  In
 * this form the difference does not vanish for a p next to 1.
 */
double
bf_max_count(BfGeometry geometry, double fpr)
{
	return -((double) geometry.bits / geometry.hashes) *
		log(-expm1(log(fpr) / geometry.hashes));
}

/*
 * -m/k ln(1 - X/m): the number of keys behind X bits set.  Infinity when all
 * are set, because then any number could be behind it.
 */
double
bf_count_for_fill(BfGeometry geometry, uint64 bits_set)
{
	if (bits_set == 0)
		return 0.0;
	if (bits_set >= geometry.bits)
		return INFINITY;
	return -((double) geometry.bits / geometry.hashes) *
		log1p(-((double) bits_set / (double) geometry.bits));
}

/* Euler's function: how many of 1 .. n have no divisor with n in common. */
static uint32
totient(uint32 n)
{
	uint32		result = n;

	for (uint32 p = 2; p * p <= n; p++)
	{
		if (n % p == 0)
		{
			result -= result / p;
			while (n % p == 0)
				n /= p;
		}
	}
	return n > 1 ? result - result / n : result;
}

/*
 * The rate at which absent keys pass a filter with X bits set: with fill f =
 * X/m it is f^k, and in small filters more, because a key has not k random
 * positions but k steps of h2 around m places:
 *
 * - With a chance of phi(d)/m, for d that divide m, the steps come back to
 *   their start after d of them.  Such a key has only d positions.
 * - With a chance of 1/m^2 for each added key, each direction and each shift
 *   by j places, the steps are those of an added key but for j of them.
 *
 * Both together are what is measured from m = 128 on; where m has some ten
 * thousands they no longer matter.
 */
double
bf_fpr_for_fill(BfGeometry geometry, uint64 bits_set)
{
	double		bits = (double) geometry.bits;
	double		fill = (double) bits_set / bits;
	double		rate = pow(fill, geometry.hashes);
	double		more = 0.0;

	if (bits_set >= geometry.bits)
		return 1.0;
	for (uint32 d = 1; d < geometry.hashes; d++)
	{
		if (geometry.bits % d == 0)
			more += totient(d) / bits * (pow(fill, d) - rate);
	}
	/* the sum over all shifts: 1 + 2 (f + f^2 + ...) = (1 + f) / (1 - f) */
	if (geometry.hashes > 1)
		more += bf_count_for_fill(geometry, bits_set) * 2.0 / (bits * bits) *
			(1.0 + fill) / (1.0 - fill);
	return Min(1.0, rate + more);
}
