/*-------------------------------------------------------------------------
 *
 * sketch_sql.h
 *	  What the SQL functions of both sketches share: checks of arguments.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_SKETCH_SQL_H
#define BF_SKETCH_SQL_H

#include "count_min.h"

/* Keys that wait for their counters, and the size from which on they do. */
#define BF_WAITING_KEYS		16
#define BF_WAITING_MIN_SIZE	(1024 * 1024)

extern BfShape bf_sketch_shape(int64 width, int64 depth);
extern BfShape bf_sketch_shape_for_error(double error, double probability);
extern uint64 bf_sketch_weight(int64 weight);
extern double bf_sketch_error_bound(const BfFilter *header);
extern void bf_sketch_check_same(const BfFilter *left, const BfFilter *right);

/* Parameters of an aggregate, asked again for each row. */
extern void bf_sketch_agg_report_null(const char *name);
extern void bf_sketch_agg_report_change(void);

static inline double
bf_sketch_agg_float8(FunctionCallInfo fcinfo, int argument, const char *name)
{
	if (unlikely(PG_ARGISNULL(argument)))
		bf_sketch_agg_report_null(name);
	return PG_GETARG_FLOAT8(argument);
}

static inline void
bf_sketch_agg_check_same(bool same)
{
	if (unlikely(!same))
		bf_sketch_agg_report_change();
}

#endif							/* BF_SKETCH_SQL_H */
