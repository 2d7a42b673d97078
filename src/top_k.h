/*-------------------------------------------------------------------------
 *
 * top_k.h
 *	  The heaviest keys of a stream: a count-min sketch and candidates, free
 *	  of fmgr.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_TOP_K_H
#define BF_TOP_K_H

#include "count_min.h"

extern const BfFormat bf_top_k_format;

#define BF_MAX_TOP_K		10000
/* Bytes of a key. */
#define BF_MAX_TOP_K_KEY	65535
/* Candidates that a value keeps for each of the k keys that it lists. */
#define BF_TOP_K_SPARE		4

/*
 * A key that may be among the heaviest.  What was seen of it while it was a
 * candidate is certainly part of its true count.
 */
typedef struct BfCandidate
{
	const char *key;			/* UTF-8, not terminated */
	uint32		length;
	uint32		hash;			/* of the sketch's first row */
	uint64		observed;
	uint64		count;			/* when the sketch was last looked at */
} BfCandidate;

/* A top_k to which keys are added; all its memory is its own. */
typedef struct BfTopK
{
	BfFilter   *sketch;			/* header and counters, no candidates */
	BfModulus32	modulus;
	uint32	   *hashes;			/* room for those of a key, row by row */
	uint64		threshold;		/* a key that counts no more is no candidate */
	BfCandidate *candidates;
	uint32		ncandidates;
	uint32		allocated;
	uint64		key_bytes;		/* of all candidates, with their lengths */
	bool		too_large;		/* some of the heaviest found no room */
	uint32	   *slots;			/* hash table: 1 + index of a candidate, or 0 */
	uint32		nslots;			/* a power of two */
} BfTopK;

static inline uint32
bf_top_k_k(const BfFilter *header)
{
	return header->detail;
}

static inline uint32
bf_top_k_ncandidates(const BfFilter *header)
{
	return (uint32) header->bits_set;
}

extern BfFilter *bf_top_k_create(uint32 k, BfShape shape);
extern BfTopK *bf_top_k_begin(uint32 k, BfShape shape);
extern BfTopK *bf_top_k_open(const BfFilter *value);
extern void bf_top_k_track(BfTopK *top, uint32 hash, const char *key, uint32 length,
						   uint64 weight, uint64 count);
extern void bf_top_k_absorb(BfTopK *top, const BfFilter *sketch,
							const BfCandidate *candidates, uint32 ncandidates);
extern BfFilter *bf_top_k_build(const BfTopK *top);
extern BfCandidate *bf_top_k_candidates(const BfFilter *value);
extern uint32 bf_top_k_heaviest(BfCandidate *candidates, uint32 ncandidates, uint32 limit);

#endif							/* BF_TOP_K_H */
