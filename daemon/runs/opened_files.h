/*
 * What a slot noted of the files that a program opened (`trace: files`), as the result tells it.
 *
 *	{ "complete": true, "others": 0, "opened": [ {path, opens, read, written, created, deleted} ] }
 *
 * The slot writes into a file that we made and gave it; what is in there is checked like anything
 * that comes from a jail.  What the house did with a file of the job, making it, is left out.
 */
#pragma once

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/job/job.h"

/* The file for a slot to write into (slotmsg.h).  -1 with *err. */
int opened_files_make(const struct job_spec *spec, struct err *err);

/* NULL when it holds nothing that could be read: the slot could not watch. */
struct value *opened_files_read(struct arena *arena, int fd, const struct job_spec *spec);
