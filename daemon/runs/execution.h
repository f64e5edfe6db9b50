/*
 * Runs one program in one worker, from sending the job to the facts about its end.
 *
 * An execution lives in its request's memory.  It borrows the spec from execution_start() until
 * on_end().  If the job has artifact globs, the artifacts are collected before on_end().  After
 * on_end() the owner gives the worker back with execution_release().
 */
#pragma once

#include "daemon/runs/artifacts.h"
#include "daemon/runs/capture.h"
#include "daemon/runs/facts.h"
#include "daemon/workers/outer_cgroups.h"
#include "daemon/workers/worker.h"
#include "proto/base/arena.h"
#include "proto/job/job.h"

struct execution {
	uv_loop_t *loop;
	const struct job_spec *spec;
	const char *run_id; /* for the log; or NULL */
	struct arena *arena;
	struct worker *worker; /* NULL once it is released or lost */
	struct facts facts;
	struct capture out;
	struct capture errout;
	struct timer *wall;
	bool wall_is_up; /* the time limit has passed; killed after one more turn of the loop */
	struct timer *cpu;
	struct timer *deadline; /* limits the wait for the slot's answer, or for deaths */
	int64_t looked_us;      /* since when we look for its end */
	int64_t moved_us;       /* last sign of progress */
	size_t gathered;        /* bytes of artifacts at the last look */
	struct artifacts artifacts;
	bool gated;     /* the worker has the job and compiles it; execution_open() is to come */
	bool spoilt;    /* ... and something came from it before that: it cannot be used */
	bool muted;     /* ... and a pipe is not watched until then */
	bool sent;      /* the worker has the job, or will get the rest of it, and may run it */
	bool on_hold;   /* send no job before execution_go(); set by the owner */
	bool held;      /* it waits only for execution_go() */
	bool reported;  /* a JOB_ERROR came, readable or not */
	bool finishing; /* killed or done: only facts about the end are still to come */
	bool over;      /* on_end() has been called; nothing changes any more */
	int64_t started_us; /* execution_start() */
	int64_t sent_us;    /* the job was sent */
	int64_t begun_us;   /* the program began */
	int64_t ended_us;   /* the end became known */
	void (*on_output)(struct execution *execution, const char *stream, uint64_t offset,
		const char *bytes, size_t len); /* may be NULL */
	void (*on_end)(struct execution *execution);
	void *owner;
	bool stdin_inline; /* slotmsg.h; set by the owner */
	int files_fd;      /* where its slot notes opened files; 0: not requested */
	struct outer_cgroups *outer_cgroups; /* cgroups above its jail, or NULL; set by the owner */
	struct bytes rules;                  /* for the worker to enforce; set by the owner */
};

/* Gives the job to a WARM worker, which the execution takes. */
void execution_start(struct execution *execution, struct worker *worker);

/*
 * Gives the job to a WARM worker before it is known whether the program may run.  The worker
 * compiles it and waits at a gate, and runs nothing of it.  Everything that comes from it before
 * execution_open() counts as a fault, after which the worker cannot be used.  Only for a job for
 * which execution_is_as_made() is true.
 */
void execution_start_gated(struct execution *execution, struct worker *worker);

/* Whether the limits of a job are those that the worker was made with, so that its slot is not asked. */
bool execution_is_as_made(const struct worker *worker, const struct job_spec *spec);

/*
 * Whether the worker behind the gate can be used: nothing came from it, and it has not closed its
 * job socket, as one does that dies.  If not, end the execution with execution_done(), and use
 * another worker.
 */
bool execution_can_open(const struct execution *execution);

/* Opens the gate.  From here on the execution is like any other. */
void execution_open(struct execution *execution);

/*
 * Ends the hold, so that the job can be sent.  With `trouble` the execution fails instead, by our
 * fault.
 */
void execution_go(struct execution *execution, const char *trouble);

/* Kills the run for a reason outside the program: it was cancelled, or the daemon shuts down. */
void execution_cancel(struct execution *execution, enum kill_reason why);

/* Gives the worker back to the pool, which kills everything left in it.  May be called twice. */
void execution_release(struct execution *execution);

/* Frees all buffers.  May be called twice.  The execution must be over, or gated. */
void execution_done(struct execution *execution);
