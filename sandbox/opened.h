/*
 * Which files of its own a worker opens, noted by its slot (`trace: files`).
 *
 * Everything that a program can open and that is not the runtime's own, read-only tree lies in the
 * tmpfs below /work and /tmp.  The kernel tells the slot of each opening there (inotify), whatever
 * library or process of the run it was; nothing inside has a say in it.  A program that is not asked
 * about pays nothing.
 *
 * Bounded in files, folders and bytes; what finds no room is counted.  A folder is looked into from a
 * moment after it was made: what was opened in it before that is taken for made and written.
 *
 * What is noted lies in memory of its own, which is given back before the next worker is forked.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

struct opened {
	int notify; /* -1: nobody asked */
	int report; /* where the daemon wants it told */
	struct opened_notes *notes;
};

#define OPENED_INIT           \
	{                     \
		-1, -1, NULL, \
	}

/*
 * Begins.  `mount` is the worker's tmpfs.  Takes `report`, a file, on every path; it holds the folders
 * that the job's files will lie in, each "work/..." and a NUL, which are made now.
 */
int opened_start(struct opened *opened, int mount, int report, struct err *err);

/*
 * Takes a part of what the kernel has to tell, so that a program which opens without end does not keep
 * its slot from all else.  False: there was nothing.
 */
bool opened_take(struct opened *opened);

/* Writes what was noted, as struct slotmsg_opened_head and rows (slotmsg.h). */
void opened_tell(struct opened *opened);

/* Forgets it all.  May be called twice, and when nobody asked. */
void opened_forget(struct opened *opened);
