/*-------------------------------------------------------------------------
 *
 * command.h
 *	  Commands of Redis, built argument by argument with their lengths, and
 *	  the replies that most of them have.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_REDIS_COMMAND_H
#define BF_REDIS_COMMAND_H

#include "connection.h"

/* Arguments of commands that have few of them; they are not copied. */
#define BF_COMMAND_ARGS 16

typedef struct BfCommand
{
	int			nargs;
	const char *args[BF_COMMAND_ARGS];
	size_t		lengths[BF_COMMAND_ARGS];
	char		numbers[4][24];	/* room for those that are printed */
	int			nnumbers;
} BfCommand;

extern void bf_command_init(BfCommand *command, const char *name);
extern void bf_command_text(BfCommand *command, const char *text);
extern void bf_command_bytes(BfCommand *command, const char *data, size_t length);
extern void bf_command_number(BfCommand *command, int64 number);

extern void bf_command_send(BfConnection *connection, const BfCommand *command);
extern void bf_command_send_words(BfConnection *connection, const char *first,
								  const char *second);

extern const redisReply *bf_receive_ok(BfConnection *connection, const char *command,
									   const char *key);
extern const redisReply *bf_receive(BfConnection *connection, const char *command,
									const char *key, int type);
extern void bf_receive_queued(BfConnection *connection, const char *command,
							  const char *key);
extern const redisReply *bf_receive_exec(BfConnection *connection, const char *command,
										 const char *key, size_t elements);
extern void bf_check_element(BfConnection *connection, const redisReply *array,
							 size_t number, const char *command, const char *key, int type);

#endif							/* BF_REDIS_COMMAND_H */
