/*-------------------------------------------------------------------------
 *
 * io.h
 *	  Input and output, the same for every type.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_IO_H
#define BF_IO_H

#include "format.h"

extern Datum bf_input_text(FunctionCallInfo fcinfo, BfKind kind);
extern Datum bf_input_binary(FunctionCallInfo fcinfo, BfKind kind);
extern Datum bf_input_bytea(FunctionCallInfo fcinfo, BfKind kind);
extern BfFilter *bf_import(const void *portable, Size length, BfKind kind);
extern bytea *bf_export(const BfFilter *filter);

/* The three ways in that must know which type they make. */
#define BF_DEFINE_INPUT_FUNCTIONS(type, kind) \
	BF_FUNCTION(bf_##type##_in); \
	BF_FUNCTION(bf_##type##_recv); \
	BF_FUNCTION(bf_##type##_from_bytea); \
	Datum bf_##type##_in(PG_FUNCTION_ARGS) \
	{ return bf_input_text(fcinfo, kind); } \
	Datum bf_##type##_recv(PG_FUNCTION_ARGS) \
	{ return bf_input_binary(fcinfo, kind); } \
	Datum bf_##type##_from_bytea(PG_FUNCTION_ARGS) \
	{ return bf_input_bytea(fcinfo, kind); }

#endif							/* BF_IO_H */
