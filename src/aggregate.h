/*-------------------------------------------------------------------------
 *
 * aggregate.h
 *	  The state that all aggregates over filters share.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_AGGREGATE_H
#define BF_AGGREGATE_H

#include "filter.h"
#include "regions.h"

/*
 * A filter that grows by keys or by other filters.  Keys of a filter that is not
 * small wait in a batch, so that their cache misses overlap; bits_set of a plain
 * one is not kept meanwhile.
 */
typedef struct BfAggregateState
{
	BfFilter   *filter;
	BfHash	   *pending;		/* NULL: keys are added at once */
	int			npending;
	uint64		nset;			/* positions set before there were regions */
	uint64		nset_next_look; /* when to see whether regions are worth it */
	BfRegions  *regions;		/* where positions wait on, if that is worth it */
} BfAggregateState;

/* What a transition without anything to add returns: the state there was. */
static inline Datum
bf_aggregate_unchanged(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

extern MemoryContext bf_aggregate_context(FunctionCallInfo fcinfo);
extern double bf_aggregate_get_fpr(FunctionCallInfo fcinfo, int argument);

#endif							/* BF_AGGREGATE_H */
