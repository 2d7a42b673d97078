/*-------------------------------------------------------------------------
 *
 * expanded.c
 *	  A filter as an expanded object, which a function may change in place.
 *
 * Functions that add or remove keys return such an object.  Who holds it, a
 * variable of PL/pgSQL for one, can give the next of these functions the right
 * to change it: then adding a key costs as much as setting its bits, and no
 * copy of megabytes.  In the object the filter is as it would be flat, so that
 * the gateway hands it out as it is.
 *
 * PL/pgSQL gives that right to a variable in "f := bloom_add(f, key)" since
 * version 18, after asking bf_change_support().  In return the function must
 * leave the object as it was when it fails, be it because it is cancelled.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "expanded.h"

#include "nodes/primnodes.h"
#include "nodes/supportnodes.h"
#include "utils/memutils.h"

BF_FUNCTION(bf_change_support);

/* Larger payloads are not counted anew after every change, even in debug builds. */
#define BF_CHECKED_SIZE		(64 * 1024)

static Size
flat_size(ExpandedObjectHeader *header)
{
	return VARSIZE(((BfExpanded *) header)->filter);
}

static void
flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	const BfFilter *filter = ((BfExpanded *) header)->filter;

	Assert(size == VARSIZE(filter));
	memcpy(result, filter, size);
}

static const ExpandedObjectMethods expanded_filter_methods = {
	.get_flat_size = flat_size,
	.flatten_into = flatten
};

/* An object without a filter yet, in memory of its own below parent. */
BfExpanded *
bf_expanded_create(MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "bloomfilter expanded filter",
												  ALLOCSET_START_SMALL_SIZES);
	BfExpanded *object = (BfExpanded *) MemoryContextAllocZero(context, sizeof(BfExpanded));

	EOH_init_header(&object->header, &expanded_filter_methods, context);
	return object;
}

/*
 * The object of an expanded datum.  NULL when it is not ours: another library
 * that was built with this file has methods of its own.
 */
BfExpanded *
bf_expanded_find(Datum datum)
{
	ExpandedObjectHeader *header = DatumGetEOHP(datum);

	return header->eoh_methods == &expanded_filter_methods ? (BfExpanded *) header : NULL;
}

/* Give an object its filter, new or changed; it must be in the object's memory. */
void
bf_expanded_set(BfExpanded *object, BfFilter *filter)
{
	object->filter = filter;
#ifdef USE_ASSERT_CHECKING
	/* a check that is interrupted would look like a change that failed */
	HOLD_INTERRUPTS();
	Assert(GetMemoryChunkContext(filter) == object->header.eoh_context);
	Assert(bf_format_check(filter, VARSIZE(filter), BF_KIND_ANY) == NULL);
	if (VARSIZE(filter) <= BF_CHECKED_SIZE)
		Assert(bf_format((BfKind) filter->kind)->check_payload(filter) == NULL);
	RESUME_INTERRUPTS();
#endif
}

/*
 * Planner support of the functions that change a filter by keys: in an
 * assignment to the variable that is their first argument they may change it
 * in place.  Other arguments may refer to it as well, because keys are hashed
 * before anything is changed.  A domain over a filter type is not meant here:
 * its check can refuse the result when the variable has already changed.
 */
Datum
bf_change_support(PG_FUNCTION_ARGS)
{
	Node	   *answer = NULL;

#ifdef BF_HAS_MODIFY_IN_PLACE
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestModifyInPlace))
	{
		SupportRequestModifyInPlace *question = (SupportRequestModifyInPlace *) request;
		Param	   *filter = (Param *) linitial(question->args);

		if (filter != NULL && IsA(filter, Param) && filter->paramkind == PARAM_EXTERN &&
			filter->paramid == question->paramid)
			answer = (Node *) filter;
	}
#endif
	PG_RETURN_POINTER(answer);
}
