/*-------------------------------------------------------------------------
 *
 * connect.h
 *	  How a connection to Redis is made; for connection.c only.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_REDIS_CONNECT_H
#define BF_REDIS_CONNECT_H

#include "options.h"
#include "redis_compat.h"

extern List *bf_connect_mapping(Oid server, Oid user, uint32 *hash);
extern char *bf_connect_describe(const char *name, const BfRedisServerOptions *options);
extern redisContext *bf_connect_open(const BfRedisServerOptions *options,
									 const char **problem);

#endif							/* BF_REDIS_CONNECT_H */
