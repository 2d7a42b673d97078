/*-------------------------------------------------------------------------
 *
 * toastreader.c
 *	  Single chunks of a value that is stored out of line.
 *
 * A probe needs a handful of bytes from anywhere in a value of megabytes.
 * Fetching a slice for each through the server's detoasting would open the
 * TOAST table and its index every time; here they are open as long as the
 * reader is.
 *
 * A large value is mostly written in one go onto new pages, so where chunk n
 * lies is guessed from where chunk 0 lies.  The row there tells whether it is
 * the one; if not, the index finds it.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "toastreader.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/toast_internals.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/smgr.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* Columns of a TOAST table. */
enum
{
	TOAST_VALUE_ID = 1,
	TOAST_CHUNK_NUMBER = 2,
	TOAST_CHUNK_DATA = 3
};

struct BfToastReader
{
	struct varatt_external pointer;
	Relation	table;
	Relation   *indexes;
	int			nindexes;
	SnapshotData snapshot_data;
	Snapshot	snapshot;
	ScanKeyData keys[2];
	IndexScanDesc scan;
	ItemPointerData first;		/* of chunk 0; invalid until it is known */
	BlockNumber nblocks;		/* that the table has at least, once first is known */
	Buffer		buffer;			/* of the last chunk, pinned; invalid if none */
	HeapTupleData tuple;		/* that chunk's row, in the buffer */
	int64		chunk;			/* its number; -1 if none */
	uint64		fetched;		/* chunks, so far */
};

/* Whether a value is stored out of line as it is: a compressed one is not. */
bool
bf_toast_is_readable(Datum datum)
{
	struct varatt_external pointer;

	if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(datum)))
		return false;
	VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(datum));
	return !VARATT_EXTERNAL_IS_COMPRESSED(pointer);
}

/*
 * Open a value that bf_toast_is_readable(); NULL when its table is not the kind
 * whose chunks we know.  Memory is of the current context, and the reader must
 * be closed before the call ends: an error closes what it holds with the
 * resource owner.
 */
BfToastReader *
bf_toast_reader_open(Datum datum)
{
	BfToastReader *reader = (BfToastReader *) palloc0(sizeof(BfToastReader));
	int			valid_index;

	VARATT_EXTERNAL_GET_POINTER(reader->pointer, DatumGetPointer(datum));
	reader->table = table_open(reader->pointer.va_toastrelid, AccessShareLock);
	if (reader->table->rd_tableam != GetHeapamTableAmRoutine())
	{
		table_close(reader->table, AccessShareLock);
		pfree(reader);
		return NULL;
	}
	valid_index = toast_open_indexes(reader->table, AccessShareLock,
									 &reader->indexes, &reader->nindexes);
	reader->snapshot = bf_toast_snapshot(&reader->snapshot_data);
	reader->scan = bf_index_beginscan(reader->table, reader->indexes[valid_index],
									  reader->snapshot, 2);
	ItemPointerSetInvalid(&reader->first);
	reader->buffer = InvalidBuffer;
	ScanKeyInit(&reader->keys[0], TOAST_VALUE_ID, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(reader->pointer.va_valueid));
	reader->chunk = -1;
	return reader;
}

static void
report_damage(const BfToastReader *reader, int32 chunk)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("missing or damaged chunk number %d for toast value %u in %s",
					chunk, reader->pointer.va_valueid,
					RelationGetRelationName(reader->table))));
}

/*
 * Fetch the row at a place of the table if it is a visible one of a chunk.  The
 * server's heap_fetch() would do, but here the buffer is at hand before the row is
 * looked at: with the lines of a guessed place on their way, all at once, a chunk
 * that is not in the processor's cache costs less.  Nothing else is left out that
 * matters here: rows of chunks are never updated, so there are no chains to follow;
 * predicate locks are not taken for this snapshot; and where the server would say
 * that the snapshot is too old (before 17), the index does, which decides.
 */
static bool
fetch_row(BfToastReader *reader, const ItemPointerData *tid, int32 chunk,
		  bool is_guess, Size within)
{
	OffsetNumber number = ItemPointerGetOffsetNumber(tid);
	HeapTuple	tuple = &reader->tuple;
	TupleDesc	columns = RelationGetDescr(reader->table);
	bool		is_visible = false;
	bool		no_value;
	bool		no_number;
	Page		page;

	reader->buffer = ReleaseAndReadBuffer(reader->buffer, reader->table,
										  ItemPointerGetBlockNumber(tid));
	page = BufferGetPage(reader->buffer);
	if (is_guess)
	{
		/* rows of whole chunks fill a page from its end on */
		const char *row = (const char *) page + BLCKSZ - number * EXTERN_TUPLE_MAX_SIZE;

		bf_prefetch_read(page);
		bf_prefetch_read(row);
		bf_prefetch_read(row + EXTERN_TUPLE_MAX_SIZE - TOAST_MAX_CHUNK_SIZE - 1);
		bf_prefetch_read(row + EXTERN_TUPLE_MAX_SIZE - TOAST_MAX_CHUNK_SIZE + within);
	}

	LockBuffer(reader->buffer, BUFFER_LOCK_SHARE);
	if (number >= FirstOffsetNumber && number <= PageGetMaxOffsetNumber(page) &&
		ItemIdIsNormal(PageGetItemId(page, number)))
	{
		ItemId		item = PageGetItemId(page, number);

		tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple->t_len = ItemIdGetLength(item);
		tuple->t_tableOid = RelationGetRelid(reader->table);
		tuple->t_self = *tid;
		is_visible = HeapTupleSatisfiesVisibility(tuple, reader->snapshot, reader->buffer);
	}
	/* nobody moves or overwrites a row in a buffer that is pinned */
	LockBuffer(reader->buffer, BUFFER_LOCK_UNLOCK);

	return is_visible &&
		DatumGetObjectId(heap_getattr(tuple, TOAST_VALUE_ID, columns, &no_value)) ==
		reader->pointer.va_valueid &&
		DatumGetInt32(heap_getattr(tuple, TOAST_CHUNK_NUMBER, columns, &no_number)) == chunk &&
		!no_value && !no_number;
}

/*
 * Fetch a chunk, of which the byte within it is wanted, from where it should be if
 * the value was written in one go: as many places behind chunk 0.
 */
static bool
fetch_guessed(BfToastReader *reader, int32 chunk, Size within)
{
	uint64		place;
	uint64		block;
	ItemPointerData tid;

	if (!ItemPointerIsValid(&reader->first))
		return false;
	place = (uint64) ItemPointerGetBlockNumber(&reader->first) * EXTERN_TUPLES_PER_PAGE +
		ItemPointerGetOffsetNumber(&reader->first) - FirstOffsetNumber + chunk;
	block = place / EXTERN_TUPLES_PER_PAGE;
	if (block >= reader->nblocks)
		reader->nblocks = RelationGetNumberOfBlocks(reader->table);
	if (block >= reader->nblocks)
		return false;
	ItemPointerSet(&tid, (BlockNumber) block,
				   (OffsetNumber) (place % EXTERN_TUPLES_PER_PAGE + FirstOffsetNumber));
	return fetch_row(reader, &tid, chunk, true, within);
}

/*
 * A number of blocks that the table certainly has: what this backend knew last,
 * because asking the kernel for each probe costs more than reading a chunk.  The
 * table may have grown since, but not shrunk: that needs a lock which waits for
 * ours, and its message made the number invalid before our lock was granted.
 */
static BlockNumber
blocks_at_least(Relation table)
{
	BlockNumber known = RelationGetSmgr(table)->smgr_cached_nblocks[MAIN_FORKNUM];

	return known != InvalidBlockNumber ? known : 0;
}

/* Fetch a chunk by the index. */
static void
fetch_indexed(BfToastReader *reader, int32 chunk)
{
	ItemPointer tid;

	ScanKeyInit(&reader->keys[1], TOAST_CHUNK_NUMBER, BTEqualStrategyNumber,
				F_INT4EQ, Int32GetDatum(chunk));
	index_rescan(reader->scan, reader->keys, 2, NULL, 0);
	do
	{
		tid = index_getnext_tid(reader->scan, ForwardScanDirection);
		if (tid == NULL)
			report_damage(reader, chunk);
	} while (!fetch_row(reader, tid, chunk, false, 0));
	pgstat_count_heap_fetch(reader->scan->indexRelation);
	if (chunk == 0)
	{
		reader->first = *tid;
		reader->nblocks = blocks_at_least(reader->table);
	}
}

/*
 * The bytes from an offset into the value's data to the end of their chunk.
 * They are valid until the next fetch.
 */
const uint8 *
bf_toast_reader_fetch(BfToastReader *reader, uint64 offset, Size *length)
{
	uint64		size = VARATT_EXTERNAL_GET_EXTSIZE(reader->pointer);
	int32		chunk = (int32) (offset / TOAST_MAX_CHUNK_SIZE);
	uint64		start = (uint64) chunk * TOAST_MAX_CHUNK_SIZE;
	struct varlena *data;
	bool		is_null;

	if (offset >= size)
		elog(ERROR, "offset " UINT64_FORMAT " is behind the end of a toast value", offset);

	if (chunk != reader->chunk)
	{
		reader->chunk = -1;
		if (!fetch_guessed(reader, chunk, (Size) (offset - start)))
			fetch_indexed(reader, chunk);
		reader->chunk = chunk;
		reader->fetched++;
	}

	data = (struct varlena *)
		DatumGetPointer(heap_getattr(&reader->tuple, TOAST_CHUNK_DATA,
									 RelationGetDescr(reader->table), &is_null));
	if (is_null || VARATT_IS_EXTENDED(data) != VARATT_IS_SHORT(data) ||
		VARSIZE_ANY_EXHDR(data) != Min(size - start, TOAST_MAX_CHUNK_SIZE))
		report_damage(reader, chunk);
	*length = VARSIZE_ANY_EXHDR(data) - (offset - start);
	return (const uint8 *) VARDATA_ANY(data) + (offset - start);
}

/* How many chunks were fetched since it was opened. */
uint64
bf_toast_reader_fetched(const BfToastReader *reader)
{
	return reader->fetched;
}

void
bf_toast_reader_close(BfToastReader *reader)
{
	index_endscan(reader->scan);
	if (BufferIsValid(reader->buffer))
		ReleaseBuffer(reader->buffer);
	toast_close_indexes(reader->indexes, reader->nindexes, AccessShareLock);
	table_close(reader->table, AccessShareLock);
	pfree(reader);
}
