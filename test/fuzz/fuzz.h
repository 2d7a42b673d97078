/*-------------------------------------------------------------------------
 *
 * fuzz.h
 *	  What the parts of the fuzz harness share: see fuzz.c.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_FUZZ_H
#define BF_FUZZ_H

#include "filter.h"

#include <stdio.h>
#include <stdlib.h>

#define FUZZ_KEYS		4

/* Beyond this a value is not asked to grow or to be made again: it only takes time. */
#define FUZZ_LARGE_BYTES	(4 * 1024 * 1024)

/* Stop here, where the fuzzer and a reader of the stack can see it. */
#define REQUIRE(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* A key that the input brings. */
typedef struct FuzzKey
{
	BfHash		hash;			/* for filters; also ones that no key has */
	const char *text;			/* for sketches: without null characters */
	uint32		length;
} FuzzKey;

typedef struct FuzzType
{
	const char *name;
	BfKind		kind;

	/* a small value, with some keys or none; NULL when there are no more variants */
	BfFilter   *(*make) (int variant, bool filled);

	/*
	 * Make the best of any bytes: a value whose header is in native form, and
	 * its other fields not yet, gets the fields it must have.  It may become
	 * smaller than the size there is; false when nothing helps.
	 */
	bool		(*repair) (BfFilter *value, uint64 size);

	/* everything that can be done with an accepted value, and with two */
	void		(*exercise) (const BfFilter *value, const FuzzKey *keys);
	void		(*exercise_pair) (const BfFilter *a, const BfFilter *b, const FuzzKey *keys);

	/* the same with a damaged payload: it need only end well */
	void		(*exercise_damaged) (const BfFilter *value, const FuzzKey *keys);
} FuzzType;

/* fuzz_filter.c */
extern const FuzzType fuzz_bloom;
extern const FuzzType fuzz_counting;
extern const FuzzType fuzz_scalable;
extern const FuzzType fuzz_cuckoo;

/* fuzz_sketch.c */
extern const FuzzType fuzz_count_min;
extern const FuzzType fuzz_top_k;

/* fuzz_dump.c */
extern void fuzz_dump(const uint8 *data, size_t size);
extern size_t fuzz_dump_seed(int variant, uint8 *seed, size_t room);

/* fuzz.c */
extern BfFilter *fuzz_import(const uint8 *portable, size_t length, BfKind kind);
extern uint8 *fuzz_export(const BfFilter *value, size_t *length);
extern void fuzz_require_equal(const BfFilter *a, const BfFilter *b);
extern void fuzz_require_sound(const BfFilter *value);
extern BfFilter *fuzz_copy(const BfFilter *value);

#endif							/* BF_FUZZ_H */
