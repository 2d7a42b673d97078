/*-------------------------------------------------------------------------
 *
 * index_access.c
 *	  The way of SQL functions to a bloomfilter index: locks, privileges and
 *	  whether it may be believed.
 *
 * Locks are taken with every call, the table first, as everybody does it, and
 * kept until the transaction ends, as those of a query are: then DROP INDEX
 * CONCURRENTLY and REINDEX wait for us, and a second call finds them at once.
 * What does not change as long as the catalogs do not is checked once for a
 * call site and user.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/nodes.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* Changes with everything that the checks below depend on. */
static uint64 catalog_generation = 1;

static void
forget_relation(Datum argument pg_attribute_unused(), Oid relation pg_attribute_unused())
{
	catalog_generation++;
}

static void
forget_role(Datum argument pg_attribute_unused(), int cache pg_attribute_unused(),
			uint32 hash pg_attribute_unused())
{
	catalog_generation++;
}

/*
 * Privileges on a table or column, its row security and the state of an index
 * come with messages about the relation; memberships and attributes of roles
 * with those of their caches.
 */
static void
watch_catalogs(void)
{
	static bool watching = false;

	if (watching)
		return;
	CacheRegisterRelcacheCallback(forget_relation, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHOID, forget_role, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, forget_role, (Datum) 0);
	CacheRegisterSyscacheCallback(DATABASEOID, forget_role, (Datum) 0);
	watching = true;
}

static bool
is_bloomfilter_index(Relation relation)
{
	return (relation->rd_rel->relkind == RELKIND_INDEX ||
			relation->rd_rel->relkind == RELKIND_PARTITIONED_INDEX) &&
		relation->rd_indam->ambuild == bf_index_build;
}

bf_noreturn static void
report_not_index(Oid relation)
{
	char	   *name = get_rel_name(relation);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("index with OID %u does not exist", relation)));
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a bloomfilter index", name)));
	pg_unreachable();
}

bf_noreturn static void
report_unusable(Relation index, const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("index \"%s\" cannot be used", RelationGetRelationName(index)),
			 errdetail_internal("%s", detail), errhint("%s", hint)));
	pg_unreachable();
}

bf_noreturn static void
report_invalid(Relation index)
{
	report_unusable(index, "It is not valid: its building was not finished.",
					"If nobody is building it now, REINDEX it.");
}

/* Whether the user may read all columns that decide what is in the index. */
static bool
may_read_columns(Relation index, Oid heap, Oid user)
{
	Bitmapset  *columns = NULL;
	int			column = -1;

	pull_varattnos((Node *) RelationGetIndexExpressions(index), 1, &columns);
	pull_varattnos((Node *) RelationGetIndexPredicate(index), 1, &columns);
	if (index->rd_index->indkey.values[0] != 0)
		columns = bms_add_member(columns, index->rd_index->indkey.values[0] -
								 FirstLowInvalidHeapAttributeNumber);

	/* no column at all decides nothing, and is not worth an exception */
	if (bms_is_empty(columns))
		return false;
	while ((column = bms_next_member(columns, column)) >= 0)
	{
		AttrNumber	number = column + FirstLowInvalidHeapAttributeNumber;
		AclResult	result;

		/* number 0 is the whole row */
		if (number == 0)
			result = pg_attribute_aclcheck_all(heap, user, ACL_SELECT, ACLMASK_ALL);
		else
			result = pg_attribute_aclcheck(heap, number, user, ACL_SELECT);
		if (result != ACLCHECK_OK)
			return false;
	}
	return true;
}

/* A filter answers "does it exist", so to ask is to read the table. */
static void
check_privileges(Relation index, Oid heap, Oid user)
{
	if (pg_class_aclcheck(heap, user, ACL_SELECT) != ACLCHECK_OK &&
		!may_read_columns(index, heap, user))
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(heap)),
					   get_rel_name(heap));

	/* the filter knows nothing of policies */
	if (check_enable_rls(heap, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("row-level security of table \"%s\" applies to you",
						get_rel_name(heap)),
				 errdetail("Its bloomfilter index \"%s\" would tell of rows that you may not see.",
						   RelationGetRelationName(index))));
}

/* Whether a key is spelled like those of a text column. */
static bool
is_text(const BfKeyRule *rule)
{
	return rule->form == BF_KEY_TEXT || rule->form == BF_KEY_BPCHAR ||
		rule->form == BF_KEY_NAME || rule->form == BF_KEY_BYTEA ||
		type_is_enum(rule->base_type);
}

/*
 * The rule for keys of one type in an index on another.  Numbers go together,
 * and text goes with everything that has a text of its own.  Others are
 * refused although their bytes could be compared: a date that equals a
 * timestamp has other bytes, so the filter would call it absent.
 */
static void
set_key_rule(BfIndexAccess *access, Relation index, const BfKeyRule *key)
{
	BfKeyRule	column;

	bf_index_key_rule(index, &column, access->context);
	access->rule = *key;
	if (key->base_type == column.base_type)
		access->rule = column;
	else if (key->form == BF_KEY_OUTPUT && column.form == BF_KEY_OUTPUT &&
			 key->function.fn_oid == column.function.fn_oid)
		return;					/* inet and cidr */
	else if (key->form <= BF_KEY_FLOAT8 && column.form <= BF_KEY_FLOAT8)
		return;
	else if (is_text(key) && column.form == BF_KEY_BPCHAR && key->form == BF_KEY_TEXT)
		access->rule.form = BF_KEY_BPCHAR;	/* a literal of a char(n) column */
	else if ((is_text(key) && column.form != BF_KEY_HASHED) ||
			 (is_text(&column) && key->form != BF_KEY_HASHED))
		return;
	else
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("index \"%s\" on type %s cannot be asked for a key of type %s",
						RelationGetRelationName(index),
						format_type_be(column.type), format_type_be(key->type)),
				 errhint("Cast the key to %s.", format_type_be(column.type))));
}

static bool
is_usable(Relation index)
{
	Form_pg_index form = index->rd_index;

	return form->indisvalid && form->indisready && form->indislive;
}

/*
 * The index to look into: this one if it is valid.  REINDEX CONCURRENTLY gives
 * an index's name to another one, and somebody who had looked up the name just
 * before comes with the old OID: then the one on the same key, which answers
 * the same.
 */
static Oid
get_usable_index(Oid heap_oid, Relation index)
{
	Relation	heap;
	List	   *indexes;
	ListCell   *cell;
	Oid			found = InvalidOid;

	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	/* a standby has the files of such a relation only as a crash leaves them */
	if (!RelationIsPermanent(index) && RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary or unlogged relations during recovery")));
	if (is_usable(index))
		return RelationGetRelid(index);
	if (strstr(RelationGetRelationName(index), "_ccold") == NULL)
		report_invalid(index);

	heap = table_open(heap_oid, NoLock);
	indexes = RelationGetIndexList(heap);
	foreach(cell, indexes)
	{
		Relation	other = try_relation_open(lfirst_oid(cell), AccessShareLock);

		if (other == NULL)
			continue;
		if (is_bloomfilter_index(other) && is_usable(other) &&
			other->rd_index->indkey.values[0] == index->rd_index->indkey.values[0] &&
			other->rd_indcollation[0] == index->rd_indcollation[0] &&
			equal(RelationGetIndexExpressions(other), RelationGetIndexExpressions(index)) &&
			equal(RelationGetIndexPredicate(other), RelationGetIndexPredicate(index)))
			found = RelationGetRelid(other);
		relation_close(other, NoLock);
	}
	list_free(indexes);
	table_close(heap, NoLock);
	if (!OidIsValid(found))
		report_invalid(index);
	return found;
}

/* The index of a partition that belongs to one of its parent; InvalidOid if none. */
static Oid
find_leaf_index(Oid heap, List *leaf_indexes)
{
	ListCell   *cell;

	foreach(cell, leaf_indexes)
	{
		if (IndexGetRelation(lfirst_oid(cell), true) == heap)
			return lfirst_oid(cell);
	}
	return InvalidOid;
}

/*
 * A partitioned table or index and all below it, locked.  Also partitions whose
 * DETACH CONCURRENTLY is not finished: find_all_inheritors() leaves them out for
 * a snapshot that does not know them, but what a call site keeps may be used
 * with an older one next.
 */
static List *
find_family(Oid parent)
{
	List	   *family = list_make1_oid(parent);
	ListCell   *cell;

	/* grows while it is walked through, as in find_all_inheritors() */
	foreach(cell, family)
		family = list_concat(family,
							 find_inheritance_children_extended(lfirst_oid(cell), false,
																AccessShareLock, NULL, NULL));
	return family;
}

/*
 * The indexes of all partitions.  One that has none could hold any key, so it
 * is an error.
 */
static void
find_leaves(BfIndexAccess *access, Relation index)
{
	List	   *heaps = find_family(access->heap);
	List	   *indexes = find_family(RelationGetRelid(index));
	ListCell   *cell;

	access->leaves = (BfIndexLeaf *)
		MemoryContextAlloc(access->context, list_length(heaps) * sizeof(BfIndexLeaf));
	access->nleaves = 0;
	foreach(cell, heaps)
	{
		Oid			heap = lfirst_oid(cell);
		BfIndexLeaf leaf = {heap, InvalidOid};
		Relation	leaf_index;

		if (get_rel_relkind(heap) == RELKIND_PARTITIONED_TABLE)
			continue;
		leaf.index = find_leaf_index(heap, indexes);
		if (!OidIsValid(leaf.index))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("index \"%s\" cannot be used", RelationGetRelationName(index)),
					 errdetail("Partition \"%s\" has no part of it.", get_rel_name(heap))));
		leaf_index = relation_open(leaf.index, NoLock);
		leaf.index = get_usable_index(heap, leaf_index);
		relation_close(leaf_index, NoLock);
		access->leaves[access->nleaves++] = leaf;
	}
	list_free(heaps);
	list_free(indexes);
}

/* All checks; the locks are held. */
static void
check_index(BfIndexAccess *access, Oid index_oid, const BfKeyRule *key)
{
	Relation	index = try_relation_open(index_oid, NoLock);

	if (index == NULL || !is_bloomfilter_index(index) ||
		index->rd_index->indrelid != access->heap)
		report_not_index(index_oid);
	access->index = index_oid;
	check_privileges(index, access->heap, access->user);

	access->nleaves = 1;
	access->leaves = &access->self;
	access->self.heap = access->heap;
	access->self.index = get_usable_index(access->heap, index);
	if (key != NULL)
		set_key_rule(access, index, key);
	if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		find_leaves(access, index);
	relation_close(index, NoLock);
}

/*
 * Lock an index and its table, and check that the user may ask it for keys of
 * a rule (NULL: for none) and can believe it, as far as the catalogs tell.
 */
void
bf_index_access(BfIndexAccess *access, Oid index, const BfKeyRule *key)
{
	bool		same = access->index == index;
	Oid			heap = same ? access->heap : IndexGetRelation(index, true);
	uint64		generation;

	if (!OidIsValid(heap))
		report_not_index(index);

	/* a lock that is held already would not look for messages */
	AcceptInvalidationMessages();
	LockRelationOid(heap, AccessShareLock);
	LockRelationOid(index, AccessShareLock);

	if (same && access->generation == catalog_generation && access->user == GetUserId())
	{
		if (access->leaves == &access->self && access->self.index == index)
			return;
		/* partitions are locked in the order in which they were found */
		for (int i = 0; i < access->nleaves; i++)
		{
			LockRelationOid(access->leaves[i].heap, AccessShareLock);
			LockRelationOid(access->leaves[i].index, AccessShareLock);
		}
		if (access->generation == catalog_generation)
			return;
	}

	/* if this fails, the next call checks again */
	watch_catalogs();
	MemoryContextReset(access->context);
	access->generation = 0;
	access->index = InvalidOid;
	access->heap = heap;
	access->user = GetUserId();
	generation = catalog_generation;
	check_index(access, index, key);
	access->generation = generation;
}

/*
 * Whether a snapshot of a standby is older than an index as it is now.  A build
 * leaves out the rows that are dead to every snapshot of the primary, which does
 * not know those of its standbys unless they tell (hot_standby_feedback), and
 * nothing of a build conflicts with them as VACUUM does.
 *
 * A row that the build took for dead was deleted by a transaction that had ended
 * before the one that made the index did.  So a snapshot that sees that one as
 * ended does not see the row.  That is the last to have changed the index's
 * entry in pg_index (CREATE INDEX, also CONCURRENTLY) or pg_class (REINDEX).
 */
static bool
was_built_after(Relation index, Snapshot snapshot)
{
	HeapTuple	tuple;
	bool		after;

	if (XidInMVCCSnapshot(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data), snapshot))
		return true;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(index)));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", RelationGetRelid(index));
	after = XidInMVCCSnapshot(HeapTupleHeaderGetXmin(tuple->t_data), snapshot);
	ReleaseSysCache(tuple);
	return after;
}

/*
 * Whether an index has the key of each row that a snapshot sees.  One that was
 * built while row versions of an older snapshot were about does not know these:
 * so long as such a snapshot can be ours, it says absent for keys that we see.
 * The planner has the first rule, too, but not the one for standbys: see
 * get_relation_info().
 */
bool
bf_index_has_rows_of(Relation index, Snapshot snapshot)
{
	if (unlikely(index->rd_index->indcheckxmin) &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data),
							   TransactionXmin))
		return false;
	/* also such a snapshot that has outlived the standby's promotion */
	return likely(!snapshot->takenDuringRecovery) || !was_built_after(index, snapshot);
}

/* Open the index of one partition, or of the table, for looking keys up. */
Relation
bf_index_open_leaf(const BfIndexLeaf *leaf)
{
	Relation	index = relation_open(leaf->index, NoLock);

	if (unlikely(!bf_index_has_rows_of(index, GetActiveSnapshot())))
		report_unusable(index,
						"It was built over rows that had just changed, and your snapshot may see them as they were.",
						"Ask it in a new transaction.");
	return index;
}
