/*-------------------------------------------------------------------------
 *
 * format.c
 *	  The one validator for all that comes from outside or from disk.
 *
 * Every way in ends in bf_format_accept(): text, binary, the cast from bytea
 * and the aggregate deserializers.  What is already in the server was accepted
 * once, so bf_format_check() only makes sure that no access can leave the
 * value, without reading the payload.  Copies between native and portable form
 * are made field by field.
 *
 * A value's head is its header and the fields at the start of its payload.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "format.h"

#include "bits.h"
#include "count_min.h"
#include "filter.h"
#include "port/pg_bswap.h"
#include "top_k.h"

/* The kind's part of the format, or NULL for a kind that does not exist. */
const BfFormat *
bf_format(BfKind kind)
{
	const BfMethods *methods = bf_methods(kind);

	if (methods != NULL)
		return &methods->format;
	if (kind == BF_KIND_COUNT_MIN_SKETCH)
		return &bf_count_min_format;
	if (kind == BF_KIND_TOP_K)
		return &bf_top_k_format;
	return NULL;
}

const char *
bf_format_type_name(BfKind kind)
{
	const BfFormat *format = bf_format(kind);

	return format ? format->type_name : "filter";
}

/* Check every field of a header in native byte order. */
const char *
bf_format_check_header(const BfFilter *header, BfKind kind)
{
	const BfFormat *format = bf_format((BfKind) header->kind);

	if (format == NULL)
		return "The kind of filter is unknown.";
	if (kind == BF_KIND_ANY ? format->counts :
		kind != BF_KIND_ANY_TYPE && header->kind != kind)
		return "The value is a filter of another type.";
	if (header->version != BF_FORMAT_VERSION)
		return "The format version is unknown.";
	if (format->scheme != 0 ? header->scheme != format->scheme :
		bf_scheme_name((BfScheme) header->scheme) == NULL)
		return "The hash scheme is unknown.";
	if (header->flags != 0)
		return "Reserved flags are set.";
	if (format->counts)
		return format->check_header(header);
	if (header->capacity < 1 || header->capacity > PG_INT64_MAX)
		return "The capacity is out of range.";
	if (bf_params_check_fpr(header->fpr) != BF_PARAMS_OK)
		return "The false positive rate is out of range.";
	if (header->bits < 1 || header->bits > BF_MAX_BITS)
		return "The number of bits is out of range.";
	if (header->hashes < 1 || header->hashes > BF_MAX_HASHES)
		return "The number of hashes is out of range.";
	if (header->bits_set > header->bits)
		return "More bits are said to be set than there are.";
	return format->check_header(header);
}

/*
 * An empty filter in the current memory context: a header of checked
 * parameters, and a payload of so many zero bytes.
 */
BfFilter *
bf_format_create(BfKind kind, uint64 payload_size, BfGeometry geometry,
				 BfScheme scheme, uint64 capacity, double fpr)
{
	size_t		size = (size_t) (BF_HEADER_SIZE + payload_size);
	BfFilter   *filter = (BfFilter *) palloc(size);

	bf_advise_large_pages(filter, size);
	bf_bytes_zero(filter, size);
	SET_VARSIZE(filter, size);
	filter->kind = (uint8) kind;
	filter->version = BF_FORMAT_VERSION;
	filter->scheme = (uint8) scheme;
	filter->hashes = geometry.hashes;
	filter->bits = geometry.bits;
	filter->capacity = capacity;
	filter->fpr = fpr;
	return filter;
}

/* The size of the head of a value with a checked header. */
uint64
bf_format_head_size(const BfFilter *header)
{
	const BfFormat *format = bf_format((BfKind) header->kind);

	return BF_HEADER_SIZE +
		(format->fields_size ? format->fields_size(header) : 0);
}

/* The whole size, varlena word included, of a value with a checked head. */
uint64
bf_format_size(const BfFilter *head)
{
	return BF_HEADER_SIZE + bf_format((BfKind) head->kind)->payload_size(head);
}

/* Check the header of a value of size bytes, and that its head is all there. */
static const char *
check_extent(const BfFilter *value, uint64 size, BfKind kind)
{
	const char *problem = bf_format_check_header(value, kind);

	if (problem == NULL && size < bf_format_head_size(value))
		problem = "The value is shorter than its header says.";
	return problem;
}

/*
 * Whether a value of size bytes in native form may be worked on.  Nothing
 * behind its head is read.
 */
const char *
bf_format_check(const BfFilter *value, uint64 size, BfKind kind)
{
	const char *problem;
	const BfFormat *format;

	if (size < BF_HEADER_SIZE)
		return "The value is shorter than a header.";
	problem = check_extent(value, size, kind);
	if (problem != NULL)
		return problem;
	format = bf_format((BfKind) value->kind);
	if (format->check_fields != NULL)
		problem = format->check_fields(value);
	if (problem == NULL && bf_format_size(value) != size)
		problem = "The size of the value does not fit its header.";
	if (problem == NULL && size > BF_HEADER_SIZE + BF_MAX_PAYLOAD)
		problem = "The value is larger than any may be.";
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
	for (size_t i = 0; i < lengthof(header->extra); i++)
		header->extra[i] = pg_bswap64(header->extra[i]);
#endif
}

/*
 * Turn size bytes whose data is in portable form into a value, in place, or
 * answer what is wrong with it.  The varlena word is the caller's business.
 */
const char *
bf_format_accept(BfFilter *value, uint64 size, BfKind kind)
{
	const char *problem;
	const BfFormat *format;

	if (size < BF_HEADER_SIZE)
		return "The value is shorter than a header.";
	swap_header(value);
	problem = check_extent(value, size, kind);
	if (problem != NULL)
		return problem;
	format = bf_format((BfKind) value->kind);
	if (format->swap_fields != NULL)
		format->swap_fields(value);
	problem = bf_format_check(value, size, kind);
	if (problem == NULL)
		problem = format->check_payload(value);
	return problem;
}

/*
 * Write the head in portable form; what follows it needs no conversion.
 * Portable has room for a head and is a filter only in name.
 */
void
bf_format_export_head(const BfFilter *filter, BfFilter *portable)
{
	const BfFormat *format = bf_format((BfKind) filter->kind);

	memcpy(portable, filter, bf_format_head_size(filter));
	if (format->swap_fields != NULL)
		format->swap_fields(portable);
	swap_header(portable);
}
