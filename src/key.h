/*-------------------------------------------------------------------------
 *
 * key.h
 *	  From an SQL value to the bytes that are hashed.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_KEY_H
#define BF_KEY_H

#include "hash.h"

/* How the values of a type become bytes. */
typedef enum BfKeyForm
{
	BF_KEY_INT2,
	BF_KEY_INT4,
	BF_KEY_INT8,
	BF_KEY_OID,
	BF_KEY_NUMERIC,
	BF_KEY_FLOAT4,
	BF_KEY_FLOAT8,
	BF_KEY_BOOL,
	BF_KEY_TEXT,				/* also varchar */
	BF_KEY_BPCHAR,
	BF_KEY_NAME,
	BF_KEY_BYTEA,
	BF_KEY_DATETIME,			/* date, timestamp, timestamptz */
	BF_KEY_OUTPUT,				/* what an output function prints */
	BF_KEY_HASHED				/* a 64-bit hash: not portable */
} BfKeyForm;

/* Room for every key that its value does not hold itself: see double_key(). */
#define BF_KEY_BUFFER_SIZE	400

/* What a call site needs to know of its keys' type; found once per query. */
typedef struct BfKeyRule
{
	Oid			type;			/* as the call site has it */
	Oid			base_type;		/* beneath its domains */
	BfKeyForm	form;
	Oid			collation;		/* for BF_KEY_HASHED */
	bool		convert;		/* from the server encoding to UTF-8 */
	FmgrInfo	function;		/* output or hash function */
	Oid			checked_type;	/* of anonymous records: the last one seen */
	int32		checked_typmod;
} BfKeyRule;

/*
 * The bytes of one key.  They live in the value, in the caller's buffer of
 * BF_KEY_BUFFER_SIZE or in memory that bf_key_release() frees.
 */
typedef struct BfKey
{
	const char *data;
	size_t		length;
	void	   *owned;
} BfKey;

extern void bf_key_rule_init(BfKeyRule *rule, Oid type, Oid collation,
							 MemoryContext context);
extern BfKey bf_key_bytes(BfKeyRule *rule, Datum value, char *buffer);
extern BfHash bf_key_hash(BfKeyRule *rule, BfScheme scheme, Datum value);
extern void bf_key_row_hashes(BfKeyRule *rule, Datum value, uint32 nrows, uint32 *hashes);

/* Whether a key is an integer that can be hashed as a number, and which. */
static inline bool
bf_key_is_decimal(const BfKeyRule *rule, Datum value, uint64 *number)
{
	switch (rule->form)
	{
		case BF_KEY_INT2:
			*number = (uint64) (int64) DatumGetInt16(value);
			break;
		case BF_KEY_INT4:
			*number = (uint64) (int64) DatumGetInt32(value);
			break;
		case BF_KEY_INT8:
			*number = (uint64) DatumGetInt64(value);
			break;
		case BF_KEY_OID:
			*number = DatumGetObjectId(value);
			break;
		default:
			return false;
	}
	/* a negative number is beyond the limit, too */
	return *number < BF_HASH_DECIMAL_LIMIT;
}

static inline void
bf_key_release(BfKey key)
{
	if (key.owned != NULL)
		pfree(key.owned);
}

#endif							/* BF_KEY_H */
