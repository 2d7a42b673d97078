/*-------------------------------------------------------------------------
 *
 * keytype.h
 *	  Which types can be keys; for key.c only.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_KEYTYPE_H
#define BF_KEYTYPE_H

#include "key.h"

extern void bf_keytype_check_record(BfKeyRule *rule, Datum value);

#endif							/* BF_KEYTYPE_H */
