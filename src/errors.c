/*-------------------------------------------------------------------------
 *
 * errors.c
 *	  Errors that more than one SQL function reports.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "errors.h"

#include "counting.h"
#include "cuckoo.h"
#include "scalable.h"
#include "utils/builtins.h"

/* Report why what the user asked for cannot be had; return if it can. */
void
bf_check_params(BfParamsError error)
{
	switch (error)
	{
		case BF_PARAMS_OK:
			return;
		case BF_PARAMS_CAPACITY:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("capacity must be at least 1")));
			break;
		case BF_PARAMS_FPR:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("false positive rate must be greater than 0 and less than 1"),
					 errhint("The rate is a fraction, not a percentage: 1%% is 0.01.")));
			break;
		case BF_PARAMS_FPR_TOO_SMALL:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("false positive rate is too small"),
					 errdetail("It would need more than %d hashes of each key.",
							   BF_MAX_HASHES)));
			break;
		case BF_PARAMS_TOO_LARGE:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("filter would be too large"),
					 errdetail("A filter has at most " UINT64_FORMAT " bits.",
							   BF_MAX_BITS),
					 errhint("Use a smaller capacity or a greater false positive rate, or several filters.")));
			break;
		case BF_PARAMS_BITS:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("number of bits must be between 1 and " UINT64_FORMAT,
							BF_MAX_BITS)));
			break;
		case BF_PARAMS_HASHES:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("number of hashes must be between 1 and %d",
							BF_MAX_HASHES)));
			break;
		case BF_PARAMS_COUNTER_BITS:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("bits of a counter must be 4 or 8")));
			break;
		case BF_PARAMS_TOO_MANY_COUNTERS:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("filter would be too large"),
					 errdetail("The counters of a filter take at most " UINT64_FORMAT " bytes.",
							   BF_MAX_PAYLOAD),
					 errhint("Use a smaller capacity, a greater false positive rate or counters of 4 bits, or several filters.")));
			break;
		case BF_PARAMS_GROWTH:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("growth must be between 1 and %d", BF_MAX_GROWTH)));
			break;
		case BF_PARAMS_TIGHTENING:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("tightening must be greater than 0 and less than 1")));
			break;
		case BF_PARAMS_BUCKET_SIZE:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("bucket size must be between 1 and %d", BF_MAX_BUCKET_SIZE)));
			break;
		case BF_PARAMS_FINGERPRINT_BITS:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("bits of a fingerprint must be 8, 16 or 32")));
			break;
		case BF_PARAMS_ITERATIONS:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("maximum of iterations must be between 1 and %d",
							BF_MAX_ITERATIONS)));
			break;
		case BF_PARAMS_EXPANSION:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("expansion must be between 0 and %d", BF_MAX_EXPANSION)));
			break;
		case BF_PARAMS_TOO_MANY_FINGERPRINTS:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("filter would be too large"),
					 errdetail("The fingerprints of a filter take at most " UINT64_FORMAT " bytes, and the number of buckets is a power of two.",
							   BF_MAX_PAYLOAD),
					 errhint("Use a smaller capacity or fewer bits for a fingerprint, or several filters.")));
			break;
	}
}

/* Report that a filter of that kind could not grow; otherwise return it. */
BfFilter *
bf_check_grown(BfFilter *filter, BfKind kind)
{
	if (filter != NULL)
		return filter;
	if (kind == BF_KIND_CUCKOO_FILTER)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cuckoo filter is full"),
				 errdetail("A filter has at most " UINT64_FORMAT " bytes in %d sub-filters; with an expansion of 0 it has one, and with one above 1 a union cannot move keys to larger sub-filters.",
						   BF_MAX_PAYLOAD, BF_MAX_SUB_FILTERS),
				 errhint("Create it with a greater capacity.")));
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("scalable filter cannot grow any further"),
			 errdetail("A filter has at most " UINT64_FORMAT " bits in %d layers, and a layer at most %d hashes.",
					   BF_MAX_BITS, BF_MAX_LAYERS, BF_MAX_HASHES),
			 errhint("Create it with a greater initial capacity or growth.")));
	return NULL;
}

/* Report why a key could not be added, if so; before is the filter as it was. */
BfFilter *
bf_check_added(BfFilter *filter, const BfFilter *before, BfHash hash)
{
	/* a filter that grew is not where it was */
	if (filter != NULL)
		return filter;
	if (before->kind == BF_KIND_CUCKOO_FILTER &&
		bf_cuckoo_key_count(before, hash) >= bf_cuckoo_max_copies(before))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("key is already held %u times by the cuckoo filter",
						bf_cuckoo_max_copies(before)),
				 errdetail("A key is held at most 2 * bucket_size times, false matches of other keys included."),
				 errhint("Add a key only if it is not held yet, or use a greater bucket size.")));
	return bf_check_grown(NULL, (BfKind) before->kind);
}

/* What must be the same in filters that are combined. */
static char *
describe_geometry(const BfFilter *filter)
{
	const char *scheme = bf_scheme_name((BfScheme) filter->scheme);

	switch ((BfKind) filter->kind)
	{
		case BF_KIND_COUNTING_BLOOM:
			return psprintf(UINT64_FORMAT " counters of %u bits, %u hashes and hash \"%s\"",
							filter->bits, bf_counting_counter_bits(filter),
							filter->hashes, scheme);
		case BF_KIND_SCALABLE_BLOOM:
			return psprintf("hash \"%s\"", scheme);
		case BF_KIND_CUCKOO_FILTER:
			return psprintf(UINT64_FORMAT " buckets of %u fingerprints of %u bits and expansion %u",
							bf_cuckoo_sub_filter(filter, 0).buckets,
							bf_cuckoo_bucket_size(filter),
							bf_cuckoo_fingerprint_bits(filter),
							bf_cuckoo_expansion(filter));
		default:
			return psprintf(UINT64_FORMAT " bits, %u hashes and hash \"%s\"",
							filter->bits, filter->hashes, scheme);
	}
}

/* Report the difference if two filters of one type cannot be combined. */
void
bf_check_same_geometry(const BfFilter *left, const BfFilter *right)
{
	if (bf_filter_same_geometry(left, right))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("filters of different geometry cannot be combined"),
			 errdetail("One has %s, the other %s.",
					   describe_geometry(left), describe_geometry(right)),
			 left->kind == BF_KIND_CUCKOO_FILTER ?
			 errhint("Create all of them with the same capacity, bucket size, bits of a fingerprint and expansion.") :
			 errhint("Create all of them with the same capacity, false positive rate and hash.")));
}

/* The same for what filters that grow cannot do; SQL does not offer it to them. */
void
bf_check_same_fixed_geometry(const BfFilter *left, const BfFilter *right)
{
	if (!bf_filter_has_fixed_size(left))
		elog(ERROR, "filters of type %s cannot be intersected",
			 bf_format_type_name((BfKind) left->kind));
	bf_check_same_geometry(left, right);
}

/* The hash scheme that a user named. */
BfScheme
bf_get_scheme(const text *name)
{
	char	   *string = text_to_cstring(name);
	BfScheme	scheme;

	if (!bf_scheme_by_name(string, &scheme))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized hash \"%s\"", string),
				 errhint("Valid values are \"murmur64a\" and \"fnv1a\".")));
	pfree(string);
	return scheme;
}
