/*-------------------------------------------------------------------------
 *
 * stored.c
 *	  Probes of filters, stored ones without fetching all of them, and the
 *	  filters that a call site keeps.
 *
 * A filter of megabytes comes to every call as a pointer into a TOAST table.
 * The first probes read the head and then only the chunks that hold the key's
 * positions, stopping at the first that is not set.  A call site that probes
 * the same value again and again fetches it as a whole and keeps it, once it
 * has read about as much in pieces: so it never does more than about twice
 * what it had to.
 *
 * What is kept is found by the whole TOAST pointer.  A stored value never
 * changes, and its identifier is an OID that is not given to another value of
 * the table before the counter has gone round all four billion, so within a
 * transaction it cannot be mistaken for another row's.  It lives in the call
 * site's memory: that of the query, or of PL/pgSQL's expressions, which the
 * transaction ends.  Beyond work_mem a call site keeps one filter only.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "stored.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "filter.h"
#include "gateway.h"
#include "toastreader.h"
#include "utils/memutils.h"

/* Filters that a call site keeps at once: a join may probe several in turn. */
#define BF_KEPT_FILTERS		8

/*
 * A chunk of many fetched in one scan costs about a fourth of one that is
 * looked up alone.
 */
#define BF_LOOKUP_COST		4

typedef struct KeptFilter
{
	struct varatt_external pointer;
	BfFilter   *head;			/* NULL: the place is free */
	BfFilter   *filter;			/* NULL: not fetched as a whole yet */
	uint64		fetched;		/* chunks looked up alone */
	uint64		last_use;
} KeptFilter;

struct BfKeptFilters
{
	MemoryContext context;		/* of whole filters; NULL until there is one */
	KeptFilter *latest;			/* the place used last */
	uint64		uses;
	Size		size;			/* of the filters fetched as a whole */
	KeptFilter	places[BF_KEPT_FILTERS];
};

static void
forget(BfKeptFilters *kept, KeptFilter *place)
{
	if (place->filter != NULL)
	{
		kept->size -= VARSIZE(place->filter);
		pfree(place->filter);
	}
	if (place->head != NULL)
		pfree(place->head);
	memset(place, 0, sizeof(KeptFilter));
}

static inline bool
is_place_of(const KeptFilter *place, const struct varatt_external *pointer)
{
	return place->head != NULL &&
		memcmp(&place->pointer, pointer, sizeof(*pointer)) == 0;
}

/* The place of a stored value: its own, or the one unused for longest. */
static KeptFilter *
find_place(BfCallSite *site, const struct varatt_external *pointer)
{
	BfKeptFilters *kept = site->kept;
	KeptFilter *oldest;

	if (kept == NULL)
	{
		kept = (BfKeptFilters *) MemoryContextAllocZero(site->context, sizeof(BfKeptFilters));
		kept->latest = &kept->places[0];
		site->kept = kept;
	}

	oldest = &kept->places[0];
	for (int i = 0; i < BF_KEPT_FILTERS; i++)
	{
		KeptFilter *place = &kept->places[i];

		if (is_place_of(place, pointer))
		{
			oldest = place;
			break;
		}
		if (place->last_use < oldest->last_use)
			oldest = place;
	}

	if (!is_place_of(oldest, pointer))
	{
		forget(kept, oldest);
		oldest->pointer = *pointer;
	}
	oldest->last_use = ++kept->uses;
	kept->latest = oldest;
	return oldest;
}

/* The same; nearly always it is the one used last. */
static inline KeptFilter *
get_place(BfCallSite *site, Datum datum)
{
	struct varatt_external pointer;

	VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(datum));
	if (site->kept != NULL && is_place_of(site->kept->latest, &pointer))
		return site->kept->latest;
	return find_place(site, &pointer);
}

/* Make room for a filter of that size, as far as work_mem does not allow it. */
static void
forget_for(BfKeptFilters *kept, const KeptFilter *keep, Size size)
{
	while (kept->size > 0 && kept->size + size > (Size) work_mem * 1024)
	{
		KeptFilter *oldest = NULL;

		for (int i = 0; i < BF_KEPT_FILTERS; i++)
		{
			KeptFilter *place = &kept->places[i];

			if (place != keep && place->filter != NULL &&
				(oldest == NULL || place->last_use < oldest->last_use))
				oldest = place;
		}
		if (oldest == NULL)
			return;
		forget(kept, oldest);
	}
}

/* Fetch a stored value as a whole. */
static const BfFilter *
fetch_whole(BfCallSite *site, KeptFilter *place, Datum datum, BfKind kind)
{
	BfKeptFilters *kept = site->kept;
	MemoryContext old_context;
	BfFilter   *filter;

	if (kept->context == NULL)
		kept->context = AllocSetContextCreate(site->context, "bloomfilter kept filters",
											  ALLOCSET_SMALL_SIZES);
	forget_for(kept, place, toast_raw_datum_size(datum));
	old_context = MemoryContextSwitchTo(kept->context);
	filter = (BfFilter *) PG_DETOAST_DATUM_COPY(datum);
	MemoryContextSwitchTo(old_context);
	if (bf_format_check(filter, VARSIZE(filter), kind) != NULL)
	{
		/* report it without leaving a copy for every attempt */
		pfree(filter);
		return bf_get_filter(datum, kind);
	}
	place->filter = filter;
	kept->size += VARSIZE(place->filter);
	if (place->head == NULL)
	{
		Size		head_size = (Size) bf_format_head_size(place->filter);

		place->head = (BfFilter *) MemoryContextAlloc(site->context, head_size);
		memcpy(place->head, place->filter, head_size);
	}
	return place->filter;
}

/* Read the head through a reader; false when it is not within one chunk. */
static bool
read_head(BfCallSite *site, KeptFilter *place, Datum datum, BfToastReader *reader)
{
	Size		length;
	const uint8 *start = bf_toast_reader_fetch(reader, 0, &length);
	Size		head_size;
	BfFilter	header;
	BfFilter   *head;

	if (length < BF_PORTABLE_HEADER_SIZE)
		return false;
	memcpy(VARDATA(&header), start, BF_PORTABLE_HEADER_SIZE);
	if (bf_format_check_header(&header, BF_KIND_ANY) != NULL)
		return false;
	head_size = (Size) bf_format_head_size(&header);
	if (head_size - VARHDRSZ > length)
		return false;

	head = (BfFilter *) MemoryContextAlloc(site->context, head_size);
	SET_VARSIZE(head, toast_raw_datum_size(datum));
	memcpy(VARDATA(head), start, head_size - VARHDRSZ);
	bf_check_filter(head, VARSIZE(head), BF_KIND_ANY);
	place->head = head;
	return true;
}

/* How bf_filter_contains_by_byte() gets at the payload. */
static uint8
read_byte(void *argument, uint64 offset)
{
	Size		length;

	/* offsets count from the start of the value, chunks from its data */
	return *bf_toast_reader_fetch((BfToastReader *) argument, offset - VARHDRSZ, &length);
}

/* Whether enough was read in pieces that fetching the whole pays. */
static bool
whole_pays(const KeptFilter *place, Datum datum)
{
	uint64		chunks = toast_raw_datum_size(datum) / TOAST_MAX_CHUNK_SIZE + 1;

	return place->fetched * BF_LOOKUP_COST >= chunks;
}

static bool
contains_key(BfCallSite *site, const BfFilter *filter, Datum key)
{
	return bf_filter_contains(filter, bf_key_hash(&site->rule,
												  (BfScheme) filter->scheme, key));
}

/* Probe by chunks; false when that cannot be done, otherwise with the answer. */
static bool
probe_chunks(BfCallSite *site, KeptFilter *place, Datum datum, Datum key, bool *answer)
{
	BfToastReader *reader = bf_toast_reader_open(datum);
	bool		done = false;

	if (reader == NULL)
		return false;
	if (place->head != NULL || read_head(site, place, datum, reader))
	{
		BfHash		hash = bf_key_hash(&site->rule, (BfScheme) place->head->scheme, key);

		*answer = bf_filter_contains_by_byte(place->head, hash, read_byte, reader);
		place->fetched += bf_toast_reader_fetched(reader);
		done = true;
	}
	bf_toast_reader_close(reader);
	return done;
}

/* filter @> key, neither of them NULL */
bool
bf_probe(BfCallSite *site, Datum datum, Datum key)
{
	KeptFilter *place;
	bool		answer;

	if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(datum)))
	{
		const BfFilter *filter = bf_get_filter(datum, BF_KIND_ANY);

		answer = contains_key(site, filter, key);
		bf_release(filter, datum);
		return answer;
	}

	place = get_place(site, datum);
	if (place->filter != NULL)
		return contains_key(site, place->filter, key);
	if (bf_toast_is_readable(datum) && !whole_pays(place, datum) &&
		probe_chunks(site, place, datum, key, &answer))
		return answer;
	return contains_key(site, fetch_whole(site, place, datum, BF_KIND_ANY), key);
}

/* The whole filter, kept by the call site if it is a stored one. */
const BfFilter *
bf_keep_filter(BfCallSite *site, Datum datum, BfKind kind)
{
	const BfFilter *filter;
	KeptFilter *place;

	if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(datum)))
		return bf_get_filter(datum, kind);
	place = get_place(site, datum);
	filter = place->filter != NULL ? place->filter : fetch_whole(site, place, datum, kind);
	bf_check_filter(filter, VARSIZE(filter), kind);
	return filter;
}
