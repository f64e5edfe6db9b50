/*
 * Facts about one run.  Most are seen from outside the jail: clock, pipes, wait status, cgroup
 * counters.  Messages from inside (done, error) are kept apart from these.  The execution collects
 * the facts, and outcome.h derives the outcome from them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/workers/knobs.h"
#include "proto/base/arena.h"
#include "proto/internal/slotmsg.h"
#include "proto/job/job.h"

/* Why the daemon killed the run. */
enum kill_reason {
	KILLED_NOT,
	KILLED_WALL,
	KILLED_CALLS, /* its calls of tools took too long */
	KILLED_CPU,
	KILLED_STDOUT,
	KILLED_STDERR,
	KILLED_DISPLAY,
	KILLED_CANCEL,  /* by its caller */
	KILLED_ADMIN,   /* by an administrator */
	KILLED_LEFT,    /* its client disconnected */
	KILLED_CLOSING, /* the daemon shuts down */
};

struct facts {
	enum kill_reason killed;
	int64_t kill_us; /* from reading the byte past the cap to sending the kill */
	int64_t gone_us; /* from the kill until its death was seen; 0: not yet */
	bool job_sent;
	bool is_later; /* its process has run cells of its session before, and says what they want */
	bool began;    /* the harness sent this before any user code ran */
	bool failed;   /* the harness could not begin: see failure */
	const char *failure;
	bool done; /* JOB_DONE came */
	int done_code;
	bool ended; /* its slot reported the death */
	int wait_status;
	struct slotmsg_usage usage; /* valid when ended */
	bool has_disk;
	uint64_t disk_bytes, inodes; /* in use at its end */
	bool disk_full, inodes_full; /* and nothing was free then */
	bool disk_was_full;          /* nor at the beginning */
	bool cpu_spent;              /* its slot killed it for this */
	/* system calls that the jail refused it, as its slot reports */
	const struct slotmsg_refused *refused;
	size_t refused_count;
	uint32_t refused_others;
	const struct value *files; /* files it opened, as its slot reports, or NULL */
	struct knob_counts before, after;
	uint64_t memory_peak;
	bool short_above;        /* the kernel killed a process as memory ran out above the jail */
	const char *short_where; /* the cgroup that ran out, or NULL: none that we see */
	uint64_t short_bytes;    /* its limit; 0: unknown */
	bool has_memory_cgroup;
	bool has_pids_cgroup;
	bool worker_lost;          /* the slot or zygote was lost too */
	const struct value *error; /* the harness's report of an exception, or NULL */
	bool error_is_syntax;
	bool was_denied;            /* its worker reports that it broke a rule of its policy */
	const struct value *denied; /* which rule and where, or NULL: unreadable */
	bool speechless;            /* a bare interpreter: nothing in the jail reports errors */
	uint64_t stdout_total, stderr_total, display_total;
};

/* Returns who or what cancelled the run, as the end of a sentence.  NULL: it was not cancelled. */
const char *canceled_words(enum kill_reason why);

/* ---- what the facts mean -------------------------------------------------------------------- */

bool facts_died_by(const struct facts *facts, int signal);

/*
 * Reads the program's exit code from JOB_DONE, or else from the wait status.  False: there is none.
 */
bool facts_left_with(const struct facts *facts, int *ret_code);

/* Whether the program ended without an exit code, or with one that is not 0. */
bool facts_went_wrong(const struct facts *facts);

/*
 * Whether the session's process says that a later cell could not begin, because its files or its
 * stdin could not be written.
 */
bool facts_say_refused(const struct facts *facts);

/* Whether the program's error says that the disk is full. */
bool facts_say_no_space(const struct facts *facts);

uint64_t facts_oom_kills(const struct facts *facts);
uint64_t facts_pids_refused(const struct facts *facts);
uint64_t facts_cpu_us(const struct facts *facts);

/* Returns the refused call for which the slot killed it, or NULL. */
const struct slotmsg_refused *facts_ended_for(const struct facts *facts);

/* Facts from an uncaught error: its type, an errno, or a signal that ended a child process. */
bool facts_error_is(const struct facts *facts, const char *type);
bool facts_say_errno(const struct facts *facts, int number);
bool facts_say_signal(const struct facts *facts, int number);
/* Whether the error says that it could not start another process or thread. */
bool facts_say_no_process(const struct facts *facts);

/* Fills in what the run used: from its cgroup, or else from the usage that its slot reports. */
void facts_fill_metrics(const struct facts *facts, struct job_metrics *metrics);
