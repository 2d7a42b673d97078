/*-------------------------------------------------------------------------
 *
 * reply.c
 *	  Replies of Redis: what their errors mean, said with what to do.
 *
 * A reply is whatever is at the other end of the wire.  Its text is shown only
 * after it has been made printable, and not at all where it may repeat what we
 * sent in secret.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "reply.h"

/* How much of a server's text is worth showing. */
#define MAX_TEXT	400

/* An error of Redis that users can do something about. */
typedef struct KnownError
{
	const char *start;			/* of its text */
	int			sqlstate;
	const char *hint;
} KnownError;

static const KnownError known_errors[] =
{
	{"NOAUTH", ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION,
	"The server asks for a password: CREATE USER MAPPING ... OPTIONS (password '...')."},
	{"WRONGPASS", ERRCODE_INVALID_PASSWORD,
	"Check the options username and password of the user mapping."},
	{"ERR invalid password", ERRCODE_INVALID_PASSWORD,
	"Check the option password of the user mapping."},
	{"ERR AUTH", ERRCODE_INVALID_PASSWORD,
	"The server has no password for this user: check the user mapping."},
	{"ERR Client sent AUTH", ERRCODE_INVALID_PASSWORD,
	"The server has no password: drop the user mapping."},
	{"NOPERM", ERRCODE_INSUFFICIENT_PRIVILEGE,
	"Give the Redis user the right to the command and the key (ACL SETUSER)."},
	{"WRONGTYPE", ERRCODE_WRONG_OBJECT_TYPE,
	"The key holds a value of another type: check the options key and format."},
	{"ERR unknown command", ERRCODE_FEATURE_NOT_SUPPORTED,
	"Commands BF and CF need the RedisBloom module in the server; format 'bitmap' works without it."},
	{"OOM", ERRCODE_OUT_OF_MEMORY,
	"Redis has reached its maxmemory."},
	{"READONLY", ERRCODE_READ_ONLY_SQL_TRANSACTION,
	"The server is a replica: connect to its master to write."},
	{"LOADING", ERRCODE_CANNOT_CONNECT_NOW,
	"Redis is reading its data into memory: try again later."},
	{"MASTERDOWN", ERRCODE_CANNOT_CONNECT_NOW,
	"The replica has lost its master."},
	{"BUSY ", ERRCODE_CANNOT_CONNECT_NOW,
	"Redis is running a script: try again later."},
	{"MISCONF", ERRCODE_IO_ERROR,
	"Redis cannot save its data and refuses to write: see its log."},
	{"NOREPLICAS", ERRCODE_CANNOT_CONNECT_NOW,
	"Too few replicas are connected to write."},
	{"MOVED", ERRCODE_FEATURE_NOT_SUPPORTED,
	"A filter is one key and lives on one node of a cluster: let the server's options name that node."},
	{"ASK", ERRCODE_FEATURE_NOT_SUPPORTED,
	"The key is being moved to another node of the cluster: try again later."},
	{"CLUSTERDOWN", ERRCODE_CANNOT_CONNECT_NOW,
	"The cluster is down."},
	{"ERR not found", ERRCODE_UNDEFINED_OBJECT,
	"The filter does not exist in Redis: push it, or let INSERT create it (option create)."},
	{"ERR no such key", ERRCODE_UNDEFINED_OBJECT, NULL},
	{"ERR DB index", ERRCODE_INVALID_PARAMETER_VALUE,
	"Check the option dbname of the server."},
};

/* A server's text as one line that is printable in every encoding. */
char *
bf_redis_clean_text(const char *text, size_t length)
{
	size_t		shown = Min(length, MAX_TEXT);
	char	   *result = palloc(shown + 1);

	for (size_t i = 0; i < shown; i++)
		result[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	result[shown] = '\0';
	return result;
}

/*
 * Report an error reply, with the key it is about if there is one.  What AUTH
 * sent must not come back in a message: a server that does not know the command
 * repeats its arguments.
 */
void
bf_redis_check_reply(const redisReply *reply, const char *server, const char *command,
					 const char *key)
{
	int			sqlstate = ERRCODE_FDW_ERROR;
	const char *hint = NULL;
	bool		secret = strcmp(command, "AUTH") == 0;

	if (!bf_redis_is_error(reply))
		return;
	for (int i = 0; i < (int) lengthof(known_errors); i++)
	{
		const char *start = known_errors[i].start;

		if (reply->len >= strlen(start) && strncmp(reply->str, start, strlen(start)) == 0)
		{
			sqlstate = known_errors[i].sqlstate;
			hint = known_errors[i].hint;
			break;
		}
	}
	ereport(ERROR,
			(errcode(sqlstate),
			 key != NULL ?
			 errmsg("Redis server %s refused %s for key \"%s\"", server, command, key) :
			 errmsg("Redis server %s refused %s", server, command),
			 secret ? 0 : errdetail("%s", bf_redis_clean_text(reply->str, reply->len)),
			 hint != NULL ? errhint("%s", hint) : 0));
}

/* Report a reply that the command cannot have. */
void
bf_redis_bad_reply(const char *server, const char *command, const char *expected)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
			 errmsg("unexpected reply of Redis server %s to %s", server, command),
			 errdetail("Expected %s.", expected)));
}
