/*-------------------------------------------------------------------------
 *
 * bloomfilter_redis.c
 *	  The library: filters of extension bloomfilter in Redis.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "redis_compat.h"

PG_MODULE_MAGIC;
