/*-------------------------------------------------------------------------
 *
 * distinct.h
 *	  A set of key hashes that knows how many distinct ones it has seen and
 *	  can be read back, in bounded memory.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_DISTINCT_H
#define BF_DISTINCT_H

#include "hash.h"

typedef struct BfDistinct BfDistinct;

/* Takes a run of the set's hashes; the same hash may come more than once. */
typedef void (*BfDistinctReader) (const BfHash *hashes, int count, void *argument);

extern BfDistinct *bf_distinct_create(MemoryContext context, Size memory_limit);
extern void bf_distinct_add(BfDistinct *set, uint64 h1, uint64 h2);
extern void bf_distinct_settle(BfDistinct *set);
extern uint64 bf_distinct_count(const BfDistinct *set);
extern void bf_distinct_read(BfDistinct *set, BfDistinctReader reader, void *argument);

#endif							/* BF_DISTINCT_H */
