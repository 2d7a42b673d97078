/*-------------------------------------------------------------------------
 *
 * io.c
 *	  Input and output, the same for every type: base64 text, the portable
 *	  binary form, casts with bytea, equality and hashing.
 *
 * The portable form has the size of the value, so that every way in decodes
 * to the value's final place and has it accepted there.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "io.h"

#include "access/detoast.h"
#include "bits.h"
#include "common/base64.h"
#include "common/hashfn.h"
#include "gateway.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

BF_FUNCTION(bf_out);
BF_FUNCTION(bf_send);
BF_FUNCTION(bf_eq);
BF_FUNCTION(bf_ne);
BF_FUNCTION(bf_hash_value);
BF_FUNCTION(bf_hash_value_extended);

/*
 * Base64 is coded in pieces between which a query can be cancelled.  A piece
 * of bytes is a multiple of 3, so its text a multiple of 4 without padding.
 */
#define BF_BASE64_PIECE_BYTES	(3 * 1024 * 1024)
#define BF_BASE64_PIECE_CHARS	(4 * 1024 * 1024)

/* Bytes of a value that are hashed between two looks whether it was cancelled. */
#define BF_HASH_PIECE_BYTES		((Size) 4 * 1024 * 1024)

/* The largest value of any type. */
#define BF_MAX_SIZE		(BF_HEADER_SIZE + BF_MAX_PAYLOAD)

static void
encode_base64(const uint8 *from, Size length, char *to)
{
	while (length > 0)
	{
		int			piece = (int) Min(length, BF_BASE64_PIECE_BYTES);
		int			written;

		CHECK_FOR_INTERRUPTS();
		written = pg_b64_encode((const void *) from, piece, to, pg_b64_enc_len(piece));
		if (written < 0)
			elog(ERROR, "could not encode base64");
		from += piece;
		length -= piece;
		to += written;
	}
}

/*
 * Decode length characters, of which there are a multiple of 4, to bytes of
 * which the caller knows the number.  Padding may only be at the very end.
 */
static bool
decode_base64(const char *from, Size length, uint8 *to, Size bytes)
{
	while (length > 0)
	{
		int			piece = (int) Min(length, BF_BASE64_PIECE_CHARS);
		int			expected = (int) Min(bytes, BF_BASE64_PIECE_BYTES);

		CHECK_FOR_INTERRUPTS();
		if (pg_b64_decode(from, piece, (void *) to, expected) != expected)
			return false;
		from += piece;
		length -= piece;
		to += expected;
		bytes -= expected;
	}
	return bytes == 0;
}

/* base64 of the portable form -> value */
Datum
bf_input_text(FunctionCallInfo fcinfo, BfKind kind)
{
	const char *text = PG_GETARG_CSTRING(0);
	Size		length = strlen(text);
	Size		bytes = length / 4 * 3;
	BfFilter   *filter;
	const char *problem = NULL;

	if (length >= 4)
		bytes -= (text[length - 1] == '=') + (text[length - 2] == '=');
	/* the decoder would take a digit behind the padding */
	if (length == 0 || length % 4 != 0 ||
		(text[length - 2] == '=' && text[length - 1] != '='))
		problem = "It is not base64 of a whole value.";
	else if (bytes > BF_MAX_SIZE - VARHDRSZ)
		problem = "It is longer than any value.";
	if (problem == NULL)
	{
		filter = (BfFilter *) palloc(Max(VARHDRSZ + bytes, BF_HEADER_SIZE));
		SET_VARSIZE(filter, VARHDRSZ + bytes);
		if (!decode_base64(text, length, (uint8 *) VARDATA(filter), bytes))
			problem = "It is not base64 of a whole value.";
		else
			problem = bf_format_accept(filter, VARSIZE(filter), kind);
		if (problem == NULL)
			PG_RETURN_POINTER(filter);
	}
	bf_soft_error(fcinfo->context, (Datum) 0,
				  (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				   errmsg("invalid input for type %s", bf_format_type_name(kind)),
				   errdetail("%s", problem)));
}

/* Bytes of the portable form -> value, or an error. */
BfFilter *
bf_import(const void *portable, Size length, BfKind kind)
{
	BfFilter   *filter = NULL;
	const char *problem;

	if (length > BF_MAX_SIZE - VARHDRSZ)
		problem = "It is longer than any value.";
	else
	{
		filter = (BfFilter *) palloc(Max(VARHDRSZ + length, BF_HEADER_SIZE));
		bf_advise_large_pages(filter, VARHDRSZ + length);
		SET_VARSIZE(filter, VARHDRSZ + length);
		bf_bytes_copy(VARDATA(filter), portable, length);
		problem = bf_format_accept(filter, VARSIZE(filter), kind);
	}
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary data for type %s", bf_format_type_name(kind)),
				 errdetail("%s", problem)));
	return filter;
}

/* Binary protocol and binary COPY -> value */
Datum
bf_input_binary(FunctionCallInfo fcinfo, BfKind kind)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			length = message->len - message->cursor;

	PG_RETURN_POINTER(bf_import(pq_getmsgbytes(message, length), length, kind));
}

/* The cast from bytea. */
Datum
bf_input_bytea(FunctionCallInfo fcinfo, BfKind kind)
{
	bytea	   *data = PG_GETARG_BYTEA_PP(0);

	PG_RETURN_POINTER(bf_import(VARDATA_ANY(data), VARSIZE_ANY_EXHDR(data), kind));
}

/* value -> portable form, as a bytea */
bytea *
bf_export(const BfFilter *filter)
{
	Size		size = VARSIZE(filter);
	Size		head_size = (Size) bf_format_head_size(filter);
	bytea	   *result = (bytea *) palloc(size);

	bf_advise_large_pages(result, size);
	bf_format_export_head(filter, (BfFilter *) result);
	SET_VARSIZE(result, size);
	bf_bytes_copy((char *) result + head_size, (const char *) filter + head_size,
				  size - head_size);
	return result;
}

/* value -> base64 of the portable form */
Datum
bf_out(PG_FUNCTION_ARGS)
{
	const BfFilter *filter = bf_get_filter(PG_GETARG_DATUM(0), BF_KIND_ANY_TYPE);
	Size		head_size = (Size) bf_format_head_size(filter);
	Size		head_chars = (head_size - VARHDRSZ) / 3 * 4;
	Size		rest = VARSIZE(filter) - head_size;
	Size		rest_chars = (rest + 2) / 3 * 4;
	BfFilter   *head = (BfFilter *) palloc(head_size);
	char	   *text = (char *) palloc(head_chars + rest_chars + 1);

	/* the head is coded apart, so that no copy of the rest is made */
	Assert((head_size - VARHDRSZ) % 3 == 0);
	bf_format_export_head(filter, head);
	encode_base64((const uint8 *) VARDATA(head), head_size - VARHDRSZ, text);
	encode_base64((const uint8 *) filter + head_size, rest, text + head_chars);
	text[head_chars + rest_chars] = '\0';
	PG_RETURN_CSTRING(text);
}

/* value -> portable form, for the binary protocol and the cast to bytea */
Datum
bf_send(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(bf_export(bf_get_filter(PG_GETARG_DATUM(0), BF_KIND_ANY_TYPE)));
}

/*
 * Equality and hashes are of the bytes, which need no check for that.  Copies
 * are freed, because joins, indexes and logical replication call these in
 * memory that lives long.
 */
static bool
same_bytes(FunctionCallInfo fcinfo)
{
	Size		size = toast_raw_datum_size(PG_GETARG_DATUM(0));
	struct varlena *left;
	struct varlena *right;
	bool		result;

	/* two sizes are two values: no need to fetch them */
	if (size != toast_raw_datum_size(PG_GETARG_DATUM(1)))
		return false;
	left = bf_get_bytes(PG_GETARG_DATUM(0));
	right = bf_get_bytes(PG_GETARG_DATUM(1));
	result = bf_bytes_equal(VARDATA_ANY(left), VARDATA_ANY(right), size - VARHDRSZ);
	bf_release(left, PG_GETARG_DATUM(0));
	bf_release(right, PG_GETARG_DATUM(1));
	return result;
}

Datum
bf_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(same_bytes(fcinfo));
}

Datum
bf_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!same_bytes(fcinfo));
}

/*
 * Pieces are hashed one after the other, each seeded with the hash before it.
 * With seed 0 the low half is that of a hash function without seed, as the
 * server's operator classes want it.
 */
static uint64
hash_bytes_of(FunctionCallInfo fcinfo, uint64 seed)
{
	struct varlena *value = bf_get_bytes(PG_GETARG_DATUM(0));
	Size		size = VARSIZE_ANY_EXHDR(value);
	uint64		hash = seed;

	for (Size offset = 0; offset < size; offset += BF_HASH_PIECE_BYTES)
	{
		CHECK_FOR_INTERRUPTS();
		hash = DatumGetUInt64(hash_any_extended((const unsigned char *) VARDATA_ANY(value) + offset,
												(int) Min(size - offset, BF_HASH_PIECE_BYTES),
												hash));
	}
	bf_release(value, PG_GETARG_DATUM(0));
	return hash;
}

Datum
bf_hash_value(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32((int32) hash_bytes_of(fcinfo, 0));
}

Datum
bf_hash_value_extended(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) hash_bytes_of(fcinfo, (uint64) PG_GETARG_INT64(1)));
}
