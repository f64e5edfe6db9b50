/*
 * The files that a program opened (`trace: files`), as its slot noted them and as the result shows
 * them.
 *
 *	{ "complete": true, "others": 0,
 *	  "opened": [ {path, opens, read, written, created, deleted} ] }
 *
 * The daemon makes a file and gives it to the slot, which writes into it.  The daemon checks its
 * contents like all data from a jail.  The result leaves out the opens that created the job's
 * files.
 */
#pragma once

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/job/job.h"

/* Makes the file that the slot writes into (slotmsg.h).  -1 with *err. */
int opened_files_make(const struct job_spec *spec, struct err *err);

/* Returns NULL when the file has no readable contents: the slot could not watch. */
struct value *opened_files_read(struct arena *arena, int fd, const struct job_spec *spec);
