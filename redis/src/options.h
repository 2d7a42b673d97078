/*-------------------------------------------------------------------------
 *
 * options.h
 *	  Options of Redis servers, user mappings and foreign tables.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_REDIS_OPTIONS_H
#define BF_REDIS_OPTIONS_H

#include "hash.h"
#include "params.h"

#include "nodes/pg_list.h"

#define BF_REDIS_DEFAULT_HOST				"localhost"
#define BF_REDIS_DEFAULT_PORT				6379
#define BF_REDIS_DEFAULT_CONNECT_TIMEOUT	5000	/* milliseconds */
#define BF_REDIS_DEFAULT_COMMAND_TIMEOUT	30000

/* What a server and a user mapping say together. */
typedef struct BfRedisServerOptions
{
	const char *host;
	int			port;
	const char *socket;			/* path of a Unix socket, instead of a host */
	int			dbname;
	int			connect_timeout;	/* milliseconds */
	int			command_timeout;	/* milliseconds, for the whole of a reply */
	bool		tls;
	const char *tls_ca;
	const char *tls_cert;
	const char *tls_key;
	const char *username;
	const char *password;
} BfRedisServerOptions;

/* What holds the filter in Redis. */
typedef enum BfRedisFormat
{
	BF_REDIS_BLOOM,				/* a RedisBloom filter: BF commands */
	BF_REDIS_BITMAP,			/* a plain string: SETBIT and GETBIT */
	BF_REDIS_CUCKOO				/* a RedisBloom cuckoo filter: CF commands */
} BfRedisFormat;

/* What a foreign table says; 0 and NULL where nothing was said. */
typedef struct BfRedisTableOptions
{
	const char *key;
	BfRedisFormat format;
	int64		capacity;
	double		error_rate;
	int			expansion;
	bool		nonscaling;
	bool		create;			/* a missing filter is created by INSERT */
	bool		missing_is_empty;	/* a missing filter holds nothing */
	int			bucket_size;
	int			max_iterations;
	BfGeometry	geometry;		/* of a bitmap */
	BfScheme	scheme;			/* of a bitmap */
	int64		ttl;			/* milliseconds */
} BfRedisTableOptions;

extern void bf_redis_get_server_options(List *server_options, List *mapping_options,
										BfRedisServerOptions *options);
extern void bf_redis_get_table_options(List *table_options, BfRedisTableOptions *options);
extern BfRedisFormat bf_redis_get_format(const char *name);
extern const char *bf_redis_format_name(BfRedisFormat format);
extern int64 bf_redis_get_milliseconds(Datum interval);

#endif							/* BF_REDIS_OPTIONS_H */
