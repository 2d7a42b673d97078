/*-------------------------------------------------------------------------
 *
 * fuzz.c
 *	  Hostile bytes to the validator, and everything a value can do to what
 *	  it accepts: without a server, under sanitizers.
 *
 * Built by test/fuzz/run in two ways: for libFuzzer, or (REPLAY) with a main()
 * that only runs the files it is given, which `make check` does.  BF_FUZZ_TARGET
 * names what is fuzzed: a type, or "redisbloom_dump", the header of RedisBloom's
 * dumps and the chunks that follow it.
 *
 * For a type, an input is two values in portable form: two bytes, little-endian,
 * say how many bytes belong to the first one, the rest is the second one.
 * Hardly any mutation guesses a right number of bits set or sum of counters, so
 * a value that is refused is also tried with such fields repaired; and, as the
 * server does not look at a stored payload again, with all but its head as it
 * is.  What must hold: no sanitizer reports, and the result of every operation
 * on an accepted value is itself accepted and comes back equal.
 *
 * What needs a server is not here: the text and bytea functions around the
 * validator (io.c, gateway.c) take fmgr's arguments and report through the
 * server's errors.  test/t/020_hostile_input.pl goes through them.
 *
 * A new type needs a line in fuzz_types[], with functions that make a seed,
 * repair a value and use one.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#define DUMP_TARGET		"redisbloom_dump"

int			LLVMFuzzerInitialize(int *argc, char ***argv);
int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

static const FuzzType *const fuzz_types[] = {
	&fuzz_bloom, &fuzz_counting, &fuzz_scalable, &fuzz_cuckoo, &fuzz_count_min, &fuzz_top_k
};

/* What this run is for; NULL: dumps. */
static const FuzzType *target;

/* --- from bytes to a value ------------------------------------------------ */

/* What bf_import() does: memory of exactly this size, so that it has an end. */
BfFilter *
fuzz_import(const uint8 *portable, size_t length, BfKind kind)
{
	size_t		size = sizeof(int32) + length;
	BfFilter   *value = (BfFilter *) palloc(Max(size, BF_HEADER_SIZE));

	SET_VARSIZE(value, size);
	memcpy((uint8 *) value + sizeof(int32), portable, length);
	if (bf_format_accept(value, size, kind) == NULL)
		return value;
	pfree(value);
	return NULL;
}

/* What bf_export() does. */
uint8 *
fuzz_export(const BfFilter *value, size_t *length)
{
	size_t		size = (size_t) bf_format_size(value);
	size_t		head_size = (size_t) bf_format_head_size(value);
	uint8	   *portable = (uint8 *) palloc(size);

	bf_format_export_head(value, (BfFilter *) portable);
	memcpy(portable + head_size, (const uint8 *) value + head_size, size - head_size);
	*length = size - sizeof(int32);
	memmove(portable, portable + sizeof(int32), *length);
	return portable;
}

BfFilter *
fuzz_copy(const BfFilter *value)
{
	size_t		size = (size_t) bf_format_size(value);
	BfFilter   *copy = (BfFilter *) palloc(size);

	memcpy(copy, value, size);
	return copy;
}

/*
 * A value with its header in native form, with which nothing else has been
 * done; NULL when there is no whole header.  An unknown kind is refused after
 * the header was converted.
 */
static BfFilter *
native_header(const uint8 *portable, size_t length)
{
	size_t		size = sizeof(int32) + length;
	BfFilter   *value;

	if (size < BF_HEADER_SIZE)
		return NULL;
	value = (BfFilter *) palloc(size);
	memcpy((uint8 *) value + sizeof(int32), portable, length);
	value->kind = (uint8) BF_KIND_ANY;
	REQUIRE(bf_format_accept(value, size, target->kind) != NULL);
	SET_VARSIZE(value, size);
	value->kind = (uint8) target->kind;
	value->version = BF_FORMAT_VERSION;
	value->flags = 0;
	return value;
}

/* The same bytes with fields that are right, which must then be accepted. */
static BfFilter *
import_repaired(const uint8 *portable, size_t length)
{
	BfFilter   *value = native_header(portable, length);
	BfFilter   *result = NULL;

	if (value == NULL)
		return NULL;
	if (target->repair(value, sizeof(int32) + length))
	{
		uint8	   *repaired = fuzz_export(value, &length);

		result = fuzz_import(repaired, length, target->kind);
		REQUIRE(result != NULL);
		pfree(repaired);
	}
	pfree(value);
	return result;
}

/* As if it were stored, with a payload that nobody has checked. */
static void
try_damaged(const uint8 *portable, size_t length, const FuzzKey *keys)
{
	BfFilter   *value = native_header(portable, length);
	const BfFormat *format = bf_format(target->kind);

	if (value == NULL)
		return;
	if (format->swap_fields != NULL && bf_format_check_header(value, target->kind) == NULL &&
		bf_format_head_size(value) <= sizeof(int32) + length)
		format->swap_fields(value);
	if (bf_format_check(value, sizeof(int32) + length, target->kind) == NULL)
		target->exercise_damaged(value, keys);
	pfree(value);
}

/* --- what must hold ------------------------------------------------------- */

void
fuzz_require_equal(const BfFilter *a, const BfFilter *b)
{
	size_t		size = (size_t) bf_format_size(a);

	REQUIRE(size == bf_format_size(b));
	REQUIRE(memcmp((const uint8 *) a + sizeof(int32), (const uint8 *) b + sizeof(int32),
				   size - sizeof(int32)) == 0);
}

/* Each result is one that would be accepted from outside, unchanged. */
void
fuzz_require_sound(const BfFilter *value)
{
	size_t		length;
	uint8	   *portable = fuzz_export(value, &length);
	BfFilter   *again = fuzz_import(portable, length, (BfKind) value->kind);

	REQUIRE(again != NULL);
	fuzz_require_equal(value, again);
	REQUIRE(bf_format_check(value, sizeof(int32) + length, (BfKind) value->kind) == NULL);
	pfree(again);
	pfree(portable);
}

/* --- the entry points ----------------------------------------------------- */

int
LLVMFuzzerInitialize(int *argc pg_attribute_unused(), char ***argv pg_attribute_unused())
{
	const char *name = getenv("BF_FUZZ_TARGET");

	REQUIRE(name != NULL);
	for (size_t i = 0; i < lengthof(fuzz_types); i++)
	{
		if (strcmp(name, fuzz_types[i]->name) == 0)
			target = fuzz_types[i];
	}
	REQUIRE(target != NULL || strcmp(name, DUMP_TARGET) == 0);
	return 0;
}

/* Keys that nobody chose, steps of 0 and 1, and texts that candidates may have. */
static void
choose_keys(const uint8 *data, size_t size, FuzzKey *keys)
{
	static const char *const texts[FUZZ_KEYS] = {"", "0", "1"};
	const uint8 *tail = data + size - Min(size, 8);

	for (int i = 0; i < FUZZ_KEYS; i++)
	{
		keys[i].hash = bf_hash(BF_SCHEME_MURMUR64A, data, size - i % 2);
		keys[i].text = texts[i] != NULL ? texts[i] : (const char *) tail;
		keys[i].length = (uint32) strnlen(keys[i].text, data + size - tail);
	}
	keys[1].hash.h2 = 0;
	keys[2].hash.h2 = 1;
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	BfFilter   *values[2];
	int			nvalues = 0;
	FuzzKey		keys[FUZZ_KEYS];
	size_t		lengths[2];

	if (target == NULL)
	{
		fuzz_dump(data, size);
		return 0;
	}
	if (size < 2)
		return 0;
	lengths[0] = Min((size_t) (data[0] | data[1] << 8), size - 2);
	lengths[1] = size - 2 - lengths[0];
	choose_keys(data, size, keys);

	for (int i = 0; i < 2; i++)
	{
		uint8	   *portable = (uint8 *) palloc(lengths[i] + 1);

		memcpy(portable, data + 2 + (i == 0 ? 0 : lengths[0]), lengths[i]);
		if (lengths[i] > 0)
			portable[0] = (uint8) target->kind;
		values[nvalues] = fuzz_import(portable, lengths[i], target->kind);
		if (values[nvalues] == NULL)
		{
			try_damaged(portable, lengths[i], keys);
			values[nvalues] = import_repaired(portable, lengths[i]);
		}
		if (values[nvalues] != NULL)
			nvalues++;
		pfree(portable);
	}

	for (int i = 0; i < nvalues; i++)
	{
		fuzz_require_sound(values[i]);
		target->exercise(values[i], keys);
	}
	if (nvalues == 2)
	{
		target->exercise_pair(values[0], values[1], keys);
		target->exercise_pair(values[1], values[0], keys);
	}
	for (int i = 0; i < nvalues; i++)
		pfree(values[i]);
	return 0;
}

#ifdef REPLAY
static void
write_file(const char *folder, int number, const uint8 *data, size_t size)
{
	char		path[1024];
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/seed-%d", folder, number);
	file = fopen(path, "wb");
	REQUIRE(file != NULL);
	REQUIRE(fwrite(data, 1, size, file) == size);
	fclose(file);
}

/* An input of two values. */
static void
write_pair(const char *folder, int number, const BfFilter *a, const BfFilter *b)
{
	size_t		lengths[2];
	uint8	   *portable[2] = {fuzz_export(a, &lengths[0]), fuzz_export(b, &lengths[1])};
	uint8	   *input = (uint8 *) palloc(2 + lengths[0] + lengths[1]);

	input[0] = (uint8) (lengths[0] & 255);
	input[1] = (uint8) (lengths[0] >> 8);
	memcpy(input + 2, portable[0], lengths[0]);
	memcpy(input + 2 + lengths[0], portable[1], lengths[1]);
	write_file(folder, number, input, 2 + lengths[0] + lengths[1]);
	pfree(input);
	pfree(portable[0]);
	pfree(portable[1]);
}

/* Inputs to begin with: small values, with and without keys. */
static void
write_seeds(const char *folder)
{
	BfFilter   *empty;
	uint8		dump[4096];
	size_t		size;

	for (int i = 0; target == NULL && (size = fuzz_dump_seed(i, dump, sizeof(dump))) > 0; i++)
		write_file(folder, i, dump, size);
	for (int i = 0; target != NULL && (empty = target->make(i, false)) != NULL; i++)
	{
		BfFilter   *filled = target->make(i, true);

		fuzz_require_sound(empty);
		fuzz_require_sound(filled);
		write_pair(folder, 2 * i, empty, filled);
		write_pair(folder, 2 * i + 1, filled, filled);
		pfree(empty);
		pfree(filled);
	}
}

/* replay FILE ...; or replay --seeds FOLDER, to have something to begin with. */
int
main(int argc, char **argv)
{
	static uint8 data[1024 * 1024];

	(void) LLVMFuzzerInitialize(&argc, &argv);
	if (argc == 3 && strcmp(argv[1], "--seeds") == 0)
	{
		write_seeds(argv[2]);
		return 0;
	}
	for (int i = 1; i < argc; i++)
	{
		FILE	   *file = fopen(argv[i], "rb");
		size_t		size;
		uint8	   *copy;

		if (file == NULL)
		{
			perror(argv[i]);
			return 1;
		}
		size = fread(data, 1, sizeof(data), file);
		fclose(file);
		/* a copy of its size, so that reading behind it is noticed */
		copy = (uint8 *) palloc(Max(size, 1));
		memcpy(copy, data, size);
		(void) LLVMFuzzerTestOneInput(copy, size);
		pfree(copy);
	}
	printf("%d inputs\n", argc - 1);
	return 0;
}
#endif
