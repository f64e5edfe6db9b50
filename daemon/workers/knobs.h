/*
 * The cgroup files of one slot, opened by the spawner: limits are set and facts are read through
 * them.  A knob that this host does not have is -1 and every function copes with that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/internal/privmsg.h"
#include "proto/job/job.h"

struct knobs {
	int fds[KNOB_COUNT]; /* KNOB_JOIN is kept apart: there may be several */
	int join[6];
	unsigned join_count;
	uint64_t memory_set; /* what was written last, so that it is not written again */
	uint64_t pids_set;
	uint64_t cpu_set;
};

/* What the counters said at one moment. */
struct knob_counts {
	uint64_t memory_peak; /* 0 where it was set to 0 then; else of all workers until then */
	uint64_t cpu_user_us, cpu_sys_us;
	uint64_t oom_kills;
	uint64_t oom_own; /* v2: how often its own limit was what it ran into */
	bool has_oom_own;
	uint64_t pids_refused;
};

void knobs_init(struct knobs *knobs);

/* Takes the descriptors.  -1 when the list makes no sense; then they are closed. */
int knobs_take(struct knobs *knobs, const struct priv_knobs *which, int *fds, unsigned fd_count);
void knobs_done(struct knobs *knobs);

/* Writes what is never changed again: no swap, and no death by halves where memory is used up. */
void knobs_settle(struct knobs *knobs);

bool knobs_hold(const struct knobs *knobs, enum priv_knob knob);

/* Writes those limits that differ from what was written last.  -1 when the kernel refuses. */
int knobs_set(struct knobs *knobs, const struct job_limits *limits);

/* What the counters say before a run; the memory's peak begins anew where the kernel lets it. */
void knobs_begin(const struct knobs *knobs, struct knob_counts *ret_counts);
void knobs_count(const struct knobs *knobs, struct knob_counts *ret_counts);
uint64_t knobs_cpu_us(const struct knobs *knobs);

/* What a counter grew by.  One that cannot be read any more says 0; that is no growth. */
static inline uint64_t knobs_since(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}
uint64_t knobs_memory_now(const struct knobs *knobs);

/* A descriptor for knobs_empty(), the caller's; -1 where there is none. */
int knobs_emptier(const struct knobs *knobs);

/* Has the kernel take back what can be taken back of so many bytes.  Takes its time: for threads. */
void knobs_empty(int fd, uint64_t bytes);

/*
 * The most memory since knobs_begin(), or 0: not known.  Before Linux 6.12 the peak of a v2 cgroup
 * is that of its whole life; then it is a run's own only when it has grown in it.
 */
uint64_t knobs_memory_peak(const struct knobs *knobs, const struct knob_counts *before);

/*
 * Whether it was not the limit of its own cgroup that something in it was killed for, but that of a
 * cgroup above, or the host's memory.  v1 has no counter for that; there the peak tells.
 */
bool knobs_short_above(const struct knobs *knobs, const struct knob_counts *before,
	const struct knob_counts *after, uint64_t limit_bytes);

/* Kills everything in the leaf.  Belt to the lifeline's braces; may wait for other cgroups' changes. */
void knobs_kill(const struct knobs *knobs);
