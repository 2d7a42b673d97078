/*-------------------------------------------------------------------------
 *
 * cuckoo_table.c
 *	  Buckets and fingerprints of the cuckoo filter: probe, add, remove, unite.
 *
 * See cuckoo.c.  Every step is RedisBloom's, because the order in which slots
 * are looked at and fingerprints are moved shows in the bytes.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo.h"

/* What RedisBloom multiplies a fingerprint by: MurmurHash2's multiplier. */
#define BF_ALTERNATE_MULTIPLIER	UINT64CONST(0x5bd1e995)

#define BF_FREE_SLOT	0

/* Buckets between two looks whether the query was cancelled. */
#define BF_BUCKETS_PER_INTERRUPT_CHECK	65536

/* Keys of a batch whose buckets are fetched ahead: enough to cover a miss. */
#define BF_CUCKOO_AHEAD		16

/* No sub-filter is too large or too new: see insert(). */
#define BF_ANY_SUB_FILTER	BF_MAX_SUB_FILTERS

/* Where a key may be: the buckets are h1 and h2 modulo their number. */
typedef struct Place
{
	uint64		h1;
	uint64		h2;
	uint32		fingerprint;
} Place;

static inline uint64
alternate(uint64 h, uint32 fingerprint)
{
	return h ^ (fingerprint * BF_ALTERNATE_MULTIPLIER);
}

static inline Place
place_of(uint64 h, uint32 fingerprint)
{
	Place		place;

	place.h1 = h;
	place.h2 = alternate(h, fingerprint);
	place.fingerprint = fingerprint;
	return place;
}

/* Width is that of a fingerprint in bytes; constants make it fast. */
static pg_attribute_always_inline Place
place_of_key(BfHash hash, uint32 width)
{
	uint64		h = hash.h1;

	return place_of(h, (uint32) (width == 1 ? h % 255 :
								 width == 2 ? h % 65535 : h % PG_UINT32_MAX) + 1);
}

static pg_attribute_always_inline uint32
get_slot(const uint8 *slot, uint32 width)
{
	if (width == 1)
		return slot[0];
	if (width == 2)
		return slot[0] | (uint32) slot[1] << 8;
	return slot[0] | (uint32) slot[1] << 8 | (uint32) slot[2] << 16 | (uint32) slot[3] << 24;
}

static pg_attribute_always_inline void
set_slot(uint8 *slot, uint32 width, uint32 fingerprint)
{
	for (uint32 i = 0; i < width; i++)
		slot[i] = (uint8) (fingerprint >> (8 * i));
}

/* The bucket of a sub-filter that a hash falls into. */
static inline uint8 *
bucket_of(const BfFilter *filter, const BfSubFilter *sub, uint64 h)
{
	return unconstify(uint8 *, &filter->payload[0]) + sub->offset +
		(h & (sub->buckets - 1)) * bf_cuckoo_bucket_bytes(filter);
}

/* The first slot of a bucket with that fingerprint, or that is free; or NULL. */
static pg_attribute_always_inline uint8 *
find_in_bucket(uint8 *bucket, uint32 bucket_size, uint32 width, uint32 fingerprint)
{
	for (uint32 i = 0; i < bucket_size; i++, bucket += width)
	{
		if (get_slot(bucket, width) == fingerprint)
			return bucket;
	}
	return NULL;
}

/* The same in both buckets of a place. */
static pg_attribute_always_inline uint8 *
find_in_sub_filter(const BfFilter *filter, const BfSubFilter *sub, Place place,
				   uint32 width, uint32 fingerprint)
{
	uint32		bucket_size = bf_cuckoo_bucket_size(filter);
	uint8	   *slot = find_in_bucket(bucket_of(filter, sub, place.h1),
									  bucket_size, width, fingerprint);

	return slot != NULL ? slot :
		find_in_bucket(bucket_of(filter, sub, place.h2), bucket_size, width, fingerprint);
}

/* Count the slots that are not free anew. */
uint64
bf_cuckoo_used_slots(const BfFilter *filter)
{
	uint32		width = bf_cuckoo_fingerprint_width(filter);
	uint64		slots = bf_cuckoo_slots(filter);
	uint64		used = 0;

	for (uint64 i = 0; i < slots; i++)
	{
		if (i % BF_BUCKETS_PER_INTERRUPT_CHECK == 0)
			BF_CHECK_FOR_INTERRUPTS();
		used += get_slot(&filter->payload[i * width], width) != BF_FREE_SLOT;
	}
	return used;
}

static inline BfSubFilter
newest(const BfFilter *header)
{
	return bf_cuckoo_sub_filter(header, bf_cuckoo_sub_filters(header) - 1);
}

/* Go to the next older sub-filter; false from the oldest. */
static inline bool
to_older(const BfFilter *header, BfSubFilter *sub)
{
	if (sub->number == 0)
		return false;
	sub->number--;
	sub->buckets /= bf_cuckoo_expansion(header);
	sub->offset -= sub->buckets * bf_cuckoo_bucket_bytes(header);
	return true;
}

static void
set_sub_filters(BfFilter *filter, uint32 count)
{
	filter->extra[0] = (filter->extra[0] & ~(UINT64CONST(0xffff) << 16)) | (uint64) count << 16;
}

static pg_attribute_always_inline bool
is_held(const BfFilter *filter, Place place, uint32 width)
{
	BfSubFilter sub = newest(filter);

	do
	{
		if (find_in_sub_filter(filter, &sub, place, width, place.fingerprint) != NULL)
			return true;
	} while (to_older(filter, &sub));
	return false;
}

bool
bf_cuckoo_contains(const BfFilter *filter, BfHash hash)
{
	switch (bf_cuckoo_fingerprint_width(filter))
	{
		case 1:
			return is_held(filter, place_of_key(hash, 1), 1);
		case 2:
			return is_held(filter, place_of_key(hash, 2), 2);
		default:
			return is_held(filter, place_of_key(hash, 4), 4);
	}
}

/* Whether a bucket that is not in memory holds a fingerprint. */
static bool
bucket_holds_by_byte(const BfFilter *head, const BfSubFilter *sub, uint64 h,
					 uint32 fingerprint, BfByteReader reader, void *argument)
{
	uint32		width = bf_cuckoo_fingerprint_width(head);
	uint64		offset = BF_HEADER_SIZE + sub->offset +
		(h & (sub->buckets - 1)) * bf_cuckoo_bucket_bytes(head);

	for (uint32 i = 0; i < bf_cuckoo_bucket_size(head); i++, offset += width)
	{
		uint32		same = 0;

		while (same < width &&
			   reader(argument, offset + same) == (uint8) (fingerprint >> (8 * same)))
			same++;
		if (same == width)
			return true;
	}
	return false;
}

bool
bf_cuckoo_contains_by_byte(const BfFilter *head, BfHash hash,
						BfByteReader reader, void *argument)
{
	Place		place = place_of_key(hash, bf_cuckoo_fingerprint_width(head));
	BfSubFilter sub = newest(head);

	do
	{
		if (bucket_holds_by_byte(head, &sub, place.h1, place.fingerprint, reader, argument) ||
			bucket_holds_by_byte(head, &sub, place.h2, place.fingerprint, reader, argument))
			return true;
	} while (to_older(head, &sub));
	return false;
}

/*
 * Slots with a key's fingerprint in its buckets, of the sub-filters up to a
 * number.  Two buckets that are one count twice, as RedisBloom counts them: so
 * that a bucket full of one fingerprint always makes 2 * bucket_size.
 */
static uint64
count_held(const BfFilter *filter, Place place, uint32 up_to)
{
	uint32		width = bf_cuckoo_fingerprint_width(filter);
	uint32		bucket_size = bf_cuckoo_bucket_size(filter);
	BfSubFilter sub = newest(filter);
	uint64		count = 0;

	do
	{
		const uint8 *first = bucket_of(filter, &sub, place.h1);
		const uint8 *second = bucket_of(filter, &sub, place.h2);

		if (sub.number > up_to)
			continue;
		for (uint32 i = 0; i < bucket_size * width; i += width)
			count += (get_slot(first + i, width) == place.fingerprint) +
				(get_slot(second + i, width) == place.fingerprint);
	} while (to_older(filter, &sub));
	return count;
}

/* How often a key is held: no less than it was added and not removed. */
uint64
bf_cuckoo_key_count(const BfFilter *filter, BfHash hash)
{
	return count_held(filter, place_of_key(hash, bf_cuckoo_fingerprint_width(filter)),
					  BF_ANY_SUB_FILTER);
}

/*
 * Make room in a sub-filter: put the fingerprint in the place of another one,
 * that one into its other bucket, and so on until a free slot is found.  If
 * there is none after max_iterations, everything is put back.
 */
static bool
kick_out(BfFilter *filter, const BfSubFilter *sub, Place place)
{
	uint32		iterations = bf_cuckoo_max_iterations(filter);
	uint32		bucket_size = bf_cuckoo_bucket_size(filter);
	uint32		width = bf_cuckoo_fingerprint_width(filter);
	uint32		fingerprint = place.fingerprint;
	uint64		h = place.h1;
	uint32		victim = 0;

	for (uint32 i = 0; i < iterations; i++)
	{
		uint8	   *slot = bucket_of(filter, sub, h) + victim * width;
		uint32		kicked = get_slot(slot, width);

		set_slot(slot, width, fingerprint);
		fingerprint = kicked;
		h = alternate(h, fingerprint);
		slot = find_in_bucket(bucket_of(filter, sub, h), bucket_size, width, BF_FREE_SLOT);
		if (slot != NULL)
		{
			set_slot(slot, width, fingerprint);
			return true;
		}
		victim = (victim + 1) % bucket_size;
	}

	for (uint32 i = 0; i < iterations; i++)
	{
		uint8	   *slot;
		uint32		kicked;

		victim = (victim + bucket_size - 1) % bucket_size;
		h = alternate(h, fingerprint);
		slot = bucket_of(filter, sub, h) + victim * width;
		kicked = get_slot(slot, width);
		set_slot(slot, width, fingerprint);
		fingerprint = kicked;
	}
	Assert(fingerprint == place.fingerprint);
	return false;
}

/* Append an empty sub-filter, at a new place in memory; NULL beyond a limit. */
static BfFilter *
grow(BfFilter *filter)
{
	uint32		count = bf_cuckoo_sub_filters(filter);
	uint64		bucket_bits = (uint64) bf_cuckoo_bucket_bytes(filter) * 8;
	size_t		old_size = (size_t) bf_format_size(filter);
	size_t		new_size;
	BfSubFilter sub;

	if (bf_cuckoo_expansion(filter) == 0 || count >= BF_MAX_SUB_FILTERS)
		return NULL;
	sub = bf_cuckoo_sub_filter(filter, count);
	if (sub.buckets > (BF_MAX_BITS - filter->bits) / bucket_bits)
		return NULL;

	new_size = old_size + (size_t) (sub.buckets * bucket_bits / 8);
	filter = (BfFilter *) repalloc(filter, new_size);
	memset((char *) filter + old_size, 0, new_size - old_size);
	filter->bits += sub.buckets * bucket_bits;
	set_sub_filters(filter, count + 1);
	SET_VARSIZE(filter, new_size);
	return filter;
}

/*
 * Insert a fingerprint into the sub-filters up to a number, newest first, and
 * into a new one if need be.  NULL, with nothing changed but perhaps its size,
 * when no sub-filter has a place for it.
 */
static BfFilter *
insert(BfFilter *filter, Place place, uint32 up_to)
{
	uint32		width = bf_cuckoo_fingerprint_width(filter);

	for (;;)
	{
		BfSubFilter last = bf_cuckoo_sub_filter(filter, Min(bf_cuckoo_sub_filters(filter) - 1,
															 up_to));
		BfSubFilter sub = last;
		BfFilter   *grown;

		do
		{
			uint8	   *slot = find_in_sub_filter(filter, &sub, place, width, BF_FREE_SLOT);

			if (slot != NULL)
			{
				set_slot(slot, width, place.fingerprint);
				filter->bits_set++;
				return filter;
			}
		} while (to_older(filter, &sub));

		if (kick_out(filter, &last, place))
		{
			filter->bits_set++;
			return filter;
		}
		if (last.number >= up_to)
			return NULL;
		grown = grow(filter);
		if (grown == NULL)
			return NULL;
		filter = grown;
	}
}

/* Add another copy of a key, unless it is held as often as it can be. */
BfFilter *
bf_cuckoo_add(BfFilter *filter, BfHash hash)
{
	Place		place = place_of_key(hash, bf_cuckoo_fingerprint_width(filter));

	if (count_held(filter, place, BF_ANY_SUB_FILTER) >= bf_cuckoo_max_copies(filter))
		return NULL;
	return insert(filter, place, BF_ANY_SUB_FILTER);
}

/* Fetch a key's buckets in the newest sub-filter, where most keys are. */
static inline void
prefetch(const BfFilter *filter, const BfSubFilter *sub, Place place)
{
	bf_prefetch_write(bucket_of(filter, sub, place.h1));
	bf_prefetch_write(bucket_of(filter, sub, place.h2));
}

static pg_attribute_always_inline BfFilter *
add_new(BfFilter *filter, const BfHash *hashes, int count, uint32 width)
{
	BfSubFilter sub = newest(filter);

	for (int i = 0; i < Min(count, BF_CUCKOO_AHEAD); i++)
		prefetch(filter, &sub, place_of_key(hashes[i], width));
	for (int i = 0; i < count && filter != NULL; i++)
	{
		Place		place = place_of_key(hashes[i], width);

		if (count - i > BF_CUCKOO_AHEAD)
			prefetch(filter, &sub, place_of_key(hashes[i + BF_CUCKOO_AHEAD], width));
		if (!is_held(filter, place, width))
			filter = insert(filter, place, BF_ANY_SUB_FILTER);
	}
	return filter;
}

/* Add the keys of a batch that are not held, truly or not; NULL if one cannot be. */
BfFilter *
bf_cuckoo_add_new(BfFilter *filter, const BfHash *hashes, int count)
{
	switch (bf_cuckoo_fingerprint_width(filter))
	{
		case 1:
			return add_new(filter, hashes, count, 1);
		case 2:
			return add_new(filter, hashes, count, 2);
		default:
			return add_new(filter, hashes, count, 4);
	}
}

/*
 * Move a sub-filter's fingerprints to older ones, as far as there is room.
 * These have as many buckets or fewer, so a bucket's number is all that is
 * needed of the hash.  Returns whether it is empty now.
 */
static bool
empty_into_older(BfFilter *filter, const BfSubFilter *sub)
{
	uint32		width = bf_cuckoo_fingerprint_width(filter);
	bool		empty = true;

	for (uint64 number = 0; number < sub->buckets; number++)
	{
		uint8	   *slot = bucket_of(filter, sub, number);
		uint8	   *end = slot + bf_cuckoo_bucket_bytes(filter);

		if (number % BF_BUCKETS_PER_INTERRUPT_CHECK == 0)
			BF_CHECK_FOR_INTERRUPTS();
		for (; slot < end; slot += width)
		{
			Place		place = place_of(number, get_slot(slot, width));
			uint8	   *to = NULL;

			if (place.fingerprint == BF_FREE_SLOT)
				continue;
			for (uint32 i = 0; i < sub->number && to == NULL; i++)
			{
				BfSubFilter older = bf_cuckoo_sub_filter(filter, i);

				to = find_in_sub_filter(filter, &older, place, width, BF_FREE_SLOT);
			}
			if (to == NULL)
			{
				empty = false;
				continue;
			}
			set_slot(to, width, place.fingerprint);
			set_slot(slot, width, BF_FREE_SLOT);
		}
	}
	return empty;
}

/* Drop the newest sub-filters as long as the others can take what they hold. */
static void
compact(BfFilter *filter)
{
	BfSubFilter sub;

	for (sub = newest(filter); sub.number > 0; sub = newest(filter))
	{
		if (!empty_into_older(filter, &sub))
			break;
		set_sub_filters(filter, sub.number);
		filter->bits -= sub.buckets * bf_cuckoo_bucket_bytes(filter) * 8;
	}
	filter->extra[1] = 0;
	SET_VARSIZE(filter, bf_format_size(filter));
}

/*
 * Take one copy of a key away, of the newest sub-filter that has one; a key
 * that is certainly absent changes nothing.  When many keys were removed, the
 * filter may shrink: RedisBloom's rule.
 */
BfFilter *
bf_cuckoo_remove(BfFilter *filter, BfHash hash)
{
	uint32		width = bf_cuckoo_fingerprint_width(filter);
	Place		place = place_of_key(hash, width);
	BfSubFilter sub = newest(filter);

	do
	{
		uint8	   *slot = find_in_sub_filter(filter, &sub, place, width, place.fingerprint);

		if (slot == NULL)
			continue;
		set_slot(slot, width, BF_FREE_SLOT);
		filter->bits_set--;
		if (filter->extra[1] < PG_INT64_MAX)
			filter->extra[1]++;
		if (bf_cuckoo_sub_filters(filter) > 1 &&
			(double) filter->extra[1] > (double) filter->bits_set * 0.10)
			compact(filter);
		break;
	} while (to_older(filter, &sub));
	return filter;
}

/* What target was made for becomes the larger of both, whatever the order. */
static void
widen(BfFilter *target, const BfFilter *source)
{
	bf_filter_widen_promise(target, source);
	if (bf_cuckoo_max_iterations(source) > bf_cuckoo_max_iterations(target))
		target->detail = source->detail;
	target->extra[1] = Max(target->extra[1], source->extra[1]);
}

/*
 * Insert the fingerprints of source that target does not hold as often.  Of a
 * fingerprint only its bucket is known, so it may go to sub-filters of as many
 * buckets or fewer: with an expansion of 1 to any, otherwise to none that is
 * newer.
 */
BfFilter *
bf_cuckoo_unite(BfFilter *target, const BfFilter *source)
{
	uint32		width = bf_cuckoo_fingerprint_width(source);

	for (uint32 i = 0; i < bf_cuckoo_sub_filters(source); i++)
	{
		BfSubFilter sub = bf_cuckoo_sub_filter(source, i);
		uint32		up_to = bf_cuckoo_expansion(source) == 1 ? BF_ANY_SUB_FILTER : i;

		for (uint64 number = 0; number < sub.buckets; number++)
		{
			const uint8 *slot = bucket_of(source, &sub, number);
			const uint8 *end = slot + bf_cuckoo_bucket_bytes(source);

			if (number % BF_BUCKETS_PER_INTERRUPT_CHECK == 0)
				BF_CHECK_FOR_INTERRUPTS();
			for (; slot < end; slot += width)
			{
				Place		place = place_of(number, get_slot(slot, width));

				if (place.fingerprint == BF_FREE_SLOT ||
					count_held(target, place, up_to) >= count_held(source, place, up_to))
					continue;
				target = insert(target, place, up_to);
				if (target == NULL)
					return NULL;
			}
		}
	}
	widen(target, source);
	return target;
}

