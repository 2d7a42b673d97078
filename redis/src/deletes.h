/*-------------------------------------------------------------------------
 *
 * deletes.h
 *	  Keys that leave a cuckoo filter in Redis when the transaction commits.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_REDIS_DELETES_H
#define BF_REDIS_DELETES_H

#include "redis_compat.h"

extern void bf_delete_at_commit(Oid server, Oid user, const char *filter,
								const char *data, size_t length);

#endif							/* BF_REDIS_DELETES_H */
