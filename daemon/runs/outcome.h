/*
 * From facts to an outcome: one pure function, so that every row of docs/PROTOCOL.md's table of
 * outcomes can be tested without a jail.
 *
 * Facts come from outside the jail: clock, pipes, wait status, cgroup counters.  What was said
 * inside (done, error) can make an outcome more exact but never better than the facts allow.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/workers/knobs.h"
#include "proto/base/arena.h"
#include "proto/job.h"
#include "proto/leasemsg.h"

/* Why we killed it. */
enum limit_word {
	KILLED_NOT,
	KILLED_WALL,
	KILLED_CPU,
	KILLED_STDOUT,
	KILLED_STDERR,
	KILLED_CANCEL,  /* by its caller's word */
	KILLED_ADMIN,   /* by an administrator's */
	KILLED_LEFT,    /* its client left */
	KILLED_CLOSING, /* the daemon is going down */
};

struct facts {
	enum limit_word killed;
	int64_t kill_us; /* from reading the passing byte to the kill being sent */
	int64_t gone_us; /* from the kill to the process seen dead; 0: not yet */
	bool job_sent;
	bool began;  /* said by our harness before any user code ran */
	bool failed; /* the harness could not begin: failure says why */
	const char *failure;
	bool done; /* the done word came */
	int done_code;
	bool ended; /* the process was seen dead */
	int wait_status;
	struct lease_usage usage; /* valid when ended */
	bool has_disk;
	uint64_t disk_bytes, inodes; /* in use when it ended */
	bool disk_full, inodes_full; /* and nothing was left then */
	bool cpu_spent;              /* its slot killed it for that */
	/* system calls that it was refused, as its slot tells */
	const struct lease_refused *refused;
	size_t refused_count;
	uint32_t refused_others;
	const struct value *files; /* that it opened, as its slot tells, or NULL */
	struct knob_counts before, after;
	uint64_t memory_peak;
	bool has_memory_cgroup;
	bool has_pids_cgroup;
	bool worker_lost;          /* the slot or zygote went with it */
	const struct value *error; /* what the harness said about an exception, or NULL */
	bool error_is_syntax;
	bool was_denied;            /* its worker says that it broke a rule of its policy */
	const struct value *denied; /* which and where, or NULL: that cannot be read */
	bool speechless; /* nobody in the jail tells of errors: it is a bare interpreter */
	uint64_t stdout_total, stderr_total;
};

/* Who or what cancelled it, as the end of a sentence; NULL when that word is no cancelling. */
const char *canceled_words(enum limit_word why);

/* Fills outcome, ran, reason, exit code, signal, error and evidence of *result. */
void outcome_decide(struct arena *arena, const struct job_limits *limits, const struct facts *facts,
	struct job_result *result);
