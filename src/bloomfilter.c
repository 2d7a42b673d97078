/*-------------------------------------------------------------------------
 *
 * bloomfilter.c
 *	  The module's magic block.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

PG_MODULE_MAGIC;
