/*-------------------------------------------------------------------------
 *
 * top_k.c
 *	  The heaviest keys of a stream: a count-min sketch, which counts all
 *	  keys, and candidates, which are the keys that it counted highest.
 *
 * A key becomes a candidate when its count rises above the threshold, which is
 * the smallest count of those kept when there were too many the last time.
 * Counts only rise and are never below the truth, so a key that occurs more
 * often than the lightest candidate counts is a candidate, wherever in the
 * stream it was.  (After a merge: one that was a candidate on either side.)
 *
 * The sketch gives the upper bound of a key's true count, and what was seen of
 * the key while it was a candidate the lower one.  Both hold for certain, after
 * merges too: a sum of bounds bounds the sum.
 *
 * Header: that of a count-min sketch, and k in detail, the bytes of the
 * candidates in capacity, their number in bits_set.  Payload: the counters,
 * then the candidates, in order of their keys' bytes so that equal contents
 * are equal bytes: 8 bytes observed and 4 bytes length of the key, both
 * little-endian, and the key in UTF-8.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "top_k.h"

#include "bits.h"

/* The numbers in front of a key. */
#define BF_ENTRY_SIZE		(sizeof(uint64) + sizeof(uint32))

#define BF_FIRST_CANDIDATES	32

static inline uint64
entry_bytes(const BfCandidate *candidate)
{
	return BF_ENTRY_SIZE + candidate->length;
}

static inline uint32
max_candidates(const BfFilter *header)
{
	return BF_TOP_K_SPARE * bf_top_k_k(header);
}

static int
compare_keys(const BfCandidate *a, const BfCandidate *b)
{
	int			order = memcmp(a->key, b->key, Min(a->length, b->length));

	if (order != 0)
		return order;
	return a->length < b->length ? -1 : a->length > b->length;
}

static int
by_key(const void *a, const void *b)
{
	return compare_keys((const BfCandidate *) a, (const BfCandidate *) b);
}

static int
by_count(const void *a, const void *b)
{
	const BfCandidate *left = (const BfCandidate *) a;
	const BfCandidate *right = (const BfCandidate *) b;

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return compare_keys(left, right);
}

/* Take the next candidate out of a payload; false when it is not all there. */
static bool
read_entry(const uint8 **from, const uint8 *end, BfCandidate *candidate)
{
	uint64		observed;
	uint32		length;

	if ((size_t) (end - *from) < BF_ENTRY_SIZE)
		return false;
	memcpy(&observed, *from, sizeof(observed));
	memcpy(&length, *from + sizeof(observed), sizeof(length));
#ifdef WORDS_BIGENDIAN
	observed = pg_bswap64(observed);
	length = pg_bswap32(length);
#endif
	*from += BF_ENTRY_SIZE;
	if (length > BF_MAX_TOP_K_KEY || (size_t) (end - *from) < length)
		return false;
	candidate->key = (const char *) *from;
	candidate->length = length;
	candidate->observed = observed;
	*from += length;
	return true;
}

static uint8 *
write_entry(uint8 *to, const BfCandidate *candidate)
{
	uint64		observed = candidate->observed;
	uint32		length = candidate->length;

#ifdef WORDS_BIGENDIAN
	observed = pg_bswap64(observed);
	length = pg_bswap32(length);
#endif
	memcpy(to, &observed, sizeof(observed));
	to += sizeof(observed);
	memcpy(to, &length, sizeof(length));
	to += sizeof(length);
	memcpy(to, candidate->key, candidate->length);
	return to + candidate->length;
}

/* Look up what the sketch counts of a candidate now. */
static inline void
look_up(const BfFilter *sketch, BfModulus32 modulus, BfCandidate *candidate)
{
	uint32		hashes[BF_MAX_DEPTH];

	bf_murmur2_rows(candidate->key, candidate->length, sketch->hashes, hashes);
	candidate->hash = hashes[0];
	candidate->count = bf_count_min_count(sketch, modulus, hashes);
}

static const char *
top_k_check_header(const BfFilter *header)
{
	if (header->detail < 1 || header->detail > BF_MAX_TOP_K)
		return "The number of keys to list is out of range.";
	if (header->bits_set > max_candidates(header))
		return "There are too many candidates.";
	if (header->capacity > BF_MAX_PAYLOAD)
		return "The size of the candidates is out of range.";
	return bf_count_min_check_fields(header);
}

static uint64
top_k_payload_size(const BfFilter *header)
{
	return bf_shape_bytes(bf_shape(header)) + header->capacity;
}

static inline const uint8 *
entries_of(const BfFilter *value)
{
	return value->payload + bf_shape_bytes(bf_shape(value));
}

static const char *
top_k_check_payload(const BfFilter *value)
{
	const char *problem = bf_count_min_check_counters(value);
	BfModulus32	modulus = bf_modulus32((uint32) value->bits);
	const uint8 *from = entries_of(value);
	const uint8 *end = from + value->capacity;
	BfCandidate last;
	uint64		sum = 0;

	if (problem != NULL)
		return problem;
	for (uint32 i = 0; i < bf_top_k_ncandidates(value); i++)
	{
		BfCandidate candidate;

		BF_CHECK_FOR_INTERRUPTS();
		if (!read_entry(&from, end, &candidate))
			return "A candidate is not all there.";
		if (memchr(candidate.key, '\0', candidate.length) != NULL)
			return "A key holds a null character.";
		if (i > 0 && compare_keys(&last, &candidate) >= 0)
			return "The candidates are not in order of their keys.";
		look_up(value, modulus, &candidate);
		if (candidate.observed < 1 || candidate.observed > candidate.count)
			return "A candidate was observed more often than counted.";
		sum = bf_add_counts(sum, candidate.observed);
		last = candidate;
	}
	if (from != end)
		return "There is something behind the last candidate.";
	if (sum > bf_count_min_total(value))
		return "The candidates were observed more often than the total.";
	return NULL;
}

static BfFilter *
create_header(uint32 k, BfShape shape, uint64 candidate_bytes)
{
	BfGeometry	geometry;
	BfFilter   *value;

	geometry.bits = shape.width;
	geometry.hashes = shape.depth;
	value = bf_format_create(BF_KIND_TOP_K, bf_shape_bytes(shape) + candidate_bytes,
							 geometry, BF_SCHEME_MURMUR2, candidate_bytes, 0.0);
	value->detail = k;
	return value;
}

/* A new, empty value in the current memory context; parameters are checked. */
BfFilter *
bf_top_k_create(uint32 k, BfShape shape)
{
	return create_header(k, shape, 0);
}

/*
 * The candidates of a value, with their counts: an array in the current memory
 * context whose keys are in the value.  NULL for one that is damaged.
 */
BfCandidate *
bf_top_k_candidates(const BfFilter *value)
{
	uint32		ncandidates = bf_top_k_ncandidates(value);
	BfCandidate *candidates = (BfCandidate *)
		palloc(Max(1, ncandidates) * sizeof(BfCandidate));
	BfModulus32	modulus = bf_modulus32((uint32) value->bits);
	const uint8 *from = entries_of(value);
	const uint8 *end = from + value->capacity;

	for (uint32 i = 0; i < ncandidates; i++)
	{
		BF_CHECK_FOR_INTERRUPTS();
		if (!read_entry(&from, end, &candidates[i]))
			return NULL;
		look_up(value, modulus, &candidates[i]);
	}
	return candidates;
}

/* Order candidates by their counts, highest first; returns how many to keep. */
uint32
bf_top_k_heaviest(BfCandidate *candidates, uint32 ncandidates, uint32 limit)
{
	qsort(candidates, ncandidates, sizeof(BfCandidate), by_count);
	return Min(ncandidates, limit);
}

/*
 * Put first the candidates that a value of that sketch can hold, by what it
 * counts now; returns their number.  If not even k of them find room, it is
 * smaller than that.
 */
static uint32
choose(const BfFilter *sketch, BfModulus32 modulus, BfCandidate *candidates,
	   uint32 ncandidates, uint64 *key_bytes)
{
	uint64		room = BF_MAX_PAYLOAD - bf_shape_bytes(bf_shape(sketch));
	uint32		kept;

	for (uint32 i = 0; i < ncandidates; i++)
	{
		BF_CHECK_FOR_INTERRUPTS();
		look_up(sketch, modulus, &candidates[i]);
	}
	ncandidates = bf_top_k_heaviest(candidates, ncandidates, max_candidates(sketch));
	*key_bytes = 0;
	for (kept = 0; kept < ncandidates; kept++)
	{
		if (*key_bytes + entry_bytes(&candidates[kept]) > room)
			break;
		*key_bytes += entry_bytes(&candidates[kept]);
	}
	return kept;
}

/* A top_k without keys, in the current memory context. */
BfTopK *
bf_top_k_begin(uint32 k, BfShape shape)
{
	BfTopK	   *top = (BfTopK *) palloc0(sizeof(BfTopK));

	top->sketch = create_header(k, shape, 0);
	top->modulus = bf_modulus32((uint32) shape.width);
	top->hashes = (uint32 *) palloc(shape.depth * sizeof(uint32));
	top->allocated = BF_FIRST_CANDIDATES;
	top->candidates = (BfCandidate *) palloc(top->allocated * sizeof(BfCandidate));
	top->nslots = 2 * BF_FIRST_CANDIDATES;
	top->slots = (uint32 *) palloc0(top->nslots * sizeof(uint32));
	return top;
}

/* Make the hash table anew, for all that the array has room for. */
static void
fill_slots(BfTopK *top)
{
	if (top->nslots < 2 * top->allocated)
	{
		pfree(top->slots);
		while (top->nslots < 2 * top->allocated)
			top->nslots *= 2;
		top->slots = (uint32 *) palloc(top->nslots * sizeof(uint32));
	}
	memset(top->slots, 0, top->nslots * sizeof(uint32));
	for (uint32 i = 0; i < top->ncandidates; i++)
	{
		uint32		slot = top->candidates[i].hash & (top->nslots - 1);

		while (top->slots[slot] != 0)
			slot = (slot + 1) & (top->nslots - 1);
		top->slots[slot] = i + 1;
	}
}

/* Drop the lightest candidates. */
static void
shrink(BfTopK *top)
{
	uint32		kept = choose(top->sketch, top->modulus, top->candidates,
							  top->ncandidates, &top->key_bytes);

	if (kept < Min(top->ncandidates, bf_top_k_k(top->sketch)))
		top->too_large = true;
	for (uint32 i = kept; i < top->ncandidates; i++)
		pfree(unconstify(char *, top->candidates[i].key));
	top->ncandidates = kept;
	if (kept > 0)
		top->threshold = Max(top->threshold, top->candidates[kept - 1].count);
	fill_slots(top);
}

/*
 * Count a key towards its candidate, which it becomes if it is none.  The sketch
 * has counted the weight already, and the key's count is what it says since.
 * Memory is taken from the current context.
 */
void
bf_top_k_track(BfTopK *top, uint32 hash, const char *key, uint32 length,
			   uint64 weight, uint64 count)
{
	uint32		slot = hash & (top->nslots - 1);
	BfCandidate *candidate;
	char	   *copy;

	for (; top->slots[slot] != 0; slot = (slot + 1) & (top->nslots - 1))
	{
		candidate = &top->candidates[top->slots[slot] - 1];
		if (candidate->hash == hash && candidate->length == length &&
			memcmp(candidate->key, key, length) == 0)
		{
			candidate->observed = bf_add_counts(candidate->observed, weight);
			return;
		}
	}

	/* twice as many as are kept, so that dropping them is rare */
	if (top->ncandidates >= 2 * max_candidates(top->sketch) ||
		top->key_bytes > 2 * BF_MAX_PAYLOAD)
	{
		shrink(top);
		if (count <= top->threshold)
			return;
	}
	if (top->ncandidates == top->allocated)
	{
		top->allocated *= 2;
		top->candidates = (BfCandidate *)
			repalloc(top->candidates, top->allocated * sizeof(BfCandidate));
		fill_slots(top);
	}

	copy = (char *) palloc(Max(1, length));
	memcpy(copy, key, length);
	candidate = &top->candidates[top->ncandidates++];
	candidate->key = copy;
	candidate->length = length;
	candidate->hash = hash;
	candidate->observed = weight;
	candidate->count = count;
	top->key_bytes += entry_bytes(candidate);
	slot = hash & (top->nslots - 1);
	while (top->slots[slot] != 0)
		slot = (slot + 1) & (top->nslots - 1);
	top->slots[slot] = top->ncandidates;
}

/*
 * Take in a sketch with its candidates; the caller has compared shapes.  All
 * candidates of both compete, by what both sketches count together.
 */
void
bf_top_k_absorb(BfTopK *top, const BfFilter *sketch,
				const BfCandidate *candidates, uint32 ncandidates)
{
	bf_count_min_unite(top->sketch, sketch);
	for (uint32 i = 0; i < ncandidates; i++)
	{
		BfCandidate candidate = candidates[i];

		BF_CHECK_FOR_INTERRUPTS();
		look_up(top->sketch, top->modulus, &candidate);
		bf_top_k_track(top, candidate.hash, candidate.key, candidate.length,
					   candidate.observed, candidate.count);
	}
}

/* A value to which keys can be added; NULL for one that is damaged. */
BfTopK *
bf_top_k_open(const BfFilter *value)
{
	BfCandidate *candidates = bf_top_k_candidates(value);
	BfTopK	   *top;

	if (candidates == NULL)
		return NULL;
	top = bf_top_k_begin(bf_top_k_k(value), bf_shape(value));
	bf_top_k_absorb(top, value, candidates, bf_top_k_ncandidates(value));
	pfree(candidates);
	return top;
}

/*
 * The value of what was added, in the current memory context; NULL when the
 * keys to list are too long for it.  Nothing of the top_k is changed.
 */
BfFilter *
bf_top_k_build(const BfTopK *top)
{
	const BfFilter *sketch = top->sketch;
	BfCandidate *candidates = (BfCandidate *)
		palloc(Max(1, top->ncandidates) * sizeof(BfCandidate));
	uint64		key_bytes;
	uint32		kept;
	BfFilter   *value;
	uint8	   *to;

	memcpy(candidates, top->candidates, top->ncandidates * sizeof(BfCandidate));
	kept = choose(sketch, top->modulus, candidates, top->ncandidates, &key_bytes);
	if (top->too_large || kept < Min(top->ncandidates, bf_top_k_k(sketch)))
		return NULL;
	qsort(candidates, kept, sizeof(BfCandidate), by_key);

	value = create_header(bf_top_k_k(sketch), bf_shape(sketch), key_bytes);
	value->bits_set = kept;
	value->extra[0] = bf_count_min_total(sketch);
	bf_bytes_copy(value->payload, sketch->payload, bf_shape_bytes(bf_shape(sketch)));
	to = value->payload + bf_shape_bytes(bf_shape(sketch));
	for (uint32 i = 0; i < kept; i++)
		to = write_entry(to, &candidates[i]);
	pfree(candidates);
	return value;
}

const BfFormat bf_top_k_format = {
	.type_name = "top_k",
	.scheme = BF_SCHEME_MURMUR2,
	.counts = true,
	.check_header = top_k_check_header,
	.payload_size = top_k_payload_size,
	.check_payload = top_k_check_payload
};
