/*-------------------------------------------------------------------------
 *
 * load.c
 *	  Filling a filter that lives in Redis.
 *
 * Keys are collected into batches of one command each.  A batch is sent
 * without waiting, and the next one is filled while the server works; the
 * replies are read before more than a few wait for them, so memory stays flat.
 * The filter may be asked for, or another statement may want the connection,
 * before the last batch is full: then everything is sent and settled first.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "live.h"

#include "command.h"
#include "reply.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

/*
 * Keys of a batch, and positions of a bitmap's: more do not make it faster.  A
 * bitmap's batch is many commands, because Redis takes a fifth more instructions
 * for each bit when one command sets thousands.
 */
#define MODULE_BATCH	512
#define BITMAP_BATCH	4096
#define BITMAP_COMMAND	128
#define BATCH_BYTES		(256 * 1024)

/* Redis' own limit of one argument (proto-max-bulk-len). */
#define MAX_KEY_BYTES	(512 * 1024 * 1024)

const char *
bf_live_insert_command(BfRedisFormat format)
{
	switch (format)
	{
		case BF_REDIS_BLOOM:
			return "BF.INSERT";
		case BF_REDIS_CUCKOO:
			return "CF.INSERT";
		default:
			return "BITFIELD";
	}
}

static int
batch_size(const BfLoad *load)
{
	if (load->options.format == BF_REDIS_BITMAP)
		return Max(1, BITMAP_BATCH / (int) load->options.geometry.hashes);
	return MODULE_BATCH;
}

static int
keys_of_command(const BfLoad *load)
{
	if (load->options.format == BF_REDIS_BITMAP)
		return Max(1, BITMAP_COMMAND / (int) load->options.geometry.hashes);
	return MODULE_BATCH;
}

static void
add_arg(BfLoad *load, const char *data, size_t length)
{
	load->args[load->nargs] = data;
	load->lengths[load->nargs] = length;
	load->nargs++;
}

static void
add_word(BfLoad *load, const char *word)
{
	add_arg(load, word, strlen(word));
}

/* One command that adds the batch to a filter of RedisBloom. */
static void
send_module_command(BfLoad *load)
{
	const BfRedisTableOptions *options = &load->options;
	size_t		start = 0;

	load->nargs = 0;
	add_word(load, bf_live_insert_command(options->format));
	add_word(load, options->key);
	if (!options->create)
		add_word(load, "NOCREATE");
	if (options->capacity != 0)
	{
		add_word(load, "CAPACITY");
		add_word(load, load->capacity);
	}
	if (options->error_rate != 0.0)
	{
		add_word(load, "ERROR");
		add_word(load, load->error_rate);
	}
	if (options->expansion != 0 && options->format == BF_REDIS_BLOOM)
	{
		add_word(load, "EXPANSION");
		add_word(load, load->expansion);
	}
	if (options->nonscaling)
		add_word(load, "NONSCALING");
	add_word(load, "ITEMS");
	for (int i = 0; i < load->nkeys; i++)
	{
		add_arg(load, load->bytes.data + start, load->ends[i] - start);
		start = load->ends[i];
	}
	bf_connection_send(load->connection, load->nargs, load->args, load->lengths);
}

/* "SET u1 position 1" as four arguments in Redis' protocol. */
static inline void
append_set(StringInfo written, uint64 position)
{
	static const char before[] = "$3\r\nSET\r\n$2\r\nu1\r\n$";
	static const char after[] = "\r\n$1\r\n1\r\n";
	char		number[MAXINT8LEN + 1];
	int			length = pg_ulltoa_n(position, number);

	appendBinaryStringInfo(written, before, sizeof(before) - 1);
	if (length >= 10)
		appendStringInfoChar(written, (char) ('0' + length / 10));
	appendStringInfoChar(written, (char) ('0' + length % 10));
	appendBinaryStringInfo(written, "\r\n", 2);
	appendBinaryStringInfo(written, number, length);
	appendBinaryStringInfo(written, after, sizeof(after) - 1);
}

/*
 * One command that sets all positions of so many of the batch's keys: faster than
 * as many SETBITs.  Bits of one are numbered as SETBIT does.  Redis takes more
 * time for it than anything here.
 */
static void
send_bitmap_command(BfLoad *load, int first, int nkeys)
{
	StringInfo	written = &load->written;
	uint32		nhashes = load->options.geometry.hashes;
	BfModulus	modulus = bf_modulus(load->options.geometry.bits);
	size_t		start = first > 0 ? load->ends[first - 1] : 0;

	resetStringInfo(written);
	appendStringInfo(written, "*%d\r\n$8\r\nBITFIELD\r\n$%zu\r\n",
					 2 + 4 * nkeys * (int) nhashes, strlen(load->options.key));
	appendBinaryStringInfo(written, load->options.key, (int) strlen(load->options.key));
	appendBinaryStringInfo(written, "\r\n", 2);
	for (int i = first; i < first + nkeys; i++)
	{
		BfHash		hash = bf_hash(load->options.scheme, load->bytes.data + start,
								   load->ends[i] - start);
		uint64		h = hash.h1;

		for (uint32 j = 0; j < nhashes; j++, h += hash.h2)
			append_set(written, bf_mod(modulus, h));
		start = load->ends[i];
	}
	bf_connection_send_written(load->connection, "BITFIELD", written->data, written->len);
}

/* Whatever is sent after the keys' command of each batch. */
static void
send_expiry(BfLoad *load)
{
	BfCommand	command;

	if (load->options.ttl == 0)
		return;
	bf_command_init(&command, "PEXPIRE");
	bf_command_text(&command, load->options.key);
	bf_command_number(&command, load->options.ttl);
	bf_command_send(load->connection, &command);
}

/* Say how far it went when the filter took only some of the keys. */
static void
report_rejected(BfLoad *load, const redisReply *error, int64 taken, int64 offered)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("filter \"%s\" on Redis server %s took only " INT64_FORMAT " of " INT64_FORMAT " keys",
					load->options.key, bf_connection_name(load->connection), taken, offered),
			 error != NULL ?
			 errdetail("%s", bf_redis_clean_text(error->str, error->len)) :
			 errdetail("The filter is full."),
			 errhint("Keys that were added stay. Make a new filter with a greater capacity, or one that scales.")));
}

/* Check the reply to a command that added so many keys. */
static void
check_module_reply(BfLoad *load, const redisReply *reply, int nkeys)
{
	const redisReply *error = NULL;
	int64		taken = 0;

	/* fewer are a filter that is full, but more are no answer to this */
	if (reply->elements > (size_t) nkeys)
		bf_bad_reply(load->connection, bf_live_insert_command(load->options.format),
					 "no more replies than keys");
	for (size_t i = 0; i < reply->elements; i++)
	{
		const redisReply *element = reply->element[i];

		if (element->type == REDIS_REPLY_INTEGER)
			taken += element->integer >= 0;
		else if (bf_redis_is_error(element))
			error = element;
		else
			bf_bad_reply(load->connection,
							   bf_live_insert_command(load->options.format), "integers");
	}
	if (taken != nkeys)
		report_rejected(load, error, load->acknowledged + taken, load->acknowledged + nkeys);
}

/* The same for a bitmap: the old value of each bit. */
static void
check_bitmap_reply(BfLoad *load, const redisReply *reply, int nkeys)
{
	if (reply->elements != (size_t) nkeys * load->options.geometry.hashes)
		bf_bad_reply(load->connection, "BITFIELD", "one reply for each bit");
	for (size_t i = 0; i < reply->elements; i++)
		bf_check_element(load->connection, reply, i, "BITFIELD", load->options.key,
						 REDIS_REPLY_INTEGER);
}

/* Receive what the oldest batch was answered. */
static void
receive_batch(BfLoad *load)
{
	const BfRedisTableOptions *options = &load->options;
	const char *name = bf_live_insert_command(options->format);
	int			nkeys = load->sent[0];

	for (int done = 0, n; done < nkeys; done += n)
	{
		const redisReply *reply = bf_receive(load->connection, name, options->key,
											 REDIS_REPLY_ARRAY);

		n = Min(keys_of_command(load), nkeys - done);
		if (options->format != BF_REDIS_BITMAP)
			check_module_reply(load, reply, n);
		else
			check_bitmap_reply(load, reply, n);
	}
	if (options->ttl != 0)
		(void) bf_receive(load->connection, "PEXPIRE", options->key, REDIS_REPLY_INTEGER);

	load->acknowledged += nkeys;
	load->nsent--;
	memmove(load->sent, load->sent + 1, load->nsent * sizeof(load->sent[0]));
}

/* Make a cuckoo filter of the shape that only CF.RESERVE can ask for. */
static void
reserve_cuckoo(BfLoad *load)
{
	const BfRedisTableOptions *options = &load->options;
	const redisReply *reply;
	BfCommand	command;

	bf_command_init(&command, "CF.RESERVE");
	bf_command_text(&command, options->key);
	/* RedisBloom's default, which BF_REDIS_CUCKOO tables without one get too */
	bf_command_number(&command, options->capacity != 0 ? options->capacity : 1024);
	if (options->bucket_size != 0)
	{
		bf_command_text(&command, "BUCKETSIZE");
		bf_command_number(&command, options->bucket_size);
	}
	if (options->max_iterations != 0)
	{
		bf_command_text(&command, "MAXITERATIONS");
		bf_command_number(&command, options->max_iterations);
	}
	if (options->expansion != 0)
	{
		bf_command_text(&command, "EXPANSION");
		bf_command_number(&command, options->expansion);
	}
	bf_command_send(load->connection, &command);
	reply = bf_connection_receive(load->connection, "CF.RESERVE");
	if (bf_redis_is_error(reply) && strcmp(reply->str, "ERR item exists") == 0)
		return;
	bf_redis_check_reply(reply, bf_connection_name(load->connection), "CF.RESERVE",
						 options->key);
}

/* SETBIT and BITFIELD would make a string where the table says not to. */
static void
require_bitmap(BfLoad *load)
{
	const redisReply *reply;

	bf_command_send_words(load->connection, "EXISTS", load->options.key);
	reply = bf_receive(load->connection, "EXISTS", load->options.key, REDIS_REPLY_INTEGER);
	if (reply->integer == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no filter \"%s\" on Redis server %s",
						load->options.key, bf_connection_name(load->connection)),
				 errhint("Push it, or let INSERT create it (option create).")));
}

static void settle_load(void *argument);

/* Before the first batch: take the connection and see to the filter. */
static void
start_sending(BfLoad *load)
{
	const BfRedisTableOptions *options = &load->options;

	load->connection = bf_connection_get(load->server, load->user);
	if (options->format == BF_REDIS_CUCKOO && options->create &&
		(options->bucket_size != 0 || options->max_iterations != 0 || options->expansion != 0))
		reserve_cuckoo(load);
	if (options->format == BF_REDIS_BITMAP && !options->create)
		require_bitmap(load);
	load->work.settle = settle_load;
	load->work.argument = load;
	bf_connection_begin_work(load->connection, &load->work);
}

/* Send the batch that was filled. */
static void
send_batch(BfLoad *load)
{
	MemoryContext old;

	if (load->nkeys == 0)
		return;
	if (load->work.connection == NULL)
		start_sending(load);
	if (load->nsent == (load->options.format == BF_REDIS_BITMAP ? BF_LOAD_DEPTH : BF_LOAD_MODULE_DEPTH))
		receive_batch(load);

	old = MemoryContextSwitchTo(load->context);
	if (load->options.format != BF_REDIS_BITMAP)
		send_module_command(load);
	else
	{
		int			n = keys_of_command(load);

		for (int first = 0; first < load->nkeys; first += n)
			send_bitmap_command(load, first, Min(n, load->nkeys - first));
	}
	send_expiry(load);
	load->sent[load->nsent++] = load->nkeys;
	load->nkeys = 0;
	resetStringInfo(&load->bytes);
	MemoryContextSwitchTo(old);

	bf_connection_flush(load->connection, bf_live_insert_command(load->options.format));
}

/*
 * Send everything and receive all replies: then the connection is free.  It may
 * be another statement that wants it, whose error is caught somewhere; the load
 * must not go on then as if its keys had arrived.
 */
static void
settle_load(void *argument)
{
	BfLoad	   *load = (BfLoad *) argument;

	load->failed = true;
	send_batch(load);
	while (load->nsent > 0)
		receive_batch(load);
	load->failed = false;
}

static void
check_not_failed(const BfLoad *load)
{
	if (load->failed)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("cannot go on filling filter \"%s\"", load->options.key),
				 errdetail("An error of an earlier command was caught, and some keys are not in the filter.")));
}

/* The memory of an aborted statement goes: its work must not stay behind. */
static void
forget_load(void *argument)
{
	bf_connection_end_work(&((BfLoad *) argument)->work);
}

/* Start filling a filter; the load lives in the current context. */
BfLoad *
bf_load_begin(Oid server, Oid user, const BfRedisTableOptions *options)
{
	BfLoad	   *load = (BfLoad *) palloc0(sizeof(BfLoad));
	MemoryContextCallback *callback = (MemoryContextCallback *) palloc0(sizeof(MemoryContextCallback));
	size_t		nargs;

	load->server = server;
	load->user = user;
	load->options = *options;
	load->context = CurrentMemoryContext;
	load->capacity = psprintf(INT64_FORMAT, options->capacity);
	load->error_rate = psprintf("%.17g", options->error_rate);
	load->expansion = psprintf("%d", options->expansion);
	if (options->format != BF_REDIS_BITMAP)
	{
		nargs = (size_t) batch_size(load) + BF_COMMAND_ARGS;
		load->args = (const char **) palloc(nargs * sizeof(char *));
		load->lengths = (size_t *) palloc(nargs * sizeof(size_t));
	}
	load->ends = (size_t *) palloc(batch_size(load) * sizeof(size_t));
	initStringInfo(&load->bytes);
	initStringInfo(&load->written);

	callback->func = forget_load;
	callback->arg = load;
	MemoryContextRegisterResetCallback(load->context, callback);
	return load;
}

/* Add one key, which is copied. */
void
bf_load_add(BfLoad *load, const char *data, size_t length)
{
	if (length > MAX_KEY_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("key of %zu bytes is too long for Redis", length),
				 errdetail("An argument of a command has at most %d bytes.", MAX_KEY_BYTES)));
	check_not_failed(load);
	if (load->nkeys == batch_size(load) ||
		(load->nkeys > 0 && load->bytes.len + length > BATCH_BYTES))
		send_batch(load);
	appendBinaryStringInfo(&load->bytes, data, (int) length);
	load->ends[load->nkeys++] = load->bytes.len;
}

/* Send the rest and wait until all of it is in the filter. */
void
bf_load_end(BfLoad *load)
{
	check_not_failed(load);
	if (load->nkeys > 0 || load->work.connection != NULL)
		settle_load(load);
	bf_connection_end_work(&load->work);
}
