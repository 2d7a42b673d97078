/*-------------------------------------------------------------------------
 *
 * pull.c
 *	  Pulling a whole filter out of Redis.
 *
 * Nothing that comes is believed: the header is checked before memory is
 * taken, and every chunk before it is copied.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "whole.h"

#include "bloom.h"
#include "dump.h"
#include "errors.h"
#include "gateway.h"
#include "reply.h"

BF_FUNCTION(bf_redis_pull);
BF_FUNCTION(bf_scalable_redis_pull);
BF_FUNCTION(bf_redis_pull_bitmap);

static void
refuse_dump(BfConnection *connection, const char *key, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
			 errmsg("cannot read filter \"%s\" of Redis server %s",
					key, bf_connection_name(connection)),
			 errdetail("%s", problem)));
}

/* One step of BF.SCANDUMP: the chunk after an iterator, and the next iterator. */
static const redisReply *
scan_dump(BfConnection *connection, const char *key, int64 iterator, int64 *next)
{
	const redisReply *reply;
	BfCommand	command;

	bf_command_init(&command, "BF.SCANDUMP");
	bf_command_text(&command, key);
	bf_command_number(&command, iterator);
	bf_command_send(connection, &command);
	reply = bf_receive(connection, "BF.SCANDUMP", key, REDIS_REPLY_ARRAY);
	bf_check_element(connection, reply, 0, "BF.SCANDUMP", key, REDIS_REPLY_INTEGER);
	*next = reply->element[0]->integer;
	if (*next == 0)
		return NULL;
	bf_check_element(connection, reply, 1, "BF.SCANDUMP", key, REDIS_REPLY_STRING);
	return reply->element[1];
}

/* Read the header; it is checked. */
static void
pull_header(BfConnection *connection, const char *key, BfDump *dump)
{
	int64		next;
	const redisReply *header = scan_dump(connection, key, 0, &next);
	const char *problem;

	if (header == NULL || next != 1)
		refuse_dump(connection, key, "The dump has no header.");
	problem = bf_dump_decode((const uint8 *) header->str, header->len, dump);
	if (problem != NULL)
		refuse_dump(connection, key, problem);
}

/*
 * Read all chunks into the filter's bits.  A filter that was replaced by one of
 * another geometry meanwhile would not fit; one that grew would miss a layer.
 */
static void
pull_chunks(BfConnection *connection, const char *key, const BfDump *dump, uint8 *bits)
{
	int64		iterator = 1;
	uint64		received = 0;
	BfDump		after;

	for (;;)
	{
		int64		next;
		const redisReply *chunk = scan_dump(connection, key, iterator, &next);

		CHECK_FOR_INTERRUPTS();
		if (chunk == NULL)
			break;
		if (chunk->len == 0 || chunk->len > dump->bytes - received ||
			next != iterator + (int64) chunk->len)
			refuse_dump(connection, key, "A chunk is not where it should be.");
		memcpy(bits + received, chunk->str, chunk->len);
		received += chunk->len;
		iterator = next;
		ereport(DEBUG1,
				(errmsg_internal("pulled " UINT64_FORMAT " of " UINT64_FORMAT " bytes of filter \"%s\"",
								 received, dump->bytes, key)));
	}
	if (received != dump->bytes)
		refuse_dump(connection, key, "The dump ended too early.");

	pull_header(connection, key, &after);
	if (after.nlinks != dump->nlinks || after.bytes != dump->bytes)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("filter \"%s\" of Redis server %s was changed while it was read",
						key, bf_connection_name(connection)),
				 errhint("Try again.")));
}

/* A RedisBloom filter as a value of that kind. */
static Datum
pull(FunctionCallInfo fcinfo, BfKind kind)
{
	BfConnection *connection = bf_whole_connect(PG_GETARG_NAME(0));
	const char *key = bf_whole_key(PG_GETARG_TEXT_PP(1));
	const char *problem;
	BfFilter   *filter;
	BfDump		dump;

	pull_header(connection, key, &dump);
	filter = bf_dump_to_filter(&dump, kind);
	if (filter == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("filter \"%s\" of Redis server %s is no %s",
						key, bf_connection_name(connection), bf_format_type_name(kind)),
				 kind == BF_KIND_BLOOM ?
				 errdetail("It is a chain of %u filters.", dump.nlinks) :
				 errdetail("It does not scale."),
				 kind == BF_KIND_BLOOM ?
				 errhint("Use scalable_bloom_redis_pull.") : errhint("Use bloom_redis_pull.")));
	pull_chunks(connection, key, &dump, unconstify(uint8 *, bf_dump_bits(filter)));
	bf_dump_finish_filter(filter);
	problem = bf_format_check(filter, VARSIZE(filter), kind);
	if (problem != NULL)
		refuse_dump(connection, key, problem);
	PG_RETURN_POINTER(filter);
}

/* bloom_redis_pull(server, key) */
Datum
bf_redis_pull(PG_FUNCTION_ARGS)
{
	return pull(fcinfo, BF_KIND_BLOOM);
}

/* scalable_bloom_redis_pull(server, key) */
Datum
bf_scalable_redis_pull(PG_FUNCTION_ARGS)
{
	return pull(fcinfo, BF_KIND_SCALABLE_BLOOM);
}

/* How long the string is that should be a bitmap of size bytes. */
static uint64
bitmap_length(BfConnection *connection, const char *key, uint64 size)
{
	const redisReply *reply;
	int64		length;

	bf_command_send_words(connection, "EXISTS", key);
	bf_command_send_words(connection, "STRLEN", key);
	if (bf_receive(connection, "EXISTS", key, REDIS_REPLY_INTEGER)->integer == 0)
	{
		(void) bf_receive(connection, "STRLEN", key, REDIS_REPLY_INTEGER);
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no key \"%s\" on Redis server %s",
						key, bf_connection_name(connection))));
	}
	reply = bf_receive(connection, "STRLEN", key, REDIS_REPLY_INTEGER);
	length = reply->integer;
	if (length < 0 || (uint64) length > size)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
				 errmsg("key \"%s\" of Redis server %s is not a bitmap of that size",
						key, bf_connection_name(connection)),
				 errdetail("It has " INT64_FORMAT " bytes, and so many bits take " UINT64_FORMAT ".",
						   length, size)));
	return (uint64) length;
}

/*
 * bloom_redis_pull_bitmap(server, key, bits, hashes, hash)
 *
 * A string is as long as its last bit that was ever set: the rest is zero.
 */
Datum
bf_redis_pull_bitmap(PG_FUNCTION_ARGS)
{
	int64		bits = PG_GETARG_INT64(2);
	int32		hashes = PG_GETARG_INT32(3);
	BfScheme	scheme = bf_get_scheme(PG_GETARG_TEXT_PP(4));
	const char *key = bf_whole_key(PG_GETARG_TEXT_PP(1));
	BfGeometry	geometry;
	BfConnection *connection;
	BfFilter   *filter;
	uint64		length;

	bf_check_params(bf_params_check_geometry(bits, hashes));
	geometry.bits = (uint64) bits;
	geometry.hashes = (uint32) hashes;
	connection = bf_whole_connect(PG_GETARG_NAME(0));
	length = bitmap_length(connection, key, (geometry.bits + 7) / 8);
	filter = bf_bloom_create(geometry, scheme, bf_params_capacity(geometry),
							 bf_params_fpr(geometry.hashes));

	for (uint64 offset = 0; offset < length;)
	{
		uint64		wanted = Min(length - offset, BF_CHUNK_SIZE);
		const redisReply *reply;
		BfCommand	command;

		CHECK_FOR_INTERRUPTS();
		bf_command_init(&command, "GETRANGE");
		bf_command_text(&command, key);
		bf_command_number(&command, (int64) offset);
		bf_command_number(&command, (int64) (offset + wanted - 1));
		bf_command_send(connection, &command);
		reply = bf_receive(connection, "GETRANGE", key, REDIS_REPLY_STRING);
		if (reply->len != wanted)
			refuse_dump(connection, key, "It became shorter while it was read.");
		bf_reverse_bits(filter->payload + offset, (const uint8 *) reply->str, reply->len);
		offset += wanted;
	}
	if (!bf_bits_padding_is_zero(filter->payload, filter->bits))
		refuse_dump(connection, key, "Bits are set behind its end.");
	bf_bloom_recount(filter);
	PG_RETURN_POINTER(filter);
}
