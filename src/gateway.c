/*-------------------------------------------------------------------------
 *
 * gateway.c
 *	  From an SQL datum to a filter: detoast, then check that no access can
 *	  leave the value.
 *
 * A value of a filter type was validated when it came into the server, so the
 * payload is not read again here; a value damaged on disk must still not make
 * us read past its end.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "gateway.h"

#include "access/detoast.h"
#include "filter.h"

static void
report_damage(BfKind kind, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("invalid value of type %s", bf_format_type_name(kind)),
			 errdetail("%s", problem)));
}

/* Refuse a value of size bytes in native form unless it may be worked on. */
void
bf_check_filter(const BfFilter *value, Size size, BfKind kind)
{
	const char *problem = bf_format_check(value, size, kind);

	if (problem != NULL)
		report_damage(kind, problem);
}

/* The whole filter, to be read only: it may be the stored value itself. */
const BfFilter *
bf_get_filter(Datum datum, BfKind kind)
{
	const BfFilter *filter = (const BfFilter *) PG_DETOAST_DATUM(datum);

	bf_check_filter(filter, VARSIZE(filter), kind);
	return filter;
}

/* The whole filter, in memory of its own in the current context. */
BfFilter *
bf_get_filter_copy(Datum datum, BfKind kind)
{
	BfFilter   *filter = (BfFilter *) PG_DETOAST_DATUM(datum);

	bf_check_filter(filter, VARSIZE(filter), kind);
	/* the server's own copy cannot be cancelled */
	return (Pointer) filter == DatumGetPointer(datum) ? bf_filter_copy(filter) : filter;
}

/* Copy the first size bytes of a value without fetching the others. */
static void
fetch_start(Datum datum, BfFilter *head, Size size)
{
	struct varlena *slice = PG_DETOAST_DATUM_SLICE(datum, 0, (int32) (size - VARHDRSZ));

	memcpy(VARDATA(head), VARDATA_ANY(slice),
		   Min(VARSIZE_ANY_EXHDR(slice), size - VARHDRSZ));
	if ((Pointer) slice != DatumGetPointer(datum))
		pfree(slice);
}

/*
 * Only the head, for what reads no payload.  Its VARSIZE is that of the whole
 * value.
 */
BfFilter *
bf_get_head(Datum datum, BfKind kind)
{
	Size		size = toast_raw_datum_size(datum);
	BfFilter   *head = (BfFilter *) palloc0(BF_HEADER_SIZE);
	const char *problem = NULL;

	fetch_start(datum, head, BF_HEADER_SIZE);
	if (size < BF_HEADER_SIZE)
		problem = "The value is shorter than a header.";
	else
		problem = bf_format_check_header(head, kind);
	if (problem == NULL && bf_format_head_size(head) > BF_HEADER_SIZE)
	{
		Size		head_size = (Size) bf_format_head_size(head);

		head = (BfFilter *) repalloc(head, head_size);
		memset(head->payload, 0, head_size - BF_HEADER_SIZE);
		fetch_start(datum, head, head_size);
	}
	if (problem != NULL)
		report_damage(kind, problem);
	bf_check_filter(head, size, kind);
	SET_VARSIZE(head, size);
	return head;
}
