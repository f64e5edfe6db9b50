/*
 * How much work one check may cost.  It is never measured by the wall clock, which runs on while a
 * busy host gives the processor to others.
 *
 * The first bound is a number of looks.  Code that may take long calls effort_is_spent() after a
 * fixed piece of work.  So every host gives up the same text at the same place.  The second bound
 * is CPU time, for work that costs more than it seems.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Called after each INSPECT_BEAT_US of CPU time, to report that the work goes on. */
typedef void effort_beat(void *context);

struct effort {
	uint64_t looks_left;
	uint32_t steps;
	int64_t cpu_end_us;
	int64_t cpu_beat_us;
	int64_t look_us; /* wall clock: when to read the CPU clock again */
	bool spent;
	effort_beat *beat; /* may be NULL */
	void *context;
};

/* Allows `looks` and `cpu_us` from now on. */
void effort_begin(
	struct effort *effort, uint64_t looks, int64_t cpu_us, effort_beat *beat, void *context);

/* Takes one look.  Once true, it stays true. */
bool effort_is_spent(struct effort *effort);

/*
 * Adds small steps of some ten nanoseconds each.  1,024 of them take one look.  Returns true once
 * the effort is spent.
 */
bool effort_add(struct effort *effort, uint32_t steps);
