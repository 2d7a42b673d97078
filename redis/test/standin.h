/*-------------------------------------------------------------------------
 *
 * standin.h
 *	  What the command families of the stand-in for RedisBloom share.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef STANDIN_H
#define STANDIN_H

#include "compat.h"

#include "hash.h"
#include "redis_module.h"

/* No chunk of a dump is longer. */
#define MAX_CHUNK_SIZE		(16 * 1024 * 1024)

/* More of a filter than the extension takes, so that it can be seen to refuse. */
#define MAX_FILTER_SIZE		(UINT64CONST(1024) * 1024 * 1024)

/* RedisBloom's limits for a number that the user gives. */
#define MAX_CAPACITY		(INT64CONST(1) << 30)
#define MAX_EXPANSION		32768

/* Of values in RDB files: none of RedisBloom's, which are laid out otherwise. */
#define RDB_VERSION			1000

/* What is found at a key. */
typedef enum KeyState
{
	KEY_EMPTY,
	KEY_FOUND,
	KEY_OTHER_TYPE
} KeyState;

/* What became of an item. */
typedef enum AddResult
{
	ADD_FOUND,
	ADD_NEW,
	ADD_FULL,					/* and may not grow */
	ADD_FAILED					/* cannot grow any more */
} AddResult;

typedef struct CommandEntry
{
	const char *name;
	RedisCommand command;
	const char *flags;
} CommandEntry;

/* A place in the bytes of a dump's header, which are little-endian and packed. */
typedef struct Cursor
{
	uint8	   *at;
} Cursor;

static inline void
put_integer(Cursor *cursor, uint64 value, int size)
{
	for (int i = 0; i < size; i++, value >>= 8)
		*cursor->at++ = (uint8) value;
}

static inline uint64
get_integer(Cursor *cursor, int size)
{
	uint64		value = 0;

	for (int i = 0; i < size; i++)
		value |= (uint64) *cursor->at++ << (8 * i);
	return value;
}

static inline void
put_double(Cursor *cursor, double value)
{
	uint64		bits;

	memcpy(&bits, &value, sizeof(bits));
	put_integer(cursor, bits, sizeof(bits));
}

static inline double
get_double(Cursor *cursor)
{
	uint64		bits = get_integer(cursor, sizeof(bits));
	double		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

extern KeyState find_value(RedisContext *context, RedisString *name, int mode,
						   RedisType *type, RedisKey **key, void **value);
extern int	reply_ok(RedisContext *context);
extern int	reply_with_state(RedisContext *context, KeyState state);
extern int	find_word(RedisString **argv, int argc, int from, const char *word);
extern bool string_is(const RedisString *string, const char *word);
extern char option_letter(const RedisString *string, size_t index);
extern bool last_letter_is(const RedisString *string, char letter);
extern BfHash hash_string(BfScheme scheme, const RedisString *string);
extern bool is_multi(RedisString **argv);
extern bool parse_integer(const RedisString *string, int64 min, int64 max, int64 *value);

/* Each family's data type and commands. */
extern bool standin_bloom_register(RedisContext *context);
extern bool standin_cuckoo_register(RedisContext *context);
extern bool register_commands(RedisContext *context, const CommandEntry *commands, int count);

#endif							/* STANDIN_H */
