/*-------------------------------------------------------------------------
 *
 * top_k_sql.h
 *	  What the SQL functions of top_k share with its aggregates.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_TOP_K_SQL_H
#define BF_TOP_K_SQL_H

#include "key.h"
#include "sketch_sql.h"
#include "top_k.h"

extern void bf_top_k_check_k(int32 k);
extern void bf_top_k_default_error(int32 k, double *error, double *probability);
extern BfKey bf_top_k_key(BfKeyRule *rule, Datum value, char *buffer);
extern void bf_top_k_add(BfTopK *top, MemoryContext context, BfKeyRule *rule,
						 Datum key, uint64 weight);
extern void bf_top_k_absorb_value(BfTopK *top, MemoryContext context, const BfFilter *value);
extern BfTopK *bf_top_k_open_value(const BfFilter *value);
extern BfFilter *bf_top_k_result(const BfTopK *top);

#endif							/* BF_TOP_K_SQL_H */
