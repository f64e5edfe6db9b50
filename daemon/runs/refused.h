/*
 * The system calls that a program was refused: turns the numbers from its slot into text for the
 * result and for the steps of the trace.
 */
#pragma once

#include "daemon/runs/facts.h"
#include "proto/base/arena.h"
#include "proto/job/job.h"

/*
 * Fills in result->refused from the facts, sorted by time.  Times count from `begun_us`, and none
 * is before it or after `ended_us`.  The slot uses our clock, but the beginning comes from the
 * worker.  When the arena has no room, the result has none of them.
 */
void refused_tell(struct arena *arena, const struct facts *facts, int64_t begun_us,
	int64_t ended_us, struct job_result *result);

/* Returns text such as "socket(AF_INET), 3 times: tried to open an internet socket". */
const char *refused_note(struct arena *arena, const struct job_refused *refused);
