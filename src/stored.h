/*-------------------------------------------------------------------------
 *
 * stored.h
 *	  Probes of filters, stored ones without fetching all of them, and the
 *	  filters that a call site keeps.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_STORED_H
#define BF_STORED_H

#include "callsite.h"

extern bool bf_probe(BfCallSite *site, Datum filter, Datum key);
extern const BfFilter *bf_keep_filter(BfCallSite *site, Datum filter, BfKind kind);

#endif							/* BF_STORED_H */
