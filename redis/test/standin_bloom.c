/*-------------------------------------------------------------------------
 *
 * standin_bloom.c
 *	  The stand-in's BF.* commands.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "standin_chain.h"

#define DEFAULT_ERROR		0.01
#define DEFAULT_CAPACITY	100
#define DEFAULT_EXPANSION	2
#define MAX_ERROR			0.25	/* more is taken down to this, silently */

static const Request default_request = {
	.error = DEFAULT_ERROR,
	.capacity = DEFAULT_CAPACITY,
	.expansion = DEFAULT_EXPANSION,
	.scaling = true,
	.create = true
};

static RedisType *bloom_type;

static KeyState
find_chain(RedisContext *context, RedisString *name, int mode, RedisKey **key, Chain **chain)
{
	void	   *value;
	KeyState	state;

	redis.AutoMemory(context);
	state = find_value(context, name, mode, bloom_type, key, &value);
	*chain = (Chain *) value;
	return state;
}

/* Make a chain at a key; NULL after an error reply. */
static Chain *
create_at_key(RedisContext *context, RedisKey *key, const Request *request)
{
	BfParamsError problem;
	Chain	   *chain = chain_create(request, &problem);

	if (chain == NULL)
		(void) redis.ReplyWithError(context, problem == BF_PARAMS_TOO_LARGE ?
									"ERR Insufficient memory to create filter" :
									"ERR could not create filter");
	else
		(void) redis.ModuleTypeSetValue(key, bloom_type, chain);
	return chain;
}

/* Whether a rate is one; more than a quarter becomes a quarter. */
static bool
parse_error_rate(const RedisString *string, double *error)
{
	if (redis.StringToDouble(string, error) != REDIS_OK || !(*error > 0.0 && *error < 1.0))
		return false;
	*error = Min(*error, MAX_ERROR);
	return true;
}

/* BF.RESERVE key error_rate capacity [EXPANSION n] [NONSCALING] */
static int
bf_reserve(RedisContext *context, RedisString **argv, int argc)
{
	Request		request = default_request;
	RedisKey   *key;
	Chain	   *chain;
	KeyState	state;
	double		error;
	long long	number;
	int			expansion;

	if (argc < 4 || argc > 7)
		return redis.WrongArity(context);
	if (redis.StringToDouble(argv[2], &error) != REDIS_OK)
		return redis.ReplyWithError(context, "ERR bad error rate");
	if (!parse_error_rate(argv[2], &request.error))
		return redis.ReplyWithError(context,
									"ERR error rate must be in the range (0.000000, 1.000000)");
	if (redis.StringToLongLong(argv[3], &number) != REDIS_OK)
		return redis.ReplyWithError(context, "ERR bad capacity");
	if (!parse_integer(argv[3], 1, MAX_CAPACITY, &request.capacity))
		return redis.ReplyWithError(context, "ERR capacity must be in the range [1, 1073741824]");

	request.scaling = find_word(argv, argc, 4, "NONSCALING") == 0;
	expansion = find_word(argv, argc, 4, "EXPANSION");
	if (expansion != 0)
	{
		if (expansion + 1 == argc)
			return redis.ReplyWithError(context, "ERR no expansion");
		if (redis.StringToLongLong(argv[expansion + 1], &number) != REDIS_OK)
			return redis.ReplyWithError(context, "ERR bad expansion");
		if (number != 0 && !request.scaling)
			return redis.ReplyWithError(context, "Nonscaling filters cannot expand");
		if (!parse_integer(argv[expansion + 1], 0, MAX_EXPANSION, &request.expansion))
			return redis.ReplyWithError(context, "ERR expansion must be in the range [0, 32768]");
		request.scaling &= request.expansion != 0;
	}

	state = find_chain(context, argv[1], REDIS_READ | REDIS_WRITE, &key, &chain);
	if (state != KEY_EMPTY)
		return reply_with_state(context, state);
	if (create_at_key(context, key, &request) == NULL)
		return REDIS_OK;
	return reply_ok(context);
}

/*
 * Add items and answer 1 for each that was new.  When a chain that may not
 * scale is full, an error takes the place of that answer and of all after it:
 * the array is then shorter than the request.
 */
static int
add_items(RedisContext *context, RedisString *name, RedisString **items, int count,
		  const Request *request, bool reply_array)
{
	RedisKey   *key;
	Chain	   *chain;
	KeyState	state = find_chain(context, name, REDIS_READ | REDIS_WRITE, &key, &chain);
	int			answered = 0;
	bool		full = false;

	if (state == KEY_EMPTY && request->create)
	{
		chain = create_at_key(context, key, request);
		if (chain == NULL)
			return REDIS_OK;
	}
	else if (state != KEY_FOUND)
		return reply_with_state(context, state);

	if (reply_array)
		(void) redis.ReplyWithArray(context, REDIS_LENGTH_LATER);
	for (; answered < count && !full; answered++)
	{
		AddResult	result = chain_add(chain, hash_string(BF_SCHEME_MURMUR64A, items[answered]));

		full = result == ADD_FULL;
		if (full)
			(void) redis.ReplyWithError(context, "ERR non scaling filter is full");
		else if (result == ADD_FAILED)
			(void) redis.ReplyWithError(context, "ERR problem inserting into filter");
		else
			(void) redis.ReplyWithLongLong(context, result == ADD_NEW);
	}
	if (reply_array)
		redis.ReplySetArrayLength(context, answered);
	return redis.ReplicateVerbatim(context);
}

/* BF.ADD key item, BF.MADD key item ... */
static int
bf_add(RedisContext *context, RedisString **argv, int argc)
{
	bool		multi = is_multi(argv);

	if (multi ? argc < 3 : argc != 3)
		return redis.WrongArity(context);
	return add_items(context, argv[1], argv + 2, argc - 2, &default_request, multi);
}

/*
 * BF.INSERT key [CAPACITY n] [ERROR p] [EXPANSION n] [NOCREATE] [NONSCALING]
 * ITEMS item ...
 */
static int
bf_insert(RedisContext *context, RedisString **argv, int argc)
{
	Request		request = default_request;
	int			at = 2;
	bool		items = false;

	if (argc < 4)
		return redis.WrongArity(context);
	while (at < argc && !items)
	{
		char		option = option_letter(argv[at], 0);
		char		second = option_letter(argv[at], 1);
		char		third = option_letter(argv[at], 2);

		at++;
		if ((option == 'e' || option == 'c') && at == argc)
			return redis.WrongArity(context);
		switch (option)
		{
			case 'i':
				items = true;
				break;
			case 'e':
				if (second == 'r' && !parse_error_rate(argv[at], &request.error))
					return redis.ReplyWithError(context, "Bad error rate");
				if (second != 'r' && !parse_integer(argv[at], 0, MAX_EXPANSION, &request.expansion))
					return redis.ReplyWithError(context, "Bad expansion");
				at++;
				break;
			case 'c':
				if (!parse_integer(argv[at], 1, MAX_CAPACITY, &request.capacity))
					return redis.ReplyWithError(context, "Bad capacity");
				at++;
				break;
			case 'n':
				if (third == 'c')
					request.create = false;
				else
					request.scaling = false;
				break;
			default:
				return redis.ReplyWithError(context, "Unknown argument received");
		}
	}
	request.scaling &= request.expansion != 0;
	if (!items || at == argc)
		return redis.WrongArity(context);
	return add_items(context, argv[1], argv + at, argc - at, &request, true);
}

/* BF.EXISTS key item, BF.MEXISTS key item ...: 0 of a key that is no filter */
static int
bf_exists(RedisContext *context, RedisString **argv, int argc)
{
	bool		multi = is_multi(argv);
	RedisKey   *key;
	Chain	   *chain;

	if (multi ? argc < 3 : argc != 3)
		return redis.WrongArity(context);
	(void) find_chain(context, argv[1], REDIS_READ, &key, &chain);
	if (multi)
		(void) redis.ReplyWithArray(context, argc - 2);
	for (int i = 2; i < argc; i++)
		(void) redis.ReplyWithLongLong(context,
									   chain != NULL && chain_contains(chain, hash_string(BF_SCHEME_MURMUR64A, argv[i])));
	return REDIS_OK;
}

static const char *const info_names[] = {
	"Capacity", "Size", "Number of filters", "Number of items inserted", "Expansion rate"
};
static const char *const info_options[] = {"capacity", "size", "filters", "items", "expansion"};

static void
reply_with_info(RedisContext *context, const Chain *chain, int field)
{
	uint64		capacity = 0;

	for (uint32 i = 0; i < chain->nlinks; i++)
		capacity += chain->links[i].entries;
	if (field == 4 && (chain->options & OPTION_NO_SCALING))
		(void) redis.ReplyWithNull(context);
	else
	{
		uint64		values[] = {capacity, chain_memory(chain), chain->nlinks, chain->items, chain->growth};

		(void) redis.ReplyWithLongLong(context, (long long) values[field]);
	}
}

/* BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION] */
static int
bf_info(RedisContext *context, RedisString **argv, int argc)
{
	RedisKey   *key;
	Chain	   *chain;
	KeyState	state;

	if (argc != 2 && argc != 3)
		return redis.WrongArity(context);
	state = find_chain(context, argv[1], REDIS_READ, &key, &chain);
	if (state != KEY_FOUND)
		return reply_with_state(context, state);
	if (argc == 2)
	{
		(void) redis.ReplyWithArray(context, 2 * lengthof(info_names));
		for (int i = 0; i < (int) lengthof(info_names); i++)
		{
			(void) redis.ReplyWithSimpleString(context, info_names[i]);
			reply_with_info(context, chain, i);
		}
		return REDIS_OK;
	}
	for (int i = 0; i < (int) lengthof(info_options); i++)
	{
		if (!string_is(argv[2], info_options[i]))
			continue;
		(void) redis.ReplyWithArray(context, 1);
		reply_with_info(context, chain, i);
		return REDIS_OK;
	}
	return redis.ReplyWithError(context, "Invalid information value");
}

/* BF.CARD key: 0 of a key that is not there */
static int
bf_card(RedisContext *context, RedisString **argv, int argc)
{
	RedisKey   *key;
	Chain	   *chain;
	KeyState	state;

	if (argc != 2)
		return redis.WrongArity(context);
	state = find_chain(context, argv[1], REDIS_READ, &key, &chain);
	if (state == KEY_OTHER_TYPE)
		return reply_with_state(context, state);
	return redis.ReplyWithLongLong(context, state == KEY_EMPTY ? 0 : (long long) chain->items);
}

/* BF.SCANDUMP key iterator: the next iterator and a piece, [0, ""] at the end */
static int
bf_scandump(RedisContext *context, RedisString **argv, int argc)
{
	RedisKey   *key;
	Chain	   *chain;
	Link	   *link;
	KeyState	state;
	long long	iterator;
	uint64		offset;

	if (argc != 3)
		return redis.WrongArity(context);
	state = find_chain(context, argv[1], REDIS_READ, &key, &chain);
	if (state != KEY_FOUND)
		return reply_with_state(context, state);
	if (redis.StringToLongLong(argv[2], &iterator) != REDIS_OK)
		return redis.ReplyWithError(context, "Second argument must be numeric");

	(void) redis.ReplyWithArray(context, 2);
	if (iterator == 0)
	{
		size_t		size;
		char	   *header = chain_dump_header(chain, &size);

		(void) redis.ReplyWithLongLong(context, 1);
		(void) redis.ReplyWithStringBuffer(context, header, size);
		redis.Free(header);
		return REDIS_OK;
	}
	link = iterator < 0 ? NULL : chain_find_link(chain, (uint64) iterator - 1, &offset);
	if (link == NULL)
	{
		(void) redis.ReplyWithLongLong(context, 0);
		return redis.ReplyWithStringBuffer(context, "", 0);
	}
	else
	{
		uint64		size = Min(link->geometry.bits / 8 - offset, MAX_CHUNK_SIZE);

		(void) redis.ReplyWithLongLong(context, iterator + (long long) size);
		return redis.ReplyWithStringBuffer(context, (const char *) link->bits + offset, size);
	}
}

/* Copy a chunk to where the iterator after it says; the error, or NULL. */
static const char *
load_chunk(Chain *chain, long long iterator, const char *chunk, size_t size)
{
	Link	   *link;
	uint64		offset;

	if (iterator <= 0 || (uint64) iterator < size)
		return "ERR received bad data";
	iterator -= (long long) size;
	link = iterator < 1 ? NULL : chain_find_link(chain, (uint64) iterator - 1, &offset);
	if (link == NULL)
		return "ERR invalid offset - no link found";
	if (size > link->geometry.bits / 8 - offset)
		return "ERR invalid chunk - Too big for current filter";
	memcpy(link->bits + offset, chunk, size);
	return NULL;
}

/* BF.LOADCHUNK key iterator data: the header with 1 on a key that is not there */
static int
bf_loadchunk(RedisContext *context, RedisString **argv, int argc)
{
	RedisKey   *key;
	Chain	   *chain;
	KeyState	state;
	long long	iterator;
	const char *data;
	const char *problem = NULL;
	size_t		size;

	if (argc != 4)
		return redis.WrongArity(context);
	if (redis.StringToLongLong(argv[2], &iterator) != REDIS_OK)
		return redis.ReplyWithError(context, "ERR Second argument must be numeric");
	data = redis.StringPtrLen(argv[3], &size);
	state = find_chain(context, argv[1], REDIS_READ | REDIS_WRITE, &key, &chain);
	if (state == KEY_EMPTY && iterator == 1)
	{
		chain = chain_load_header(data, size);
		if (chain == NULL)
			problem = "ERR received bad data";
		else
			(void) redis.ModuleTypeSetValue(key, bloom_type, chain);
	}
	else if (state != KEY_FOUND)
		return reply_with_state(context, state);
	else
		problem = load_chunk(chain, iterator, data, size);
	if (problem != NULL)
		return redis.ReplyWithError(context, problem);
	return reply_ok(context);
}

static void
free_value(void *value)
{
	chain_free((Chain *) value);
}

static size_t
value_memory(const void *value)
{
	return chain_memory((const Chain *) value);
}

/* In an RDB file, in DUMP and to a replica: the header, then each link's bits. */
static void
save_value(RedisIo *io, void *value)
{
	const Chain *chain = (const Chain *) value;
	size_t		size;
	char	   *header = chain_dump_header(chain, &size);

	redis.SaveStringBuffer(io, header, size);
	redis.Free(header);
	for (uint32 i = 0; i < chain->nlinks; i++)
		redis.SaveStringBuffer(io, (const char *) chain->links[i].bits, chain->links[i].geometry.bits / 8);
}

static void *
load_value(RedisIo *io, int version)
{
	size_t		size;
	char	   *data;
	Chain	   *chain;

	if (version != RDB_VERSION)
		return NULL;
	data = redis.LoadStringBuffer(io, &size);
	chain = data == NULL ? NULL : chain_load_header(data, size);
	redis.Free(data);
	for (uint32 i = 0; chain != NULL && i < chain->nlinks; i++)
	{
		data = redis.LoadStringBuffer(io, &size);
		if (data != NULL && size == chain->links[i].geometry.bits / 8)
			memcpy(chain->links[i].bits, data, size);
		else
		{
			chain_free(chain);
			chain = NULL;
		}
		redis.Free(data);
	}
	return chain;
}

/* In an append-only file: the commands that load a dump. */
static void
rewrite_value(RedisIo *io, RedisString *key, void *value)
{
	const Chain *chain = (const Chain *) value;
	size_t		size;
	char	   *header = chain_dump_header(chain, &size);
	Link	   *link;
	uint64		position = 0;
	uint64		offset;

	redis.EmitAOF(io, "BF.LOADCHUNK", "slb", key, 1LL, header, size);
	redis.Free(header);
	while ((link = chain_find_link(chain, position, &offset)) != NULL)
	{
		size = Min(link->geometry.bits / 8 - offset, MAX_CHUNK_SIZE);
		position += size;
		redis.EmitAOF(io, "BF.LOADCHUNK", "slb", key, (long long) position + 1, link->bits + offset, size);
	}
}

static const CommandEntry bloom_commands[] = {
	{"bf.reserve", bf_reserve, "write deny-oom"},
	{"bf.add", bf_add, "write deny-oom"},
	{"bf.madd", bf_add, "write deny-oom"},
	{"bf.insert", bf_insert, "write deny-oom"},
	{"bf.exists", bf_exists, "readonly fast"},
	{"bf.mexists", bf_exists, "readonly fast"},
	{"bf.info", bf_info, "readonly fast"},
	{"bf.card", bf_card, "readonly fast"},
	{"bf.scandump", bf_scandump, "readonly fast"},
	{"bf.loadchunk", bf_loadchunk, "write deny-oom"}
};

bool
standin_bloom_register(RedisContext *context)
{
	static RedisTypeMethods methods = {
		.version = REDIS_TYPE_VERSION,
		.rdb_load = load_value,
		.rdb_save = save_value,
		.aof_rewrite = rewrite_value,
		.mem_usage = value_memory,
		.free = free_value
	};

	bloom_type = redis.CreateDataType(context, "MBbloom--", RDB_VERSION, &methods);
	return bloom_type != NULL &&
		register_commands(context, bloom_commands, lengthof(bloom_commands));
}
