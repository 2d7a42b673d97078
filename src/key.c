/*-------------------------------------------------------------------------
 *
 * key.c
 *	  From an SQL value to the bytes that are hashed.
 *
 * The bytes are those that an application would send to Redis for the same
 * value, and values that are equal have equal bytes, across types too:
 * 42::int, 42::bigint, 42.0::numeric and '42'::text are one key.  Neither
 * DateStyle, TimeZone, extra_float_digits nor the server encoding matters.
 *
 * Which type is accepted, and why others are not, is in keytype.c.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "key.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "keytype.h"
#include "mb/pg_wchar.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/json.h"
#include "utils/numeric.h"

/* The largest range of integers that a double holds without a gap. */
#define BF_DOUBLE_EXACT_LIMIT	9007199254740992.0	/* 2^53 */

/* A key whose bytes stand in the caller's buffer. */
static inline BfKey
buffered_key(const char *buffer, size_t length)
{
	Assert(length <= BF_KEY_BUFFER_SIZE);
	return (BfKey) {buffer, length, NULL};
}

static inline BfKey
integer_key(int64 value, char *buffer)
{
	return buffered_key(buffer, pg_lltoa(value, buffer));
}

/* Text in the server encoding, as UTF-8. */
static inline BfKey
text_key(const BfKeyRule *rule, const char *data, size_t length, void *owned)
{
	BfKey		key = {data, length, owned};

	if (rule->convert)
	{
		char	   *converted = pg_server_to_any(data, (int) length, PG_UTF8);

		if (converted != data)
		{
			bf_key_release(key);
			key.data = converted;
			key.length = strlen(converted);
			key.owned = converted;
		}
	}
	return key;
}

/* Plain decimal without an exponent, as numeric_out has it, 1.0 as 1. */
static BfKey
numeric_key(Datum value)
{
	char	   *text = DatumGetCString(DirectFunctionCall1(numeric_out, value));
	size_t		length = strlen(text);

	if (strchr(text, '.') != NULL)
	{
		while (text[length - 1] == '0')
			length--;
		if (text[length - 1] == '.')
			length--;
	}
	return (BfKey) {text, length, text};
}

/*
 * Integral doubles up to 2^53 as integers, so that they equal the integer of
 * that value; others as the shortest digits that read back as the same
 * double, in plain decimal.  Longest: "-0." with 323 zeros and 17 digits.
 */
static BfKey
double_key(double value, char *buffer)
{
	char		shortest[DOUBLE_SHORTEST_DECIMAL_LEN];
	char		digits[DOUBLE_SHORTEST_DECIMAL_LEN];
	const char *from;
	char	   *to = buffer;
	int			ndigits = 0;
	int			point = 0;		/* digits before the decimal point */
	bool		seen_point = false;

	if (isnan(value) || isinf(value))
	{
		strcpy(buffer,
			   isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
		return buffered_key(buffer, strlen(buffer));
	}

	/* -0 becomes 0 on this way */
	if (fabs(value) <= BF_DOUBLE_EXACT_LIMIT && value == trunc(value))
		return integer_key((int64) value, buffer);

	/* take apart what may look like -d.ddde-dd, then write it plainly */
	shortest[double_to_shortest_decimal_bufn(value, shortest)] = '\0';
	for (from = shortest; *from != '\0' && *from != 'e'; from++)
	{
		if (*from == '-')
			*to++ = '-';
		else if (*from == '.')
			seen_point = true;
		else
		{
			digits[ndigits++] = *from;
			if (!seen_point)
				point++;
		}
	}
	if (*from == 'e')
		point += atoi(from + 1);

	/* drop zeros that only placed the point, as in 0.00012 */
	{
		int			leading = 0;

		while (leading < ndigits - 1 && digits[leading] == '0')
			leading++;
		memmove(digits, digits + leading, ndigits - leading);
		ndigits -= leading;
		point -= leading;
	}

	if (point <= 0)
	{
		*to++ = '0';
		*to++ = '.';
		for (; point < 0; point++)
			*to++ = '0';
		memcpy(to, digits, ndigits);
		to += ndigits;
	}
	else
	{
		for (int i = 0; i < Max(ndigits, point); i++)
		{
			if (i == point)
				*to++ = '.';
			*to++ = i < ndigits ? digits[i] : '0';
		}
	}
	return buffered_key(buffer, to - buffer);
}

/* ISO 8601 as to_json prints it, but for UTC written as Z. */
static BfKey
datetime_key(const BfKeyRule *rule, Datum value, char *buffer)
{
	int			utc = 0;
	char	   *zone;

	JsonEncodeDateTime(buffer, value, rule->base_type, &utc);
	zone = rule->base_type == TIMESTAMPTZOID ? strstr(buffer, "+00:00") : NULL;
	if (zone != NULL)
	{
		/* a year before Christ ends in " BC", behind the zone */
		*zone = 'Z';
		memmove(zone + 1, zone + 6, strlen(zone + 6) + 1);
	}
	return buffered_key(buffer, strlen(buffer));
}

/* The 64-bit hash of a value of a type that has no portable text. */
static BfKey
hashed_key(BfKeyRule *rule, Datum value, char *buffer)
{
	uint64		hash;

	bf_keytype_check_record(rule, value);
	hash = DatumGetUInt64(FunctionCall2Coll(&rule->function, rule->collation,
											value, UInt64GetDatum(0)));
#ifdef WORDS_BIGENDIAN
	hash = pg_bswap64(hash);
#endif
	memcpy(buffer, &hash, sizeof(hash));
	return buffered_key(buffer, sizeof(hash));
}

/* The bytes of a value that is not NULL. */
BfKey
bf_key_bytes(BfKeyRule *rule, Datum value, char *buffer)
{
	switch (rule->form)
	{
		case BF_KEY_INT2:
			return integer_key(DatumGetInt16(value), buffer);
		case BF_KEY_INT4:
			return integer_key(DatumGetInt32(value), buffer);
		case BF_KEY_INT8:
			return integer_key(DatumGetInt64(value), buffer);
		case BF_KEY_OID:
			return integer_key(DatumGetObjectId(value), buffer);
		case BF_KEY_NUMERIC:
			return numeric_key(value);
		case BF_KEY_FLOAT4:
			return double_key(DatumGetFloat4(value), buffer);
		case BF_KEY_FLOAT8:
			return double_key(DatumGetFloat8(value), buffer);
		case BF_KEY_BOOL:
			return DatumGetBool(value) ?
				(BfKey) {"true", 4, NULL} : (BfKey) {"false", 5, NULL};
		case BF_KEY_TEXT:
		case BF_KEY_BPCHAR:
		case BF_KEY_BYTEA:
			{
				struct varlena *detoasted = PG_DETOAST_DATUM_PACKED(value);
				char	   *data = VARDATA_ANY(detoasted);
				size_t		length = VARSIZE_ANY_EXHDR(detoasted);
				void	   *owned = NULL;

				if ((Pointer) detoasted != DatumGetPointer(value))
					owned = detoasted;
				if (rule->form == BF_KEY_BYTEA)
					return (BfKey) {data, length, owned};
				if (rule->form == BF_KEY_BPCHAR)
					length = bpchartruelen(data, (int) length);
				return text_key(rule, data, length, owned);
			}
		case BF_KEY_NAME:
			{
				const char *name = NameStr(*DatumGetName(value));

				return text_key(rule, name, strlen(name), NULL);
			}
		case BF_KEY_DATETIME:
			return datetime_key(rule, value, buffer);
		case BF_KEY_OUTPUT:
			{
				char	   *text = OutputFunctionCall(&rule->function, value);

				return text_key(rule, text, strlen(text), text);
			}
		case BF_KEY_HASHED:
			return hashed_key(rule, value, buffer);
	}
	elog(ERROR, "unrecognized key form: %d", (int) rule->form);
	return (BfKey) {NULL, 0, NULL};
}

/*
 * Whether a key is bytes that stand in the value as they are, and which.  The
 * other ways need a buffer, and that a stack check, or may copy the value.
 */
static inline bool
is_plain_bytes(const BfKeyRule *rule, Datum value, const char **data, size_t *length)
{
	const struct varlena *plain = (const struct varlena *) DatumGetPointer(value);

	if ((rule->form != BF_KEY_TEXT && rule->form != BF_KEY_BYTEA) || rule->convert ||
		VARATT_IS_EXTERNAL(plain) || VARATT_IS_COMPRESSED(plain))
		return false;
	*data = VARDATA_ANY(plain);
	*length = VARSIZE_ANY_EXHDR(plain);
	return true;
}

/* All other keys. */
static pg_noinline BfHash
hash_bytes_of(BfKeyRule *rule, BfScheme scheme, Datum value)
{
	char		buffer[BF_KEY_BUFFER_SIZE];
	BfKey		key = bf_key_bytes(rule, value, buffer);
	BfHash		hash = bf_hash(scheme, key.data, key.length);

	bf_key_release(key);
	return hash;
}

/* The hash of the bytes of a value that is not NULL. */
BfHash
bf_key_hash(BfKeyRule *rule, BfScheme scheme, Datum value)
{
	uint64		number;
	const char *data;
	size_t		length;

	if (bf_key_is_decimal(rule, value, &number))
		return bf_hash_decimal(scheme, number);
	if (is_plain_bytes(rule, value, &data, &length))
		return bf_hash(scheme, data, length);
	return hash_bytes_of(rule, scheme, value);
}

static pg_noinline void
row_hashes_of_bytes(BfKeyRule *rule, Datum value, uint32 nrows, uint32 *hashes)
{
	char		buffer[BF_KEY_BUFFER_SIZE];
	BfKey		key = bf_key_bytes(rule, value, buffer);

	bf_murmur2_rows(key.data, key.length, nrows, hashes);
	bf_key_release(key);
}

/* The hashes of the bytes of a value that is not NULL, for a sketch's rows. */
void
bf_key_row_hashes(BfKeyRule *rule, Datum value, uint32 nrows, uint32 *hashes)
{
	uint64		number;
	const char *data;
	size_t		length;

	if (bf_key_is_decimal(rule, value, &number))
		bf_murmur2_rows_decimal(number, nrows, hashes);
	else if (is_plain_bytes(rule, value, &data, &length))
		bf_murmur2_rows(data, length, nrows, hashes);
	else
		row_hashes_of_bytes(rule, value, nrows, hashes);
}
