/*-------------------------------------------------------------------------
 *
 * index_vacuum.c
 *	  VACUUM of a bloomfilter index, and what a scan of it costs.
 *
 * A filter cannot forget: the bits of a deleted key may be those of others.
 * It stays until REINDEX; bloom_index_info tells when that is worth it.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "access/genam.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"

/*
 * ambulkdelete: there are no row addresses to take out.  Also the way in which
 * CREATE INDEX CONCURRENTLY asks which rows are in the index: with none
 * reported, it inserts all of them again, which changes nothing.
 */
IndexBulkDeleteResult *
bf_index_bulk_delete(IndexVacuumInfo *info pg_attribute_unused(),
					 IndexBulkDeleteResult *stats,
					 IndexBulkDeleteCallback callback pg_attribute_unused(),
					 void *callback_state pg_attribute_unused())
{
	if (stats == NULL)
		stats = (IndexBulkDeleteResult *) palloc0(sizeof(IndexBulkDeleteResult));
	return stats;
}

/* amvacuumcleanup */
IndexBulkDeleteResult *
bf_index_vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (info->analyze_only)
		return stats;
	if (stats == NULL)
		stats = (IndexBulkDeleteResult *) palloc0(sizeof(IndexBulkDeleteResult));
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	stats->num_index_tuples = Max(info->num_heap_tuples, 0.0);
	/* of a partial index that is only a bound: then nothing is stored */
	stats->estimated_count = info->estimated_count ||
		RelationGetIndexPredicate(info->index) != NIL;
	return stats;
}

/*
 * amcostestimate: the planner cannot know whether the key is absent, and if it
 * is not, all of the table is read.  No other index may lose against that,
 * however many rows it finds, neither by itself nor as a part of a bitmap; so
 * the whole cost is put on this side, ten times that of reading every row and
 * page of the table at random.
 */
void
bf_index_cost(PlannerInfo *root pg_attribute_unused(), IndexPath *path,
			  double loop_count pg_attribute_unused(), Cost *startup_cost,
			  Cost *total_cost, Selectivity *selectivity, double *correlation,
			  double *pages)
{
	RelOptInfo *table = path->indexinfo->rel;

	*startup_cost = 10.0 * ((table->pages + path->indexinfo->pages) * random_page_cost +
							Max(table->tuples, 1.0) *
							(cpu_tuple_cost + cpu_index_tuple_cost + cpu_operator_cost));
	*total_cost = *startup_cost;
	*selectivity = 1.0;
	*correlation = 0.0;
	*pages = path->indexinfo->pages;
}
