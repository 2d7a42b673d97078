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

/*
 * A filter that grows by keys or by other filters.  Keys for a filter that
 * does not fit the cache wait in a batch, so that their cache misses overlap.
 */
typedef struct BfAggregateState
{
	BfFilter   *filter;
	BfHash	   *pending;		/* NULL: keys are added at once */
	int			npending;
} BfAggregateState;

extern MemoryContext bf_aggregate_context(FunctionCallInfo fcinfo);
extern double bf_aggregate_get_fpr(FunctionCallInfo fcinfo, int argument);

#endif							/* BF_AGGREGATE_H */
