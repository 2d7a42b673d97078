/*-------------------------------------------------------------------------
 *
 * format.h
 *	  The one header that all types share, in memory and on disk, and the
 *	  portable form that leaves the server.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_FORMAT_H
#define BF_FORMAT_H

#include "hash.h"
#include "params.h"

#define BF_FORMAT_VERSION	1

/* Stored in the header; 0 stays invalid. */
typedef enum BfKind
{
	BF_KIND_ANY = 0,			/* asks a check to accept every kind of filter */
	BF_KIND_BLOOM = 1,
	BF_KIND_COUNTING_BLOOM = 2,
	BF_KIND_SCALABLE_BLOOM = 3,
	BF_KIND_CUCKOO_FILTER = 4,
	BF_KIND_COUNT_MIN_SKETCH = 5,
	BF_KIND_TOP_K = 6,
	BF_KIND_ANY_TYPE = 255		/* asks a check to accept sketches, too */
} BfKind;

/*
 * A filter as a varlena: 64 bytes of header in native byte order, then the
 * payload, which every kind defines for itself: first fields, if it has any,
 * in native byte order too, then bytes that are the same on every machine.
 * Header fields that a kind does not use are zero, and input with anything
 * else there is refused, so that a later version can give them a meaning.
 */
typedef struct BfFilter
{
	int32		vl_len_;		/* varlena header: SET_VARSIZE only */
	uint8		kind;			/* BfKind */
	uint8		version;		/* BF_FORMAT_VERSION */
	uint8		scheme;			/* BfScheme */
	uint8		flags;			/* none yet */
	uint32		hashes;			/* positions of a key */
	uint32		detail;			/* of the kind */
	uint64		bits;			/* positions there are */
	uint64		capacity;		/* keys it was made for */
	float8		fpr;			/* rate it was made for */
	uint64		bits_set;		/* kept true by every operation */
	uint64		extra[2];		/* of the kind */
	uint8		payload[FLEXIBLE_ARRAY_MEMBER];
} BfFilter;

#define BF_HEADER_SIZE		offsetof(BfFilter, payload)

StaticAssertDecl(BF_HEADER_SIZE == 64, "the filter header must have 64 bytes");

/*
 * The portable form is the header without its varlena word and the payload's
 * fields, both big-endian, then the other bytes.  It has the size of the
 * varlena's data, so input is read to its final place and converted there.
 */
#define BF_PORTABLE_HEADER_SIZE		(BF_HEADER_SIZE - sizeof(int32))

/*
 * What the format must know of a kind.  The checks answer NULL or what is
 * wrong, as a sentence for errdetail; each may rely on those before it.
 */
typedef struct BfFormat
{
	const char *type_name;
	BfScheme	scheme;			/* the kind's only one; 0: the user chooses */
	bool		counts;			/* a sketch: check_header checks all its fields */
	const char *(*check_header) (const BfFilter *header);

	/* of a payload that begins with fields, otherwise NULL */
	uint64		(*fields_size) (const BfFilter *header);
	void		(*swap_fields) (BfFilter *filter);
	const char *(*check_fields) (const BfFilter *head);

	uint64		(*payload_size) (const BfFilter *head);
	const char *(*check_payload) (const BfFilter *filter);
} BfFormat;

static inline BfGeometry
bf_geometry(const BfFilter *filter)
{
	BfGeometry	geometry;

	geometry.bits = filter->bits;
	geometry.hashes = filter->hashes;
	return geometry;
}

extern BfFilter *bf_format_create(BfKind kind, uint64 payload_size, BfGeometry geometry,
								  BfScheme scheme, uint64 capacity, double fpr);
extern const BfFormat *bf_format(BfKind kind);
extern const char *bf_format_type_name(BfKind kind);
extern const char *bf_format_check_header(const BfFilter *header, BfKind kind);
extern uint64 bf_format_head_size(const BfFilter *header);
extern uint64 bf_format_size(const BfFilter *head);
extern const char *bf_format_check(const BfFilter *value, uint64 size, BfKind kind);
extern const char *bf_format_accept(BfFilter *value, uint64 size, BfKind kind);
extern void bf_format_export_head(const BfFilter *filter, BfFilter *portable);

#endif							/* BF_FORMAT_H */
