/*
 * The cgroup files (knobs) of one slot, opened by the spawner.  The daemon sets limits and reads
 * counters through them.  A knob that the host lacks is -1, and every function accepts that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/internal/privmsg.h"
#include "proto/internal/slotmsg.h"
#include "proto/job/job.h"

struct knobs {
	int fds[KNOB_COUNT]; /* KNOB_JOIN is in `join`: there may be several */
	int join[SLOTMSG_JOIN_FDS_MAX];
	unsigned join_count;
	uint64_t memory_set; /* the values written last, so as not to write them again */
	uint64_t pids_set;
	uint64_t cpu_set;
	uint64_t held_bytes; /* of the memory limit, in other leaves of the same session */
	bool stands;         /* it was told to stand still */
	bool is_first;       /* the leaf that the slot's workers enter */
};

/* The values of the counters at one moment. */
struct knob_counts {
	uint64_t memory_peak; /* 0 if it was reset to 0; else the peak of all workers so far */
	uint64_t cpu_user_us, cpu_sys_us;
	uint64_t oom_kills;
	uint64_t oom_own; /* v2: how often its own limit was reached */
	bool has_oom_own;
	uint64_t pids_refused;
};

void knobs_init(struct knobs *knobs);

/* -1: `which` does not describe the descriptors.  Takes them on every path. */
int knobs_take(struct knobs *knobs, const struct priv_knobs *which, int *fds, unsigned fd_count);
void knobs_done(struct knobs *knobs);

/*
 * Writes the settings that never change: no swap, and the kernel kills all processes of the cgroup
 * together when memory runs out.
 */
void knobs_settle(struct knobs *knobs);

bool knobs_hold(const struct knobs *knobs, enum priv_knob knob);

/* Writes only limits that differ from the last ones written.  -1: the kernel refuses one. */
int knobs_set(struct knobs *knobs, const struct job_limits *limits);

/* Reads the counters before a run, and resets the memory peak where the kernel allows it. */
void knobs_begin(const struct knobs *knobs, struct knob_counts *ret_counts);

/* Begins to count cpu time anew, and nothing else. */
void knobs_begin_cpu(const struct knobs *knobs, struct knob_counts *counts);
void knobs_count(const struct knobs *knobs, struct knob_counts *ret_counts);
uint64_t knobs_cpu_us(const struct knobs *knobs);

/* Returns the growth of a counter.  A counter that can no longer be read is 0: no growth. */
static inline uint64_t knobs_since(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}
uint64_t knobs_memory_now(const struct knobs *knobs);

/* Returns a new descriptor for knobs_empty(), which the caller owns, or -1: there is none. */
int knobs_emptier(const struct knobs *knobs);

/* Makes the kernel reclaim up to `bytes` of memory.  This takes time: call it on a thread. */
void knobs_empty(int fd, uint64_t bytes);

/*
 * Returns the memory peak since knobs_begin(), or 0: unknown.  Before Linux 6.12 a v2 cgroup only
 * has the peak of its whole life.  That one belongs to the run only if it grew during the run.
 */
uint64_t knobs_memory_peak(const struct knobs *knobs, const struct knob_counts *before);

/*
 * Whether memory ran out above the slot's own cgroup, in an ancestor or on the whole host, when the
 * kernel killed a process in it.  v1 has no counter for that, so there the memory peak decides.
 */
bool knobs_short_above(const struct knobs *knobs, const struct knob_counts *before,
	const struct knob_counts *after, uint64_t limit_bytes);

/*
 * Lets the cgroup's processes stand still, or go on.  They still die when they are killed.  -1: the
 * host has no such knob.
 */
int knobs_freeze(struct knobs *knobs, bool stand);

/* How many processes and threads are in the cgroup; 0: unknown. */
uint64_t knobs_pids_now(const struct knobs *knobs);

/* Whether every process of the cgroup stands still. */
bool knobs_are_frozen(const struct knobs *knobs);

/*
 * Kills everything in the cgroup, in case closing the lifeline was not enough.  May block while
 * other cgroups change.
 */
void knobs_kill(const struct knobs *knobs);
