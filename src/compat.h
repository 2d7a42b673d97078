/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  What differs between server versions and between server and tools.
 *
 * Every PG_VERSION_NUM of the project is in this file.  The algorithm files
 * (hash, params, bits, format and one per structure) also build with FRONTEND
 * defined, without a server, for the fuzz and instruction-count harnesses;
 * nothing else does.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_COMPAT_H
#define BF_COMPAT_H

#ifdef FRONTEND
#include "postgres_fe.h"
#else
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
#endif

/*
 * Our libraries are built with -fvisibility=hidden, because the postgres
 * binary exports functions of the names a Bloom filter likes.  Servers before
 * 16 leave PGDLLEXPORT empty on Unix and do not apply it to the function that
 * PG_FUNCTION_INFO_V1 announces, so both are made explicit here.
 */
#if defined(__GNUC__) && !defined(WIN32)
#undef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#endif

#define BF_FUNCTION(name) \
	PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
	PG_FUNCTION_INFO_V1(name)

/* Soft errors came with 16; before, an input error is always thrown. */
#ifndef FRONTEND
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#define bf_soft_error(context, dummy_value, ...) \
	ereturn(context, dummy_value, __VA_ARGS__)
#else
#define bf_soft_error(context, dummy_value, ...) \
	do { \
		(void) (context); \
		ereport(ERROR, __VA_ARGS__); \
		return dummy_value; \
	} while (0)
#endif
#endif

/* Reading chunks of a TOAST table directly. */
#ifndef FRONTEND
#if PG_VERSION_NUM >= 180000
#define bf_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan(heap, index, snapshot, NULL, nkeys, 0)
#define bf_toast_snapshot(snapshot_data) get_toast_snapshot()
#else
#define bf_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan(heap, index, snapshot, nkeys, 0)
#define bf_toast_snapshot(snapshot_data) \
	(init_toast_snapshot(snapshot_data), (Snapshot) (snapshot_data))
#endif
#endif

/* Foreign tables: see redis/. */
#ifndef FRONTEND
#if PG_VERSION_NUM >= 180000
#define bf_create_foreignscan_path(root, rel, rows, impossible, cost, outer) \
	create_foreignscan_path(root, rel, NULL, rows, (impossible) ? 1 : 0, cost, cost, NIL, outer, NULL, NIL, NIL)
#elif PG_VERSION_NUM >= 170000
#define bf_create_foreignscan_path(root, rel, rows, impossible, cost, outer) \
	create_foreignscan_path(root, rel, NULL, rows, cost, cost, NIL, outer, NULL, NIL, NIL)
#else
#define bf_create_foreignscan_path(root, rel, rows, impossible, cost, outer) \
	create_foreignscan_path(root, rel, NULL, rows, cost, cost, NIL, outer, NULL, NIL)
#endif
#if PG_VERSION_NUM >= 170000
#define bf_estimate_array_length(root, array)	estimate_array_length(root, array)
#else
#define bf_estimate_array_length(root, array)	((void) (root), estimate_array_length(array))
#endif
#if PG_VERSION_NUM >= 160000
#define bf_scan_check_as(node) \
	(((ForeignScan *) (node)->ss.ps.plan)->checkAsUser)
#define bf_modify_check_as(result, estate)		ExecGetResultRelCheckAsUser(result, estate)
#define bf_server_aclcheck(server, role, mode) \
	object_aclcheck(ForeignServerRelationId, server, role, mode)
#else
#define bf_scan_check_as(node) \
	(exec_rt_fetch(((Scan *) (node)->ss.ps.plan)->scanrelid, (node)->ss.ps.state)->checkAsUser)
/* a partition that rows are routed to is not in the range table, but its root is */
#if PG_VERSION_NUM >= 140000
#define bf_modify_entry(result) \
	((result)->ri_RangeTableIndex == 0 && (result)->ri_RootResultRelInfo != NULL ? \
	 (result)->ri_RootResultRelInfo->ri_RangeTableIndex : (result)->ri_RangeTableIndex)
#else
#define bf_modify_entry(result)		((result)->ri_RangeTableIndex)
#endif
#define bf_modify_check_as(result, estate) \
	(bf_modify_entry(result) == 0 ? InvalidOid : \
	 exec_rt_fetch(bf_modify_entry(result), estate)->checkAsUser)
#define bf_server_aclcheck(server, role, mode)	pg_foreign_server_aclcheck(server, role, mode)
#endif
/* where EXPLAIN's state, and what prints it, are declared */
#if PG_VERSION_NUM >= 180000
#define BF_EXPLAIN_STATE_HEADER		"commands/explain_state.h"
#define BF_EXPLAIN_FORMAT_HEADER	"commands/explain_format.h"
#else
#define BF_EXPLAIN_STATE_HEADER		"commands/explain.h"
#define BF_EXPLAIN_FORMAT_HEADER	"commands/explain.h"
#endif
#endif

/* PL/pgSQL asks whether a function may change a variable in place. */
#ifndef FRONTEND
#if PG_VERSION_NUM >= 180000
#define BF_HAS_MODIFY_IN_PLACE 1
#endif
#endif

/* Before the declaration of a function; 18 renamed it. */
#if PG_VERSION_NUM >= 180000
#define bf_noreturn pg_noreturn
#else
#define bf_noreturn pg_attribute_noreturn()
#endif

/* Since 16, an index that knows no row addresses lets HOT updates survive. */
#if PG_VERSION_NUM >= 160000
#define bf_set_summarizing(routine) ((routine)->amsummarizing = true)
#else
#define bf_set_summarizing(routine) ((void) (routine))
#endif

/* A harness has no server that could ask it to stop. */
#ifdef FRONTEND
#define BF_CHECK_FOR_INTERRUPTS() ((void) 0)
#undef SET_VARSIZE
#define SET_VARSIZE(value, size) (*(int32 *) (value) = (int32) (size))
#else
#define BF_CHECK_FOR_INTERRUPTS() CHECK_FOR_INTERRUPTS()
#endif

/*
 * What a record of generic WAL says of a page: for each region that changed its
 * offset and length, two bytes each, then its bytes.  So it is from 9.6 to 18;
 * index_insert.c leaves it to newer servers to write it.
 */
#define BF_GENERIC_WAL_IS_KNOWN (PG_VERSION_NUM < 190000)

/*
 * Ask for large pages below memory that nobody has touched yet and that will be
 * filled as a whole or accessed at random: where the kernel has them, there are
 * few faults, and its page table stays in the cache.  Pages that other memory
 * shares are left alone.  Only a hint.
 */
#if defined(__linux__)
#include <sys/mman.h>
#endif
#ifdef MADV_HUGEPAGE
#define BF_LARGE_PAGE	((uintptr_t) 2 * 1024 * 1024)
static inline void
bf_advise_large_pages(void *memory, size_t size)
{
	uintptr_t	start = TYPEALIGN(BF_LARGE_PAGE, (uintptr_t) memory);
	uintptr_t	end = TYPEALIGN_DOWN(BF_LARGE_PAGE, (uintptr_t) memory + size);

	if (end > start)
		(void) madvise((void *) start, end - start, MADV_HUGEPAGE);
}
#else
#define bf_advise_large_pages(memory, size) ((void) 0)
#endif

#if defined(__GNUC__)
#define bf_prefetch_write(address) __builtin_prefetch((address), 1, 3)
#define bf_prefetch_read(address) __builtin_prefetch((address), 0, 3)
#else
#define bf_prefetch_write(address) ((void) 0)
#define bf_prefetch_read(address) ((void) 0)
#endif

#endif							/* BF_COMPAT_H */
