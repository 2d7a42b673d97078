/*-------------------------------------------------------------------------
 *
 * whole.c
 *	  What pushing and pulling whole filters share, and the removal of keys.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "whole.h"

#include "catalog/pg_foreign_server.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "utils/acl.h"
#include "utils/builtins.h"

BF_FUNCTION(bf_redis_unlink);

extern PGDLLEXPORT Datum bf_redis_handler(PG_FUNCTION_ARGS);

/* The caller's connection to a server of ours, if the caller may use it. */
BfConnection *
bf_whole_connect(Name server_name)
{
	ForeignServer *server = GetForeignServerByName(NameStr(*server_name), false);
	ForeignDataWrapper *wrapper = GetForeignDataWrapper(server->fdwid);
	AclResult	result;
	FmgrInfo	handler;

	result = bf_server_aclcheck(server->serverid, GetUserId(), ACL_USAGE);
	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FOREIGN_SERVER, server->servername);
	if (OidIsValid(wrapper->fdwhandler))
		fmgr_info(wrapper->fdwhandler, &handler);
	if (!OidIsValid(wrapper->fdwhandler) || handler.fn_addr != bf_redis_handler)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("server \"%s\" is not a Redis server", server->servername),
				 errhint("Create it with FOREIGN DATA WRAPPER bloomfilter_redis.")));
	return bf_connection_get(server->serverid, GetUserId());
}

/* The name of a key as Redis has it: UTF-8. */
char *
bf_whole_key(const text *key)
{
	char	   *name = text_to_cstring(key);

	if (name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the name of a Redis key must not be empty")));
	return pg_server_to_any(name, (int) strlen(name), PG_UTF8);
}

/*
 * Our bytes have the least significant bit first, a Redis string the most
 * significant one.
 */
void
bf_reverse_bits(uint8 *to, const uint8 *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
	{
		uint8		byte = from[i];

		byte = (uint8) ((byte & 0xf0) >> 4 | (byte & 0x0f) << 4);
		byte = (uint8) ((byte & 0xcc) >> 2 | (byte & 0x33) << 2);
		to[i] = (uint8) ((byte & 0xaa) >> 1 | (byte & 0x55) << 1);
	}
}

/* bloom_redis_unlink(server, key) -> whether there was such a key */
Datum
bf_redis_unlink(PG_FUNCTION_ARGS)
{
	BfConnection *connection = bf_whole_connect(PG_GETARG_NAME(0));
	const char *key = bf_whole_key(PG_GETARG_TEXT_PP(1));

	bf_command_send_words(connection, "UNLINK", key);
	PG_RETURN_BOOL(bf_receive(connection, "UNLINK", key, REDIS_REPLY_INTEGER)->integer > 0);
}
