/*-------------------------------------------------------------------------
 *
 * format.c
 *	  The one validator for all that comes from outside or from disk.
 *
 * Every way in ends in bf_format_accept(): text, binary, the cast from bytea
 * and the aggregate deserializers.  What is already in the server was accepted
 * once, so bf_format_check() only makes sure that no access can leave the
 * value, in constant time.  Copies between native and portable form are made
 * field by field.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "format.h"

#include "bloom.h"
#include "port/pg_bswap.h"

/* The kind's part of the format, or NULL for a kind that does not exist. */
const BfFormat *
bf_format(const BfFilter *header)
{
	switch ((BfKind) header->kind)
	{
		case BF_KIND_BLOOM:
			return &bf_bloom_format;
		case BF_KIND_ANY:
			break;
	}
	return NULL;
}

const char *
bf_format_type_name(BfKind kind)
{
	BfFilter	header = {0};
	const BfFormat *format;

	header.kind = (uint8) kind;
	format = bf_format(&header);
	return format ? format->type_name : "filter";
}

/* Check every field of a header in native byte order. */
const char *
bf_format_check_header(const BfFilter *header, BfKind kind)
{
	const BfFormat *format = bf_format(header);

	if (format == NULL)
		return "The kind of filter is unknown.";
	if (kind != BF_KIND_ANY && header->kind != kind)
		return "The value is a filter of another type.";
	if (header->version != BF_FORMAT_VERSION)
		return "The format version is unknown.";
	if (bf_scheme_name((BfScheme) header->scheme) == NULL)
		return "The hash scheme is unknown.";
	if (header->flags != 0)
		return "Reserved flags are set.";
	if (header->capacity < 1 || header->capacity > PG_INT64_MAX)
		return "The capacity is out of range.";
	if (bf_params_check_fpr(header->fpr) != BF_PARAMS_OK)
		return "The false positive rate is out of range.";
	return format->check_header(header);
}

/* The whole size, varlena word included, of a value with a checked header. */
uint64
bf_format_size(const BfFilter *header)
{
	return BF_HEADER_SIZE + bf_format(header)->payload_size(header);
}

/* Whether a value of size bytes in native form may be worked on. */
const char *
bf_format_check(const BfFilter *value, size_t size, BfKind kind)
{
	const char *problem;

	if (size < BF_HEADER_SIZE)
		return "The value is shorter than a header.";
	problem = bf_format_check_header(value, kind);
	if (problem == NULL && bf_format_size(value) != size)
		problem = "The size of the value does not fit its header.";
	return problem;
}

/* Between native and big-endian byte order; its own inverse. */
static void
swap_header(BfFilter *header)
{
#ifndef WORDS_BIGENDIAN
	uint64		fpr;

	header->hashes = pg_bswap32(header->hashes);
	header->detail = pg_bswap32(header->detail);
	header->bits = pg_bswap64(header->bits);
	header->capacity = pg_bswap64(header->capacity);
	memcpy(&fpr, &header->fpr, sizeof(fpr));
	fpr = pg_bswap64(fpr);
	memcpy(&header->fpr, &fpr, sizeof(fpr));
	header->bits_set = pg_bswap64(header->bits_set);
	for (int i = 0; i < lengthof(header->extra); i++)
		header->extra[i] = pg_bswap64(header->extra[i]);
#endif
}

/*
 * Turn size bytes whose data is in portable form into a value, in place, or
 * answer what is wrong with it.  The varlena word is the caller's business.
 */
const char *
bf_format_accept(BfFilter *value, size_t size, BfKind kind)
{
	const char *problem;

	if (size < BF_HEADER_SIZE)
		return "The value is shorter than a header.";
	swap_header(value);
	problem = bf_format_check(value, size, kind);
	if (problem == NULL)
		problem = bf_format(value)->check_payload(value);
	return problem;
}

/* Write the header's BF_PORTABLE_HEADER_SIZE bytes of portable form. */
void
bf_format_export_header(const BfFilter *filter, uint8 *portable)
{
	BfFilter	header;

	memcpy(&header, filter, BF_HEADER_SIZE);
	swap_header(&header);
	memcpy(portable, (uint8 *) &header + sizeof(int32), BF_PORTABLE_HEADER_SIZE);
}
