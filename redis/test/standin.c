/*-------------------------------------------------------------------------
 *
 * standin.c
 *	  A stand-in for the RedisBloom module, for tests without it.
 *
 * BF.* and CF.* with RedisBloom's replies, errors and dumps, under its names
 * for module and data types, on this project's hash, sizing and cuckoo files.
 * test/data/redisbloom*.json holds it to what the real module answered, and the
 * same test takes the real module: see t/001_standin.pl.
 *
 * Where it is less: RESP2 only; no configuration; no chain without FORCE64 and
 * NOROUND (RedisBloom makes none itself); filters end at 1 GiB, hashes at 255.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "standin.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

RedisApi	redis;

/*
 * Open a key and look for a value of that type.  The key is NULL when it was
 * opened for reading and is not there.
 */
KeyState
find_value(RedisContext *context, RedisString *name, int mode, RedisType *type,
		   RedisKey **key, void **value)
{
	*value = NULL;
	*key = redis.OpenKey(context, name, mode);
	if (*key == NULL || redis.KeyType(*key) == REDIS_KEY_EMPTY)
		return KEY_EMPTY;
	if (redis.KeyType(*key) != REDIS_KEY_MODULE || redis.ModuleTypeGetType(*key) != type)
		return KEY_OTHER_TYPE;
	*value = redis.ModuleTypeGetValue(*key);
	return KEY_FOUND;
}

/* The error for a key in another state than the command wants. */
int
reply_with_state(RedisContext *context, KeyState state)
{
	switch (state)
	{
		case KEY_EMPTY:
			return redis.ReplyWithError(context, "ERR not found");
		case KEY_FOUND:
			return redis.ReplyWithError(context, "ERR item exists");
		case KEY_OTHER_TYPE:
			break;
	}
	return redis.ReplyWithError(context,
								"WRONGTYPE Operation against a key holding the wrong kind of value");
}

/* Of a command that changed something and has nothing else to say. */
int
reply_ok(RedisContext *context)
{
	(void) redis.ReplicateVerbatim(context);
	return redis.ReplyWithSimpleString(context, "OK");
}

/* Whether an argument is that word, in any case. */
bool
string_is(const RedisString *string, const char *word)
{
	size_t		length;
	const char *characters = redis.StringPtrLen(string, &length);

	return length == strlen(word) && strncasecmp(characters, word, length) == 0;
}

/* The number of the argument that is that word, 0 when there is none. */
int
find_word(RedisString **argv, int argc, int from, const char *word)
{
	for (int i = from; i < argc; i++)
	{
		if (string_is(argv[i], word))
			return i;
	}
	return 0;
}

/* RedisBloom tells options apart by single letters; NUL beyond the end. */
char
option_letter(const RedisString *string, size_t index)
{
	size_t		length;
	const char *characters = redis.StringPtrLen(string, &length);

	return index < length ? (char) tolower((unsigned char) characters[index]) : '\0';
}

bool
last_letter_is(const RedisString *string, char letter)
{
	size_t		length;

	(void) redis.StringPtrLen(string, &length);
	return length > 0 && option_letter(string, length - 1) == letter;
}

BfHash
hash_string(BfScheme scheme, const RedisString *string)
{
	size_t		length;
	const char *characters = redis.StringPtrLen(string, &length);

	return bf_hash(scheme, characters, length);
}

/* BF.MADD, BF.MEXISTS, CF.MEXISTS */
bool
is_multi(RedisString **argv)
{
	return option_letter(argv[0], 3) == 'm';
}

bool
parse_integer(const RedisString *string, int64 min, int64 max, int64 *value)
{
	long long	number;

	if (redis.StringToLongLong(string, &number) != REDIS_OK || number < min || number > max)
		return false;
	*value = number;
	return true;
}

bool
register_commands(RedisContext *context, const CommandEntry *commands, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (redis.CreateCommand(context, commands[i].name, commands[i].command,
								commands[i].flags, 1, 1, 1) != REDIS_OK)
			return false;
	}
	return true;
}

/*
 * The algorithm files allocate by these, which a server has and a harness gets
 * from libpgcommon.  Here Redis counts the memory.
 */
void *
palloc(Size size)
{
	return redis.Calloc(1, size);
}

void *
palloc0(Size size)
{
	return redis.Calloc(1, size);
}

void *
repalloc(void *pointer, Size size)
{
	return redis.Realloc(pointer, size);
}

void
pfree(void *pointer)
{
	redis.Free(pointer);
}

/* Ask Redis for every function; false when it has not one of them. */
static bool
load_api(RedisContext *context)
{
	typedef int (*GetApi) (const char *name, void *function);

	GetApi		get_api;

	memcpy(&get_api, context, sizeof(get_api));
#define LOAD_FUNCTION(result, name, arguments) \
	if (get_api("RedisModule_" #name, &redis.name) != REDIS_OK) \
	{ \
		fputs("this Redis has no RedisModule_" #name "\n", stderr); \
		return false; \
	}
	REDIS_FUNCTIONS(LOAD_FUNCTION)
#undef LOAD_FUNCTION
	return true;
}

/* What Redis calls when it loads the module, by this name. */
extern PGDLLEXPORT int RedisModule_OnLoad(RedisContext *context, RedisString **argv, int argc);

int
RedisModule_OnLoad(RedisContext *context, RedisString **argv, int argc)
{
	(void) argv;
	(void) argc;
	if (!load_api(context))
		return REDIS_ERR;
	redis.SetModuleAttribs(context, "bf", 1, REDIS_API_VERSION);
	if (!standin_bloom_register(context) || !standin_cuckoo_register(context))
		return REDIS_ERR;
	return REDIS_OK;
}
