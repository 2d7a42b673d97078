/*-------------------------------------------------------------------------
 *
 * gateway.c
 *	  From an SQL datum to a filter: detoast or look into the expanded object,
 *	  then check that no access can leave the value.
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

/*
 * The whole filter, to be read only: it may be the stored value itself, or what
 * is in an expanded object.
 */
const BfFilter *
bf_get_filter(Datum datum, BfKind kind)
{
	const BfExpanded *object = bf_expanded(datum);
	const BfFilter *filter = object != NULL ? object->filter :
		(const BfFilter *) PG_DETOAST_DATUM(datum);

	bf_check_filter(filter, VARSIZE(filter), kind);
	return filter;
}

/* The whole filter, in memory of its own in the current context. */
BfFilter *
bf_get_filter_copy(Datum datum, BfKind kind)
{
	const BfExpanded *object = bf_expanded(datum);
	BfFilter   *filter = object != NULL ? object->filter :
		(BfFilter *) PG_DETOAST_DATUM(datum);

	bf_check_filter(filter, VARSIZE(filter), kind);
	/* the server's own copy cannot be cancelled */
	return object != NULL || (Pointer) filter == DatumGetPointer(datum) ?
		bf_filter_copy(filter) : filter;
}

/*
 * The value as it is, for what needs its bytes and none of their meaning; its
 * varlena header may be a short one.
 */
struct varlena *
bf_get_bytes(Datum datum)
{
	BfExpanded *object = bf_expanded(datum);

	return object != NULL ? (struct varlena *) object->filter :
		PG_DETOAST_DATUM_PACKED(datum);
}

/* Free what one of the above returned for a datum, if it is a copy. */
void
bf_release(const void *value, Datum datum)
{
	if (value != DatumGetPointer(datum) && bf_expanded(datum) == NULL)
		pfree(unconstify(void *, value));
}

/* The whole filter as a new expanded object, in memory of its own below parent. */
BfExpanded *
bf_get_expanded_copy(Datum datum, BfKind kind, MemoryContext parent)
{
	BfExpanded *object = bf_expanded_create(parent);
	MemoryContext old_context = MemoryContextSwitchTo(object->header.eoh_context);

	/* detoasted there, because copying it there would take as long again */
	bf_expanded_set(object, bf_get_filter_copy(datum, kind));
	MemoryContextSwitchTo(old_context);
	return object;
}

/* The same, unless the datum is an expanded object that may be changed itself. */
BfExpanded *
bf_get_writable(Datum datum, BfKind kind, MemoryContext parent)
{
	if (!bf_expanded_is_writable(datum))
		return bf_get_expanded_copy(datum, kind, parent);
	(void) bf_get_filter(datum, kind);
	return bf_expanded(datum);
}

/* Copy the first size bytes of a value without fetching the others. */
static void
fetch_start(Datum datum, BfFilter *head, Size size)
{
	const BfExpanded *object = bf_expanded(datum);
	struct varlena *slice;

	if (object != NULL)
	{
		memcpy(head, object->filter, size);
		return;
	}
	slice = PG_DETOAST_DATUM_SLICE(datum, 0, (int32) (size - VARHDRSZ));
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
