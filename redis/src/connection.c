/*-------------------------------------------------------------------------
 *
 * connection.c
 *	  Connections to Redis: made on demand, kept for the session, dropped on
 *	  any doubt.
 *
 * hiredis formats commands, except for the long ones of load.c, and parses
 * replies; its contexts are non-blocking, and all waiting is done here on the
 * process latch, so that a query can be cancelled whatever the server does.
 * hiredis allocates with malloc: whatever must be freed hangs on the connection.
 *
 * A connection is only as good as what is outstanding on it.  If an error left
 * replies behind that nobody will receive, it is dropped before its next use,
 * because the next command would take them for its own.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "connection.h"

#include "access/xact.h"
#include "command.h"
#include "connect.h"
#include "foreign/foreign.h"
#include "pgstat.h"
#include "reply.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/* After so long without use, a connection is asked whether it still works. */
#define IDLE_LIMIT_MS	10000

typedef struct ConnectionKey
{
	Oid			server;
	Oid			user;
} ConnectionKey;

struct BfConnection
{
	ConnectionKey key;			/* must be first */
	redisContext *context;		/* NULL: not connected */
	char	   *name;			/* for messages, in TopMemoryContext */
	int			connect_timeout;	/* milliseconds */
	int			command_timeout;
	uint32		server_hash;	/* of the catalog entries it was made from */
	uint32		mapping_hash;
	bool		outdated;		/* they have changed: not to be used again */
	int			outstanding;	/* replies to come */
	uint64		received;		/* bytes that are not yet a reply */
	BfReplySize size;			/* of that reply, for the parser */
	BfWork	   *work;			/* whose the outstanding replies are */
	redisReply *reply;			/* handed out last */
	TimestampTz last_used;
};

static HTAB *connections = NULL;

BF_FUNCTION(bf_redis_disconnect);

/* Close the connection; its entry stays. */
static void
drop_connection(BfConnection *connection)
{
	if (connection->reply != NULL)
		freeReplyObject(connection->reply);
	connection->reply = NULL;
	if (connection->context != NULL)
	{
		redisFree(connection->context);
		ReleaseExternalFD();
	}
	connection->context = NULL;
	connection->outstanding = 0;
	connection->received = 0;
	connection->outdated = false;
	if (connection->work != NULL)
		connection->work->connection = NULL;
	connection->work = NULL;
}

/* An entry of pg_foreign_server or pg_user_mapping has changed. */
static void
mark_outdated(Datum argument pg_attribute_unused(), int cache, uint32 hash)
{
	HASH_SEQ_STATUS status;
	BfConnection *connection;

	hash_seq_init(&status, connections);
	while ((connection = (BfConnection *) hash_seq_search(&status)) != NULL)
	{
		if (hash == 0 ||
			(cache == FOREIGNSERVEROID && connection->server_hash == hash) ||
			(cache == USERMAPPINGOID && connection->mapping_hash == hash) ||
			/* it may be an own mapping where there was none */
			(cache == USERMAPPINGOID && connection->mapping_hash == 0))
			connection->outdated = true;
	}
}

/*
 * At the end of a transaction no work is under way, and nobody looks at a reply
 * any more, which may be large.
 */
static void
drop_unusable(XactEvent event, void *argument pg_attribute_unused())
{
	HASH_SEQ_STATUS status;
	BfConnection *connection;

	switch (event)
	{
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			break;
		default:
			return;
	}
	hash_seq_init(&status, connections);
	while ((connection = (BfConnection *) hash_seq_search(&status)) != NULL)
	{
		if (connection->outstanding > 0 || connection->outdated)
			drop_connection(connection);
		if (connection->reply != NULL)
			freeReplyObject(connection->reply);
		connection->reply = NULL;
	}
}

static void
create_cache(void)
{
	HASHCTL		control = {0};

	if (connections != NULL)
		return;
	control.keysize = sizeof(ConnectionKey);
	control.entrysize = sizeof(BfConnection);
	connections = hash_create("bloomfilter_redis connections", 8, &control,
							  HASH_ELEM | HASH_BLOBS);
	RegisterXactCallback(drop_unusable, NULL);
	CacheRegisterSyscacheCallback(FOREIGNSERVEROID, mark_outdated, (Datum) 0);
	CacheRegisterSyscacheCallback(USERMAPPINGOID, mark_outdated, (Datum) 0);
}

/* For messages: which server this is. */
const char *
bf_connection_name(const BfConnection *connection)
{
	return connection->name;
}

/* What went wrong in hiredis, in memory that stays until the next call. */
static const char *
hiredis_problem(const BfConnection *connection)
{
	const redisContext *context = connection->context;
	static char problem[256];

	if (context->err == REDIS_ERR_EOF)
		return "The server closed the connection.";
	if (connection->size.excessive)
		return "The reply has more parts than any that was asked for.";
#ifdef BF_WITH_TLS
	if (context->err == REDIS_ERR_IO && ERR_peek_error() != 0)
		return bf_connect_tls_problem(NULL);
#endif
	strlcpy(problem, context->errstr, sizeof(problem));
	return problem;
}

/* Write what fits now; *done when nothing is left. */
static bool
write_some(BfConnection *connection, bool *done, const char **problem)
{
	int			finished = 0;

	if (redisBufferWrite(connection->context, &finished) != REDIS_OK)
	{
		*problem = hiredis_problem(connection);
		return false;
	}
	*done = finished;
	return true;
}

/*
 * Read what is there and hand out a reply if one is complete.  The connection
 * owns it, until the next one.
 */
static bool
read_some(BfConnection *connection, redisReply **reply, const char **problem)
{
	redisContext *context = connection->context;
	void	   *result = NULL;
	size_t		before;

	if (redisGetReplyFromReader(context, &result) == REDIS_OK && result == NULL &&
		(before = context->reader->len, redisBufferRead(context)) == REDIS_OK)
	{
		/* what is parsed of a long array has left the buffer */
		connection->received += context->reader->len - before;
		if (connection->received > BF_REDIS_MAX_REPLY)
		{
			*problem = "The reply is longer than any that was asked for.";
			return false;
		}
		(void) redisGetReplyFromReader(context, &result);
	}
	if (context->err != 0)
	{
		*problem = hiredis_problem(connection);
		if (result != NULL)
			freeReplyObject(result);
		return false;
	}
	if (result != NULL)
		connection->received = context->reader->len - context->reader->pos;
	else if (bf_connect_line_is_excessive(context->reader))
	{
		*problem = "The reply has a line that is longer than any that was asked for.";
		return false;
	}
	*reply = (redisReply *) result;
	return true;
}

/*
 * Receive the reply that is next, in time or not at all: the deadline is for
 * the whole of it, so that a trickle ends too.  NULL with the problem when it
 * did not come.
 */
static redisReply *
receive_reply(BfConnection *connection, int timeout_ms, const char **problem)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), timeout_ms);
	redisReply *reply = NULL;
	bool		sent = false;

	if (connection->reply != NULL)
		freeReplyObject(connection->reply);
	connection->reply = NULL;
	if (connection->context == NULL)
	{
		*problem = "The connection was closed.";
		return NULL;
	}
	Assert(connection->outstanding > 0);

	for (;;)
	{
		bool		was_sent = sent;

		if (!sent && !write_some(connection, &sent, problem))
			return NULL;
		if (!read_some(connection, &reply, problem))
			return NULL;
		if (reply != NULL)
			break;
		/* what is written now cannot have been answered before */
		if (sent && !was_sent)
			deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), timeout_ms);
		if (!bf_connect_wait(connection->context->fd,
							 sent ? WL_SOCKET_READABLE : WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE,
							 deadline, problem))
			return NULL;
	}
	connection->outstanding--;
	connection->reply = reply;
	connection->last_used = GetCurrentTimestamp();
	return reply;
}

/* Drop the connection and report why. */
static void
report_failure(BfConnection *connection, const char *command, const char *problem)
{
	char	   *detail = pstrdup(problem);

	drop_connection(connection);
	ereport(ERROR,
			(errcode(ERRCODE_CONNECTION_FAILURE),
			 errmsg("lost connection to Redis server %s during %s", connection->name, command),
			 errdetail("%s", detail)));
}

/* The next reply, which may be an error reply; network errors are reported. */
const redisReply *
bf_connection_receive(BfConnection *connection, const char *command)
{
	const char *problem = NULL;
	redisReply *reply = receive_reply(connection, connection->command_timeout, &problem);

	if (reply == NULL)
		report_failure(connection, command, problem);
	return reply;
}

/*
 * The same for when no error may be thrown: the caller holds interrupts off, and
 * NULL comes with the problem, and the connection is closed.  It takes no longer
 * than limit_ms even where commands may.
 */
const redisReply *
bf_connection_try_receive(BfConnection *connection, int limit_ms, const char **problem)
{
	redisReply *reply = receive_reply(connection, Min(limit_ms, connection->command_timeout),
									  problem);

	if (reply == NULL)
		drop_connection(connection);
	return reply;
}

/*
 * Put a command into the output buffer.  Nothing is waited for, and what does
 * not fit into the socket's buffer is sent while waiting for replies.
 */
void
bf_connection_send(BfConnection *connection, int nargs, const char *const *args,
				   const size_t *lengths)
{
	const char *problem = NULL;

	if (!bf_connection_try_send(connection, nargs, args, lengths, &problem))
		report_failure(connection, args[0], problem);
}

/* The same without any error: false with the problem. */
bool
bf_connection_try_send(BfConnection *connection, int nargs, const char *const *args,
					   const size_t *lengths, const char **problem)
{
	if (connection->context == NULL)
	{
		*problem = "The connection was closed.";
		return false;
	}
	if (redisAppendCommandArgv(connection->context, nargs, (const char **) args,
							   lengths) != REDIS_OK)
	{
		*problem = hiredis_problem(connection);
		return false;
	}
	connection->outstanding++;
	return true;
}

/* The same for a command in Redis' protocol: hiredis is slow to write a long one. */
void
bf_connection_send_written(BfConnection *connection, const char *command,
						   const char *bytes, size_t length)
{
	if (connection->context == NULL)
		report_failure(connection, command, "The connection was closed.");
	if (redisAppendFormattedCommand(connection->context, bytes, length) != REDIS_OK)
		report_failure(connection, command, hiredis_problem(connection));
	connection->outstanding++;
}

/* Start sending what is in the output buffer, so that the server can work. */
void
bf_connection_flush(BfConnection *connection, const char *command)
{
	const char *problem = NULL;
	bool		done;

	if (connection->context == NULL)
		report_failure(connection, command, "The connection was closed.");
	if (!write_some(connection, &done, &problem))
		report_failure(connection, command, problem);
}

/* What it says may be the answer to something else: close it before its next use. */
void
bf_connection_distrust(BfConnection *connection)
{
	connection->outdated = true;
}

/* Whether a command can be sent and its reply will be the next one. */
bool
bf_connection_is_idle(const BfConnection *connection)
{
	return connection->context != NULL && connection->outstanding == 0 &&
		!connection->outdated;
}

/* From now on outstanding replies are this work's. */
void
bf_connection_begin_work(BfConnection *connection, BfWork *work)
{
	Assert(connection->work == NULL);
	work->connection = connection;
	connection->work = work;
}

/* It is done, or given up: then its replies are nobody's. */
void
bf_connection_end_work(BfWork *work)
{
	if (work->connection != NULL && work->connection->work == work)
		work->connection->work = NULL;
	work->connection = NULL;
}

/* Whether a connection that nobody works on can be used again. */
static bool
is_usable(BfConnection *connection)
{
	redisReply *reply = NULL;
	const char *problem = NULL;
	const char *ping = "PING";
	size_t		length = strlen(ping);

	if (connection->outdated || connection->outstanding > 0)
		return false;
	/* a server that has gone is seen at once; unasked data is not ours */
	if (!read_some(connection, &reply, &problem) || reply != NULL)
	{
		if (reply != NULL)
			freeReplyObject(reply);
		return false;
	}
	if (!TimestampDifferenceExceeds(connection->last_used, GetCurrentTimestamp(), IDLE_LIMIT_MS))
		return true;
	/* one that vanished without a word is not */
	if (!bf_connection_try_send(connection, 1, &ping, &length, &problem))
		return false;
	reply = receive_reply(connection, connection->connect_timeout, &problem);
	return reply != NULL && reply->type == REDIS_REPLY_STATUS;
}

/* Give the open connection its name and password, and choose the database. */
static void
introduce(BfConnection *connection, const BfRedisServerOptions *options)
{
	BfCommand	command;
	const char *steps[2];
	int			nsteps = 0;

	if (options->password != NULL)
	{
		bf_command_init(&command, "AUTH");
		if (options->username != NULL)
			bf_command_text(&command, options->username);
		bf_command_text(&command, options->password);
		bf_command_send(connection, &command);
		steps[nsteps++] = "AUTH";
	}
	if (options->dbname != 0)
	{
		bf_command_init(&command, "SELECT");
		bf_command_number(&command, options->dbname);
		bf_command_send(connection, &command);
		steps[nsteps++] = "SELECT";
	}
	for (int i = 0; i < nsteps; i++)
	{
		const char *problem = NULL;
		redisReply *reply = receive_reply(connection, options->connect_timeout, &problem);

		if (reply == NULL)
			report_failure(connection, steps[i], problem);
		if (reply->type != REDIS_REPLY_STATUS && reply->type != REDIS_REPLY_ERROR)
			bf_bad_reply(connection, steps[i], "a status");
		bf_redis_check_reply(reply, connection->name, steps[i], NULL);
	}
}

/* Make a connection for what the catalogs say now. */
static void
open_connection(BfConnection *connection)
{
	ForeignServer *server = GetForeignServer(connection->key.server);
	BfRedisServerOptions options;
	List	   *mapping;
	const char *problem = NULL;
	char	   *name;

	connection->outdated = false;
	mapping = bf_connect_mapping(connection->key.server, connection->key.user,
								 &connection->mapping_hash);
	connection->server_hash = GetSysCacheHashValue1(FOREIGNSERVEROID,
													ObjectIdGetDatum(connection->key.server));
	bf_redis_get_server_options(server->options, mapping, &options);

	name = MemoryContextStrdup(TopMemoryContext, bf_connect_describe(server->servername, &options));
	if (connection->name != NULL)
		pfree(connection->name);
	connection->name = name;
	connection->connect_timeout = options.connect_timeout;
	connection->command_timeout = options.command_timeout;

	if (!AcquireExternalFD())
		ereport(ERROR,
				(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
				 errmsg("could not connect to Redis server %s", name),
				 errdetail("There are too many open files."),
				 errhint("Raise max_files_per_process.")));
	PG_TRY();
	{
		connection->context = bf_connect_open(&options, &connection->size, &problem);
	}
	PG_CATCH();
	{
		ReleaseExternalFD();
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (connection->context == NULL)
	{
		ReleaseExternalFD();
		ereport(ERROR,
				(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
				 errmsg("could not connect to Redis server %s", name),
				 errdetail("%s", problem)));
	}
	PG_TRY();
	{
		introduce(connection, &options);
	}
	PG_CATCH();
	{
		drop_connection(connection);
		PG_RE_THROW();
	}
	PG_END_TRY();
	connection->last_used = GetCurrentTimestamp();
}

/*
 * The connection for a server and a user, with nothing outstanding on it.  The
 * caller has checked that the user may use the server.
 */
BfConnection *
bf_connection_get(Oid server, Oid user)
{
	ConnectionKey key;
	BfConnection *connection;
	bool		found;

	create_cache();
	memset(&key, 0, sizeof(key));
	key.server = server;
	key.user = user;
	connection = (BfConnection *) hash_search(connections, &key, HASH_ENTER, &found);
	if (!found)
		memset((char *) connection + sizeof(key), 0, sizeof(BfConnection) - sizeof(key));

	if (connection->work != NULL)
	{
		BfWork	   *work = connection->work;

		PG_TRY();
		{
			work->settle(work->argument);
		}
		PG_FINALLY();
		{
			bf_connection_end_work(work);
		}
		PG_END_TRY();
	}
	if (connection->context != NULL && !is_usable(connection))
		drop_connection(connection);
	if (connection->context == NULL)
		open_connection(connection);
	return connection;
}

/* bloom_redis_disconnect() -> how many connections were closed */
Datum
bf_redis_disconnect(PG_FUNCTION_ARGS)
{
	HASH_SEQ_STATUS status;
	BfConnection *connection;
	int			closed = 0;

	if (connections == NULL)
		PG_RETURN_INT32(0);
	hash_seq_init(&status, connections);
	while ((connection = (BfConnection *) hash_seq_search(&status)) != NULL)
	{
		/* a statement that is under way keeps its own */
		if (connection->context == NULL || connection->work != NULL)
			continue;
		drop_connection(connection);
		closed++;
	}
	PG_RETURN_INT32(closed);
}
