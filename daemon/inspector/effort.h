/*
 * How much one check may cost, in the inspector's own work: never by the clock on the wall, which runs
 * on while a busy host lets others have the processor.
 *
 * The bound that ordinary and hostile texts meet is a number of looks: the places that may take long ask
 * effort_is_spent() after a fixed piece of work, so the same text is given up at the same place on every
 * host.  The bound on CPU time stands behind it, for pieces of work that are dearer than they look.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Called each INSPECT_BEAT_US of CPU time: somebody may want to hear that the work goes on. */
typedef void effort_beat(void *context);

struct effort {
	uint64_t looks_left;
	uint32_t steps;
	int64_t cpu_end_us;
	int64_t cpu_beat_us;
	int64_t look_us; /* on the wall: the CPU clock cannot have got there before */
	bool spent;
	effort_beat *beat; /* may be NULL */
	void *context;
};

/* `looks` and `cpu_us` are what it may cost from here on. */
void effort_begin(
	struct effort *effort, uint64_t looks, int64_t cpu_us, effort_beat *beat, void *context);

/* Takes one look.  Once true, true for good. */
bool effort_is_spent(struct effort *effort);

/*
 * Adds small steps, of some ten nanoseconds each; as many as cost what lies between two looks elsewhere
 * are one look.  True once the effort is spent.
 */
bool effort_add(struct effort *effort, uint32_t steps);
