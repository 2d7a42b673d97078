/*-------------------------------------------------------------------------
 *
 * index_page.c
 *	  Pages of a bloomfilter index: their format, and how many a layer needs.
 *
 * The bits of a layer's page stand below pd_lower, because generic WAL takes
 * what is between pd_lower and pd_upper for a hole and zeroes it.  A page that
 * no key has reached yet has its bits in that hole: they are zero, and neither
 * a record of the page nor a backup carries them.
 *
 * How much worse than one classic filter is a filter in pages?  The keys of a
 * layer fall on its pages at random, so a page that should hold c of them holds
 * c +- sqrt(c), and the pages with more lose more than those with less win.
 * With f(n) = (1 - e^(-kn/m))^k for n keys in m bits, the mean rate is, to
 * second order, f(c) + f''(c) c / 2.  Of a half full page that is a loss of
 *
 *	   k (k - 2) ln(2)^2 / (2 c)
 *
 * of the rate: with 65,280 bits a page and a first layer at 0.5% (k = 7, c =
 * 5,900) 0.14%, at 0.05% (k = 10, c = 4,100) 0.5%.  A page is given that much
 * fewer keys, so the rate that was asked is the mean over all pages; that takes
 * loss / (k ln 2) more space, below 0.1%.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include <math.h>

#include "access/xloginsert.h"
#include "bits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Bits that a probe looks at before it decides: see BF_PROBE_GROUP. */
#define BF_INDEX_PROBE_GROUP	4

/*
 * A layer gets so much more room than its capacity, because whether it is full
 * is only known with a standard error of a quarter of that: see index_insert.c.
 */
#define BF_INDEX_SPARE			1.01

/* An empty page: no bits set, all of them in the hole. */
void
bf_index_init_page(Page page, uint16 page_id)
{
	PageInit(page, BLCKSZ, sizeof(BfIndexPageOpaque));
	Assert(((PageHeader) page)->pd_special == BF_INDEX_SPECIAL);
	bf_index_page_opaque(page)->page_id = page_id;
}

/* The bytes of a metapage's content that say something. */
static inline Size
meta_size(const BfIndexMeta *meta)
{
	return offsetof(BfIndexMeta, layers) + meta->nlayers * sizeof(BfIndexLayer);
}

/*
 * Make the metapage, or change it.  The layers that there are not yet stay zero:
 * in memory they are whatever stood there, which is not for a file to keep.
 */
void
bf_index_write_meta(Page page, const BfIndexMeta *meta)
{
	memcpy(bf_index_page_bytes(page), meta, meta_size(meta));
	((PageHeader) page)->pd_lower = BF_INDEX_CONTENT + meta_size(meta);
}

bf_noreturn static void
report_corrupted(Relation index, BlockNumber block)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" contains an unexpected page at block %u",
					RelationGetRelationName(index), block),
			 errhint("Please REINDEX it.")));
	pg_unreachable();
}

/* A page of zeros would answer "absent" to every key, so it must not pass. */
void
bf_index_check_page(Relation index, BlockNumber block, Page page)
{
	if (unlikely(bf_index_page_opaque(page)->page_id != BF_INDEX_LAYER_PAGE_ID))
		report_corrupted(index, block);
}

/*
 * The layers that exist now.  This is read anew for every key: a list of
 * layers kept from an earlier one would not know a layer added since, and the
 * keys in it would be absent.
 */
void
bf_index_read_meta(Relation index, BfIndexMeta *meta)
{
	Buffer		buffer = ReadBuffer(index, BF_INDEX_METAPAGE);
	Page		page;
	const BfIndexMeta *stored;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	stored = (const BfIndexMeta *) bf_index_page_bytes(page);
	if (bf_index_page_opaque(page)->page_id != BF_INDEX_META_PAGE_ID ||
		stored->magic != BF_INDEX_MAGIC ||
		stored->nlayers < 1 || stored->nlayers > BF_INDEX_MAX_LAYERS ||
		/* later layers have more */
		stored->layers[stored->nlayers - 1].hashes > BF_INDEX_MAX_HASHES)
		report_corrupted(index, BF_INDEX_METAPAGE);
	if (stored->version != BF_INDEX_VERSION || stored->scheme != BF_SCHEME_MURMUR64A)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" has version %u, which this bloomfilter does not know",
						RelationGetRelationName(index), stored->version),
				 errhint("Please REINDEX it.")));
	memcpy(meta, stored, meta_size(stored));
	UnlockReleaseBuffer(buffer);
}

/* Keys for which a page keeps a rate, as a mean over pages of random load. */
static double
page_capacity(BfGeometry geometry, double fpr)
{
	double		step = (double) geometry.hashes / (double) geometry.bits;
	double		capacity = bf_max_count(geometry, fpr);

	/* the loss depends on the capacity that it corrects, but hardly */
	for (int i = 0; i < 2; i++)
	{
		double		empty = exp(-step * capacity);	/* share of bits not set */
		double		slope = step * empty / (1.0 - empty);
		double		loss = capacity / 2.0 * geometry.hashes *
			((geometry.hashes - 1) * slope * slope - step * slope);

		capacity = bf_max_count(geometry, fpr / (1.0 + Max(loss, 0.0)));
	}
	return floor(capacity);
}

/*
 * Put a layer for so many keys, and what else its last page can hold, behind
 * the others; false if the index can have no more.  The layers' rates are
 * halves of each other and add up to less than that of the index, however many
 * there will be (Almeida and others, "Scalable Bloom Filters", 2007).
 */
bool
bf_index_append_layer(BfIndexMeta *meta, uint64 keys)
{
	BfIndexLayer *layer;
	BfGeometry	geometry;
	double		capacity;
	double		pages;

	if (meta->nlayers == BF_INDEX_MAX_LAYERS)
		return false;

	layer = &meta->layers[meta->nlayers];
	memset(layer, 0, sizeof(BfIndexLayer));
	layer->fpr = ldexp(meta->fpr, -(int) (meta->nlayers + 1));

	/*
	 * Rounded down, unlike in other filters: one bit less of each key to look
	 * at, to write and to log, for at most 0.7% more space.
	 */
	layer->hashes = (uint32) Max(floor(-log2(layer->fpr)), 1.0);
	geometry = bf_index_layer_geometry(layer);
	capacity = page_capacity(geometry, layer->fpr);
	pages = Max(ceil((double) keys * BF_INDEX_SPARE / capacity), 1.0);

	layer->first = meta->nlayers == 0 ? BF_INDEX_METAPAGE + 1 : bf_index_end(meta);
	if (pages > (double) (MaxBlockNumber - layer->first))
		return false;
	layer->pages = (uint32) pages;
	layer->capacity = (uint64) (pages * capacity / BF_INDEX_SPARE);
	layer->full = (uint32) (-expm1(-(double) geometry.hashes * capacity /
								   (double) geometry.bits) * (double) geometry.bits);
	meta->nlayers++;
	return true;
}

/*
 * A buffer, pinned and locked, for a new page of an index.  There may already
 * be such a block: left behind by a layer whose making was interrupted, perhaps
 * torn by a crash, so it is not read.  Nobody else adds blocks at this time.
 */
Buffer
bf_index_new_page(Relation index, ForkNumber fork, BlockNumber block)
{
	bool		need_lock = !RELATION_IS_LOCAL(index);
	Buffer		buffer;

	if (block < RelationGetNumberOfBlocksInFork(index, fork))
		return ReadBufferExtended(index, fork, block, RBM_ZERO_AND_LOCK, NULL);

	if (need_lock)
		LockRelationForExtension(index, ExclusiveLock);
	buffer = ReadBufferExtended(index, fork, P_NEW, RBM_ZERO_AND_LOCK, NULL);
	if (need_lock)
		UnlockRelationForExtension(index, ExclusiveLock);
	if (BufferGetBlockNumber(buffer) != block)
		elog(ERROR, "index \"%s\" was extended to block %u instead of %u",
			 RelationGetRelationName(index), BufferGetBlockNumber(buffer), block);
	return buffer;
}

/*
 * Add an empty page to an index in use, or to the init fork of one (which is
 * logged whatever the index is): the metapage if meta is given.  It is logged
 * before anybody can write it out.
 */
void
bf_index_add_page(Relation index, ForkNumber fork, BlockNumber block,
				  const BfIndexMeta *meta)
{
	Buffer		buffer = bf_index_new_page(index, fork, block);
	Page		page = BufferGetPage(buffer);

	START_CRIT_SECTION();
	bf_index_init_page(page, meta != NULL ? BF_INDEX_META_PAGE_ID : BF_INDEX_LAYER_PAGE_ID);
	if (meta != NULL)
		bf_index_write_meta(page, meta);
	MarkBufferDirty(buffer);
	if (fork == INIT_FORKNUM || RelationNeedsWAL(index))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/* Whether all bits of a key are set.  What is looked at depends on the key only. */
bool
bf_index_bits_are_set(const uint8 *bytes, uint32 hashes, uint64 state)
{
	uint32		i = 0;

	/* in groups, as in bf_positions_are_set(), for its reasons */
	for (; i + BF_INDEX_PROBE_GROUP <= hashes; i += BF_INDEX_PROBE_GROUP)
	{
		uint32		a[2];
		uint32		b[2];

		bf_index_next_bits(&state, a);
		bf_index_next_bits(&state, b);
		if (!(bf_bit_is_set(bytes, a[0]) & bf_bit_is_set(bytes, a[1]) &
			  bf_bit_is_set(bytes, b[0]) & bf_bit_is_set(bytes, b[1])))
			return false;
	}
	for (; i < hashes; i += 2)
	{
		uint32		a[2];

		bf_index_next_bits(&state, a);
		if (!bf_bit_is_set(bytes, a[0]))
			return false;
		if (i + 1 < hashes && !bf_bit_is_set(bytes, a[1]))
			return false;
	}
	return true;
}

/*
 * Returns how many bits were not set before.  Unless changed is NULL, it gets
 * the number of the byte of each of them, at most BF_INDEX_MAX_HASHES.
 */
unsigned
bf_index_set_bits(uint8 *bytes, uint32 hashes, uint64 state, uint16 *changed)
{
	unsigned	fresh = 0;

	for (uint32 i = 0; i < hashes; i += 2)
	{
		uint32		position[2];

		bf_index_next_bits(&state, position);
		for (uint32 j = 0; j < Min(hashes - i, 2); j++)
		{
			if (bf_bit_set(bytes, position[j]) == 0)
				continue;
			if (changed != NULL)
				changed[fresh] = (uint16) (position[j] / 8);
			fresh++;
		}
	}
	return fresh;
}

/* The type beneath the casts that change nothing, of an indexed expression. */
static Oid
expression_type(Relation index)
{
	Node	   *expression = (Node *) linitial(RelationGetIndexExpressions(index));

	for (;;)
	{
		if (IsA(expression, RelabelType))
			expression = (Node *) ((RelabelType *) expression)->arg;
		else if (IsA(expression, CoerceToDomain))
			expression = (Node *) ((CoerceToDomain *) expression)->arg;
		else
			return exprType(expression);
	}
}

/*
 * The rule for the keys of an index, or an error if its column cannot be one.
 * The operator class does not tell: citext can be taken for text, and regclass
 * for oid, so the column's own type counts.
 */
void
bf_index_key_rule(Relation index, BfKeyRule *rule, MemoryContext context)
{
	Oid			type = TupleDescAttr(RelationGetDescr(index), 0)->atttypid;
	Oid			class_type = index->rd_opcintype[0];
	Oid			collation = index->rd_indcollation[0];
	BfKeyRule	class_rule;

	bf_key_rule_init(rule, type, collation, context);
	/* x::text or x::bpchar of a citext has no function that would leave a trace */
	if ((rule->form == BF_KEY_TEXT || rule->form == BF_KEY_BPCHAR) &&
		index->rd_index->indkey.values[0] == 0)
		bf_key_rule_init(&class_rule, expression_type(index), collation, context);
	if (type_is_enum(rule->base_type))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("bloomfilter indexes do not support enums"),
				 errdetail("When a label is renamed, its rows would be absent.")));

	/* such as bpchar's on a varchar column: they differ on trailing blanks */
	if (class_type == rule->base_type || IsPolymorphicType(class_type) ||
		class_type == RECORDOID)
		return;
	bf_key_rule_init(&class_rule, class_type, collation, context);
	if (class_rule.form != rule->form)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("operator class for type %s does not fit type %s",
						format_type_be(class_type), format_type_be(type))));
}
