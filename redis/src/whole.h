/*-------------------------------------------------------------------------
 *
 * whole.h
 *	  What pushing and pulling whole filters share.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_REDIS_WHOLE_H
#define BF_REDIS_WHOLE_H

#include "command.h"
#include "options.h"

/* Bytes of one command: what BF.SCANDUMP answers at a time, too. */
#define BF_CHUNK_SIZE	(16 * 1024 * 1024)

extern BfConnection *bf_whole_connect(Name server_name);
extern char *bf_whole_key(const text *key);
extern void bf_reverse_bits(uint8 *to, const uint8 *from, size_t size);

#endif							/* BF_REDIS_WHOLE_H */
