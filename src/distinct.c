/*-------------------------------------------------------------------------
 *
 * distinct.c
 *	  A set of key hashes that knows how many distinct ones it has seen and
 *	  can be read back, in bounded memory.
 *
 * An open-addressing table of 16-byte hash pairs grows from 128 bytes, so that
 * many small groups cost little, up to the memory limit.  Until then the
 * number is exact.  When the table is full at its limit, its hashes are
 * appended to a temporary file and it starts anew, from then on only dropping
 * repetitions that come close together; the number is then estimated by the
 * server's HyperLogLog (Flajolet and others, 2007) with 2^14 registers, whose
 * standard error is 1.04 / sqrt(2^14) = 0.8%.  A table that found hardly any
 * repetition was not worth its cache misses: what follows goes to the file
 * directly for a while, then a table is tried again.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "distinct.h"

#include "bits.h"
#include "common/pg_prng.h"
#include "lib/hyperloglog.h"
#include "port/pg_bitutils.h"
#include "tempfile.h"

#define BF_DISTINCT_MIN_SLOTS		8
#define BF_DISTINCT_REGISTER_BITS	14
#define BF_DISTINCT_READ_HASHES		1024

/* Slots between two looks whether the query was cancelled. */
#define BF_DISTINCT_SLOTS_PER_CHECK	65536

/*
 * Hashes that wait to be inserted together, and the number of slots from which
 * on they do: then the table no longer fits the first-level cache, and the
 * cache misses of the hashes overlap.
 */
#define BF_DISTINCT_PENDING			64
#define BF_DISTINCT_PENDING_SLOTS	2048

/*
 * A table is worth it when it dropped at least one in so many hashes.  If not, the
 * hashes of so many tables are written without one, but at most twice those that
 * the file has: whatever comes then, it is at most three times as long as it was.
 */
#define BF_DISTINCT_WORTH			5
#define BF_DISTINCT_SKIPPED_TABLES	7

struct BfDistinct
{
	MemoryContext context;
	uint64		seed[2];		/* odd: see slot_of() */
	uint64		max_slots;		/* a power of two */
	uint64		nslots;			/* a power of two */
	uint64		nused;
	uint64		noffered;		/* to this table, with repetitions */
	uint64		nskip;			/* hashes to come that no table is tried with */
	BfHash	   *slots;			/* a free one has h1 = h2 = 0 */
	BfHash	   *pending;		/* NULL as long as the table is small */
	int			npending;
	bool		has_zero;		/* the one hash that looks like a free slot */
	BfTempFile *file;			/* NULL until the limit is reached */
	uint64		nfile;			/* hashes in it */
	hyperLogLogState registers; /* of the hashes in the file */
};

static inline bool
is_free(BfHash slot)
{
	return slot.h1 == 0 && slot.h2 == 0;
}

/*
 * The table may take all of work_mem, which may be gigabytes.  A set whose
 * change was cancelled is not used again.
 */
static inline void
check_for_interrupts(uint64 slot)
{
	if (slot % BF_DISTINCT_SLOTS_PER_CHECK == 0)
		CHECK_FOR_INTERRUPTS();
}

BfDistinct *
bf_distinct_create(MemoryContext context, Size memory_limit)
{
	BfDistinct *set = (BfDistinct *) MemoryContextAllocZero(context, sizeof(BfDistinct));

	set->context = context;
	for (int i = 0; i < 2; i++)
		set->seed[i] = pg_prng_uint64(&pg_global_prng_state) | 1;
	set->nslots = BF_DISTINCT_MIN_SLOTS;
	set->max_slots = BF_DISTINCT_MIN_SLOTS;

	/* while the table grows there are an old and a new one */
	while (set->max_slots * 2 * sizeof(BfHash) * 3 / 2 <= memory_limit)
		set->max_slots *= 2;
	set->slots = (BfHash *)
		MemoryContextAllocZero(context, set->nslots * sizeof(BfHash));
	return set;
}

/*
 * Where a hash is looked for first.  Keys of any hash are easily made, and many
 * in a row of one slot would take a time that is quadratic in their number; two
 * hashes share their slot for a share of 2 / nslots of the seeds, whatever they
 * are (Dietzfelbinger and others, "A Reliable Randomized Algorithm for the
 * Closest-Pair Problem", 1997).
 */
static inline uint64
slot_of(const BfDistinct *set, BfHash hash)
{
	uint64		mixed = hash.h1 * set->seed[0] + hash.h2 * set->seed[1];

	return mixed >> (64 - pg_leftmost_one_pos64(set->nslots));
}

/* Put a hash into the table, which has room; returns whether it is new there. */
static inline bool
insert(BfDistinct *set, BfHash hash)
{
	BfHash	   *slots = set->slots;
	uint64		nslots = set->nslots;
	uint64		i = slot_of(set, hash);

	while (!is_free(slots[i]))
	{
		if (slots[i].h1 == hash.h1 && slots[i].h2 == hash.h2)
			return false;
		i = (i + 1) & (nslots - 1);
	}
	slots[i] = hash;
	return true;
}

static void
grow(BfDistinct *set)
{
	BfHash	   *old_slots = set->slots;
	uint64		old_nslots = set->nslots;

	set->nslots *= 2;
	set->slots = (BfHash *)
		MemoryContextAllocExtended(set->context, set->nslots * sizeof(BfHash),
								   MCXT_ALLOC_HUGE);
	bf_bytes_zero(set->slots, set->nslots * sizeof(BfHash));
	for (uint64 i = 0; i < old_nslots; i++)
	{
		check_for_interrupts(i);
		if (!is_free(old_slots[i]))
			insert(set, old_slots[i]);
	}
	pfree(old_slots);
}

/* Move the table's hashes to its front, so that they are one run. */
static void
compact(BfDistinct *set)
{
	uint64		n = 0;

	for (uint64 i = 0; i < set->nslots; i++)
	{
		check_for_interrupts(i);
		if (!is_free(set->slots[i]))
			set->slots[n++] = set->slots[i];
	}
	Assert(n == set->nused);
}

static void
count_in_registers(hyperLogLogState *registers, BfHash hash)
{
	/* by no seed: a filter of the same keys must have the same size each time */
	addHyperLogLog(registers, (uint32) (hash.h1 >> 32));
}

/* Append hashes to the temporary file. */
static void
write_hashes(BfDistinct *set, const BfHash *hashes, uint64 count)
{
	for (uint64 i = 0; i < count; i++)
	{
		check_for_interrupts(i);
		count_in_registers(&set->registers, hashes[i]);
	}
	bf_tempfile_append(set->file, hashes, count * sizeof(BfHash));
	set->nfile += count;
}

/* Empty the table into the temporary file. */
static void
spill(BfDistinct *set)
{
	if (set->file == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(set->context);

		set->file = bf_tempfile_create(set->context);
		initHyperLogLog(&set->registers, BF_DISTINCT_REGISTER_BITS);
		MemoryContextSwitchTo(old_context);
	}

	compact(set);
	write_hashes(set, set->slots, set->nused);
	if (set->noffered - set->nused < set->noffered / BF_DISTINCT_WORTH)
		set->nskip = Min(set->nused * BF_DISTINCT_SKIPPED_TABLES, 2 * set->nfile);

	bf_bytes_zero(set->slots, set->nslots * sizeof(BfHash));
	set->nused = 0;
	set->noffered = 0;
}

static inline void
insert_now(BfDistinct *set, BfHash hash)
{
	/* at most three quarters full */
	if (unlikely(set->nused >= set->nslots / 4 * 3))
	{
		if (set->nslots < set->max_slots)
			grow(set);
		else
			spill(set);
	}
	if (insert(set, hash))
		set->nused++;
	set->noffered++;
}

static void
insert_pending(BfDistinct *set)
{
	if (set->nskip > 0)
	{
		write_hashes(set, set->pending, set->npending);
		set->nskip -= Min(set->nskip, (uint64) set->npending);
	}
	else
	{
		for (int i = 0; i < set->npending; i++)
			bf_prefetch_write(&set->slots[slot_of(set, set->pending[i])]);
		for (int i = 0; i < set->npending; i++)
			insert_now(set, set->pending[i]);
	}
	set->npending = 0;
}

/*
 * Add a hash.  By halves, which then stay in registers: a structure is written to
 * the stack half by half and read back as a whole, which waits for both writes.
 */
void
bf_distinct_add(BfDistinct *set, uint64 h1, uint64 h2)
{
	if ((h1 | h2) == 0)
		set->has_zero = true;
	else if (set->pending == NULL)
	{
		insert_now(set, (BfHash) {h1, h2});
		if (set->nslots >= BF_DISTINCT_PENDING_SLOTS)
			set->pending = (BfHash *)
				MemoryContextAlloc(set->context, BF_DISTINCT_PENDING * sizeof(BfHash));
	}
	else
	{
		set->pending[set->npending].h1 = h1;
		set->pending[set->npending].h2 = h2;
		if (++set->npending == BF_DISTINCT_PENDING)
			insert_pending(set);
	}
}

/*
 * Insert what waits, so that the set can be counted and read.  That is not a
 * change: the set holds the same hashes as before.
 */
void
bf_distinct_settle(BfDistinct *set)
{
	if (set->npending > 0)
		insert_pending(set);
}

/* Distinct hashes seen: exact within the memory limit, estimated beyond. */
uint64
bf_distinct_count(const BfDistinct *set)
{
	hyperLogLogState registers;
	double		count;

	if (set->file == NULL)
		return set->nused + set->has_zero;

	initHyperLogLog(&registers, BF_DISTINCT_REGISTER_BITS);
	memcpy(registers.hashesArr, set->registers.hashesArr, registers.arrSize);
	for (uint64 i = 0; i < set->nslots; i++)
	{
		check_for_interrupts(i);
		if (!is_free(set->slots[i]))
			count_in_registers(&registers, set->slots[i]);
	}
	count = estimateHyperLogLog(&registers);
	freeHyperLogLog(&registers);
	return (uint64) count;
}

/* Hand all hashes to a reader; the set stays as it is. */
void
bf_distinct_read(BfDistinct *set, BfDistinctReader reader, void *argument)
{
	BfHash		run[BF_DISTINCT_READ_HASHES];
	int			n = 0;

	if (set->has_zero)
		run[n++] = (BfHash) {0, 0};
	for (uint64 i = 0; i < set->nslots; i++)
	{
		if (is_free(set->slots[i]))
			continue;
		if (n == BF_DISTINCT_READ_HASHES)
		{
			CHECK_FOR_INTERRUPTS();
			reader(run, n, argument);
			n = 0;
		}
		run[n++] = set->slots[i];
	}
	reader(run, n, argument);

	for (uint64 done = 0; done < set->nfile; done += n)
	{
		CHECK_FOR_INTERRUPTS();
		n = (int) Min(set->nfile - done, BF_DISTINCT_READ_HASHES);
		bf_tempfile_read(set->file, done * sizeof(BfHash), run, n * sizeof(BfHash));
		reader(run, n, argument);
	}
}
