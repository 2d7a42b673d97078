/*-------------------------------------------------------------------------
 *
 * sketch_sql.c
 *	  What the SQL functions of both sketches share: checks of arguments,
 *	  with their errors.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "sketch_sql.h"

/* Report why a shape cannot be had; return if it can. */
static void
check_shape(BfShapeError error)
{
	switch (error)
	{
		case BF_SHAPE_OK:
			return;
		case BF_SHAPE_WIDTH:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("width must be at least 1")));
			break;
		case BF_SHAPE_DEPTH:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("depth must be between 1 and %d", BF_MAX_DEPTH)));
			break;
		case BF_SHAPE_ERROR:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("error must be greater than 0 and less than 1"),
					 errhint("It is a fraction of the total, not a percentage: 0.1%% is 0.001.")));
			break;
		case BF_SHAPE_PROBABILITY:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("probability must be greater than 0 and less than 1"),
					 errhint("It is that of a count exceeding the error: 1%% is 0.01.")));
			break;
		case BF_SHAPE_PROBABILITY_TOO_SMALL:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("probability is too small"),
					 errdetail("It would need more than %d rows of counters.",
							   BF_MAX_DEPTH)));
			break;
		case BF_SHAPE_TOO_LARGE:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("sketch would be too large"),
					 errdetail("A sketch has at most " UINT64_FORMAT " counters.",
							   BF_MAX_PAYLOAD / sizeof(uint64)),
					 errhint("Use a smaller width and depth, or a greater error and probability.")));
			break;
	}
}

/* The shape that a user wrote down. */
BfShape
bf_sketch_shape(int64 width, int64 depth)
{
	BfShape		shape;

	check_shape(bf_shape_check(width, depth));
	shape.width = (uint64) width;
	shape.depth = (uint32) depth;
	return shape;
}

BfShape
bf_sketch_shape_for_error(double error, double probability)
{
	BfShape		shape = {0, 0};

	check_shape(bf_shape_for_error(error, probability, &shape));
	return shape;
}

/* What a key is counted by. */
uint64
bf_sketch_weight(int64 weight)
{
	if (weight < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("count must not be negative"),
				 errdetail("A sketch cannot take counts back, because keys share its counters.")));
	return (uint64) weight;
}

/* By how much a count is above the truth, but for the probability. */
double
bf_sketch_error_bound(const BfFilter *header)
{
	return bf_shape_error(bf_shape(header)) * (double) bf_count_min_total(header);
}

static char *
describe(const BfFilter *sketch)
{
	if (sketch->kind == BF_KIND_TOP_K)
		return psprintf("k " UINT64_FORMAT ", width " UINT64_FORMAT " and depth %u",
						(uint64) sketch->detail, sketch->bits, sketch->hashes);
	return psprintf("width " UINT64_FORMAT " and depth %u", sketch->bits, sketch->hashes);
}

/* Report the difference if two sketches of one type cannot be combined. */
void
bf_sketch_check_same(const BfFilter *left, const BfFilter *right)
{
	if (bf_count_min_same_shape(left, right) && left->detail == right->detail)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("sketches of different dimensions cannot be combined"),
			 errdetail("One has %s, the other %s.", describe(left), describe(right)),
			 errhint("Create all of them with the same parameters.")));
}

void
bf_sketch_agg_report_null(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("%s must not be null", name)));
}

void
bf_sketch_agg_report_change(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("parameters must be the same for all rows of an aggregate")));
}
