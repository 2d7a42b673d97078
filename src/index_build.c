/*-------------------------------------------------------------------------
 *
 * index_build.c
 *	  CREATE INDEX and REINDEX of a bloomfilter index.
 *
 * The scan of the table collects hashes, so that the first layer is made for
 * the distinct keys there are.  Then all pages are written, and logged as a
 * whole: nobody else can see them yet.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "distinct.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/*
 * Room for more keys than there are, so that the second layer does not come
 * with the next INSERT.  A first layer at half the rate takes 1.15 times the
 * space of a plain filter, this 1.15 times more.
 */
#define BF_INDEX_HEADROOM		1.15

/* A table that is still empty will hardly stay so; one layer of 4 pages then. */
#define BF_INDEX_MIN_PAGES		4

typedef struct BuildState
{
	BfKeyRule	rule;
	BfIndexMeta meta;
	BfDistinct *keys;			/* h1 is the seeded hash, h2 is 0 */
	double		tuples;			/* that were indexed */
	MemoryContext key_context;	/* reset after each key */

	/* when the pages are filled */
	uint32		first_page;		/* of the layer, in memory now */
	uint32		npages;
	char	   *pages;
} BuildState;

static void
add_key(Relation index pg_attribute_unused(), ItemPointer tid pg_attribute_unused(),
		Datum *values, bool *isnull, bool is_alive pg_attribute_unused(), void *argument)
{
	BuildState *state = (BuildState *) argument;
	MemoryContext old_context;
	BfHash		hash;

	if (isnull[0])
		return;
	old_context = MemoryContextSwitchTo(state->key_context);
	hash = bf_key_hash(&state->rule, BF_SCHEME_MURMUR64A, values[0]);
	MemoryContextSwitchTo(old_context);
	MemoryContextReset(state->key_context);

	/* so that nobody can aim at the estimate of their number either */
	hash.h1 = bf_index_seeded(&state->meta, hash);
	hash.h2 = 0;
	bf_distinct_add(state->keys, hash.h1, hash.h2);
	state->tuples++;
}

/*
 * Add the keys of row versions that table_index_build_scan() leaves out: of
 * those that an old snapshot can still see, the ones followed by a version in
 * the same HOT chain.
 *
 * A new index is refused to old snapshots then (indcheckxmin), but REINDEX of
 * a valid one does not set that: it relies on an index whose column changed
 * not being in a HOT chain.  One that is "summarizing" is, since PostgreSQL 16.
 */
static void
add_hot_updated_keys(Relation heap, Relation index, IndexInfo *info, BuildState *state)
{
	EState	   *estate = CreateExecutorState();
	ExprContext *econtext = GetPerTupleExprContext(estate);
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	ExprState  *predicate = ExecPrepareQual(info->ii_Predicate, estate);
	TransactionId oldest = GetOldestNonRemovableTransactionId(heap);
	TableScanDesc scan = table_beginscan_strat(heap, SnapshotAny, 0, NULL, true, false);
	HeapScanDesc heap_scan = (HeapScanDesc) scan;
	HeapTuple	tuple;

	econtext->ecxt_scantuple = slot;
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Datum		values[INDEX_MAX_KEYS];
		bool		isnull[INDEX_MAX_KEYS];
		HTSV_Result result;

		CHECK_FOR_INTERRUPTS();
		if (!HeapTupleIsHotUpdated(tuple))
			continue;
		LockBuffer(heap_scan->rs_cbuf, BUFFER_LOCK_SHARE);
		result = HeapTupleSatisfiesVacuum(tuple, oldest, heap_scan->rs_cbuf);
		LockBuffer(heap_scan->rs_cbuf, BUFFER_LOCK_UNLOCK);
		if (result == HEAPTUPLE_DEAD)
			continue;

		ResetExprContext(econtext);
		ExecStoreBufferHeapTuple(tuple, slot, heap_scan->rs_cbuf);
		if (predicate != NULL && !ExecQual(predicate, econtext))
			continue;
		FormIndexDatum(info, slot, estate, values, isnull);
		add_key(index, &tuple->t_self, values, isnull, false, state);
	}

	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	FreeExecutorState(estate);
	/* these belonged to the estate */
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;
}

/* The metapage of an index that has no layer yet. */
static void
init_meta(Relation index, BfIndexMeta *meta)
{
	const BfIndexOptions *options = bf_index_options(index);

	memset(meta, 0, sizeof(BfIndexMeta));
	meta->magic = BF_INDEX_MAGIC;
	meta->version = BF_INDEX_VERSION;
	meta->scheme = BF_SCHEME_MURMUR64A;
	meta->growth = options->growth;
	meta->fpr = options->fpr;
	if (!pg_strong_random(meta->seed, sizeof(meta->seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
}

/* Its first layer, for so many keys. */
static void
add_first_layer(Relation index, BfIndexMeta *meta, uint64 keys)
{
	const BfIndexOptions *options = bf_index_options(index);
	BfIndexLayer *layer = &meta->layers[0];
	uint64		capacity;
	bool		made;

	made = bf_index_append_layer(meta, keys);
	if (made && (uint64) options->capacity > keys)
		capacity = (uint64) options->capacity;
	else
	{
		/* the headroom may end with a whole page, if a third of it is left */
		uint64		per_page = layer->capacity / layer->pages;
		uint64		pages = (uint64) (keys * BF_INDEX_HEADROOM) / per_page;

		capacity = Max((uint64) (keys * (1.0 + (BF_INDEX_HEADROOM - 1.0) / 3.0)),
					   Max(pages, BF_INDEX_MIN_PAGES) * per_page);
	}
	meta->nlayers = 0;
	if (!made || !bf_index_append_layer(meta, capacity))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("bloomfilter index would be too large")));
}

/* Set the bits of a run of keys whose pages are in memory. */
static void
set_bits(const BfHash *hashes, int count, void *argument)
{
	BuildState *state = (BuildState *) argument;
	const BfIndexLayer *layer = &state->meta.layers[0];

	for (int i = 0; i < count; i++)
	{
		BfIndexPlace place = bf_index_place(layer, 0, hashes[i].h1);
		uint32		number = place.block - layer->first - state->first_page;
		Page		page;

		/* wraps around for pages before those */
		if (number >= state->npages)
			continue;
		page = (Page) (state->pages + (Size) number * BLCKSZ);
		((PageHeader) page)->pd_lower = BF_INDEX_SPECIAL;
		bf_index_page_opaque(page)->bits_set +=
			bf_index_set_bits(bf_index_page_bytes(page), layer->hashes, place.state, NULL);
	}
}

/* Add a page that was made in memory to the index. */
static void
write_page(Relation index, BlockNumber block, Page page)
{
	Buffer		buffer = bf_index_new_page(index, MAIN_FORKNUM, block);

	memcpy(BufferGetPage(buffer), page, BLCKSZ);
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
}

/*
 * Fill the first layer: as many of its pages at a time as may be in memory,
 * and all keys read for each such part.
 */
static void
write_layer(Relation index, BuildState *state, Size memory_limit)
{
	const BfIndexLayer *layer = &state->meta.layers[0];
	uint32		part = (uint32) Min((uint64) layer->pages, Max(memory_limit / BLCKSZ, 1));

	state->pages = (char *) palloc_extended((Size) part * BLCKSZ, MCXT_ALLOC_HUGE);
	for (uint32 first = 0; first < layer->pages; first += part)
	{
		state->first_page = first;
		state->npages = Min(part, layer->pages - first);
		for (uint32 i = 0; i < state->npages; i++)
			bf_index_init_page((Page) (state->pages + (Size) i * BLCKSZ),
							   BF_INDEX_LAYER_PAGE_ID);
		bf_distinct_read(state->keys, set_bits, state);
		for (uint32 i = 0; i < state->npages; i++)
		{
			CHECK_FOR_INTERRUPTS();
			write_page(index, layer->first + first + i,
					   (Page) (state->pages + (Size) i * BLCKSZ));
		}
	}
	pfree(state->pages);
}

IndexBuildResult *
bf_index_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = (IndexBuildResult *) palloc(sizeof(IndexBuildResult));
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "bloomfilter index build",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	Size		memory_limit = (Size) maintenance_work_mem * 1024 / 2;
	BuildState	state = {0};
	PGAlignedBlock page;

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));

	bf_index_key_rule(index, &state.rule, context);
	init_meta(index, &state.meta);
	state.key_context = AllocSetContextCreate(context, "bloomfilter index key",
											  ALLOCSET_SMALL_SIZES);
	state.keys = bf_distinct_create(context, memory_limit);
	result->heap_tuples = table_index_build_scan(heap, index, info, true, true,
												 add_key, &state, NULL);
	if (info->ii_BrokenHotChain && heap->rd_tableam == GetHeapamTableAmRoutine())
		add_hot_updated_keys(heap, index, info, &state);
	result->index_tuples = state.tuples;

	bf_distinct_settle(state.keys);
	add_first_layer(index, &state.meta, bf_distinct_count(state.keys));
	bf_index_init_page((Page) page.data, BF_INDEX_META_PAGE_ID);
	bf_index_write_meta((Page) page.data, &state.meta);
	write_page(index, BF_INDEX_METAPAGE, (Page) page.data);
	write_layer(index, &state, memory_limit);
	if (RelationNeedsWAL(index))
		log_newpage_range(index, MAIN_FORKNUM, 0, bf_index_end(&state.meta), true);

	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
	return result;
}

/*
 * The init fork of an unlogged index: what the index is after a crash, an
 * empty one.  It is logged although the index is not.
 */
void
bf_index_build_empty(Relation index)
{
	BfIndexMeta meta;

	init_meta(index, &meta);
	add_first_layer(index, &meta, 0);
	bf_index_add_page(index, INIT_FORKNUM, BF_INDEX_METAPAGE, &meta);
	for (BlockNumber block = meta.layers[0].first; block < bf_index_end(&meta); block++)
	{
		CHECK_FOR_INTERRUPTS();
		bf_index_add_page(index, INIT_FORKNUM, block, NULL);
	}
}
