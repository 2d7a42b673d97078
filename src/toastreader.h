/*-------------------------------------------------------------------------
 *
 * toastreader.h
 *	  Single chunks of a value that is stored out of line.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_TOASTREADER_H
#define BF_TOASTREADER_H

#include "compat.h"

typedef struct BfToastReader BfToastReader;

extern bool bf_toast_is_readable(Datum datum);
extern BfToastReader *bf_toast_reader_open(Datum datum);
extern const uint8 *bf_toast_reader_fetch(BfToastReader *reader, uint64 offset,
										  Size *length);
extern uint64 bf_toast_reader_fetched(const BfToastReader *reader);
extern void bf_toast_reader_close(BfToastReader *reader);

#endif							/* BF_TOASTREADER_H */
