/*
 * Turns the bytes of a collector into artifacts and a list of skipped files.  The bytes come from
 * the slot, which read a folder that a hostile program filled.  So this module checks all names
 * again.
 */
#pragma once

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/job/job.h"

/*
 * Fills artifacts and skipped of *result, which then point into `bytes`.  The program's own file is
 * no artifact while it is unchanged.  -1: the bytes are not what a collector sends.
 */
int artifacts_read(struct arena *arena, const struct buf *bytes, const struct job_spec *spec,
	struct job_result *result, struct err *err);
