/*-------------------------------------------------------------------------
 *
 * tempfile.c
 *	  A temporary file that is closed with a memory context.
 *
 * An aggregate's state has no end of its own: its memory context is reset when
 * the group or the query is over, in a window as well as in a plain
 * aggregate.  But the file also belongs to the resource owner of the query,
 * and after an error that one may be released first: with the subtransaction
 * in which a cursor of an outer one failed, long before the cursor is closed.
 * Then the file is gone, its descriptor perhaps somebody else's, and the
 * context must not touch it.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "tempfile.h"

#include "access/xact.h"
#include "storage/buffile.h"
#include "utils/resowner.h"

/* Bytes written between two looks whether the query was cancelled. */
#define BF_TEMPFILE_PIECE_BYTES	((Size) 4 * 1024 * 1024)

struct BfTempFile
{
	BufFile    *file;			/* NULL: its owner has closed it */
	ResourceOwner owner;
	int			end_segment;	/* where to append */
	off_t		end_offset;
	bool		at_end;
	MemoryContextCallback callback;
};

/* Called whenever any resource owner is released; ours closes the file itself. */
static void
forget_with_owner(ResourceReleasePhase phase, bool is_commit pg_attribute_unused(),
				  bool is_top_level pg_attribute_unused(), void *argument)
{
	BfTempFile *file = (BfTempFile *) argument;

	if (phase == RESOURCE_RELEASE_BEFORE_LOCKS && CurrentResourceOwner == file->owner)
		file->file = NULL;
}

/*
 * When an aborting transaction resets the context, the owner is released soon;
 * closing the file here could write its buffer, and fail, in the middle of the
 * abort.
 */
static void
close_with_context(void *argument)
{
	BfTempFile *file = (BfTempFile *) argument;

	UnregisterResourceReleaseCallback(forget_with_owner, file);
	if (file->file != NULL && IsTransactionState())
		BufFileClose(file->file);
	file->file = NULL;
}

/* The file belongs to the query that runs and ends with context at the latest. */
BfTempFile *
bf_tempfile_create(MemoryContext context)
{
	MemoryContext old_context = MemoryContextSwitchTo(context);
	BfTempFile *file = (BfTempFile *) palloc0(sizeof(BfTempFile));

	file->callback.func = close_with_context;
	file->callback.arg = file;
	file->owner = CurrentResourceOwner;
	RegisterResourceReleaseCallback(forget_with_owner, file);
	MemoryContextRegisterResetCallback(context, &file->callback);
	file->file = BufFileCreateTemp(false);
	file->at_end = true;
	MemoryContextSwitchTo(old_context);
	return file;
}

static void
seek(BfTempFile *file, int segment, off_t offset)
{
	if (BufFileSeek(file->file, segment, offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file of an aggregate")));
}

void
bf_tempfile_append(BfTempFile *file, const void *data, Size size)
{
	if (!file->at_end)
		seek(file, file->end_segment, file->end_offset);
	while (size > 0)
	{
		Size		piece = Min(size, BF_TEMPFILE_PIECE_BYTES);

		CHECK_FOR_INTERRUPTS();
		BufFileWrite(file->file, unconstify(void *, data), piece);
		data = (const char *) data + piece;
		size -= piece;
	}
	BufFileTell(file->file, &file->end_segment, &file->end_offset);
	file->at_end = true;
}

void
bf_tempfile_read(BfTempFile *file, uint64 offset, void *data, Size size)
{
	seek(file, 0, (off_t) offset);
	file->at_end = false;
	if (BufFileRead(file->file, data, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file of an aggregate")));
}
