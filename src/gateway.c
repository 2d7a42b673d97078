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

static void
report_damage(BfKind kind, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("invalid value of type %s", bf_format_type_name(kind)),
			 errdetail("%s", problem)));
}

/* The whole filter, to be read only: it may be the stored value itself. */
const BfFilter *
bf_get_filter(Datum datum, BfKind kind)
{
	const BfFilter *filter = (const BfFilter *) PG_DETOAST_DATUM(datum);
	const char *problem = bf_format_check(filter, VARSIZE(filter), kind);

	if (problem != NULL)
		report_damage(kind, problem);
	return filter;
}

/* The whole filter, in memory of its own in the current context. */
BfFilter *
bf_get_filter_copy(Datum datum, BfKind kind)
{
	BfFilter   *filter = (BfFilter *) PG_DETOAST_DATUM_COPY(datum);
	const char *problem = bf_format_check(filter, VARSIZE(filter), kind);

	if (problem != NULL)
		report_damage(kind, problem);
	return filter;
}

/*
 * Only the header, without fetching a stored payload.  Returns the size of
 * the whole value.
 */
Size
bf_get_header(Datum datum, BfKind kind, BfFilter *header)
{
	Size		size = toast_raw_datum_size(datum);
	struct varlena *slice;
	const char *problem;

	slice = PG_DETOAST_DATUM_SLICE(datum, 0, BF_PORTABLE_HEADER_SIZE);
	memset(header, 0, BF_HEADER_SIZE);
	memcpy((char *) header + sizeof(int32), VARDATA(slice),
		   Min(VARSIZE(slice) - VARHDRSZ, BF_PORTABLE_HEADER_SIZE));
	problem = bf_format_check(header, size, kind);
	if (problem != NULL)
		report_damage(kind, problem);
	SET_VARSIZE(header, size);
	if ((Pointer) slice != DatumGetPointer(datum))
		pfree(slice);
	return size;
}
