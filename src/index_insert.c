/*-------------------------------------------------------------------------
 *
 * index_insert.c
 *	  INSERT, COPY and UPDATE with a bloomfilter index, and its growth.
 *
 * A key whose bits are all set in some layer is there already; that is looked
 * at under shared locks, so keys that repeat write nothing.  Otherwise its
 * bits are set in the newest layer, and logged, before the row's transaction
 * can commit.
 *
 * When is a layer full?  When it holds the keys it was made for.  Nobody counts
 * them in one place, which all inserts would have to wait for; each page counts
 * the bits set in it.  A page's share of the keys is c +- sqrt(c), so one full
 * page alone tells little, and of many pages the fullest is full early: of
 * 10,000 pages one is 3.7 standard deviations (5%) ahead.  So a page that is
 * full only asks: then the mean of up to 64 other pages, taken evenly from the
 * layer, decides.  It knows the number of keys with a standard error of
 * 1 / sqrt(64 c), below 0.3%; layers have 1% of room to spare, so that one with
 * exactly the keys of its capacity is not taken for full.  If the others are
 * not full either, the key stays where it fell, and the page asks again after
 * some more bits.
 *
 * So neither chance nor keys that were chosen to fall on one page make the
 * index grow; that page then answers "maybe" more often, which no other page
 * feels.  To choose such keys takes the seed of the index.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "access/generic_xlog.h"
#include "access/rmgr.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* Pages whose mean decides whether a layer is full. */
#define BF_INDEX_SAMPLE_PAGES		64

/* A full page asks each time it has so many more bits set. */
#define BF_INDEX_BITS_BETWEEN_CHECKS	256

/* Whether a full layer's page has just come to a point where it asks. */
static bool
is_time_to_check(const BfIndexLayer *layer, uint32 before, uint32 after)
{
	return after >= layer->full &&
		(before < layer->full ||
		 before / BF_INDEX_BITS_BETWEEN_CHECKS != after / BF_INDEX_BITS_BETWEEN_CHECKS);
}

/* Whether the other pages of a layer say that it is full, as this one does. */
static bool
is_layer_full(Relation index, const BfIndexLayer *layer, BlockNumber full_block)
{
	uint32		others = layer->pages - 1;
	uint32		sample = Min(others, BF_INDEX_SAMPLE_PAGES);
	uint64		bits_set = 0;

	for (uint32 i = 0; i < sample; i++)
	{
		/* counted from the full page on, around the layer's end */
		uint64		distance = 1 + (uint64) i * others / sample;
		BlockNumber block = layer->first +
			(uint32) ((full_block - layer->first + distance) % layer->pages);
		Buffer		buffer = ReadBuffer(index, block);
		Page		page = BufferGetPage(buffer);

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		bf_index_check_page(index, block, page);
		bits_set += bf_index_page_opaque(page)->bits_set;
		UnlockReleaseBuffer(buffer);
	}
	return bits_set >= (uint64) sample * layer->full;
}

/*
 * Add the next layer, unless somebody else does: then they do it for us, and
 * this key is in the last one already.  The pages are made and logged before
 * the metapage names them.  Should we not get there, the next one to try makes
 * them anew.
 */
static void
add_layer(Relation index, uint32 nlayers)
{
	BfIndexMeta meta;
	Buffer		buffer;
	GenericXLogState *xlog;

	if (!ConditionalLockPage(index, BF_INDEX_METAPAGE, ExclusiveLock))
		return;

	/* nobody else changes the metapage while we have that lock */
	bf_index_read_meta(index, &meta);
	if (meta.nlayers == nlayers &&
		bf_index_append_layer(&meta, meta.layers[nlayers - 1].capacity * meta.growth))
	{
		for (BlockNumber block = meta.layers[nlayers].first; block < bf_index_end(&meta); block++)
		{
			CHECK_FOR_INTERRUPTS();
			bf_index_add_page(index, MAIN_FORKNUM, block, NULL);
		}

		buffer = ReadBuffer(index, BF_INDEX_METAPAGE);
		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		xlog = GenericXLogStart(index);
		bf_index_write_meta(GenericXLogRegisterBuffer(xlog, buffer, 0), &meta);
		GenericXLogFinish(xlog);
		UnlockReleaseBuffer(buffer);
	}
	UnlockPage(index, BF_INDEX_METAPAGE, ExclusiveLock);
}

#if BF_GENERIC_WAL_IS_KNOWN

/* The regions that adding one key can change: pd_lower, bits_set and the bits. */
#define BF_INDEX_MAX_REGIONS	(2 + BF_INDEX_MAX_HASHES)

/* What a record of generic WAL says of a page. */
typedef struct PageChanges
{
	Page		page;
	uint32		length;
	char		regions[BF_INDEX_MAX_REGIONS * (2 * sizeof(uint16) + sizeof(uint32))];
} PageChanges;

static void
add_region(PageChanges *changes, Size offset, Size length)
{
	uint16		head[2] = {(uint16) offset, (uint16) length};

	Assert(changes->length + sizeof(head) + length <= sizeof(changes->regions));
	memcpy(changes->regions + changes->length, head, sizeof(head));
	changes->length += sizeof(head);
	memcpy(changes->regions + changes->length, (char *) changes->page + offset, length);
	changes->length += length;
}

/*
 * Set a key's bits in a page, of which some are not set, and log them.  Returns
 * how many bits are set then.
 *
 * The record is one of generic WAL, so the server replays it without knowing
 * this extension.  But its GenericXLogFinish() would compare the whole page,
 * byte for byte, to find what we know: that is two thirds of an INSERT.
 */
static uint32
set_bits(Relation index, Buffer buffer, const BfIndexLayer *layer, uint64 state)
{
	Page		page = BufferGetPage(buffer);
	BfIndexPageOpaque *opaque = bf_index_page_opaque(page);
	bool		is_first = ((PageHeader) page)->pd_lower != BF_INDEX_SPECIAL;
	uint16		changed[BF_INDEX_MAX_HASHES];
	uint32		fresh;
	PageChanges changes;
	XLogRecPtr	lsn;

	START_CRIT_SECTION();
	((PageHeader) page)->pd_lower = BF_INDEX_SPECIAL;
	fresh = bf_index_set_bits(bf_index_page_bytes(page), layer->hashes, state, changed);
	opaque->bits_set += fresh;
	MarkBufferDirty(buffer);

	if (RelationNeedsWAL(index))
	{
		changes.page = page;
		changes.length = 0;
		if (is_first)
			add_region(&changes, offsetof(PageHeaderData, pd_lower), sizeof(LocationIndex));
		for (uint32 i = 0; i < fresh; i++)
			add_region(&changes, BF_INDEX_CONTENT + changed[i], 1);
		add_region(&changes, BF_INDEX_SPECIAL + offsetof(BfIndexPageOpaque, bits_set),
				   sizeof(opaque->bits_set));

		XLogBeginInsert();
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		XLogRegisterBufData(0, changes.regions, changes.length);
		lsn = XLogInsert(RM_GENERIC_ID, 0);
		PageSetLSN(page, lsn);
	}
	END_CRIT_SECTION();
	return opaque->bits_set;
}

#else

/* The same by the server's own way of finding what changed. */
static uint32
set_bits(Relation index, Buffer buffer, const BfIndexLayer *layer, uint64 state)
{
	GenericXLogState *xlog = GenericXLogStart(index);
	Page		page = GenericXLogRegisterBuffer(xlog, buffer, 0);

	((PageHeader) page)->pd_lower = BF_INDEX_SPECIAL;
	bf_index_page_opaque(page)->bits_set +=
		bf_index_set_bits(bf_index_page_bytes(page), layer->hashes, state, NULL);
	GenericXLogFinish(xlog);
	return bf_index_page_opaque(BufferGetPage(buffer))->bits_set;
}

#endif

/* Set a key's bits in its page of the newest layer. */
static void
add_to_layer(Relation index, const BfIndexMeta *meta, uint64 seeded)
{
	const BfIndexLayer *layer = &meta->layers[meta->nlayers - 1];
	BfIndexPlace place = bf_index_place(layer, meta->nlayers - 1, seeded);
	Buffer		buffer = ReadBuffer(index, place.block);
	Page		page;
	uint32		before;
	uint32		after;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	page = BufferGetPage(buffer);
	bf_index_check_page(index, place.block, page);
	before = after = bf_index_page_opaque(page)->bits_set;

	/* somebody may have added it since we looked */
	if (!bf_index_bits_are_set(bf_index_page_bytes(page), layer->hashes, place.state))
		after = set_bits(index, buffer, layer, place.state);
	UnlockReleaseBuffer(buffer);

	if (unlikely(is_time_to_check(layer, before, after)) &&
		meta->nlayers < BF_INDEX_MAX_LAYERS &&
		is_layer_full(index, layer, place.block))
		add_layer(index, meta->nlayers);
}

/* What a statement keeps in order to insert. */
typedef struct InsertState
{
	BfKeyRule	rule;
	MemoryContext context;		/* reset after each key */
} InsertState;

/*
 * The hash of a key.  An INSERT calls us for all of its rows in one context, and
 * a numeric or a range, say, leaves a copy behind when it is hashed.
 */
static BfHash
hash_key(Relation index, IndexInfo *info, Datum value)
{
	InsertState *state = (InsertState *) info->ii_AmCache;
	MemoryContext old_context;
	BfHash		hash;

	if (state == NULL)
	{
		state = (InsertState *) MemoryContextAlloc(info->ii_Context, sizeof(InsertState));
		bf_index_key_rule(index, &state->rule, info->ii_Context);
		state->context = AllocSetContextCreate(info->ii_Context, "bloomfilter index key",
											   ALLOCSET_SMALL_SIZES);
		info->ii_AmCache = state;
	}
	old_context = MemoryContextSwitchTo(state->context);
	hash = bf_key_hash(&state->rule, BF_SCHEME_MURMUR64A, value);
	MemoryContextSwitchTo(old_context);
	MemoryContextReset(state->context);
	return hash;
}

/* aminsert */
bool
bf_index_insert(Relation index, Datum *values, bool *isnull,
				ItemPointer tid pg_attribute_unused(), Relation heap pg_attribute_unused(),
				IndexUniqueCheck check_unique pg_attribute_unused(),
				bool unchanged pg_attribute_unused(), IndexInfo *info)
{
	BfIndexMeta meta;
	BfHash		hash;
	uint64		seeded;

	if (isnull[0])
		return false;

	hash = hash_key(index, info, values[0]);
	bf_index_read_meta(index, &meta);
	seeded = bf_index_seeded(&meta, hash);
	if (!bf_index_may_contain(index, &meta, seeded))
		add_to_layer(index, &meta, seeded);

	/*
	 * After the bits are set: a serializable transaction locks first and looks
	 * then, so it has seen them or we see its lock.  Also when they were set
	 * before, for that may have been since it looked.
	 */
	CheckForSerializableConflictIn(index, NULL, bf_index_lock_block(&meta, seeded));
	return false;
}
