/*-------------------------------------------------------------------------
 *
 * connection.h
 *	  Connections to Redis: one for each server and user, kept for the session.
 *
 * Commands are sent without waiting and replies are received in order.  A
 * command line that waits for rows keeps its replies outstanding; whoever
 * wants the connection next has them settled first.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_REDIS_CONNECTION_H
#define BF_REDIS_CONNECTION_H

#include "redis_compat.h"

typedef struct BfConnection BfConnection;

/*
 * Work that is under way on a connection between two calls.  Settle must
 * receive all its replies; it may report an error.
 */
typedef struct BfWork
{
	BfConnection *connection;
	void		(*settle) (void *argument);
	void	   *argument;
} BfWork;

/* Replies that are larger than this much are not ours: dumps come in 16 MiB. */
#define BF_REDIS_MAX_REPLY	(UINT64CONST(32) * 1024 * 1024)

extern BfConnection *bf_connection_get(Oid server, Oid user);
extern const char *bf_connection_name(const BfConnection *connection);
extern bool bf_connection_is_idle(const BfConnection *connection);

extern void bf_connection_send(BfConnection *connection, int nargs,
							   const char *const *args, const size_t *lengths);
extern void bf_connection_send_written(BfConnection *connection, const char *command,
									   const char *bytes, size_t length);
extern bool bf_connection_try_send(BfConnection *connection, int nargs,
								   const char *const *args, const size_t *lengths,
								   const char **problem);
extern void bf_connection_flush(BfConnection *connection, const char *command);
extern const redisReply *bf_connection_receive(BfConnection *connection,
											   const char *command);
extern const redisReply *bf_connection_try_receive(BfConnection *connection, int limit_ms,
												   const char **problem);
extern void bf_connection_distrust(BfConnection *connection);

extern void bf_connection_begin_work(BfConnection *connection, BfWork *work);
extern void bf_connection_end_work(BfWork *work);

#endif							/* BF_REDIS_CONNECTION_H */
