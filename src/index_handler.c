/*-------------------------------------------------------------------------
 *
 * index_handler.c
 *	  The access method "bloomfilter" as the server sees it: its properties,
 *	  options and operator classes.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include <math.h>

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "commands/vacuum.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

BF_FUNCTION(bf_index_handler);

/* The only strategy: equality. */
#define BF_INDEX_EQUAL_STRATEGY		1

static relopt_kind option_kind;

/* Called when the library is loaded. */
void
bf_index_register_options(void)
{
	option_kind = add_reloption_kind();
	add_real_reloption(option_kind, "fpr",
					   "False positive rate of the index, all layers together",
					   BF_DEFAULT_FPR, BF_INDEX_MIN_FPR, BF_INDEX_MAX_FPR,
					   AccessExclusiveLock);
	add_int_reloption(option_kind, "capacity",
					  "Keys for which the first layer is made; 0 for the rows there are",
					  0, 0, PG_INT32_MAX, AccessExclusiveLock);
	add_int_reloption(option_kind, "growth",
					  "Capacity of a layer, in those of the one before",
					  BF_DEFAULT_GROWTH, BF_INDEX_MIN_GROWTH, BF_INDEX_MAX_GROWTH,
					  AccessExclusiveLock);
}

/* amoptions */
static bytea *
parse_options(Datum options, bool validate)
{
	/* by name: newer servers have one more field */
	static const relopt_parse_elt elements[] = {
		{.optname = "fpr", .opttype = RELOPT_TYPE_REAL, .offset = offsetof(BfIndexOptions, fpr)},
		{.optname = "capacity", .opttype = RELOPT_TYPE_INT, .offset = offsetof(BfIndexOptions, capacity)},
		{.optname = "growth", .opttype = RELOPT_TYPE_INT, .offset = offsetof(BfIndexOptions, growth)}
	};
	BfIndexOptions *parsed;

	parsed = (BfIndexOptions *) build_reloptions(options, validate, option_kind,
												 sizeof(BfIndexOptions),
												 elements, lengthof(elements));
	/* NaN is neither below nor above the bounds */
	if (validate && parsed != NULL && isnan(parsed->fpr))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("false positive rate must be greater than 0 and less than 1")));
	return (bytea *) parsed;
}

/* The options that an index was made with, or the defaults. */
const BfIndexOptions *
bf_index_options(Relation index)
{
	static const BfIndexOptions defaults = {
		.capacity = 0, .growth = BF_DEFAULT_GROWTH, .fpr = BF_DEFAULT_FPR
	};

	return index->rd_options != NULL ? (const BfIndexOptions *) index->rd_options : &defaults;
}

/* Complain about an operator class of somebody else's making. */
#define report_invalid(...) \
	ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION), errmsg(__VA_ARGS__)))

/*
 * amvalidate: an operator class has an equality operator and no functions,
 * for what the bytes of a key are is not its to say.
 */
static bool
validate(Oid opclass)
{
	HeapTuple	class_tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass class_form;
	CatCList   *operators;
	CatCList   *functions;
	const char *name;
	bool		has_equality = false;
	bool		valid = true;

	if (!HeapTupleIsValid(class_tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	class_form = (Form_pg_opclass) GETSTRUCT(class_tuple);
	name = NameStr(class_form->opcname);
	operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(class_form->opcfamily));
	functions = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(class_form->opcfamily));

	for (int i = 0; i < operators->n_members; i++)
	{
		Form_pg_amop member = (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple);

		if (member->amopstrategy != BF_INDEX_EQUAL_STRATEGY ||
			member->amoppurpose != AMOP_SEARCH ||
			!check_amop_signature(member->amopopr, BOOLOID,
								  member->amoplefttype, member->amoprighttype) ||
			get_oprrest(member->amopopr) != F_EQSEL)
		{
			report_invalid("family of bloomfilter operator class \"%s\" contains operator %s, "
						   "which is not an equality",
						   name, format_operator(member->amopopr));
			valid = false;
		}
		if (member->amoplefttype == class_form->opcintype &&
			member->amoprighttype == class_form->opcintype)
			has_equality = true;
	}
	if (functions->n_members > 0)
	{
		report_invalid("family of bloomfilter operator class \"%s\" contains functions", name);
		valid = false;
	}
	if (!has_equality)
	{
		report_invalid("bloomfilter operator class \"%s\" has no equality of its type", name);
		valid = false;
	}

	ReleaseCatCacheList(functions);
	ReleaseCatCacheList(operators);
	ReleaseSysCache(class_tuple);
	return valid;
}

/* The handler of the access method. */
Datum
bf_index_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *routine = makeNode(IndexAmRoutine);

	(void) fcinfo;
	routine->amstrategies = BF_INDEX_EQUAL_STRATEGY;
	routine->amsupport = 0;
	routine->amoptsprocnum = 0;
	/* a scan needs a key: without one it would be a worse table scan */
	routine->amoptionalkey = false;
	routine->ampredlocks = true;
	routine->amparallelvacuumoptions = VACUUM_OPTION_NO_PARALLEL;
	routine->amkeytype = InvalidOid;
	bf_set_summarizing(routine);

	routine->ambuild = bf_index_build;
	routine->ambuildempty = bf_index_build_empty;
	routine->aminsert = bf_index_insert;
	routine->ambulkdelete = bf_index_bulk_delete;
	routine->amvacuumcleanup = bf_index_vacuum_cleanup;
	routine->amcostestimate = bf_index_cost;
	routine->amoptions = parse_options;
	routine->amvalidate = validate;
	routine->ambeginscan = bf_index_begin_scan;
	routine->amrescan = bf_index_rescan;
	routine->amgetbitmap = bf_index_get_bitmap;
	routine->amendscan = bf_index_end_scan;

	/* everything else is false or NULL, in every version */
	PG_RETURN_POINTER(routine);
}
