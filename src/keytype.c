/*-------------------------------------------------------------------------
 *
 * keytype.c
 *	  Which types can be keys, and how.
 *
 * A type is taken when equal values can be given equal bytes, and refused with
 * the cast to write when they cannot: a filter that answers "absent" for a key
 * it holds is worse than an error.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "keytype.h"

#include "access/htup_details.h"
#include "catalog/pg_am.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/*
 * Types whose values are OIDs of catalog entries.  They are dumped by name and
 * restored with another OID, so a hash of them does not survive a restore.
 */
static bool
holds_catalog_oids(Oid type)
{
	switch (type)
	{
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGCLASSOID:
		case REGCOLLATIONOID:
		case REGTYPEOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
		case REGROLEOID:
		case REGNAMESPACEOID:
		case ACLITEMOID:
			return true;
		default:
			return type_is_enum(type);
	}
}

/*
 * Find such a type inside a container, at any depth; InvalidOid if there is
 * none.  An anonymous record tells its columns only at run time: see
 * bf_keytype_check_record().
 */
static Oid
find_catalog_oids(Oid type)
{
	Oid			found = InvalidOid;
	Oid			relation;

	check_stack_depth();
	type = getBaseType(type);

	if (holds_catalog_oids(type))
		return type;
	if (OidIsValid(get_element_type(type)))
		return find_catalog_oids(get_element_type(type));
	if (OidIsValid(get_range_subtype(type)))
		return find_catalog_oids(get_range_subtype(type));
	if (OidIsValid(get_multirange_range(type)))
		return find_catalog_oids(get_multirange_range(type));

	relation = get_typ_typrelid(type);
	if (OidIsValid(relation))
	{
		TupleDesc	columns = lookup_rowtype_tupdesc(type, -1);

		for (int i = 0; i < columns->natts && !OidIsValid(found); i++)
		{
			if (!TupleDescAttr(columns, i)->attisdropped)
				found = find_catalog_oids(TupleDescAttr(columns, i)->atttypid);
		}
		ReleaseTupleDesc(columns);
	}
	return found;
}

static void
refuse_catalog_oids(Oid type, Oid found)
{
	if (!OidIsValid(found))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot use a value of type %s as a filter key",
					format_type_be(type)),
			 errdetail("It holds values of type %s, whose hash is of OIDs, which change when a database is restored.",
					   format_type_be(found)),
			 errhint("Cast the value to text.")));
}

/* The 64-bit hash function of a type, or an error about the key that needs it. */
static Oid
get_hash_function(Oid type, Oid key_type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC);

	if (!OidIsValid(entry->hash_extended_proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("cannot use a value of type %s as a filter key",
						format_type_be(key_type)),
				 type == key_type ?
				 errdetail("The type has no 64-bit hash function.") :
				 errdetail("Type %s has no 64-bit hash function.", format_type_be(type)),
				 errhint("Cast the value to text.")));
	return entry->hash_extended_proc;
}

/*
 * Refuse an anonymous record whose columns cannot be hashed (another anonymous
 * record is among those) or hold catalog OIDs at any depth.  Which columns it
 * has, only the value tells.
 */
void
bf_keytype_check_record(BfKeyRule *rule, Datum value)
{
	HeapTupleHeader record;
	TupleDesc	columns;

	if (rule->base_type != RECORDOID)
		return;
	record = DatumGetHeapTupleHeader(value);
	if (OidIsValid(rule->checked_type) &&
		HeapTupleHeaderGetTypeId(record) == rule->checked_type &&
		HeapTupleHeaderGetTypMod(record) == rule->checked_typmod)
		return;

	rule->checked_type = InvalidOid;
	columns = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(record),
									 HeapTupleHeaderGetTypMod(record));
	for (int i = 0; i < columns->natts; i++)
	{
		Oid			type = TupleDescAttr(columns, i)->atttypid;

		if (TupleDescAttr(columns, i)->attisdropped)
			continue;
		(void) get_hash_function(type, rule->type);
		refuse_catalog_oids(rule->type, find_catalog_oids(type));
	}
	ReleaseTupleDesc(columns);
	rule->checked_type = HeapTupleHeaderGetTypeId(record);
	rule->checked_typmod = HeapTupleHeaderGetTypMod(record);
}

/* Whether a type turns into text by itself, so that '=' could be text's. */
static bool
is_coercible_to_text(Oid type)
{
	Oid			function;

	return find_coercion_pathway(TEXTOID, type, COERCION_IMPLICIT, &function) !=
		COERCION_PATH_NONE;
}

/* The input type of the default hash operator class; InvalidOid if none. */
static Oid
default_hash_input_type(Oid type)
{
	Oid			opclass = GetDefaultOpClass(type, HASH_AM_OID);

	return OidIsValid(opclass) ? get_opclass_input_type(opclass) : InvalidOid;
}

/*
 * Equal strings of a nondeterministic collation differ in their bytes.  There
 * is no collation when those of two columns in the key's expression conflict:
 * then one of them may be nondeterministic.
 */
static void
check_collation(Oid collation)
{
	if (!OidIsValid(collation))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_COLLATION),
				 errmsg("could not determine which collation to use for a filter key"),
				 errhint("Add COLLATE \"C\" to the key.")));
	if (!get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("nondeterministic collations are not supported for filter keys"),
				 errdetail("Collation \"%s\" treats strings of different bytes as equal.",
						   get_collation_name(collation)),
				 errhint("Add COLLATE \"C\" to the key.")));
}

/*
 * Whether a type is one of ours: all have the same output function.  It is
 * told by its name, because this file is part of two libraries.
 */
static bool
is_filter_type(Oid type)
{
	Oid			output;
	bool		is_varlena;
	HeapTuple	tuple;
	bool		result;

	getTypeOutputInfo(type, &output, &is_varlena);
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(output));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", output);
	result = ((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId;
	if (result)
	{
		bool		is_null;
		Datum		source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &is_null);
		char	   *symbol = is_null ? NULL : TextDatumGetCString(source);

		result = symbol != NULL && strcmp(symbol, "bf_out") == 0;
	}
	ReleaseSysCache(tuple);
	return result;
}

/* A type that the table of portable forms does not list. */
static void
init_other_type(BfKeyRule *rule, MemoryContext context)
{
	Oid			base = rule->base_type;
	Oid			hash_function;

	if (OidIsValid(get_element_type(base)) || base == RECORDARRAYOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot use an array as one filter key"),
				 errhint("Use a function whose name ends in _all or _each for the keys in an array, or unnest it; cast the array to text to make it one key.")));

	if (is_coercible_to_text(base))
	{
		Oid			hash_type = default_hash_input_type(base);

		if (hash_type == base)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot use a value of type %s as a filter key",
							format_type_be(rule->type)),
					 errdetail("Its equality need not be that of its spelling, which a filter would use."),
					 base == CHAROID ? errhint("Use x::text.") :
					 errhint("Use lower(x::text), or what else makes equal values equal as text.")));
		if (hash_type == TEXTOID)
		{
			rule->form = BF_KEY_TEXT;
			check_collation(rule->collation);
			return;
		}
	}

	if (holds_catalog_oids(base))
		refuse_catalog_oids(rule->type, base);

	/*
	 * The type cache does not promise that anonymous records can be hashed,
	 * because it does not know their columns: each is checked when it comes.
	 */
	if (base == RECORDOID)
		hash_function = F_HASH_RECORD_EXTENDED;
	else
		hash_function = get_hash_function(base, rule->type);
	fmgr_info_cxt(hash_function, &rule->function, context);
	if (is_filter_type(base))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot use a filter as a filter key"),
				 errhint("Whether a filter holds the keys of another one cannot be told; of bloom and counting_bloom, bloom_intersect_count estimates how many they share.")));
	refuse_catalog_oids(rule->type, find_catalog_oids(base));
	rule->form = BF_KEY_HASHED;
}

/*
 * Find the form of a type's keys or refuse it.  What the rule refers to lives
 * in context, which should be that of the call site.
 */
void
bf_key_rule_init(BfKeyRule *rule, Oid type, Oid collation, MemoryContext context)
{
	Oid			output;
	bool		is_varlena;

	memset(rule, 0, sizeof(BfKeyRule));
	rule->type = type;
	rule->base_type = getBaseType(type);
	rule->collation = collation;
	rule->convert = GetDatabaseEncoding() != PG_UTF8 &&
		GetDatabaseEncoding() != PG_SQL_ASCII;

	switch (rule->base_type)
	{
		case INT2OID:
			rule->form = BF_KEY_INT2;
			break;
		case INT4OID:
			rule->form = BF_KEY_INT4;
			break;
		case INT8OID:
			rule->form = BF_KEY_INT8;
			break;
		case OIDOID:
			rule->form = BF_KEY_OID;
			break;
		case NUMERICOID:
			rule->form = BF_KEY_NUMERIC;
			break;
		case FLOAT4OID:
			rule->form = BF_KEY_FLOAT4;
			break;
		case FLOAT8OID:
			rule->form = BF_KEY_FLOAT8;
			break;
		case BOOLOID:
			rule->form = BF_KEY_BOOL;
			break;
		case TEXTOID:
		case VARCHAROID:
			rule->form = BF_KEY_TEXT;
			check_collation(collation);
			break;
		case BPCHAROID:
			rule->form = BF_KEY_BPCHAR;
			check_collation(collation);
			break;
		case NAMEOID:
			rule->form = BF_KEY_NAME;
			check_collation(collation);
			break;
		case BYTEAOID:
			rule->form = BF_KEY_BYTEA;
			break;
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			rule->form = BF_KEY_DATETIME;
			break;
		case UUIDOID:
		case INETOID:
		case MACADDROID:
		case MACADDR8OID:
			rule->form = BF_KEY_OUTPUT;
			getTypeOutputInfo(rule->base_type, &output, &is_varlena);
			fmgr_info_cxt(output, &rule->function, context);
			break;
		case CIDROID:
			/* a cidr equals the inet of the same address and length */
			rule->form = BF_KEY_OUTPUT;
			getTypeOutputInfo(INETOID, &output, &is_varlena);
			fmgr_info_cxt(output, &rule->function, context);
			break;
		default:
			if (!type_is_enum(rule->base_type))
			{
				init_other_type(rule, context);
				break;
			}
			rule->form = BF_KEY_OUTPUT;
			getTypeOutputInfo(rule->base_type, &output, &is_varlena);
			fmgr_info_cxt(output, &rule->function, context);
			break;
	}
}
