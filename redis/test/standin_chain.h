/*-------------------------------------------------------------------------
 *
 * standin_chain.h
 *	  RedisBloom's chain of plain filters, and its dump.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef STANDIN_CHAIN_H
#define STANDIN_CHAIN_H

#include "standin.h"

#include "bloom.h"

/* A chain's options, as a dump has them. */
#define OPTION_NO_ROUND		1
#define OPTION_FORCE64		4
#define OPTION_NO_SCALING	8

/* One filter of a chain. */
typedef struct Link
{
	BfGeometry	geometry;
	uint64		entries;		/* newly added items after which it is full */
	uint64		items;			/* newly added items it holds */
	double		error;
	double		bits_per_entry;
	uint8	   *bits;			/* geometry.bits / 8 bytes */
} Link;

/* The newest link is the last. */
typedef struct Chain
{
	uint64		items;
	uint32		options;
	uint32		growth;
	uint32		nlinks;
	Link	   *links;
} Chain;

/* What BF.RESERVE and BF.INSERT say about a chain to be made. */
typedef struct Request
{
	double		error;
	int64		capacity;
	int64		expansion;
	bool		scaling;
	bool		create;
} Request;

extern Chain *chain_create(const Request *request, BfParamsError *problem);
extern void chain_free(Chain *chain);
extern size_t chain_memory(const Chain *chain);
extern bool chain_contains(const Chain *chain, BfHash hash);
extern AddResult chain_add(Chain *chain, BfHash hash);
extern char *chain_dump_header(const Chain *chain, size_t *size);
extern Chain *chain_load_header(const char *header, size_t size);
extern Link *chain_find_link(const Chain *chain, uint64 position, uint64 *offset);

#endif							/* STANDIN_CHAIN_H */
