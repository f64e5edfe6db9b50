/*
 * What a collector sent, turned into artifacts and a list of what was skipped.  The bytes come from
 * the slot, which read a folder that a hostile program filled: names are checked here once more.
 */
#pragma once

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/job/job.h"

/*
 * Fills artifacts and skipped of *result, which then point into `bytes`.  The program's own file, when
 * it is still as we wrote it, is no artifact.  -1: not what a collector sends.
 */
int artifacts_read(struct arena *arena, const struct buf *bytes, const struct job_spec *spec,
	struct job_result *result, struct err *err);
