/*-------------------------------------------------------------------------
 *
 * redis_module.h
 *	  The part of Redis' module interface that the stand-in uses.
 *
 * A module is handed a context whose first word is the address of a function
 * that fills in, by name, the address of any other.  There is nothing to link
 * with and, for the dozen functions used here, no header needed.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef REDIS_MODULE_H
#define REDIS_MODULE_H

#include <stddef.h>
#include <stdint.h>

/* Redis' own, never looked into. */
typedef struct RedisContext RedisContext;
typedef struct RedisKey RedisKey;
typedef struct RedisString RedisString;
typedef struct RedisType RedisType;
typedef struct RedisIo RedisIo;

typedef int (*RedisCommand) (RedisContext *context, RedisString **argv, int argc);

#define REDIS_OK				0
#define REDIS_ERR				1
#define REDIS_API_VERSION		1
#define REDIS_READ				1
#define REDIS_WRITE				2
#define REDIS_KEY_EMPTY			0
#define REDIS_KEY_MODULE		6
#define REDIS_LENGTH_LATER		(-1)
#define REDIS_TYPE_VERSION		1

/* What Redis calls for values of a module's type, as of version 1. */
typedef struct RedisTypeMethods
{
	uint64_t	version;		/* REDIS_TYPE_VERSION */
	void	   *(*rdb_load) (RedisIo *io, int version);
	void		(*rdb_save) (RedisIo *io, void *value);
	void		(*aof_rewrite) (RedisIo *io, RedisString *key, void *value);
	size_t		(*mem_usage) (const void *value);
	void		(*digest) (void *digest, void *value);
	void		(*free) (void *value);
} RedisTypeMethods;

/* X(result, name, arguments) of each function; Redis knows it as RedisModule_name. */
#define REDIS_FUNCTIONS(X) \
	X(void, SetModuleAttribs, (RedisContext *, const char *name, int version, int api)) \
	X(int, CreateCommand, (RedisContext *, const char *name, RedisCommand, const char *flags, \
						   int first_key, int last_key, int key_step)) \
	X(RedisType *, CreateDataType, (RedisContext *, const char *name, int version, RedisTypeMethods *)) \
	X(void, AutoMemory, (RedisContext *)) \
	X(void *, Calloc, (size_t count, size_t size)) \
	X(void *, Realloc, (void *, size_t size)) \
	X(void, Free, (void *)) \
	X(RedisKey *, OpenKey, (RedisContext *, RedisString *name, int mode)) \
	X(int, KeyType, (RedisKey *)) \
	X(RedisType *, ModuleTypeGetType, (RedisKey *)) \
	X(void *, ModuleTypeGetValue, (RedisKey *)) \
	X(int, ModuleTypeSetValue, (RedisKey *, RedisType *, void *value)) \
	X(const char *, StringPtrLen, (const RedisString *, size_t *length)) \
	X(int, StringToLongLong, (const RedisString *, long long *)) \
	X(int, StringToDouble, (const RedisString *, double *)) \
	X(int, WrongArity, (RedisContext *)) \
	X(int, ReplyWithError, (RedisContext *, const char *message)) \
	X(int, ReplyWithSimpleString, (RedisContext *, const char *message)) \
	X(int, ReplyWithLongLong, (RedisContext *, long long)) \
	X(int, ReplyWithNull, (RedisContext *)) \
	X(int, ReplyWithStringBuffer, (RedisContext *, const char *, size_t length)) \
	X(int, ReplyWithArray, (RedisContext *, long length)) \
	X(void, ReplySetArrayLength, (RedisContext *, long length)) \
	X(int, ReplicateVerbatim, (RedisContext *)) \
	X(void, SaveStringBuffer, (RedisIo *, const char *, size_t length)) \
	X(char *, LoadStringBuffer, (RedisIo *, size_t *length)) \
	X(void, EmitAOF, (RedisIo *, const char *command, const char *format, ...))

typedef struct RedisApi
{
#define REDIS_FUNCTION_POINTER(result, name, arguments) result (*name) arguments;
	REDIS_FUNCTIONS(REDIS_FUNCTION_POINTER)
#undef REDIS_FUNCTION_POINTER
} RedisApi;

/* Filled in before any command runs. */
extern RedisApi redis;

#endif							/* REDIS_MODULE_H */
