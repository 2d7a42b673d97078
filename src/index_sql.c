/*-------------------------------------------------------------------------
 *
 * index_sql.c
 *	  SQL functions that ask a bloomfilter index.
 *
 * They are STABLE: what is false once is certain for the snapshot of the whole
 * statement, which was taken before.  They are not parallel safe, because the
 * index may be one of a temporary table, which workers cannot read.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include <math.h>

#include "access/relation.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "pgstat.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

BF_FUNCTION(bf_index_contains);
BF_FUNCTION(bf_index_contains_each);
BF_FUNCTION(bf_index_info);

/* Columns of bloom_index_info, in the order of its declaration. */
enum
{
	INFO_LAYERS,
	INFO_PAGES,
	INFO_SIZE_BYTES,
	INFO_CAPACITY,
	INFO_TARGET_FPR,
	INFO_FILL,
	INFO_ESTIMATED_COUNT,
	INFO_ESTIMATED_FPR,
	INFO_LIVE_ROWS,
	INFO_DEAD_KEYS,
	INFO_COLUMNS
};

/* The access that a call site keeps, ready for the index in its argument. */
static BfIndexAccess *
get_access(FunctionCallInfo fcinfo, BfCallSite *site)
{
	BfIndexAccess *access = site->index;

	if (access == NULL)
	{
		access = (BfIndexAccess *) MemoryContextAllocZero(site->context, sizeof(BfIndexAccess));
		access->context = AllocSetContextCreate(site->context, "bloomfilter index access",
												ALLOCSET_SMALL_SIZES);
		site->index = access;
	}
	bf_index_access(access, PG_GETARG_OID(0), &site->rule);
	return access;
}

/* bloom_index_contains(index, key) */
Datum
bf_index_contains(PG_FUNCTION_ARGS)
{
	BfIndexAccess *access = get_access(fcinfo, bf_call_site(fcinfo, 1));
	BfHash		hash = bf_key_hash(&access->rule, BF_SCHEME_MURMUR64A, PG_GETARG_DATUM(1));
	bool		found = false;

	for (int i = 0; i < access->nleaves && !found; i++)
	{
		Relation	index = bf_index_open_leaf(&access->leaves[i]);
		BfIndexMeta meta;

		CHECK_FOR_INTERRUPTS();
		pgstat_count_index_scan(index);
		bf_index_read_meta(index, &meta);
		found = bf_index_look_up(index, &meta, hash, GetActiveSnapshot());
		relation_close(index, NoLock);
	}
	PG_RETURN_BOOL(found);
}

/* bloom_index_contains_each(index, keys): an array of the same shape, NULL for NULL */
Datum
bf_index_contains_each(PG_FUNCTION_ARGS)
{
	BfCallSite *site = bf_call_site_for_keys(fcinfo, 1);
	BfIndexAccess *access = get_access(fcinfo, site);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	Datum	   *keys;
	BfHash	   *hashes;
	bool	   *nulls;
	int			count;

	deconstruct_array(array, site->rule.type, site->element_length,
					  site->element_by_value, site->element_align,
					  &keys, &nulls, &count);
	hashes = (BfHash *) palloc_extended(Max(count, 1) * sizeof(BfHash), MCXT_ALLOC_HUGE);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			hashes[i] = bf_key_hash(&access->rule, BF_SCHEME_MURMUR64A, keys[i]);
		keys[i] = BoolGetDatum(false);
	}

	for (int leaf = 0; leaf < access->nleaves; leaf++)
	{
		Relation	index = bf_index_open_leaf(&access->leaves[leaf]);
		BfIndexMeta meta;

		pgstat_count_index_scan(index);
		bf_index_read_meta(index, &meta);
		for (int i = 0; i < count; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (!nulls[i] && !DatumGetBool(keys[i]))
				keys[i] = BoolGetDatum(bf_index_look_up(index, &meta, hashes[i],
														GetActiveSnapshot()));
		}
		relation_close(index, NoLock);
	}
	PG_RETURN_ARRAYTYPE_P(construct_md_array(keys, nulls, ARR_NDIM(array),
											 ARR_DIMS(array), ARR_LBOUND(array),
											 BOOLOID, sizeof(bool), true,
											 TYPALIGN_CHAR));
}

/* What bloom_index_info adds up over layers and partitions. */
typedef struct Totals
{
	uint32		layers;			/* of the partition that has most */
	uint64		blocks;
	double		capacity;
	double		bits;
	double		bits_set;
	double		keys;
	double		rejected;		/* share of absent keys that no layer lets pass */
	double		fpr;
	double		rows;			/* NaN: not known */
} Totals;

/*
 * Add one layer to the totals: look at all of its pages.  A new key that the
 * older layers took for one of theirs has left no bit in this one; of those that
 * came while it was the newest, that is as large a share as those layers let pass.
 * rejected is what the layers so far do not, of this index.
 */
static void
add_layer(Relation index, const BfIndexLayer *layer, BufferAccessStrategy strategy,
		  double *rejected, Totals *totals)
{
	BfGeometry	geometry = bf_index_layer_geometry(layer);
	double		keys = 0.0;
	double		rates = 0.0;

	for (uint32 i = 0; i < layer->pages; i++)
	{
		BlockNumber block = layer->first + i;
		Buffer		buffer;
		uint32		bits_set;

		CHECK_FOR_INTERRUPTS();
		buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		bf_index_check_page(index, block, BufferGetPage(buffer));
		bits_set = bf_index_page_opaque(BufferGetPage(buffer))->bits_set;
		UnlockReleaseBuffer(buffer);

		totals->bits_set += bits_set;
		keys += bf_count_for_fill(geometry, bits_set);
		rates += pow((double) bits_set / (double) geometry.bits, geometry.hashes);
	}
	totals->bits += (double) geometry.bits * layer->pages;
	totals->capacity += (double) layer->capacity;
	if (*rejected > 0.0)
		keys /= *rejected;
	totals->keys += keys;
	*rejected *= 1.0 - rates / layer->pages;
}

/*
 * Rows of a table as the planner estimates them, from the last VACUUM or ANALYZE
 * and the pages there are now.  NaN if there was none, where the planner guesses.
 */
static double
estimate_rows(Relation heap)
{
	BlockNumber pages;
	double		rows;
	double		all_visible;

	if (RelationGetNumberOfBlocks(heap) == 0)
		return 0.0;
	if (heap->rd_rel->reltuples < 0)
		return NAN;
	table_relation_estimate_size(heap, NULL, &pages, &rows, &all_visible);
	return rows;
}

/* Add the index of a table or a partition to the totals. */
static void
add_index(const BfIndexLeaf *leaf, Totals *totals)
{
	Relation	index = bf_index_open_leaf(leaf);
	Relation	heap = relation_open(leaf->heap, NoLock);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	BfIndexMeta meta;
	double		rejected = 1.0;

	bf_index_read_meta(index, &meta);
	for (uint32 i = 0; i < meta.nlayers; i++)
		add_layer(index, &meta.layers[i], strategy, &rejected, totals);
	totals->rejected *= rejected;
	FreeAccessStrategy(strategy);
	totals->blocks += RelationGetNumberOfBlocks(index);
	totals->fpr = totals->layers == 0 ? meta.fpr :
		1.0 - (1.0 - totals->fpr) * (1.0 - meta.fpr);
	totals->layers = Max(totals->layers, meta.nlayers);

	/* rows outside a partial index are not its deleted keys */
	totals->rows += RelationGetIndexPredicate(index) != NIL ? NAN : estimate_rows(heap);
	relation_close(heap, NoLock);
	relation_close(index, NoLock);
}

/* bloom_index_info(index): one row */
Datum
bf_index_info(PG_FUNCTION_ARGS)
{
	BfIndexAccess access = {0};
	Totals		totals = {.rejected = 1.0};
	Datum		values[INFO_COLUMNS];
	bool		nulls[INFO_COLUMNS] = {false};
	TupleDesc	columns;

	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE ||
		columns->natts != INFO_COLUMNS)
		elog(ERROR, "function is not declared as this library expects");
	columns = BlessTupleDesc(columns);

	access.context = AllocSetContextCreate(CurrentMemoryContext, "bloomfilter index access",
										   ALLOCSET_SMALL_SIZES);
	bf_index_access(&access, PG_GETARG_OID(0), NULL);
	for (int i = 0; i < access.nleaves; i++)
		add_index(&access.leaves[i], &totals);

	values[INFO_LAYERS] = Int32GetDatum((int32) totals.layers);
	values[INFO_PAGES] = Int64GetDatum((int64) totals.blocks);
	values[INFO_SIZE_BYTES] = Int64GetDatum((int64) totals.blocks * BLCKSZ);
	values[INFO_CAPACITY] = Int64GetDatum((int64) totals.capacity);
	values[INFO_TARGET_FPR] = Float8GetDatum(totals.fpr);
	values[INFO_FILL] = Float8GetDatum(totals.bits > 0 ? totals.bits_set / totals.bits : 0.0);
	values[INFO_ESTIMATED_COUNT] = Float8GetDatum(totals.keys);
	values[INFO_ESTIMATED_FPR] = Float8GetDatum(1.0 - totals.rejected);
	values[INFO_LIVE_ROWS] = Float8GetDatum(totals.rows);
	values[INFO_DEAD_KEYS] = Float8GetDatum(Max(totals.keys - totals.rows, 0.0));
	nulls[INFO_LIVE_ROWS] = nulls[INFO_DEAD_KEYS] = isnan(totals.rows);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(columns, values, nulls)));
}
