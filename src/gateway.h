/*-------------------------------------------------------------------------
 *
 * gateway.h
 *	  From an SQL datum to a filter: the only way in.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_GATEWAY_H
#define BF_GATEWAY_H

#include "expanded.h"

extern void bf_check_filter(const BfFilter *value, Size size, BfKind kind);
extern const BfFilter *bf_get_filter(Datum datum, BfKind kind);
extern BfFilter *bf_get_filter_copy(Datum datum, BfKind kind);
extern BfFilter *bf_get_head(Datum datum, BfKind kind);
extern struct varlena *bf_get_bytes(Datum datum);
extern void bf_release(const void *value, Datum datum);
extern BfExpanded *bf_get_expanded_copy(Datum datum, BfKind kind, MemoryContext parent);
extern BfExpanded *bf_get_writable(Datum datum, BfKind kind, MemoryContext parent);

#define BF_GETARG_FILTER(n)			bf_get_filter(PG_GETARG_DATUM(n), BF_KIND_ANY)
#define BF_GETARG_HEAD(n)			bf_get_head(PG_GETARG_DATUM(n), BF_KIND_ANY)
#define BF_GETARG_FILTER_COPY(n)	bf_get_filter_copy(PG_GETARG_DATUM(n), BF_KIND_ANY)

#endif							/* BF_GATEWAY_H */
