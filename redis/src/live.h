/*-------------------------------------------------------------------------
 *
 * live.h
 *	  Probing and filling a filter that lives in Redis, whatever its format.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_REDIS_LIVE_H
#define BF_REDIS_LIVE_H

#include "connection.h"
#include "options.h"

#include "key.h"
#include "lib/stringinfo.h"

/*
 * Batches that may be under way while the next one is filled.  Those of a module
 * hold keys of any length, and go on into a filter that refused one.
 */
#define BF_LOAD_DEPTH			4
#define BF_LOAD_MODULE_DEPTH	2

/* Keys on their way into a filter. */
typedef struct BfLoad
{
	BfWork		work;
	Oid			server;
	Oid			user;
	BfRedisTableOptions options;
	MemoryContext context;
	BfConnection *connection;	/* NULL until the first batch is sent */

	/* the batch being filled: bytes of all keys, and where each ends */
	StringInfoData bytes;
	size_t	   *ends;
	int			nkeys;

	/* arguments of one command, or the whole of one that is written here */
	const char **args;
	size_t	   *lengths;
	int			nargs;
	StringInfoData written;
	const char *capacity;		/* options, printed */
	const char *error_rate;
	const char *expansion;

	/* batches under way, oldest first */
	int			sent[BF_LOAD_DEPTH];
	int			nsent;
	int64		acknowledged;	/* keys that are in the filter */
	bool		failed;			/* some were lost */
} BfLoad;

extern const char *bf_live_module_type(BfRedisFormat format);
extern const char *bf_live_probe_command(BfRedisFormat format, bool many);
extern const char *bf_live_insert_command(BfRedisFormat format);

extern void bf_live_probe(Oid server, Oid user, const BfRedisTableOptions *options,
						  int nkeys, const BfKey *keys, bool *present);

extern BfLoad *bf_load_begin(Oid server, Oid user, const BfRedisTableOptions *options);
extern void bf_load_add(BfLoad *load, const char *data, size_t length);
extern void bf_load_end(BfLoad *load);

#endif							/* BF_REDIS_LIVE_H */
