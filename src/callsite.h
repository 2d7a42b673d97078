/*-------------------------------------------------------------------------
 *
 * callsite.h
 *	  What one call site in a query keeps from call to call.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_CALLSITE_H
#define BF_CALLSITE_H

#include "format.h"
#include "key.h"

typedef struct BfKeptFilters BfKeptFilters;
typedef struct BfIndexAccess BfIndexAccess;

/* Kept in fn_extra, so it lives as long as the query's expression. */
typedef struct BfCallSite
{
	BfKeyRule	rule;			/* of the key argument, or of its elements */
	int16		element_length; /* of an array of keys: for deconstructing it */
	bool		element_by_value;
	char		element_align;
	MemoryContext context;		/* the call site's memory */
	BfKeptFilters *kept;		/* stored filters; see stored.c */
	BfIndexAccess *index;		/* the index probed last; see index_sql.c */
	struct varatt_external last_template;	/* of an aggregate; see aggregate.c */
} BfCallSite;

extern BfCallSite *bf_call_site_create(FunctionCallInfo fcinfo, int key_argument);
extern BfCallSite *bf_call_site_for_keys(FunctionCallInfo fcinfo, int keys_argument);

/* A function that takes one key as the argument of that number. */
static inline BfCallSite *
bf_call_site(FunctionCallInfo fcinfo, int key_argument)
{
	BfCallSite *site = (BfCallSite *) fcinfo->flinfo->fn_extra;

	return site != NULL ? site : bf_call_site_create(fcinfo, key_argument);
}

/* in filter_sql.c: what adding and removing share */
extern void bf_get_keys(Datum array, const BfCallSite *site, Datum **keys, bool **nulls, int *count);
extern Datum bf_change_by_key(FunctionCallInfo fcinfo, BfKind kind,
							  bool (*changes) (const BfFilter *filter, BfHash hash),
							  BfFilter *(*change) (BfFilter *filter, BfHash hash));
extern Datum bf_change_by_keys(FunctionCallInfo fcinfo, BfKind kind,
							   BfFilter *(*change) (BfFilter *filter, BfHash hash));

#endif							/* BF_CALLSITE_H */
