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
#include "access/heaptoast.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/toast_internals.h"
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
	TupleTableSlot *slot;
	ItemPointerData first;		/* of chunk 0; invalid until it is known */
	BlockNumber nblocks;		/* that the table has at least, once first is known */
	int64		chunk;			/* the one in slot; -1 if none */
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
	if (reader->table->rd_tableam->relation_fetch_toast_slice != heap_fetch_toast_slice)
	{
		table_close(reader->table, AccessShareLock);
		pfree(reader);
		return NULL;
	}
	valid_index = toast_open_indexes(reader->table, AccessShareLock,
									 &reader->indexes, &reader->nindexes);
	reader->slot = table_slot_create(reader->table, NULL);
	reader->snapshot = bf_toast_snapshot(&reader->snapshot_data);
	reader->scan = bf_index_beginscan(reader->table, reader->indexes[valid_index],
									  reader->snapshot, 2);
	ItemPointerSetInvalid(&reader->first);
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
 * Fetch a chunk from where it should be if the value was written in one go:
 * as many places behind chunk 0.
 */
static bool
fetch_guessed(BfToastReader *reader, int32 chunk)
{
	uint64		place;
	uint64		block;
	ItemPointerData tid;
	bool		is_null;

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
	return table_tuple_fetch_row_version(reader->table, &tid, reader->snapshot,
										 reader->slot) &&
		DatumGetObjectId(slot_getattr(reader->slot, TOAST_VALUE_ID, &is_null)) ==
		reader->pointer.va_valueid &&
		DatumGetInt32(slot_getattr(reader->slot, TOAST_CHUNK_NUMBER, &is_null)) == chunk;
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
	ScanKeyInit(&reader->keys[1], TOAST_CHUNK_NUMBER, BTEqualStrategyNumber,
				F_INT4EQ, Int32GetDatum(chunk));
	index_rescan(reader->scan, reader->keys, 2, NULL, 0);
	if (!index_getnext_slot(reader->scan, ForwardScanDirection, reader->slot))
		report_damage(reader, chunk);
	if (chunk == 0)
	{
		reader->first = reader->slot->tts_tid;
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
		if (!fetch_guessed(reader, chunk))
			fetch_indexed(reader, chunk);
		reader->chunk = chunk;
		reader->fetched++;
	}

	data = (struct varlena *) DatumGetPointer(slot_getattr(reader->slot,
														   TOAST_CHUNK_DATA, &is_null));
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
	ExecDropSingleTupleTableSlot(reader->slot);
	toast_close_indexes(reader->indexes, reader->nindexes, AccessShareLock);
	table_close(reader->table, AccessShareLock);
	pfree(reader);
}
