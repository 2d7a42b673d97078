/*-------------------------------------------------------------------------
 *
 * callsite.c
 *	  What one call site in a query keeps from call to call.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "callsite.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* The type of an argument at this call site. */
static Oid
argument_type(FunctionCallInfo fcinfo, int argument)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, argument);

	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine the type of the filter key")));
	return type;
}

/* The first call of a function that takes one key. */
BfCallSite *
bf_call_site_create(FunctionCallInfo fcinfo, int key_argument)
{
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	BfCallSite *site;

	site = (BfCallSite *) MemoryContextAllocZero(context, sizeof(BfCallSite));
	site->context = context;
	bf_key_rule_init(&site->rule, argument_type(fcinfo, key_argument),
					 PG_GET_COLLATION(), context);
	fcinfo->flinfo->fn_extra = site;
	return site;
}

/* A function that takes an array of keys. */
BfCallSite *
bf_call_site_for_keys(FunctionCallInfo fcinfo, int keys_argument)
{
	BfCallSite *site = (BfCallSite *) fcinfo->flinfo->fn_extra;

	if (site == NULL)
	{
		MemoryContext context = fcinfo->flinfo->fn_mcxt;
		Oid			type = getBaseType(argument_type(fcinfo, keys_argument));
		Oid			element = get_element_type(type);

		if (!OidIsValid(element))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("type %s is not an array of filter keys",
							format_type_be(type))));
		site = (BfCallSite *) MemoryContextAllocZero(context, sizeof(BfCallSite));
		site->context = context;
		get_typlenbyvalalign(element, &site->element_length,
							 &site->element_by_value, &site->element_align);
		bf_key_rule_init(&site->rule, element, PG_GET_COLLATION(), context);
		fcinfo->flinfo->fn_extra = site;
	}
	return site;
}
