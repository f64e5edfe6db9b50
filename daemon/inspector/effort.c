#include "daemon/inspector/effort.h"

#include "proto/base/clock.h"
#include "proto/internal/inspectmsg.h"

#define STEPS_PER_LOOK 1024U /* some ten microseconds, as between other looks */

static int64_t cpu_now_us(void)
{
	return clock_us_of(CLOCK_PROCESS_CPUTIME_ID);
}

/*
 * Reading the CPU clock costs a system call; reading the wall clock does not.  One thread cannot
 * use more CPU time than wall time passes, so the CPU clock is not read before that much has
 * passed.
 */
static void set_next_look(struct effort *effort, int64_t cpu_us)
{
	int64_t next_us = effort->cpu_end_us;

	if (effort->beat && effort->cpu_beat_us < next_us)
		next_us = effort->cpu_beat_us;
	effort->look_us = clock_us() + (next_us - cpu_us);
}

void effort_begin(
	struct effort *effort, uint64_t looks, int64_t cpu_us, effort_beat *beat, void *context)
{
	int64_t now_us = cpu_now_us();

	*effort = (struct effort){ .looks_left = looks,
		.cpu_end_us = now_us + cpu_us,
		.cpu_beat_us = now_us + INSPECT_BEAT_US,
		.beat = beat,
		.context = context };
	set_next_look(effort, now_us);
}

static void look_at_cpu(struct effort *effort)
{
	int64_t now_us = cpu_now_us();

	if (now_us >= effort->cpu_end_us)
		effort->spent = true;
	if (effort->beat && now_us >= effort->cpu_beat_us) {
		effort->cpu_beat_us = now_us + INSPECT_BEAT_US;
		effort->beat(effort->context);
	}
	set_next_look(effort, now_us);
}

bool effort_is_spent(struct effort *effort)
{
	if (effort->spent)
		return true;
	if (effort->looks_left == 0)
		effort->spent = true;
	else
		effort->looks_left--;
	if (!effort->spent && clock_us() >= effort->look_us)
		look_at_cpu(effort);
	return effort->spent;
}

bool effort_add(struct effort *effort, uint32_t steps)
{
	effort->steps += steps;
	if (effort->steps < STEPS_PER_LOOK)
		return effort->spent;
	effort->steps = 0;
	return effort_is_spent(effort);
}
