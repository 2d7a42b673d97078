/*-------------------------------------------------------------------------
 *
 * expanded.h
 *	  A filter as an expanded object, which a function may change in place.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_EXPANDED_H
#define BF_EXPANDED_H

#include "format.h"
#include "utils/expandeddatum.h"

/* A smaller filter is copied faster than an object is made. */
#define BF_EXPANDED_MIN_SIZE	1024

typedef struct BfExpanded
{
	ExpandedObjectHeader header;
	BfFilter   *filter;			/* as it would be flat, in the header's context */
} BfExpanded;

extern BfExpanded *bf_expanded_create(MemoryContext parent);
extern BfExpanded *bf_expanded_find(Datum datum);
extern void bf_expanded_set(BfExpanded *object, BfFilter *filter);

/* The object of a datum that is one of ours; NULL of any other. */
static inline BfExpanded *
bf_expanded(Datum datum)
{
	return VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)) ?
		bf_expanded_find(datum) : NULL;
}

/* Whether a datum gives the right to change its object. */
static inline bool
bf_expanded_is_writable(Datum datum)
{
	return VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)) &&
		bf_expanded_find(datum) != NULL;
}

static inline Datum
bf_expanded_datum(const BfExpanded *object)
{
	return EOHPGetRWDatum(&object->header);
}

#endif							/* BF_EXPANDED_H */
