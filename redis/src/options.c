/*-------------------------------------------------------------------------
 *
 * options.c
 *	  Options of Redis servers, user mappings and foreign tables: one table
 *	  says which there are, and one function reads them, for the validator
 *	  and for every use.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "options.h"

#include <math.h>
#include <sys/un.h>

#include "access/reloptions.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "dump.h"
#include "lib/stringinfo.h"
#include "redis_compat.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

/* Bits of the formats that an option of a table makes sense for. */
#define FOR_BLOOM	(1 << BF_REDIS_BLOOM)
#define FOR_BITMAP	(1 << BF_REDIS_BITMAP)
#define FOR_CUCKOO	(1 << BF_REDIS_CUCKOO)
#define FOR_MODULE	(FOR_BLOOM | FOR_CUCKOO)
#define FOR_ALL		(FOR_MODULE | FOR_BITMAP)

typedef struct RedisOption
{
	const char *name;
	Oid			context;		/* catalog of the object it belongs to */
	int			formats;		/* of a table's option */
} RedisOption;

static const RedisOption valid_options[] =
{
	{"host", ForeignServerRelationId, 0},
	{"port", ForeignServerRelationId, 0},
	{"socket", ForeignServerRelationId, 0},
	{"dbname", ForeignServerRelationId, 0},
	{"connect_timeout", ForeignServerRelationId, 0},
	{"command_timeout", ForeignServerRelationId, 0},
	{"tls", ForeignServerRelationId, 0},
	{"tls_ca", ForeignServerRelationId, 0},
	{"tls_cert", ForeignServerRelationId, 0},
	{"tls_key", ForeignServerRelationId, 0},
	{"username", UserMappingRelationId, 0},
	{"password", UserMappingRelationId, 0},
	{"key", ForeignTableRelationId, FOR_ALL},
	{"format", ForeignTableRelationId, FOR_ALL},
	{"capacity", ForeignTableRelationId, FOR_ALL},
	{"error_rate", ForeignTableRelationId, FOR_BLOOM | FOR_BITMAP},
	{"expansion", ForeignTableRelationId, FOR_MODULE},
	{"nonscaling", ForeignTableRelationId, FOR_BLOOM},
	{"create", ForeignTableRelationId, FOR_ALL},
	{"bucket_size", ForeignTableRelationId, FOR_CUCKOO},
	{"max_iterations", ForeignTableRelationId, FOR_CUCKOO},
	{"bits", ForeignTableRelationId, FOR_BITMAP},
	{"hashes", ForeignTableRelationId, FOR_BITMAP},
	{"hash", ForeignTableRelationId, FOR_BITMAP},
	{"ttl", ForeignTableRelationId, FOR_ALL},
	{"missing", ForeignTableRelationId, FOR_ALL},
};

static const char *const format_names[] = {"redisbloom", "bitmap", "cuckoo"};

BF_FUNCTION(bf_redis_validator);

static void
refuse_value(const char *name, const char *value, const char *expected)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"", name, value),
			 errhint("%s", expected)));
}

static void
refuse_pair(const char *name, const char *other, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
			 errmsg("options \"%s\" and \"%s\" contradict each other", name, other),
			 errhint("%s", hint)));
}

static int64
get_integer(DefElem *option, int64 low, int64 high)
{
	const char *value = defGetString(option);
	char	   *end;
	long long	number;

	errno = 0;
	number = strtoll(value, &end, 10);
	if (end == value || *end != '\0' || errno != 0 || number < low || number > high)
		refuse_value(option->defname, value,
					 psprintf("It must be an integer from " INT64_FORMAT " to " INT64_FORMAT ".",
							  low, high));
	return (int64) number;
}

static double
get_fraction(DefElem *option, double high)
{
	const char *value = defGetString(option);
	char	   *end;
	double		number;

	errno = 0;
	number = strtod(value, &end);
	/* written so that NaN fails */
	if (end == value || *end != '\0' || errno != 0 || !(number > 0.0 && number <= high))
		refuse_value(option->defname, value,
					 psprintf("It must be a fraction greater than 0 and at most %g; 1%% is 0.01.", high));
	return number;
}

static bool
get_boolean(DefElem *option)
{
	bool		result = false;

	if (!parse_bool(defGetString(option), &result))
		refuse_value(option->defname, defGetString(option), "It must be true or false.");
	return result;
}

static const char *
get_nonempty(DefElem *option)
{
	const char *value = defGetString(option);

	if (value[0] == '\0')
		refuse_value(option->defname, value, "It must not be empty.");
	return value;
}

const char *
bf_redis_format_name(BfRedisFormat format)
{
	return format_names[format];
}

BfRedisFormat
bf_redis_get_format(const char *name)
{
	for (int i = 0; i < (int) lengthof(format_names); i++)
	{
		if (strcmp(name, format_names[i]) == 0)
			return (BfRedisFormat) i;
	}
	refuse_value("format", name, "Valid values are \"redisbloom\", \"bitmap\" and \"cuckoo\".");
	return BF_REDIS_BLOOM;		/* not reached */
}

/* An interval that a key may live, in milliseconds. */
int64
bf_redis_get_milliseconds(Datum interval)
{
	Interval   *value = DatumGetIntervalP(interval);
	double		milliseconds = (value->month * (double) DAYS_PER_MONTH + value->day) *
		SECS_PER_DAY * 1000.0 + value->time / 1000.0;

	/* a thousand years, far below what Redis can add to its clock */
	if (!(milliseconds >= 1.0 && milliseconds <= 1000.0 * DAYS_PER_YEAR * SECS_PER_DAY * 1000.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time to live must be between 1 millisecond and 1000 years"),
				 errhint("Without one, the key stays until it is removed.")));
	return (int64) rint(milliseconds);
}

static int64
get_ttl(DefElem *option)
{
	return bf_redis_get_milliseconds(DirectFunctionCall3(interval_in,
														 CStringGetDatum(defGetString(option)),
														 ObjectIdGetDatum(InvalidOid),
														 Int32GetDatum(-1)));
}

/* Read what a server and a user mapping say; either list may be NIL. */
void
bf_redis_get_server_options(List *server_options, List *mapping_options,
							BfRedisServerOptions *options)
{
	ListCell   *cell;

	memset(options, 0, sizeof(*options));
	options->connect_timeout = BF_REDIS_DEFAULT_CONNECT_TIMEOUT;
	options->command_timeout = BF_REDIS_DEFAULT_COMMAND_TIMEOUT;

	foreach(cell, server_options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);
		const char *name = option->defname;

		if (strcmp(name, "host") == 0)
			options->host = get_nonempty(option);
		else if (strcmp(name, "port") == 0)
			options->port = (int) get_integer(option, 1, 65535);
		else if (strcmp(name, "socket") == 0)
		{
			options->socket = get_nonempty(option);
			/* hiredis would take the beginning of a longer one */
			if (strlen(options->socket) >= sizeof(((struct sockaddr_un *) NULL)->sun_path))
				refuse_value(name, options->socket,
							 psprintf("A path of a socket has at most %zu bytes.",
									  sizeof(((struct sockaddr_un *) NULL)->sun_path) - 1));
		}
		else if (strcmp(name, "dbname") == 0)
			options->dbname = (int) get_integer(option, 0, PG_INT32_MAX);
		else if (strcmp(name, "connect_timeout") == 0)
			options->connect_timeout = (int) get_integer(option, 1, PG_INT32_MAX);
		else if (strcmp(name, "command_timeout") == 0)
			options->command_timeout = (int) get_integer(option, 1, PG_INT32_MAX);
		else if (strcmp(name, "tls") == 0)
			options->tls = get_boolean(option);
		else if (strcmp(name, "tls_ca") == 0)
			options->tls_ca = get_nonempty(option);
		else if (strcmp(name, "tls_cert") == 0)
			options->tls_cert = get_nonempty(option);
		else if (strcmp(name, "tls_key") == 0)
			options->tls_key = get_nonempty(option);
	}
	foreach(cell, mapping_options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, "username") == 0)
			options->username = get_nonempty(option);
		else if (strcmp(option->defname, "password") == 0)
			options->password = defGetString(option);
	}

	if (options->socket != NULL && options->host != NULL)
		refuse_pair("socket", "host", "A server is reached by one of them.");
	if (options->socket != NULL && options->port != 0)
		refuse_pair("socket", "port", "A Unix socket has no port.");
	if (options->socket != NULL && options->tls)
		refuse_pair("socket", "tls", "A Unix socket needs no TLS.");
	if (!options->tls && (options->tls_ca || options->tls_cert || options->tls_key))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("options \"tls_ca\", \"tls_cert\" and \"tls_key\" need option \"tls\""),
				 errhint("Add tls 'true'.")));
	if ((options->tls_cert == NULL) != (options->tls_key == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("options \"tls_cert\" and \"tls_key\" must be given together")));
#ifndef BF_WITH_TLS
	if (options->tls)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("TLS is not supported by this build"),
				 errhint("Build bloomfilter_redis with hiredis 1.0 or later, its SSL library and OpenSSL.")));
#endif
	if (options->socket == NULL)
	{
		if (options->host == NULL)
			options->host = BF_REDIS_DEFAULT_HOST;
		if (options->port == 0)
			options->port = BF_REDIS_DEFAULT_PORT;
	}
}

/* The options of bitmaps: their geometry must be told, and told once. */
static void
check_bitmap(BfRedisTableOptions *options, int64 bits, int64 hashes)
{
	BfParamsError error;

	if (bits != 0 && options->capacity != 0)
		refuse_pair("bits", "capacity", "Give capacity and error_rate, or bits and hashes.");
	if (bits != 0 && options->error_rate != 0.0)
		refuse_pair("bits", "error_rate", "Give capacity and error_rate, or bits and hashes.");
	if (hashes != 0 && options->capacity != 0)
		refuse_pair("hashes", "capacity", "Give capacity and error_rate, or bits and hashes.");
	if (bits != 0 && hashes != 0)
	{
		options->geometry.bits = (uint64) bits;
		options->geometry.hashes = (uint32) hashes;
		return;
	}
	if (bits != 0 || hashes != 0 || options->capacity == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				 errmsg("the geometry of a bitmap must be given"),
				 errhint("Give capacity and error_rate, or bits and hashes.")));
	if (options->error_rate == 0.0)
		options->error_rate = BF_DEFAULT_FPR;
	error = bf_params_for_capacity(options->capacity, options->error_rate, &options->geometry);
	if (error != BF_PARAMS_OK)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("a bitmap for that capacity and error_rate would be too large"),
				 errdetail("A Redis string has at most " UINT64_FORMAT " bits, and a key at most %d hashes.",
						   BF_MAX_BITS, BF_MAX_HASHES)));
}

/* The options of filters that RedisBloom makes. */
static void
check_module_filter(const BfRedisTableOptions *options)
{
	if (options->capacity > BF_REDIS_MAX_CAPACITY)
		refuse_value("capacity", psprintf(INT64_FORMAT, options->capacity),
					 psprintf("RedisBloom takes at most " INT64_FORMAT ".", BF_REDIS_MAX_CAPACITY));
	if (options->nonscaling && options->expansion != 0)
		refuse_pair("nonscaling", "expansion", "A filter that does not scale has no expansion.");
	if (!options->create)
	{
		const char *useless = options->capacity != 0 ? "capacity" :
			options->error_rate != 0.0 ? "error_rate" :
			options->expansion != 0 ? "expansion" :
			options->nonscaling ? "nonscaling" :
			options->bucket_size != 0 ? "bucket_size" :
			options->max_iterations != 0 ? "max_iterations" : NULL;

		if (useless != NULL)
			refuse_pair("create", useless, "A filter that INSERT does not create has the geometry it has.");
	}
	if (options->format == BF_REDIS_CUCKOO && options->capacity != 0 &&
		options->capacity < 2 * (options->bucket_size != 0 ? options->bucket_size : 2))
		refuse_pair("capacity", "bucket_size", "RedisBloom wants room for two buckets at least.");
}

/* Refuse an option that says nothing about a filter of the format. */
static void
check_formats(List *table_options, BfRedisFormat format)
{
	ListCell   *cell;

	foreach(cell, table_options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		for (int i = 0; i < (int) lengthof(valid_options); i++)
		{
			if (valid_options[i].context == ForeignTableRelationId &&
				strcmp(valid_options[i].name, option->defname) == 0 &&
				!(valid_options[i].formats & (1 << format)))
				ereport(ERROR,
						(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
						 errmsg("option \"%s\" is not for format \"%s\"",
								option->defname, format_names[format])));
		}
	}
}

/* Read and check what a foreign table says. */
void
bf_redis_get_table_options(List *table_options, BfRedisTableOptions *options)
{
	int64		bits = 0;
	int64		hashes = 0;
	ListCell   *cell;

	memset(options, 0, sizeof(*options));
	options->create = true;
	options->scheme = BF_SCHEME_MURMUR64A;

	foreach(cell, table_options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);
		const char *name = option->defname;

		if (strcmp(name, "key") == 0)
			options->key = get_nonempty(option);
		else if (strcmp(name, "format") == 0)
			options->format = bf_redis_get_format(defGetString(option));
		else if (strcmp(name, "capacity") == 0)
			options->capacity = get_integer(option, 1, PG_INT64_MAX);
		else if (strcmp(name, "error_rate") == 0)
			options->error_rate = get_fraction(option, BF_REDIS_MAX_FPR);
		else if (strcmp(name, "expansion") == 0)
			options->expansion = (int) get_integer(option, 1, BF_MAX_GROWTH);
		else if (strcmp(name, "nonscaling") == 0)
			options->nonscaling = get_boolean(option);
		else if (strcmp(name, "create") == 0)
			options->create = get_boolean(option);
		else if (strcmp(name, "bucket_size") == 0)
			options->bucket_size = (int) get_integer(option, 1, 255);
		else if (strcmp(name, "max_iterations") == 0)
			options->max_iterations = (int) get_integer(option, 1, 65535);
		else if (strcmp(name, "bits") == 0)
			bits = get_integer(option, 1, (int64) BF_MAX_BITS);
		else if (strcmp(name, "hashes") == 0)
			hashes = get_integer(option, 1, BF_MAX_HASHES);
		else if (strcmp(name, "hash") == 0)
		{
			if (!bf_scheme_by_name(defGetString(option), &options->scheme))
				refuse_value(name, defGetString(option),
							 "Valid values are \"murmur64a\" and \"fnv1a\".");
		}
		else if (strcmp(name, "ttl") == 0)
			options->ttl = get_ttl(option);
		else if (strcmp(name, "missing") == 0)
		{
			const char *value = defGetString(option);

			if (strcmp(value, "empty") == 0)
				options->missing_is_empty = true;
			else if (strcmp(value, "error") != 0)
				refuse_value(name, value, "Valid values are \"error\" and \"empty\".");
		}
	}

	if (options->key == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
				 errmsg("option \"key\" is required"),
				 errhint("It is the name of the filter in Redis.")));
	check_formats(table_options, options->format);
	if (options->format == BF_REDIS_BITMAP)
		check_bitmap(options, bits, hashes);
	else
		check_module_filter(options);
}

/* Names of the options of an object, for a hint. */
static char *
list_options(Oid context)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < (int) lengthof(valid_options); i++)
	{
		if (valid_options[i].context == context)
			appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", valid_options[i].name);
	}
	return list.data;
}

/* Files are opened with the rights of the server, not of the user who names them. */
static void
check_file_option(const char *name)
{
	if ((strcmp(name, "tls_ca") == 0 || strcmp(name, "tls_cert") == 0 ||
		 strcmp(name, "tls_key") == 0) &&
		!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set option \"%s\"", name),
				 errdetail("It names a file of the database server's machine, so only members of role pg_read_server_files may set it.")));
}

/*
 * bf_redis_validator(options text[], catalog oid)
 *
 * Called for every CREATE and ALTER with all options the object will have.
 */
Datum
bf_redis_validator(PG_FUNCTION_ARGS)
{
	List	   *options = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid			catalog = PG_GETARG_OID(1);
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);
		bool		found = false;

		for (int i = 0; i < (int) lengthof(valid_options); i++)
			found |= valid_options[i].context == catalog &&
				strcmp(valid_options[i].name, option->defname) == 0;
		if (!found)
		{
			char	   *list = list_options(catalog);

			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					 errmsg("invalid option \"%s\"", option->defname),
					 list[0] != '\0' ?
					 errhint("Valid options in this context are: %s", list) :
					 errhint("There are no valid options in this context.")));
		}
		check_file_option(option->defname);
	}

	if (catalog == ForeignServerRelationId)
	{
		BfRedisServerOptions server;

		bf_redis_get_server_options(options, NIL, &server);
	}
	else if (catalog == UserMappingRelationId)
	{
		BfRedisServerOptions server;

		bf_redis_get_server_options(NIL, options, &server);
		if (server.username != NULL && server.password == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
					 errmsg("option \"username\" needs option \"password\"")));
	}
	else if (catalog == ForeignTableRelationId)
	{
		BfRedisTableOptions table;

		bf_redis_get_table_options(options, &table);
	}
	PG_RETURN_VOID();
}
