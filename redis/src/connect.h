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

#include "datatype/timestamp.h"

/* How much of a reply the parser has seen; it hangs on hiredis' reader. */
typedef struct BfReplySize
{
	size_t		elements;		/* announced by its arrays */
	bool		excessive;		/* it is none of ours */
} BfReplySize;

extern List *bf_connect_mapping(Oid server, Oid user, uint32 *hash);
extern char *bf_connect_describe(const char *name, const BfRedisServerOptions *options);
extern bool bf_connect_wait(int fd, int events, TimestampTz deadline, const char **problem);
extern bool bf_connect_line_is_excessive(const redisReader *reader);
#ifdef BF_WITH_TLS
extern const char *bf_connect_tls_problem(const SSL *session);
#endif
extern redisContext *bf_connect_open(const BfRedisServerOptions *options,
									 BfReplySize *size, const char **problem);

#endif							/* BF_REDIS_CONNECT_H */
