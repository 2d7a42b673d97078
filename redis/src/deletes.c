/*-------------------------------------------------------------------------
 *
 * deletes.c
 *	  Keys that leave a cuckoo filter in Redis when the transaction commits.
 *
 * A key deleted by a transaction that rolls back would be a false negative:
 * the row is there and the filter denies it.  So nothing is sent before the
 * commit is certain, and what cannot be sent then is only a false positive: a
 * warning.  For the same reason the connection is tried before the commit.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "deletes.h"

#include "access/xact.h"
#include "connection.h"
#include "reply.h"
#include "utils/memutils.h"

/* Commands sent before their replies are read. */
#define PIPELINE	100

/* One key, in the memory of the top transaction. */
typedef struct PendingDelete
{
	Oid			server;
	Oid			user;
	int			level;			/* of the subtransaction that deleted it */
	char	   *filter;
	char	   *data;
	size_t		length;
	BfConnection *connection;	/* once the commit is near */
} PendingDelete;

static List *pending = NIL;
static bool registered = false;

/* Connect while an error can still abort the transaction. */
static void
prepare_to_send(void)
{
	PendingDelete *before = NULL;
	ListCell   *cell;

	foreach(cell, pending)
	{
		PendingDelete *entry = (PendingDelete *) lfirst(cell);

		if (before != NULL && before->server == entry->server && before->user == entry->user)
			entry->connection = before->connection;
		else
			entry->connection = bf_connection_get(entry->server, entry->user);
		before = entry;
	}
}

/* Send some of the deletes and count those that were not done; no errors. */
static int
send_some(int first, int count, const char **problem)
{
	int			done = 0;

	/* a connection that fails here answers nothing below either */
	for (int i = 0; i < count; i++)
	{
		PendingDelete *entry = (PendingDelete *) list_nth(pending, first + i);
		const char *args[3] = {"CF.DEL", entry->filter, entry->data};
		size_t		lengths[3] = {strlen(args[0]), strlen(args[1]), entry->length};

		(void) bf_connection_try_send(entry->connection, 3, args, lengths, problem);
	}
	for (int i = 0; i < count; i++)
	{
		PendingDelete *entry = (PendingDelete *) list_nth(pending, first + i);
		const redisReply *reply = bf_connection_try_receive(entry->connection, PG_INT32_MAX,
															  problem);

		/* other keys may be on other servers, and their replies are to be read */
		if (reply == NULL)
			continue;
		if (reply->type == REDIS_REPLY_INTEGER)
			done++;
		else if (bf_redis_is_error(reply))
			*problem = bf_redis_clean_text(reply->str, reply->len);
		else
		{
			*problem = "The reply is not an integer.";
			bf_connection_distrust(entry->connection);
		}
	}
	return count - done;
}

/* The transaction has committed: nothing here may fail. */
static void
send_all(void)
{
	int			failed = 0;
	const char *problem = "";
	int			total = list_length(pending);

	for (int i = 0; i < total; i += PIPELINE)
		failed += send_some(i, Min(total - i, PIPELINE), &problem);
	if (failed > 0)
		ereport(WARNING,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("%d of %d deleted keys could not be removed from their filters in Redis",
						failed, total),
				 errdetail("%s", problem),
				 errhint("The filters answer \"maybe present\" for them, which is never wrong.")));
}

static void
end_transaction(XactEvent event, void *argument pg_attribute_unused())
{
	if (pending == NIL)
		return;
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			prepare_to_send();
			break;
		case XACT_EVENT_PRE_PREPARE:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot PREPARE a transaction that has deleted keys of a filter in Redis")));
			break;
		case XACT_EVENT_COMMIT:
			send_all();
			pending = NIL;
			break;
		case XACT_EVENT_ABORT:
			pending = NIL;
			break;
		default:
			break;
	}
}

/*
 * What a rolled back subtransaction deleted is not deleted.  Its keys are the
 * last of the list, so the others are not looked at: there may be many of both.
 */
static void
end_subtransaction(SubXactEvent event, SubTransactionId id pg_attribute_unused(),
				   SubTransactionId parent pg_attribute_unused(),
				   void *argument pg_attribute_unused())
{
	int			level = GetCurrentTransactionNestLevel();
	int			kept = list_length(pending);

	if (event != SUBXACT_EVENT_ABORT_SUB && event != SUBXACT_EVENT_COMMIT_SUB)
		return;
	while (kept > 0)
	{
		PendingDelete *entry = (PendingDelete *) list_nth(pending, kept - 1);

		if (entry->level < level)
			break;
		entry->level = level - 1;
		kept--;
	}
	if (event == SUBXACT_EVENT_ABORT_SUB)
		pending = list_truncate(pending, kept);
}

/* Remember a key that leaves the filter when the transaction commits. */
void
bf_delete_at_commit(Oid server, Oid user, const char *filter, const char *data,
					size_t length)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	PendingDelete *entry = (PendingDelete *) palloc0(sizeof(PendingDelete));

	if (!registered)
	{
		RegisterXactCallback(end_transaction, NULL);
		RegisterSubXactCallback(end_subtransaction, NULL);
		registered = true;
	}
	entry->server = server;
	entry->user = user;
	entry->level = GetCurrentTransactionNestLevel();
	entry->filter = pstrdup(filter);
	entry->data = (char *) palloc(length + 1);
	memcpy(entry->data, data, length);
	entry->length = length;
	pending = lappend(pending, entry);
	MemoryContextSwitchTo(old);
}
