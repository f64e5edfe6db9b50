/*
 * What was seen of a run from outside its jail: clock, pipes, wait status, cgroup counters; and what
 * was said inside (done, error), which is kept apart from it.  The execution gathers them, the
 * outcome follows from them (outcome.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/workers/knobs.h"
#include "proto/base/arena.h"
#include "proto/internal/slotmsg.h"
#include "proto/job/job.h"

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
	struct slotmsg_usage usage; /* valid when ended */
	bool has_disk;
	uint64_t disk_bytes, inodes; /* in use when it ended */
	bool disk_full, inodes_full; /* and nothing was left then */
	bool cpu_spent;              /* its slot killed it for that */
	/* system calls that it was refused, as its slot tells */
	const struct slotmsg_refused *refused;
	size_t refused_count;
	uint32_t refused_others;
	const struct value *files; /* that it opened, as its slot tells, or NULL */
	struct knob_counts before, after;
	uint64_t memory_peak;
	bool short_above; /* what was killed for memory was so for want of it above the jail */
	const char *short_where; /* in which cgroup, or NULL: in none that we see */
	uint64_t short_bytes;    /* its limit; 0: not known */
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

/* ---- what the facts are, in words ----------------------------------------------------------- */

bool facts_died_by(const struct facts *facts, int signal);

/* Its end as the program brought it about: the done word, or else the wait status. */
bool facts_left_with(const struct facts *facts, int *ret_code);

/* It did not, or with a code that is not 0. */
bool facts_went_wrong(const struct facts *facts);

uint64_t facts_oom_kills(const struct facts *facts);
uint64_t facts_pids_refused(const struct facts *facts);
uint64_t facts_cpu_us(const struct facts *facts);

/* The call for which its slot has ended it, or NULL. */
const struct slotmsg_refused *facts_ended_for(const struct facts *facts);

/* What an error says that nobody caught: its type, an errno, a signal that ended a child. */
bool facts_error_is(const struct facts *facts, const char *type);
bool facts_say_errno(const struct facts *facts, int number);
bool facts_say_signal(const struct facts *facts, int number);
/* That it could not have another process or thread. */
bool facts_say_no_process(const struct facts *facts);

/* What it used, by its cgroup, or else by the usage that its slot was told. */
void facts_fill_metrics(const struct facts *facts, struct job_metrics *metrics);
