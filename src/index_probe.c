/*-------------------------------------------------------------------------
 *
 * index_probe.c
 *	  Looking a key up in a bloomfilter index, and bitmap scans through it.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_type.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/memutils.h"

/*
 * Whether a key may be in one of the layers; false is certain for every row
 * version whose key was added before meta was read.  The newest layer comes
 * first: most keys are there.
 */
bool
bf_index_may_contain(Relation index, const BfIndexMeta *meta, uint64 seeded)
{
	for (uint32 number = meta->nlayers; number-- > 0;)
	{
		const BfIndexLayer *layer = &meta->layers[number];
		BfIndexPlace place = bf_index_place(layer, number, seeded);
		Buffer		buffer = ReadBuffer(index, place.block);
		Page		page = BufferGetPage(buffer);
		bool		found;

		/*
		 * The lock is needed although bits are only ever set: on a standby, a
		 * page that is restored from its image is zero for a moment.
		 */
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		bf_index_check_page(index, place.block, page);
		found = bf_index_bits_are_set(bf_index_page_bytes(page), layer->hashes, place.state);
		UnlockReleaseBuffer(buffer);
		if (found)
			return true;
	}
	return false;
}

/* The same for a query, whose answer this is. */
bool
bf_index_look_up(Relation index, const BfIndexMeta *meta, BfHash hash, Snapshot snapshot)
{
	uint64		seeded = bf_index_seeded(meta, hash);

	if (IsolationIsSerializable())
		PredicateLockPage(index, bf_index_lock_block(meta, seeded), snapshot);
	return bf_index_may_contain(index, meta, seeded);
}

/* ambeginscan */
IndexScanDesc
bf_index_begin_scan(Relation index, int nkeys, int norderbys)
{
	return RelationGetIndexScan(index, nkeys, norderbys);
}

/* amrescan */
void
bf_index_rescan(IndexScanDesc scan, ScanKey keys, int nkeys pg_attribute_unused(),
				ScanKey orderbys pg_attribute_unused(),
				int norderbys pg_attribute_unused())
{
	if (keys != NULL && scan->numberOfKeys > 0)
		memcpy(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
}

/* Whether rows with "column = key" may exist. */
static bool
scan_key_may_match(IndexScanDesc scan, const BfIndexMeta *meta, ScanKey key)
{
	Relation	index = scan->indexRelation;
	MemoryContext context;
	MemoryContext old_context;
	BfKeyRule	rule;
	BfHash		hash;
	Oid			type = key->sk_subtype;

	/* operators are strict */
	if (key->sk_flags & SK_ISNULL)
		return false;

	/* the inner side of a join comes here for each row, all in one context */
	context = AllocSetContextCreate(CurrentMemoryContext, "bloomfilter scan key",
									ALLOCSET_SMALL_SIZES);
	old_context = MemoryContextSwitchTo(context);
	bf_index_key_rule(index, &rule, context);
	/* another type of the operator family: int8 = int4, say */
	if (OidIsValid(type) && type != rule.base_type && rule.form != BF_KEY_HASHED)
		bf_key_rule_init(&rule, type, index->rd_indcollation[0], context);
	hash = bf_key_hash(&rule, BF_SCHEME_MURMUR64A, key->sk_argument);
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
	return bf_index_look_up(index, meta, hash, scan->xs_snapshot);
}

/*
 * amgetbitmap: nothing if a key is absent, otherwise the whole table, for the
 * filter does not know where its keys are; every row is checked again.
 */
int64
bf_index_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	Relation	index = scan->indexRelation;
	int			nkeys = scan->numberOfKeys;
	BfIndexMeta meta;
	Relation	heap;
	BlockNumber nblocks;

	pgstat_count_index_scan(index);
	bf_index_read_meta(index, &meta);
	/* the planner does not know when that is so on a standby */
	if (!bf_index_has_rows_of(index, scan->xs_snapshot))
		nkeys = 0;
	for (int i = 0; i < nkeys; i++)
	{
		if (!scan_key_may_match(scan, &meta, &scan->keyData[i]))
			return 0;
	}

	heap = table_open(IndexGetRelation(RelationGetRelid(index), false), AccessShareLock);
	nblocks = RelationGetNumberOfBlocks(heap);
	table_close(heap, AccessShareLock);
	for (BlockNumber block = 0; block < nblocks; block++)
	{
		CHECK_FOR_INTERRUPTS();
		tbm_add_page(bitmap, block);
	}

	/* an estimate for EXPLAIN ANALYZE, as brin makes it */
	return (int64) nblocks * 10;
}

/* amendscan */
void
bf_index_end_scan(IndexScanDesc scan pg_attribute_unused())
{
}
