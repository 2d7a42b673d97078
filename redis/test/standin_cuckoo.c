/*-------------------------------------------------------------------------
 *
 * standin_cuckoo.c
 *	  The stand-in's CF.* commands.
 *
 * Values are the project's cuckoo filters of 8-bit fingerprints.  The project
 * refuses a key that is held 2 * bucket_size times; RedisBloom grows sub-filters
 * for it, so items are inserted here below that check.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "standin_cuckoo_dump.h"

#include "cuckoo_table.h"

#define DEFAULT_CUCKOO_CAPACITY	1024
#define MIN_CUCKOO_CAPACITY		4

/* What RedisBloom's own structures take, for CF.INFO's size. */
#define FILTER_MEMORY			40
#define SUB_FILTER_MEMORY		16

/* A key's value. */
typedef struct Cuckoo
{
	BfFilter   *filter;			/* moves in memory when it grows */
} Cuckoo;

/* What CF.INSERT says. */
typedef struct Request
{
	int64		capacity;
	bool		create;
	bool		only_new;		/* the NX of a command's name */
} Request;

static RedisType *cuckoo_type;

static void
cuckoo_free(void *value)
{
	pfree(((Cuckoo *) value)->filter);
	redis.Free(value);
}

static size_t
cuckoo_memory(const void *value)
{
	const BfFilter *filter = ((const Cuckoo *) value)->filter;

	return FILTER_MEMORY + bf_cuckoo_sub_filters(filter) * SUB_FILTER_MEMORY + filter->bits / 8;
}

static Cuckoo *
wrap_filter(BfFilter *filter)
{
	Cuckoo	   *cuckoo = redis.Calloc(1, sizeof(Cuckoo));

	cuckoo->filter = filter;
	return cuckoo;
}

static AddResult
cuckoo_add(Cuckoo *cuckoo, BfHash hash, bool only_new)
{
	BfFilter   *filter;

	if (only_new && bf_cuckoo_contains(cuckoo->filter, hash))
		return ADD_FOUND;
	filter = bf_cuckoo_insert(cuckoo->filter, bf_cuckoo_place_of_key(hash, 1), BF_ANY_SUB_FILTER);
	if (filter == NULL)
		return bf_cuckoo_expansion(cuckoo->filter) == 0 ? ADD_FULL : ADD_FAILED;
	cuckoo->filter = filter;
	return ADD_NEW;
}

static KeyState
find_cuckoo(RedisContext *context, RedisString *name, int mode, RedisKey **key, Cuckoo **cuckoo)
{
	void	   *value;
	KeyState	state;

	redis.AutoMemory(context);
	state = find_value(context, name, mode, cuckoo_type, key, &value);
	*cuckoo = (Cuckoo *) value;
	return state;
}

/* Make a filter at a key; NULL after an error reply. */
static Cuckoo *
create_at_key(RedisContext *context, RedisKey *key, int64 capacity, const BfCuckooParams *params)
{
	BfFilter   *filter;
	Cuckoo	   *cuckoo;

	if (capacity < params->bucket_size * 2)
	{
		(void) redis.ReplyWithError(context, "ERR Could not create filter");
		return NULL;
	}
	if (bf_cuckoo_create(capacity, params, &filter) != BF_PARAMS_OK)
	{
		(void) redis.ReplyWithError(context, "ERR Insufficient memory to create filter");
		return NULL;
	}
	cuckoo = wrap_filter(filter);
	(void) redis.ModuleTypeSetValue(key, cuckoo_type, cuckoo);
	return cuckoo;
}

/* One of CF.RESERVE's options and what is said of a value that it cannot have. */
typedef struct ReserveOption
{
	const char *name;
	int64		min;
	int64		max;
	const char *not_a_number;
	const char *out_of_range;
} ReserveOption;

static const ReserveOption reserve_options[] = {
	{"MAXITERATIONS", 1, BF_MAX_ITERATIONS, "Couldn't parse MAXITERATIONS",
	"MAXITERATIONS: value must be in the range [1, 65535]"},
	{"BUCKETSIZE", 1, BF_MAX_BUCKET_SIZE, "Couldn't parse BUCKETSIZE",
	"BUCKETSIZE: value must be in the range [1, 255]"},
	{"EXPANSION", 0, BF_MAX_EXPANSION, "Couldn't parse EXPANSION",
	"EXPANSION: value must be in the range [0, 32768]"}
};

/* CF.RESERVE key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n] */
static int
cf_reserve(RedisContext *context, RedisString **argv, int argc)
{
	BfCuckooParams params = BF_CUCKOO_DEFAULTS;
	int32	   *values[] = {&params.max_iterations, &params.bucket_size, &params.expansion};
	long long	capacity;
	RedisKey   *key;
	Cuckoo	   *cuckoo;
	KeyState	state;

	if (argc < 3 || argc % 2 == 0)
		return redis.WrongArity(context);
	if (redis.StringToLongLong(argv[2], &capacity) != REDIS_OK)
		return redis.ReplyWithError(context, "Bad capacity");
	for (int i = 0; i < (int) lengthof(reserve_options); i++)
	{
		const ReserveOption *option = &reserve_options[i];
		int			at = find_word(argv, argc - 1, 3, option->name);
		long long	number;

		if (at == 0)
			continue;
		if (redis.StringToLongLong(argv[at + 1], &number) != REDIS_OK)
			return redis.ReplyWithError(context, option->not_a_number);
		if (number < option->min || number > option->max)
			return redis.ReplyWithError(context, option->out_of_range);
		*values[i] = (int32) number;
	}
	if (capacity < params.bucket_size * 2 || capacity > MAX_CAPACITY)
		return redis.ReplyWithError(context,
									"Capacity must be in the range [2 * BUCKETSIZE, 1073741824]");
	state = find_cuckoo(context, argv[1], REDIS_READ | REDIS_WRITE, &key, &cuckoo);
	if (state != KEY_EMPTY)
		return reply_with_state(context, state);
	if (create_at_key(context, key, capacity, &params) == NULL)
		return REDIS_OK;
	return reply_ok(context);
}

/* Add items and answer for each 1, 0 when it was found, -1 when it found no room. */
static int
add_items(RedisContext *context, RedisString *name, RedisString **items, int count,
		  const Request *request, bool reply_array)
{
	static const BfCuckooParams defaults = BF_CUCKOO_DEFAULTS;
	RedisKey   *key;
	Cuckoo	   *cuckoo;
	KeyState	state = find_cuckoo(context, name, REDIS_READ | REDIS_WRITE, &key, &cuckoo);

	if (state == KEY_EMPTY && request->create)
	{
		cuckoo = create_at_key(context, key, request->capacity, &defaults);
		if (cuckoo == NULL)
			return REDIS_OK;
	}
	else if (state != KEY_FOUND)
		return reply_with_state(context, state);
	if (bf_cuckoo_sub_filters(cuckoo->filter) >= BF_MAX_SUB_FILTERS)
		return redis.ReplyWithError(context, "Maximum expansions reached");

	if (reply_array)
		(void) redis.ReplyWithArray(context, count);
	for (int i = 0; i < count; i++)
	{
		AddResult	result = cuckoo_add(cuckoo, hash_string(BF_SCHEME_MURMUR64A_SEED0, items[i]), request->only_new);

		if (result == ADD_NEW || result == ADD_FOUND)
			(void) redis.ReplyWithLongLong(context, result == ADD_NEW);
		else if (reply_array)
			(void) redis.ReplyWithLongLong(context, -1);
		else
			return redis.ReplyWithError(context, result == ADD_FULL ? "Filter is full" :
										"ERR Insufficient memory");
	}
	return redis.ReplicateVerbatim(context);
}

/* CF.ADD key item, CF.ADDNX key item */
static int
cf_add(RedisContext *context, RedisString **argv, int argc)
{
	Request		request = {DEFAULT_CUCKOO_CAPACITY, true, last_letter_is(argv[0], 'x')};

	if (argc != 3)
		return redis.WrongArity(context);
	return add_items(context, argv[1], argv + 2, 1, &request, false);
}

/* CF.INSERT key [CAPACITY n] [NOCREATE] ITEMS item ..., CF.INSERTNX the same */
static int
cf_insert(RedisContext *context, RedisString **argv, int argc)
{
	Request		request = {DEFAULT_CUCKOO_CAPACITY, true, last_letter_is(argv[0], 'x')};
	int			at = 2;
	bool		items = false;

	if (argc < 4)
		return redis.WrongArity(context);
	while (at < argc && !items)
	{
		switch (option_letter(argv[at++], 0))
		{
			case 'i':
				items = true;
				break;
			case 'n':
				request.create = false;
				break;
			case 'c':
				if (at == argc)
					return redis.WrongArity(context);
				if (!parse_integer(argv[at], PG_INT64_MIN, PG_INT64_MAX, &request.capacity))
					return redis.ReplyWithError(context, "Bad capacity");
				if (!parse_integer(argv[at++], MIN_CUCKOO_CAPACITY, MAX_CAPACITY, &request.capacity))
					return redis.ReplyWithError(context,
												"Capacity must be in the range [cf-bucket-size * 2, 1073741824]");
				break;
			default:
				return redis.ReplyWithError(context, "Unknown argument received");
		}
	}
	if (!items || at == argc)
		return redis.WrongArity(context);
	return add_items(context, argv[1], argv + at, argc - at, &request, true);
}

/*
 * CF.EXISTS key item, CF.MEXISTS key item ..., CF.COUNT key item: 0 of a key
 * that is no filter
 */
static int
cf_exists(RedisContext *context, RedisString **argv, int argc)
{
	bool		multi = is_multi(argv);
	bool		count = last_letter_is(argv[0], 't');
	RedisKey   *key;
	Cuckoo	   *cuckoo;

	if (multi ? argc < 3 : argc != 3)
		return redis.WrongArity(context);
	(void) find_cuckoo(context, argv[1], REDIS_READ, &key, &cuckoo);
	if (multi)
		(void) redis.ReplyWithArray(context, argc - 2);
	for (int i = 2; i < argc; i++)
	{
		BfHash		hash = hash_string(BF_SCHEME_MURMUR64A_SEED0, argv[i]);
		uint64		answer = 0;

		if (cuckoo != NULL)
			answer = count ? bf_cuckoo_key_count(cuckoo->filter, hash) :
				bf_cuckoo_contains(cuckoo->filter, hash);
		(void) redis.ReplyWithLongLong(context, (long long) answer);
	}
	return REDIS_OK;
}

/* CF.DEL key item: whether one was there to delete */
static int
cf_del(RedisContext *context, RedisString **argv, int argc)
{
	RedisKey   *key;
	Cuckoo	   *cuckoo;
	BfHash		hash;
	bool		found;

	if (argc != 3)
		return redis.WrongArity(context);
	if (find_cuckoo(context, argv[1], REDIS_READ | REDIS_WRITE, &key, &cuckoo) != KEY_FOUND)
		return redis.ReplyWithError(context, "Not found");
	hash = hash_string(BF_SCHEME_MURMUR64A_SEED0, argv[2]);
	found = bf_cuckoo_contains(cuckoo->filter, hash);
	cuckoo->filter = bf_cuckoo_remove(cuckoo->filter, hash);
	(void) redis.ReplicateVerbatim(context);
	return redis.ReplyWithLongLong(context, found);
}

static const char *const info_names[] = {
	"Size", "Number of buckets", "Number of filters", "Number of items inserted",
	"Number of items deleted", "Bucket size", "Expansion rate", "Max iterations"
};

static void
reply_with_info(RedisContext *context, const Cuckoo *cuckoo)
{
	const BfFilter *filter = cuckoo->filter;
	uint64		values[] = {
		cuckoo_memory(cuckoo), bf_cuckoo_sub_filter(filter, 0).buckets,
		bf_cuckoo_sub_filters(filter), filter->bits_set, bf_cuckoo_deletes(filter),
		bf_cuckoo_bucket_size(filter), bf_cuckoo_expansion(filter), bf_cuckoo_max_iterations(filter)
	};

	(void) redis.ReplyWithArray(context, 2 * lengthof(info_names));
	for (int i = 0; i < (int) lengthof(info_names); i++)
	{
		(void) redis.ReplyWithSimpleString(context, info_names[i]);
		(void) redis.ReplyWithLongLong(context, (long long) values[i]);
	}
}

/* CF.INFO key */
static int
cf_info(RedisContext *context, RedisString **argv, int argc)
{
	RedisKey   *key;
	Cuckoo	   *cuckoo;
	KeyState	state;

	if (argc != 2)
		return redis.WrongArity(context);
	state = find_cuckoo(context, argv[1], REDIS_READ, &key, &cuckoo);
	if (state != KEY_FOUND)
		return reply_with_state(context, state);
	reply_with_info(context, cuckoo);
	return REDIS_OK;
}

/* CF.SCANDUMP key iterator: the next iterator and a piece, [0, nil] at the end */
static int
cf_scandump(RedisContext *context, RedisString **argv, int argc)
{
	RedisKey   *key;
	Cuckoo	   *cuckoo;
	KeyState	state;
	long long	iterator;
	uint64		size = 0;
	uint8		header[CUCKOO_HEADER_SIZE];
	const uint8 *piece;

	if (argc != 3)
		return redis.WrongArity(context);
	if (redis.StringToLongLong(argv[2], &iterator) != REDIS_OK || iterator < 0)
		return redis.ReplyWithError(context, "Invalid position");
	state = find_cuckoo(context, argv[1], REDIS_READ, &key, &cuckoo);
	if (state != KEY_FOUND)
		return reply_with_state(context, state);

	(void) redis.ReplyWithArray(context, 2);
	if (cuckoo->filter->bits_set == 0)
		piece = NULL;			/* RedisBloom dumps no empty filter, not even a header */
	else if (iterator == 0)
	{
		cuckoo_dump_header(cuckoo->filter, header);
		piece = header;
		iterator = 1;
		size = CUCKOO_HEADER_SIZE;
	}
	else
	{
		piece = cuckoo_find_byte(cuckoo->filter, (uint64) iterator - 1, &size);
		size = Min(size, MAX_CHUNK_SIZE);
		iterator += (long long) size;
	}
	if (piece == NULL)
	{
		(void) redis.ReplyWithLongLong(context, 0);
		return redis.ReplyWithNull(context);
	}
	(void) redis.ReplyWithLongLong(context, iterator);
	return redis.ReplyWithStringBuffer(context, (const char *) piece, size);
}

/* CF.LOADCHUNK key iterator data: the header with 1 on a key that is not there */
static int
cf_loadchunk(RedisContext *context, RedisString **argv, int argc)
{
	RedisKey   *key;
	Cuckoo	   *cuckoo;
	KeyState	state;
	long long	iterator;
	const char *data;
	size_t		size;
	uint8	   *to;
	uint64		remaining;

	if (argc != 4)
		return redis.WrongArity(context);
	state = find_cuckoo(context, argv[1], REDIS_READ | REDIS_WRITE, &key, &cuckoo);
	if (redis.StringToLongLong(argv[2], &iterator) != REDIS_OK || iterator == 0)
		return redis.ReplyWithError(context, "Invalid position");
	data = redis.StringPtrLen(argv[3], &size);
	if (state != (iterator == 1 ? KEY_EMPTY : KEY_FOUND))
		return reply_with_state(context, state);
	if (iterator == 1)
	{
		BfFilter   *filter = cuckoo_load_header(data, size);

		if (filter == NULL)
			return redis.ReplyWithError(context, size != CUCKOO_HEADER_SIZE ? "Invalid header" :
										"Couldn't create filter!");
		(void) redis.ModuleTypeSetValue(key, cuckoo_type, wrap_filter(filter));
	}
	else
	{
		if (size == 0 || iterator < 1 || (uint64) iterator - 1 < size ||
			(to = cuckoo_find_byte(cuckoo->filter, (uint64) iterator - 1 - size, &remaining)) == NULL ||
			size > remaining)
			return redis.ReplyWithError(context, "Couldn't load chunk!");
		memcpy(to, data, size);
	}
	return reply_ok(context);
}

/* In an RDB file, in DUMP and to a replica: the header, then all fingerprints. */
static void
save_value(RedisIo *io, void *value)
{
	const BfFilter *filter = ((const Cuckoo *) value)->filter;
	uint8		header[CUCKOO_HEADER_SIZE];

	cuckoo_dump_header(filter, header);
	redis.SaveStringBuffer(io, (const char *) header, CUCKOO_HEADER_SIZE);
	redis.SaveStringBuffer(io, (const char *) filter->payload, filter->bits / 8);
}

static void *
load_value(RedisIo *io, int version)
{
	size_t		size;
	char	   *data;
	BfFilter   *filter;

	if (version != RDB_VERSION)
		return NULL;
	data = redis.LoadStringBuffer(io, &size);
	filter = data == NULL ? NULL : cuckoo_load_header(data, size);
	redis.Free(data);
	if (filter == NULL)
		return NULL;
	data = redis.LoadStringBuffer(io, &size);
	if (data != NULL && size == filter->bits / 8)
		memcpy(filter->payload, data, size);
	else
	{
		pfree(filter);
		filter = NULL;
	}
	redis.Free(data);
	return filter == NULL ? NULL : wrap_filter(filter);
}

/* In an append-only file: the commands that load a dump. */
static void
rewrite_value(RedisIo *io, RedisString *key, void *value)
{
	BfFilter   *filter = ((Cuckoo *) value)->filter;
	uint8		header[CUCKOO_HEADER_SIZE];
	const uint8 *piece;
	uint64		position = 0;
	uint64		size;

	cuckoo_dump_header(filter, header);
	redis.EmitAOF(io, "CF.LOADCHUNK", "slb", key, 1LL, header, (size_t) CUCKOO_HEADER_SIZE);
	while ((piece = cuckoo_find_byte(filter, position, &size)) != NULL)
	{
		size = Min(size, MAX_CHUNK_SIZE);
		position += size;
		redis.EmitAOF(io, "CF.LOADCHUNK", "slb", key, (long long) position + 1, piece, (size_t) size);
	}
}

static const CommandEntry cuckoo_commands[] = {
	{"cf.reserve", cf_reserve, "write deny-oom"},
	{"cf.add", cf_add, "write deny-oom"},
	{"cf.addnx", cf_add, "write deny-oom"},
	{"cf.insert", cf_insert, "write deny-oom"},
	{"cf.insertnx", cf_insert, "write deny-oom"},
	{"cf.exists", cf_exists, "readonly fast"},
	{"cf.mexists", cf_exists, "readonly fast"},
	{"cf.count", cf_exists, "readonly fast"},
	{"cf.del", cf_del, "write fast"},
	{"cf.info", cf_info, "readonly fast"},
	{"cf.scandump", cf_scandump, "readonly fast"},
	{"cf.loadchunk", cf_loadchunk, "write deny-oom"}
};

bool
standin_cuckoo_register(RedisContext *context)
{
	static RedisTypeMethods methods = {
		.version = REDIS_TYPE_VERSION,
		.rdb_load = load_value,
		.rdb_save = save_value,
		.aof_rewrite = rewrite_value,
		.mem_usage = cuckoo_memory,
		.free = cuckoo_free
	};

	cuckoo_type = redis.CreateDataType(context, "MBbloomCF", RDB_VERSION, &methods);
	return cuckoo_type != NULL &&
		register_commands(context, cuckoo_commands, lengthof(cuckoo_commands));
}
