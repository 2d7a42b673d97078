/*-------------------------------------------------------------------------
 *
 * reply.h
 *	  Replies of Redis: what is expected of them, and what their errors mean.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_REDIS_REPLY_H
#define BF_REDIS_REPLY_H

#include "redis_compat.h"

extern void bf_redis_check_reply(const redisReply *reply, const char *server,
								 const char *command, const char *key);
extern pg_attribute_noreturn() void bf_redis_bad_reply(const char *server,
													   const char *command,
													   const char *expected);
extern char *bf_redis_clean_text(const char *text, size_t length);

static inline bool
bf_redis_is_error(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ERROR;
}

#endif							/* BF_REDIS_REPLY_H */
