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
#include "cuckoo_table.h"

/* Slots between two looks whether the query was cancelled. */
#define BF_SLOTS_PER_INTERRUPT_CHECK	65536

/* Count the slots that are not free anew. */
uint64
bf_cuckoo_used_slots(const BfFilter *filter)
{
	uint32		width = bf_cuckoo_fingerprint_width(filter);
	uint64		slots = bf_cuckoo_slots(filter);
	uint64		used = 0;

	for (uint64 i = 0; i < slots; i++)
	{
		if (i % BF_SLOTS_PER_INTERRUPT_CHECK == 0)
			BF_CHECK_FOR_INTERRUPTS();
		used += bf_cuckoo_get_slot(&filter->payload[i * width], width) != BF_FREE_SLOT;
	}
	return used;
}

static void
set_sub_filters(BfFilter *filter, uint32 count)
{
	filter->extra[0] = (filter->extra[0] & ~(UINT64CONST(0xffff) << 16)) | (uint64) count << 16;
}

bool
bf_cuckoo_contains(const BfFilter *filter, BfHash hash)
{
	switch (bf_cuckoo_fingerprint_width(filter))
	{
		case 1:
			return bf_cuckoo_is_held(filter, bf_cuckoo_place_of_key(hash, 1), 1);
		case 2:
			return bf_cuckoo_is_held(filter, bf_cuckoo_place_of_key(hash, 2), 2);
		default:
			return bf_cuckoo_is_held(filter, bf_cuckoo_place_of_key(hash, 4), 4);
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
	BfCuckooPlace place = bf_cuckoo_place_of_key(hash, bf_cuckoo_fingerprint_width(head));
	BfSubFilter sub = bf_cuckoo_newest(head);

	do
	{
		if (bucket_holds_by_byte(head, &sub, place.h1, place.fingerprint, reader, argument) ||
			bucket_holds_by_byte(head, &sub, place.h2, place.fingerprint, reader, argument))
			return true;
	} while (bf_cuckoo_to_older(head, &sub));
	return false;
}

/*
 * Slots with a key's fingerprint in its buckets, of the sub-filters up to a
 * number.  Two buckets that are one count twice, as RedisBloom counts them: so
 * that a bucket full of one fingerprint always makes 2 * bucket_size.
 */
static uint64
count_held(const BfFilter *filter, BfCuckooPlace place, uint32 up_to)
{
	uint32		width = bf_cuckoo_fingerprint_width(filter);
	uint32		bucket_size = bf_cuckoo_bucket_size(filter);
	BfSubFilter sub = bf_cuckoo_newest(filter);
	uint64		count = 0;

	do
	{
		const uint8 *first = bf_cuckoo_bucket(filter, &sub, place.h1);
		const uint8 *second = bf_cuckoo_bucket(filter, &sub, place.h2);

		if (sub.number > up_to)
			continue;
		for (uint32 i = 0; i < bucket_size * width; i += width)
			count += (bf_cuckoo_get_slot(first + i, width) == place.fingerprint) +
				(bf_cuckoo_get_slot(second + i, width) == place.fingerprint);
	} while (bf_cuckoo_to_older(filter, &sub));
	return count;
}

/* How often a key is held: no less than it was added and not removed. */
uint64
bf_cuckoo_key_count(const BfFilter *filter, BfHash hash)
{
	return count_held(filter, bf_cuckoo_place_of_key(hash, bf_cuckoo_fingerprint_width(filter)),
					  BF_ANY_SUB_FILTER);
}

/*
 * Make room in a sub-filter: put the fingerprint in the place of another one,
 * that one into its other bucket, and so on until a free slot is found.  If
 * there is none after max_iterations, everything is put back.
 */
static bool
kick_out(BfFilter *filter, const BfSubFilter *sub, BfCuckooPlace place)
{
	uint32		iterations = bf_cuckoo_max_iterations(filter);
	uint32		bucket_size = bf_cuckoo_bucket_size(filter);
	uint32		width = bf_cuckoo_fingerprint_width(filter);
	uint32		fingerprint = place.fingerprint;
	uint64		h = place.h1;
	uint32		victim = 0;

	for (uint32 i = 0; i < iterations; i++)
	{
		uint8	   *slot = bf_cuckoo_bucket(filter, sub, h) + victim * width;
		uint32		kicked = bf_cuckoo_get_slot(slot, width);

		bf_cuckoo_set_slot(slot, width, fingerprint);
		fingerprint = kicked;
		h = bf_cuckoo_alternate(h, fingerprint);
		slot = bf_cuckoo_find_in_bucket(bf_cuckoo_bucket(filter, sub, h), bucket_size, width, BF_FREE_SLOT);
		if (slot != NULL)
		{
			bf_cuckoo_set_slot(slot, width, fingerprint);
			return true;
		}
		victim = (victim + 1) % bucket_size;
	}

	for (uint32 i = 0; i < iterations; i++)
	{
		uint8	   *slot;
		uint32		kicked;

		victim = (victim + bucket_size - 1) % bucket_size;
		h = bf_cuckoo_alternate(h, fingerprint);
		slot = bf_cuckoo_bucket(filter, sub, h) + victim * width;
		kicked = bf_cuckoo_get_slot(slot, width);
		bf_cuckoo_set_slot(slot, width, fingerprint);
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
 * into a new one if need be.  NULL, with nothing changed, when no sub-filter has a
 * place for it: a new one always has.
 */
BfFilter *
bf_cuckoo_insert(BfFilter *filter, BfCuckooPlace place, uint32 up_to)
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
			uint8	   *slot = bf_cuckoo_find(filter, &sub, place, width, BF_FREE_SLOT);

			if (slot != NULL)
			{
				bf_cuckoo_set_slot(slot, width, place.fingerprint);
				filter->bits_set++;
				return filter;
			}
		} while (bf_cuckoo_to_older(filter, &sub));

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
	BfCuckooPlace place = bf_cuckoo_place_of_key(hash, bf_cuckoo_fingerprint_width(filter));

	if (count_held(filter, place, BF_ANY_SUB_FILTER) >= bf_cuckoo_max_copies(filter))
		return NULL;
	return bf_cuckoo_insert(filter, place, BF_ANY_SUB_FILTER);
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
		uint8	   *slot = bf_cuckoo_bucket(filter, sub, number);
		uint8	   *end = slot + bf_cuckoo_bucket_bytes(filter);

		BF_CHECK_FOR_INTERRUPTS();
		for (; slot < end; slot += width)
		{
			BfCuckooPlace place = bf_cuckoo_place(number, bf_cuckoo_get_slot(slot, width));
			uint8	   *to = NULL;

			if (place.fingerprint == BF_FREE_SLOT)
				continue;
			for (uint32 i = 0; i < sub->number && to == NULL; i++)
			{
				BfSubFilter older = bf_cuckoo_sub_filter(filter, i);

				to = bf_cuckoo_find(filter, &older, place, width, BF_FREE_SLOT);
			}
			if (to == NULL)
			{
				empty = false;
				continue;
			}
			bf_cuckoo_set_slot(to, width, place.fingerprint);
			bf_cuckoo_set_slot(slot, width, BF_FREE_SLOT);
		}
	}
	return empty;
}

/* Drop the newest sub-filters as long as the others can take what they hold. */
static void
compact(BfFilter *filter)
{
	BfSubFilter sub;

	for (sub = bf_cuckoo_newest(filter); sub.number > 0; sub = bf_cuckoo_newest(filter))
	{
		if (!empty_into_older(filter, &sub))
			break;
		set_sub_filters(filter, sub.number);
		filter->bits -= sub.buckets * bf_cuckoo_bucket_bytes(filter) * 8;
	}
	filter->extra[1] = 0;
	SET_VARSIZE(filter, bf_format_size(filter));
}

/* Whether so many removed keys are enough to shrink a filter: RedisBloom's rule. */
static bool
is_to_shrink(const BfFilter *header, uint64 removed, uint64 held)
{
	return bf_cuckoo_sub_filters(header) > 1 && (double) removed > (double) held * 0.10;
}

/* Whether the next key that is removed shrinks the filter, or tries to. */
bool
bf_cuckoo_shrinks_next(const BfFilter *header)
{
	return header->bits_set > 0 &&
		is_to_shrink(header, header->extra[1] + 1, header->bits_set - 1);
}

/*
 * Take one copy of a key away, of the newest sub-filter that has one; a key
 * that is certainly absent changes nothing.  When many keys were removed, the
 * filter may shrink.
 */
BfFilter *
bf_cuckoo_remove(BfFilter *filter, BfHash hash)
{
	uint32		width = bf_cuckoo_fingerprint_width(filter);
	BfCuckooPlace place = bf_cuckoo_place_of_key(hash, width);
	BfSubFilter sub = bf_cuckoo_newest(filter);

	do
	{
		uint8	   *slot = bf_cuckoo_find(filter, &sub, place, width, place.fingerprint);

		if (slot == NULL)
			continue;
		bf_cuckoo_set_slot(slot, width, BF_FREE_SLOT);
		filter->bits_set--;
		if (filter->extra[1] < PG_INT64_MAX)
			filter->extra[1]++;
		if (is_to_shrink(filter, filter->extra[1], filter->bits_set))
			compact(filter);
		break;
	} while (bf_cuckoo_to_older(filter, &sub));
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
			const uint8 *slot = bf_cuckoo_bucket(source, &sub, number);
			const uint8 *end = slot + bf_cuckoo_bucket_bytes(source);

			BF_CHECK_FOR_INTERRUPTS();
			for (; slot < end; slot += width)
			{
				BfCuckooPlace place = bf_cuckoo_place(number, bf_cuckoo_get_slot(slot, width));

				if (place.fingerprint == BF_FREE_SLOT ||
					count_held(target, place, up_to) >= count_held(source, place, up_to))
					continue;
				target = bf_cuckoo_insert(target, place, up_to);
				if (target == NULL)
					return NULL;
			}
		}
	}
	widen(target, source);
	return target;
}

