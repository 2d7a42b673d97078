/*-------------------------------------------------------------------------
 *
 * standin_cuckoo_dump.h
 *	  RedisBloom's dump of a cuckoo filter.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef STANDIN_CUCKOO_DUMP_H
#define STANDIN_CUCKOO_DUMP_H

#include "standin.h"

#include "cuckoo.h"

#define CUCKOO_HEADER_SIZE	38

extern void cuckoo_dump_header(const BfFilter *filter, uint8 header[CUCKOO_HEADER_SIZE]);
extern BfFilter *cuckoo_load_header(const char *header, size_t size);
extern uint8 *cuckoo_find_byte(BfFilter *filter, uint64 position, uint64 *remaining);

#endif							/* STANDIN_CUCKOO_DUMP_H */
