/*-------------------------------------------------------------------------
 *
 * errors.h
 *	  Errors that more than one SQL function reports.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_ERRORS_H
#define BF_ERRORS_H

#include "format.h"

extern void bf_check_params(BfParamsError error);
extern void bf_check_same_geometry(const BfFilter *left, const BfFilter *right);
extern void bf_check_same_fixed_geometry(const BfFilter *left, const BfFilter *right);
extern BfFilter *bf_check_grown(BfFilter *filter, BfKind kind);
extern BfFilter *bf_check_added(BfFilter *filter, const BfFilter *before, BfHash hash);
extern BfScheme bf_get_scheme(const text *name);

#endif							/* BF_ERRORS_H */
