/*-------------------------------------------------------------------------
 *
 * index.h
 *	  The index access method "bloomfilter": an index that is one Bloom
 *	  filter over a column, kept by every INSERT.
 *
 * Block 0 is the metapage.  Behind it come the layers, oldest first, each a
 * run of pages without a gap.  A key belongs to one page of each layer and
 * sets its bits within that page only (Putze, Sanders and Singler, "Cache-,
 * Hash- and Space-Efficient Bloom Filters", 2007), so a probe reads the
 * metapage and one page of each layer.  Bits are only ever set: an index that
 * said "maybe" never says "absent" again, until it is built anew.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_INDEX_H
#define BF_INDEX_H

#include "callsite.h"
#include "key.h"
#include "params.h"

#include "access/amapi.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#define BF_INDEX_METAPAGE		0
#define BF_INDEX_MAGIC			0xb100f117
#define BF_INDEX_VERSION		1

/*
 * Every layer has at least twice the pages of the one before, so 32 of them
 * fill the 2^32 blocks that a relation can have.
 */
#define BF_INDEX_MAX_LAYERS		32

/* Of the options; the rate's bounds keep a layer below 64 hashes. */
#define BF_INDEX_MIN_FPR		0.000001
#define BF_INDEX_MAX_FPR		0.5
#define BF_INDEX_MAX_HASHES		64
#define BF_INDEX_MIN_GROWTH		2
#define BF_INDEX_MAX_GROWTH		16

/* At the end of each page.  The id tells our pages from others and from zeros. */
typedef struct BfIndexPageOpaque
{
	uint32		bits_set;		/* of this page; 0 in the metapage */
	uint16		flags;			/* 0 */
	uint16		page_id;
} BfIndexPageOpaque;

#define BF_INDEX_META_PAGE_ID	0xbf15
#define BF_INDEX_LAYER_PAGE_ID	0xbf16

/* Where the content of a page begins and ends, and its bits. */
#define BF_INDEX_CONTENT		MAXALIGN(SizeOfPageHeaderData)
#define BF_INDEX_SPECIAL		(BLCKSZ - MAXALIGN(sizeof(BfIndexPageOpaque)))
#define BF_INDEX_PAGE_BITS		((uint64) (BF_INDEX_SPECIAL - BF_INDEX_CONTENT) * 8)

StaticAssertDecl(BF_INDEX_PAGE_BITS % 64 == 0, "pages must hold whole words of bits");

typedef struct BfIndexLayer
{
	BlockNumber first;			/* its first block */
	uint32		pages;
	uint32		hashes;			/* bits that a key sets */
	uint32		full;			/* bits set in a page that holds its share of
								 * capacity */
	uint64		capacity;		/* keys for which it keeps its rate */
	float8		fpr;			/* its share of the rate of the index */
} BfIndexLayer;

/*
 * The content of the metapage.  All of it but the layers is fixed when the
 * index is built.
 */
typedef struct BfIndexMeta
{
	uint32		magic;
	uint32		version;
	uint32		scheme;			/* BfScheme of the keys */
	uint32		growth;			/* pages of a layer, in those of the last one */
	float8		fpr;			/* of all layers together */
	uint64		seed[2];		/* random, so that nobody can aim at a page */
	uint32		nlayers;		/* at least 1 */
	uint32		reserved;		/* 0 */
	BfIndexLayer layers[BF_INDEX_MAX_LAYERS];
} BfIndexMeta;

StaticAssertDecl(sizeof(BfIndexMeta) <= BF_INDEX_SPECIAL - BF_INDEX_CONTENT,
				 "the metapage must hold all layers");

/* What the user may say in WITH (...). */
typedef struct BfIndexOptions
{
	int32		vl_len_;		/* varlena header: SET_VARSIZE only */
	int			capacity;		/* of the first layer; 0: by the rows there are */
	int			growth;
	double		fpr;
} BfIndexOptions;

/* A key's place in one layer: the page, and from what its bits follow. */
typedef struct BfIndexPlace
{
	BlockNumber block;
	uint64		state;
} BfIndexPlace;

static inline uint8 *
bf_index_page_bytes(Page page)
{
	return (uint8 *) page + BF_INDEX_CONTENT;
}

/* Not through the page's header: that would be another cache line. */
static inline BfIndexPageOpaque *
bf_index_page_opaque(Page page)
{
	return (BfIndexPageOpaque *) ((char *) page + BF_INDEX_SPECIAL);
}

static inline BfGeometry
bf_index_layer_geometry(const BfIndexLayer *layer)
{
	BfGeometry	geometry;

	geometry.bits = BF_INDEX_PAGE_BITS;
	geometry.hashes = layer->hashes;
	return geometry;
}

/* The blocks of an index, without those that a crash may have left behind. */
static inline BlockNumber
bf_index_end(const BfIndexMeta *meta)
{
	const BfIndexLayer *last = &meta->layers[meta->nlayers - 1];

	return last->first + last->pages;
}

/* A bijection of 64 bits (the finalizer of SplitMix64, Steele and others 2014). */
static inline uint64
bf_index_mix(uint64 x)
{
	x ^= x >> 30;
	x *= UINT64CONST(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64CONST(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

#define BF_INDEX_STEP			UINT64CONST(0x9e3779b97f4a7c15)

/*
 * Mix the seed of the index into a key's hash.  Both halves take part: keys of
 * the same h1 are easily made, for MurmurHash64A and its seed are public.
 *
 * As easily made are keys of which both halves are the same, whatever the seed
 * (a difference in the highest bit of a mixed block passes through to the next
 * block, where the same difference undoes it).  No seed helps against these, and
 * none is needed: they are one key here, which sets its bits once, so any number
 * of them fills no page.  The index says "maybe" for all of them if one is there,
 * which costs its owner as much as being asked for the one that is.
 */
static inline uint64
bf_index_seeded(const BfIndexMeta *meta, BfHash hash)
{
	return bf_index_mix(bf_index_mix(hash.h1 ^ meta->seed[0]) + (hash.h2 ^ meta->seed[1]));
}

/* Where a key, given by its seeded hash, is in a layer. */
static inline BfIndexPlace
bf_index_place(const BfIndexLayer *layer, uint32 number, uint64 seeded)
{
	BfIndexPlace place;

	/* another page and other bits in each layer */
	place.state = bf_index_mix(seeded + (number + 1) * BF_INDEX_STEP);
	place.block = layer->first +
		(BlockNumber) (((place.state >> 32) * layer->pages) >> 32);
	return place;
}

/*
 * The block that stands for a key in predicate locks.  Its page in the first
 * layer, because that stays the same when layers are added.
 */
static inline BlockNumber
bf_index_lock_block(const BfIndexMeta *meta, uint64 seeded)
{
	return bf_index_place(&meta->layers[0], 0, seeded).block;
}

/*
 * The next two bits of a key in its page.  Steps of one h2, as plain filters
 * take them, would not do: with so few bits in a page two of its keys share
 * their steps so often that no rate below 1e-5 could be had.
 */
static inline void
bf_index_next_bits(uint64 *state, uint32 position[2])
{
	uint64		x;

	*state += BF_INDEX_STEP;
	x = bf_index_mix(*state);
	position[0] = (uint32) (((x >> 32) * BF_INDEX_PAGE_BITS) >> 32);
	position[1] = (uint32) (((x & PG_UINT32_MAX) * BF_INDEX_PAGE_BITS) >> 32);
}

/* index_page.c: the format of metapage and layers, and their sizes */
extern void bf_index_init_page(Page page, uint16 page_id);
extern void bf_index_write_meta(Page page, const BfIndexMeta *meta);
extern void bf_index_read_meta(Relation index, BfIndexMeta *meta);
extern void bf_index_check_page(Relation index, BlockNumber block, Page page);
extern bool bf_index_append_layer(BfIndexMeta *meta, uint64 keys);
extern Buffer bf_index_new_page(Relation index, ForkNumber fork, BlockNumber block);
extern void bf_index_add_page(Relation index, ForkNumber fork, BlockNumber block,
							  const BfIndexMeta *meta);
extern bool bf_index_bits_are_set(const uint8 *bytes, uint32 hashes, uint64 state);
extern unsigned bf_index_set_bits(uint8 *bytes, uint32 hashes, uint64 state,
								  uint16 *changed);
extern void bf_index_key_rule(Relation index, BfKeyRule *rule, MemoryContext context);

/* index_build.c */
extern IndexBuildResult *bf_index_build(Relation heap, Relation index,
										struct IndexInfo *info);
extern void bf_index_build_empty(Relation index);

/* index_insert.c */
extern bool bf_index_insert(Relation index, Datum *values, bool *isnull,
							ItemPointer tid, Relation heap,
							IndexUniqueCheck check_unique, bool unchanged,
							struct IndexInfo *info);

/* index_probe.c */
extern bool bf_index_may_contain(Relation index, const BfIndexMeta *meta,
								 uint64 seeded);
extern bool bf_index_look_up(Relation index, const BfIndexMeta *meta, BfHash hash,
							 Snapshot snapshot);
extern IndexScanDesc bf_index_begin_scan(Relation index, int nkeys, int norderbys);
extern void bf_index_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
							ScanKey orderbys, int norderbys);
extern int64 bf_index_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void bf_index_end_scan(IndexScanDesc scan);

/* index_vacuum.c: vacuum and cost */
extern IndexBulkDeleteResult *bf_index_bulk_delete(IndexVacuumInfo *info,
												   IndexBulkDeleteResult *stats,
												   IndexBulkDeleteCallback callback,
												   void *callback_state);
extern IndexBulkDeleteResult *bf_index_vacuum_cleanup(IndexVacuumInfo *info,
													  IndexBulkDeleteResult *stats);
extern void bf_index_cost(struct PlannerInfo *root, struct IndexPath *path,
						  double loop_count, Cost *startup_cost, Cost *total_cost,
						  Selectivity *selectivity, double *correlation,
						  double *pages);

/* index_access.c: the way of SQL functions to an index */
typedef struct BfIndexLeaf
{
	Oid			heap;
	Oid			index;
} BfIndexLeaf;

/* What one call site keeps of the index it looked into last. */
struct BfIndexAccess
{
	Oid			index;			/* InvalidOid: nothing is kept */
	Oid			heap;
	Oid			user;			/* whose privileges were checked */
	uint64		generation;		/* of the catalogs, when that was */
	BfKeyRule	rule;			/* for keys of the call site in this index */
	MemoryContext context;		/* of what the rule and the leaves refer to */
	int			nleaves;		/* the index itself, or those of the partitions */
	BfIndexLeaf *leaves;
	BfIndexLeaf self;
};

extern void bf_index_access(BfIndexAccess *access, Oid index, const BfKeyRule *key);
extern bool bf_index_has_rows_of(Relation index, Snapshot snapshot);
extern Relation bf_index_open_leaf(const BfIndexLeaf *leaf);

/* index_handler.c */
extern void bf_index_register_options(void);
extern const BfIndexOptions *bf_index_options(Relation index);

#endif							/* BF_INDEX_H */
