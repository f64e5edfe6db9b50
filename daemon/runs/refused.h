/*
 * What a program was refused, from its slot's numbers to words: in the result, and as steps of the
 * trace.
 */
#pragma once

#include "daemon/runs/facts.h"
#include "proto/base/arena.h"
#include "proto/job/job.h"

/*
 * Fills in result->refused from the facts, in the order of time.  Times are counted from
 * `begun_us`, and none lies before it or behind `ended_us`: the slot's clock is ours, but the
 * beginning is what the worker said.  What does not fit the arena is left out.
 */
void refused_tell(struct arena *arena, const struct facts *facts, int64_t begun_us,
	int64_t ended_us, struct job_result *result);

/* "socket(AF_INET) 3 times: open an internet socket". */
const char *refused_note(struct arena *arena, const struct job_refused *refused);
