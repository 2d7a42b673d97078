/*-------------------------------------------------------------------------
 *
 * instructions.c
 *	  Adds and probes without a server, for valgrind --tool=callgrind: a figure
 *	  that does not depend on what else the machine does.
 *
 * Usage: instructions hash|add|add-batch|probe-present|probe-absent COUNT.  Each
 * takes keys user:1 .. user:COUNT to a filter of that capacity at 1%.  The
 * difference of two counts, divided by the difference of their instructions,
 * is free of the start-up.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <stdio.h>
#include <stdlib.h>

#include "bloom.h"

#define CAPACITY	100000
#define BATCH		256

static BfHash
key_hash(const char *prefix, int number)
{
	char		key[32];
	int			length = snprintf(key, sizeof(key), "%s%d", prefix, number);

	return bf_hash(BF_SCHEME_MURMUR64A, key, (size_t) length);
}

int
main(int argc, char **argv)
{
	BfGeometry	geometry;
	BfFilter   *filter;
	BfHash	   *hashes;
	int			count = argc == 3 ? atoi(argv[2]) : 0;
	long		found = 0;
	bool		absent;

	if (count < 1 || bf_params_for_capacity(CAPACITY, 0.01, &geometry) != BF_PARAMS_OK)
	{
		fprintf(stderr, "usage: %s hash|add|add-batch|probe-present|probe-absent COUNT\n", argv[0]);
		return 2;
	}
	filter = bf_bloom_create(geometry, BF_SCHEME_MURMUR64A, CAPACITY, 0.01);
	absent = strcmp(argv[1], "probe-absent") == 0;

	/* hashing, with the formatting of keys, is a figure of its own: "hash" */
	hashes = (BfHash *) palloc((size_t) count * sizeof(BfHash));
	for (int i = 0; i < count; i++)
		hashes[i] = key_hash(absent ? "absent:" : "user:", i);
	if (strncmp(argv[1], "probe", 5) == 0)
	{
		for (int i = 0; i < CAPACITY; i++)
			(void) bf_filter_add(filter, key_hash("user:", i));
	}

	if (strcmp(argv[1], "add") == 0)
	{
		for (int i = 0; i < count; i++)
			(void) bf_filter_add(filter, hashes[i]);
	}
	else if (strcmp(argv[1], "add-batch") == 0)
	{
		for (int i = 0; i < count; i += BATCH)
			bf_bloom_set_batch(filter, hashes + i, Min(BATCH, count - i));
	}
	else if (strncmp(argv[1], "probe", 5) == 0)
	{
		for (int i = 0; i < count; i++)
			found += bf_filter_contains(filter, hashes[i]);
	}
	printf("%s %d: %ld found\n", argv[1], count, found);
	return 0;
}
