/*-------------------------------------------------------------------------
 *
 * push.c
 *	  Pushing a whole filter into Redis.
 *
 * It is loaded under another name and renamed at the end, so readers see the
 * old filter or the new one and never half of it.  The other name hashes to
 * the same slot of a cluster, as RENAME demands, and expires by itself should
 * we be cut off.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "whole.h"

#include "counting.h"
#include "cuckoo.h"
#include "dump.h"
#include "gateway.h"
#include "live.h"
#include "reply.h"
#include "utils/builtins.h"

/* The life of a temporary key, from its last chunk on. */
#define TEMPORARY_TTL_MS	(10 * 60 * 1000)

/* Slots of a Redis cluster. */
#define CLUSTER_SLOTS		16384

BF_FUNCTION(bf_redis_push);

typedef struct Push
{
	BfConnection *connection;
	const char *key;
	char	   *temporary;
	uint64		sent;			/* bytes of the payload so far */
	uint64		total;
} Push;

/* CRC-16/XMODEM, by which Redis places keys. */
static uint16
crc16(const char *data, size_t length)
{
	uint16		crc = 0;

	for (size_t i = 0; i < length; i++)
	{
		crc ^= (uint16) ((uint8) data[i] << 8);
		for (int bit = 0; bit < 8; bit++)
			crc = (uint16) (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1);
	}
	return crc;
}

/* The slot of a key: of what stands in its first braces, if anything does. */
static int
cluster_slot(const char *key)
{
	const char *open = strchr(key, '{');
	const char *close = open != NULL ? strchr(open + 1, '}') : NULL;

	if (close != NULL && close > open + 1)
		return crc16(open + 1, close - open - 1) % CLUSTER_SLOTS;
	return crc16(key, strlen(key)) % CLUSTER_SLOTS;
}

/*
 * A name that nobody else uses, in the same slot.  Where braces do not decide
 * it, one in CLUSTER_SLOTS does; finding it takes milliseconds.
 */
static char *
temporary_name(const char *key)
{
	int			slot = cluster_slot(key);
	uint64		random;

	if (!pg_strong_random(&random, sizeof(random)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random bytes")));
	for (;; random++)
	{
		char	   *name = psprintf("%s:bloomfilter:" UINT64_FORMAT, key, random);

		if (cluster_slot(name) == slot)
			return name;
		pfree(name);
		CHECK_FOR_INTERRUPTS();
	}
}

/* PEXPIRE of the temporary key, ahead of what it holds next. */
static void
send_expiry(const Push *push)
{
	BfCommand	command;

	bf_command_init(&command, "PEXPIRE");
	bf_command_text(&command, push->temporary);
	bf_command_number(&command, TEMPORARY_TTL_MS);
	bf_command_send(push->connection, &command);
}

/*
 * Create the temporary key by one command, and let it expire, in one MULTI.
 * Its reply must be "OK".
 */
static void
create_temporary(const Push *push, const BfCommand *command)
{
	const char *name = command->args[0];
	const redisReply *exec;

	bf_command_send_words(push->connection, "MULTI", NULL);
	bf_command_send(push->connection, command);
	send_expiry(push);
	bf_command_send_words(push->connection, "EXEC", NULL);
	(void) bf_receive_ok(push->connection, "MULTI", push->key);
	bf_receive_queued(push->connection, name, push->key);
	bf_receive_queued(push->connection, "PEXPIRE", push->key);
	exec = bf_receive_exec(push->connection, name, push->key, 2);
	bf_check_element(push->connection, exec, 0, name, push->key, REDIS_REPLY_STATUS);
	bf_check_element(push->connection, exec, 1, "PEXPIRE", push->key, REDIS_REPLY_INTEGER);
}

/* Send one chunk by a command that has it as its last argument. */
static void
send_chunk(Push *push, const BfCommand *command, int reply_type)
{
	CHECK_FOR_INTERRUPTS();
	send_expiry(push);
	bf_command_send(push->connection, command);
	(void) bf_receive(push->connection, "PEXPIRE", push->key, REDIS_REPLY_INTEGER);
	(void) bf_receive(push->connection, command->args[0], push->key, reply_type);
	push->sent += command->lengths[command->nargs - 1];
	ereport(DEBUG1,
			(errmsg_internal("pushed " UINT64_FORMAT " of " UINT64_FORMAT " bytes of filter \"%s\"",
							 push->sent, push->total, push->key)));
}

/* Give the temporary key its name, for as long as it shall live. */
static void
publish(const Push *push, int64 ttl)
{
	const redisReply *exec;
	BfCommand	command;
	const char *expiry = ttl > 0 ? "PEXPIRE" : "PERSIST";

	bf_command_send_words(push->connection, "MULTI", NULL);
	bf_command_init(&command, expiry);
	bf_command_text(&command, push->temporary);
	if (ttl > 0)
		bf_command_number(&command, ttl);
	bf_command_send(push->connection, &command);
	bf_command_init(&command, "RENAME");
	bf_command_text(&command, push->temporary);
	bf_command_text(&command, push->key);
	bf_command_send(push->connection, &command);
	bf_command_send_words(push->connection, "EXEC", NULL);

	(void) bf_receive_ok(push->connection, "MULTI", push->key);
	bf_receive_queued(push->connection, expiry, push->key);
	bf_receive_queued(push->connection, "RENAME", push->key);
	exec = bf_receive_exec(push->connection, "EXEC", push->key, 2);
	bf_check_element(push->connection, exec, 0, expiry, push->key, REDIS_REPLY_INTEGER);
	bf_check_element(push->connection, exec, 1, "RENAME", push->key, REDIS_REPLY_STATUS);
}

/* Begin a filter of RedisBloom with the header of its dump. */
static void
push_header(const Push *push, const char *load, const uint8 *header, size_t size)
{
	BfCommand	command;

	bf_command_init(&command, load);
	bf_command_text(&command, push->temporary);
	bf_command_text(&command, "1");
	bf_command_bytes(&command, (const char *) header, size);
	create_temporary(push, &command);
}

/* Send bytes that belong together; bytes points to the first of the whole dump. */
static void
push_piece(Push *push, const char *load, const uint8 *bytes, uint64 size)
{
	for (uint64 offset = 0; offset < size;)
	{
		size_t		chunk = (size_t) Min(size - offset, BF_CHUNK_SIZE);
		BfCommand	command;

		bf_command_init(&command, load);
		bf_command_text(&command, push->temporary);
		bf_command_number(&command, (int64) (push->sent + chunk + 1));
		bf_command_bytes(&command, (const char *) bytes + push->sent, chunk);
		send_chunk(push, &command, REDIS_REPLY_STATUS);
		offset += chunk;
	}
}

/* A Bloom filter: no chunk crosses a link. */
static void
push_bloom(Push *push, const BfDump *dump, const uint8 *bits)
{
	size_t		size;
	uint8	   *header = bf_dump_encode(dump, &size);

	push_header(push, "BF.LOADCHUNK", header, size);
	for (uint32 i = 0; i < dump->nlinks; i++)
		push_piece(push, "BF.LOADCHUNK", bits, dump->links[i].bytes);
}

/* A cuckoo filter: no chunk crosses a sub-filter. */
static void
push_cuckoo(Push *push, const BfFilter *filter, const uint8 *header)
{
	push_header(push, "CF.LOADCHUNK", header, BF_CUCKOO_DUMP_HEADER_SIZE);
	for (uint32 i = 0; i < bf_cuckoo_sub_filters(filter); i++)
		push_piece(push, "CF.LOADCHUNK", filter->payload,
				   bf_cuckoo_sub_filter(filter, i).buckets * bf_cuckoo_bucket_bytes(filter));
}

/* The bits of a plain string. */
static void
push_bitmap(Push *push, const uint8 *bits)
{
	size_t		room = (size_t) Min(push->total, BF_CHUNK_SIZE);
	uint8	   *reversed = (uint8 *) palloc(room);
	BfCommand	command;

	bf_command_init(&command, "SET");
	bf_command_text(&command, push->temporary);
	bf_command_text(&command, "");
	create_temporary(push, &command);
	while (push->sent < push->total)
	{
		size_t		chunk = (size_t) Min(push->total - push->sent, BF_CHUNK_SIZE);

		bf_reverse_bits(reversed, bits + push->sent, chunk);
		bf_command_init(&command, "APPEND");
		bf_command_text(&command, push->temporary);
		bf_command_bytes(&command, (const char *) reversed, chunk);
		send_chunk(push, &command, REDIS_REPLY_INTEGER);
	}
	pfree(reversed);
}

/* After a failure: nobody needs the temporary key.  If not now, it expires. */
static void
remove_temporary(const Push *push)
{
	const char *args[2] = {"UNLINK", push->temporary};
	size_t		lengths[2] = {strlen(args[0]), strlen(args[1])};
	const char *problem;

	if (bf_connection_is_idle(push->connection) &&
		bf_connection_try_send(push->connection, 2, args, lengths, &problem))
		(void) bf_connection_try_receive(push->connection, &problem);
}

static void
refuse_geometry(const BfFilter *filter, const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("RedisBloom cannot hold this filter"),
			 errdetail("%s", reason),
			 filter->kind == BF_KIND_BLOOM ?
			 errhint("Format 'bitmap' takes every filter of this type.") : 0));
}

/*
 * The name may be taken by something else than a filter of the format.  It
 * would be gone, and whoever wrote it would want it back.
 */
static void
check_target(const Push *push, BfRedisFormat format)
{
	const redisReply *reply;

	bf_command_send_words(push->connection, "TYPE", push->key);
	reply = bf_receive(push->connection, "TYPE", push->key, REDIS_REPLY_STATUS);
	if (strcmp(reply->str, "none") != 0 &&
		strcmp(reply->str, bf_live_module_type(format)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("key \"%s\" of Redis server %s is not a filter of format \"%s\"",
						push->key, bf_connection_name(push->connection),
						bf_redis_format_name(format)),
				 errdetail("Its type is \"%s\".", bf_redis_clean_text(reply->str, reply->len)),
				 errhint("To put a filter in its place, remove it first with bloom_redis_unlink.")));
}

/* Which format a filter can be pushed in; anything else is an error. */
static void
check_format(const BfFilter *filter, BfRedisFormat format)
{
	if ((filter->kind == BF_KIND_CUCKOO_FILTER) != (format == BF_REDIS_CUCKOO))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("a value of type %s cannot be pushed with format \"%s\"",
						bf_format_type_name((BfKind) filter->kind), bf_redis_format_name(format)),
				 filter->kind == BF_KIND_CUCKOO_FILTER ?
				 errhint("Use format 'cuckoo'.") :
				 errhint("Use format 'redisbloom' or 'bitmap'.")));
	if (filter->kind == BF_KIND_SCALABLE_BLOOM && format == BF_REDIS_BITMAP)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a scalable filter cannot be a bitmap"),
				 errdetail("It has layers, and a bitmap is one array of bits."),
				 errhint("Use format 'redisbloom'.")));
}

/*
 * bloom_redis_push(server, key, filter, format, ttl)
 *
 * A counting filter is pushed as its bits.
 */
Datum
bf_redis_push(PG_FUNCTION_ARGS)
{
	const char *key;
	const BfFilter *filter;
	BfRedisFormat format;
	int64		ttl = 0;
	BfDump		dump;
	uint8		cuckoo_header[BF_CUCKOO_DUMP_HEADER_SIZE];
	const char *reason = NULL;
	Push		push = {0};

	/* not strict, because the time to live may be NULL */
	for (int i = 0; i < 4; i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("server, key, filter and format must not be null")));
	}
	key = bf_whole_key(PG_GETARG_TEXT_PP(1));
	format = bf_redis_get_format(text_to_cstring(PG_GETARG_TEXT_PP(3)));
	if (!PG_ARGISNULL(4))
		ttl = bf_redis_get_milliseconds(PG_GETARG_DATUM(4));

	filter = BF_GETARG_FILTER(2);
	if (filter->kind == BF_KIND_COUNTING_BLOOM)
		filter = bf_counting_to_bloom(filter);
	check_format(filter, format);
	push.total = (filter->bits + 7) / 8;
	if (format == BF_REDIS_BLOOM)
		reason = bf_dump_of_filter(filter, &dump);
	else if (format == BF_REDIS_CUCKOO)
		reason = bf_dump_cuckoo(filter, cuckoo_header);
	if (reason != NULL)
		refuse_geometry(filter, reason);

	push.connection = bf_whole_connect(PG_GETARG_NAME(0));
	push.key = key;
	push.temporary = temporary_name(key);
	check_target(&push, format);
	PG_TRY();
	{
		if (format == BF_REDIS_BLOOM)
			push_bloom(&push, &dump, bf_dump_bits(filter));
		else if (format == BF_REDIS_CUCKOO)
			push_cuckoo(&push, filter, cuckoo_header);
		else
			push_bitmap(&push, filter->payload);
		publish(&push, ttl);
	}
	PG_CATCH();
	{
		remove_temporary(&push);
		PG_RE_THROW();
	}
	PG_END_TRY();
	PG_RETURN_VOID();
}
