/*-------------------------------------------------------------------------
 *
 * bloomfilter.c
 *	  The module's magic block and what is done when it is loaded.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	bf_index_register_options();
}
