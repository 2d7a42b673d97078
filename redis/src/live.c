/*-------------------------------------------------------------------------
 *
 * live.c
 *	  Probing a filter that lives in Redis, whatever its format.
 *
 * To Redis a key that is missing, or of another type, is a filter that holds
 * nothing: after an expiry, an eviction or a failover a guard would turn every
 * valid key away.  So each batch of probes asks for the key's type too, in one
 * MULTI: nothing can happen to the key in between.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "live.h"

#include "command.h"
#include "reply.h"

/* Keys of one MULTI: with 255 hashes each it has fewer replies than is allowed. */
#define PROBE_BATCH		1000

/* What TYPE answers for a filter of the format. */
const char *
bf_live_module_type(BfRedisFormat format)
{
	switch (format)
	{
		case BF_REDIS_BLOOM:
			return "MBbloom--";
		case BF_REDIS_CUCKOO:
			return "MBbloomCF";
		default:
			return "string";
	}
}

const char *
bf_live_probe_command(BfRedisFormat format, bool many)
{
	switch (format)
	{
		case BF_REDIS_BLOOM:
			return many ? "BF.MEXISTS" : "BF.EXISTS";
		case BF_REDIS_CUCKOO:
			return many ? "CF.MEXISTS" : "CF.EXISTS";
		default:
			return "GETBIT";
	}
}

/* One command with all keys; the number of replies to it within EXEC's. */
static int
send_module_probe(BfConnection *connection, const BfRedisTableOptions *options,
				  int nkeys, const BfKey *keys)
{
	const char **args = (const char **) palloc((nkeys + 2) * sizeof(char *));
	size_t	   *lengths = (size_t *) palloc((nkeys + 2) * sizeof(size_t));

	args[0] = bf_live_probe_command(options->format, nkeys > 1);
	lengths[0] = strlen(args[0]);
	args[1] = options->key;
	lengths[1] = strlen(options->key);
	for (int i = 0; i < nkeys; i++)
	{
		args[i + 2] = keys[i].data;
		lengths[i + 2] = keys[i].length;
	}
	bf_connection_send(connection, nkeys + 2, args, lengths);
	pfree(args);
	pfree(lengths);
	return 1;
}

/* One GETBIT for each position of each key. */
static int
send_bitmap_probe(BfConnection *connection, const BfRedisTableOptions *options,
				  int nkeys, const BfKey *keys)
{
	BfModulus	modulus = bf_modulus(options->geometry.bits);

	for (int i = 0; i < nkeys; i++)
	{
		BfHash		hash = bf_hash(options->scheme, keys[i].data, keys[i].length);
		uint64		h = hash.h1;

		for (uint32 j = 0; j < options->geometry.hashes; j++, h += hash.h2)
		{
			BfCommand	command;

			bf_command_init(&command, "GETBIT");
			bf_command_text(&command, options->key);
			bf_command_number(&command, (int64) bf_mod(modulus, h));
			bf_command_send(connection, &command);
		}
	}
	return nkeys * (int) options->geometry.hashes;
}

/*
 * Whether the filter is there, by the first of EXEC's replies.  A missing one
 * is an error unless the table says otherwise; one of another type always is.
 */
static bool
check_type(BfConnection *connection, const BfRedisTableOptions *options,
		   const redisReply *exec)
{
	const char *type = exec->element[0]->str;

	if (strcmp(type, bf_live_module_type(options->format)) == 0)
		return true;
	if (strcmp(type, "none") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("key \"%s\" of Redis server %s is not a filter of format \"%s\"",
						options->key, bf_connection_name(connection),
						bf_redis_format_name(options->format)),
				 errdetail("Its type is \"%s\".", bf_redis_clean_text(type, exec->element[0]->len)),
				 errhint("Check the options key and format of the foreign table.")));
	if (!options->missing_is_empty)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no filter \"%s\" on Redis server %s",
						options->key, bf_connection_name(connection)),
				 errdetail("It was never made, has expired or was evicted."),
				 errhint("Push or fill it again; option missing 'empty' takes a missing filter for an empty one.")));
	return false;
}

/* The replies to one command with all keys. */
static void
read_module_probe(BfConnection *connection, const BfRedisTableOptions *options,
				  const redisReply *exec, int nkeys, bool *present)
{
	const char *name = bf_live_probe_command(options->format, nkeys > 1);

	if (nkeys == 1)
	{
		bf_check_element(connection, exec, 1, name, options->key, REDIS_REPLY_INTEGER);
		present[0] = exec->element[1]->integer != 0;
		return;
	}
	bf_check_element(connection, exec, 1, name, options->key, REDIS_REPLY_ARRAY);
	if (exec->element[1]->elements != (size_t) nkeys)
		bf_redis_bad_reply(bf_connection_name(connection), name,
						   psprintf("%d replies", nkeys));
	for (int i = 0; i < nkeys; i++)
	{
		bf_check_element(connection, exec->element[1], i, name, options->key,
						 REDIS_REPLY_INTEGER);
		present[i] = exec->element[1]->element[i]->integer != 0;
	}
}

/* The replies to all GETBITs. */
static void
read_bitmap_probe(BfConnection *connection, const BfRedisTableOptions *options,
				  const redisReply *exec, int nkeys, bool *present)
{
	size_t		next = 1;

	for (int i = 0; i < nkeys; i++)
	{
		present[i] = true;
		for (uint32 j = 0; j < options->geometry.hashes; j++, next++)
		{
			bf_check_element(connection, exec, next, "GETBIT", options->key,
							 REDIS_REPLY_INTEGER);
			present[i] &= exec->element[next]->integer != 0;
		}
	}
}

/* Probe so many keys that one MULTI may hold them. */
static void
probe_batch(BfConnection *connection, const BfRedisTableOptions *options,
			int nkeys, const BfKey *keys, bool *present)
{
	const char *name = bf_live_probe_command(options->format, nkeys > 1);
	const redisReply *exec;
	int			ncommands;

	bf_command_send_words(connection, "MULTI", NULL);
	bf_command_send_words(connection, "TYPE", options->key);
	if (options->format == BF_REDIS_BITMAP)
		ncommands = send_bitmap_probe(connection, options, nkeys, keys);
	else
		ncommands = send_module_probe(connection, options, nkeys, keys);
	bf_command_send_words(connection, "EXEC", NULL);

	(void) bf_receive_ok(connection, "MULTI", options->key);
	bf_receive_queued(connection, "TYPE", options->key);
	for (int i = 0; i < ncommands; i++)
		bf_receive_queued(connection, name, options->key);
	exec = bf_receive_exec(connection, "EXEC", options->key, (size_t) ncommands + 1);
	bf_check_element(connection, exec, 0, "TYPE", options->key, REDIS_REPLY_STATUS);

	if (!check_type(connection, options, exec))
		memset(present, false, nkeys * sizeof(bool));
	else if (options->format == BF_REDIS_BITMAP)
		read_bitmap_probe(connection, options, exec, nkeys, present);
	else
		read_module_probe(connection, options, exec, nkeys, present);
}

/* Which of the keys the filter may hold. */
void
bf_live_probe(Oid server, Oid user, const BfRedisTableOptions *options, int nkeys,
			  const BfKey *keys, bool *present)
{
	BfConnection *connection = bf_connection_get(server, user);

	for (int i = 0; i < nkeys; i += PROBE_BATCH)
		probe_batch(connection, options, Min(nkeys - i, PROBE_BATCH), keys + i, present + i);
}
