/*-------------------------------------------------------------------------
 *
 * command.c
 *	  Commands of Redis, built argument by argument, and the replies that most
 *	  of them have.
 *
 * Arguments always go with their lengths and never through a format string, so
 * that a key can hold any byte.  load.c writes BITFIELD itself, in the same way.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "command.h"

#include "reply.h"

void
bf_command_init(BfCommand *command, const char *name)
{
	command->nargs = 0;
	command->nnumbers = 0;
	bf_command_text(command, name);
}

void
bf_command_bytes(BfCommand *command, const char *data, size_t length)
{
	Assert(command->nargs < BF_COMMAND_ARGS);
	command->args[command->nargs] = data;
	command->lengths[command->nargs] = length;
	command->nargs++;
}

void
bf_command_text(BfCommand *command, const char *text)
{
	bf_command_bytes(command, text, strlen(text));
}

void
bf_command_number(BfCommand *command, int64 number)
{
	char	   *room = command->numbers[command->nnumbers++];

	Assert(command->nnumbers <= (int) lengthof(command->numbers));
	snprintf(room, sizeof(command->numbers[0]), INT64_FORMAT, number);
	bf_command_text(command, room);
}

void
bf_command_send(BfConnection *connection, const BfCommand *command)
{
	bf_connection_send(connection, command->nargs, command->args, command->lengths);
}

/* A command of one word, or of two. */
void
bf_command_send_words(BfConnection *connection, const char *first, const char *second)
{
	BfCommand	command;

	bf_command_init(&command, first);
	if (second != NULL)
		bf_command_text(&command, second);
	bf_command_send(connection, &command);
}

static const char *
type_name(int type)
{
	switch (type)
	{
		case REDIS_REPLY_STRING:
			return "a string";
		case REDIS_REPLY_ARRAY:
			return "an array";
		case REDIS_REPLY_INTEGER:
			return "an integer";
		default:
			return "a status";
	}
}

/*
 * Report a reply that the command cannot have.  Whoever sent it may have
 * answered something else, so nothing that follows is believed.
 */
void
bf_bad_reply(BfConnection *connection, const char *command, const char *expected)
{
	bf_connection_distrust(connection);
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
			 errmsg("unexpected reply of Redis server %s to %s",
					bf_connection_name(connection), command),
			 errdetail("Expected %s.", expected)));
}

/* The reply to a command, which must be of that type; errors are reported. */
const redisReply *
bf_receive(BfConnection *connection, const char *command, const char *key, int type)
{
	const redisReply *reply = bf_connection_receive(connection, command);

	bf_redis_check_reply(reply, bf_connection_name(connection), command, key);
	if (reply->type != type)
		bf_bad_reply(connection, command, type_name(type));
	return reply;
}

/* A status of that word. */
static const redisReply *
receive_word(BfConnection *connection, const char *command, const char *key,
			 const char *word)
{
	const redisReply *reply = bf_receive(connection, command, key, REDIS_REPLY_STATUS);

	if (strcmp(reply->str, word) != 0)
		bf_bad_reply(connection, command,
						   psprintf("\"%s\"", word));
	return reply;
}

const redisReply *
bf_receive_ok(BfConnection *connection, const char *command, const char *key)
{
	return receive_word(connection, command, key, "OK");
}

/* Of a command inside MULTI. */
void
bf_receive_queued(BfConnection *connection, const char *command, const char *key)
{
	(void) receive_word(connection, command, key, "QUEUED");
}

/* What EXEC answers: the replies to so many commands. */
const redisReply *
bf_receive_exec(BfConnection *connection, const char *command, const char *key,
				size_t elements)
{
	const redisReply *reply = bf_receive(connection, command, key, REDIS_REPLY_ARRAY);

	if (reply->elements != elements)
		bf_bad_reply(connection, command,
						   psprintf("%zu replies", elements));
	return reply;
}

/* Check one reply of an array; errors are reported. */
void
bf_check_element(BfConnection *connection, const redisReply *array, size_t number,
				 const char *command, const char *key, int type)
{
	const redisReply *element;

	if (number >= array->elements)
		bf_bad_reply(connection, command, "more replies");
	element = array->element[number];
	bf_redis_check_reply(element, bf_connection_name(connection), command, key);
	if (element->type != type)
		bf_bad_reply(connection, command, type_name(type));
}
