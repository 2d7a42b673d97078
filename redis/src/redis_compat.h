/*-------------------------------------------------------------------------
 *
 * redis_compat.h
 *	  What differs between versions of hiredis.  What differs between servers
 *	  is in the core's compat.h.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_REDIS_COMPAT_H
#define BF_REDIS_COMPAT_H

#include "compat.h"

#include <hiredis/hiredis.h>
#ifdef BF_WITH_TLS
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#endif

/* The number of elements of an array reply, as the parser hands it over. */
#if HIREDIS_MAJOR >= 1
typedef size_t BfRedisCount;
#else
typedef int BfRedisCount;
#endif

#endif							/* BF_REDIS_COMPAT_H */
