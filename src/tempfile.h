/*-------------------------------------------------------------------------
 *
 * tempfile.h
 *	  A temporary file that is closed with a memory context.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_TEMPFILE_H
#define BF_TEMPFILE_H

#include "compat.h"

typedef struct BfTempFile BfTempFile;

extern BfTempFile *bf_tempfile_create(MemoryContext context);
extern void bf_tempfile_append(BfTempFile *file, const void *data, Size size);
extern void bf_tempfile_read(BfTempFile *file, uint64 offset, void *data, Size size);

#endif							/* BF_TEMPFILE_H */
