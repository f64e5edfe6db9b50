/*
 * The slot notes which files of its own a worker opens (`trace: files`).
 *
 * All files that a program can open lie in the tmpfs below /work and /tmp, except those of the
 * runtime's read-only tree.  The kernel reports each opening there to the slot (inotify), whatever
 * process of the run it was, and the program cannot influence that.  Other runs pay nothing.
 *
 * Files, folders and bytes are limited; what exceeds the limit is counted.  A folder is watched
 * from a moment after it was made: files that were opened in it before count as made and written.
 *
 * The notes lie in a mapping of their own, which is unmapped before the next worker is forked.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

struct opened {
	int notify; /* -1: not asked for */
	int report; /* the file that the daemon reads */
	struct opened_notes *notes;
};

#define OPENED_INIT           \
	{                     \
		-1, -1, NULL, \
	}

/*
 * Starts.  `mount` is the worker's tmpfs.  Takes `report` on every path, a file that holds the
 * folders of the job's files, each "work/..." with a NUL; they are made now.
 */
int opened_start(struct opened *opened, int mount, int report, struct err *err);

/*
 * Reads some events, so that a program which opens files without end does not block the slot.
 * False: there was none.
 */
bool opened_take(struct opened *opened);

/* Writes the notes to the report, as struct slotmsg_opened_head and rows (slotmsg.h). */
void opened_tell(struct opened *opened);

/* Frees everything.  May be called twice, and if it was never started. */
void opened_forget(struct opened *opened);
