/*
 * One program in one worker, from the job on its way in to the facts about its end.
 *
 * It lives in its request's memory.  execution_start() borrows the spec until on_end() has come;
 * after on_end() the worker belongs to the pool again, except that artifacts, when asked for, have
 * been gathered before.
 */
#pragma once

#include "daemon/runs/capture.h"
#include "daemon/runs/facts.h"
#include "daemon/runs/gathering.h"
#include "daemon/workers/overhead.h"
#include "daemon/workers/worker.h"
#include "proto/base/arena.h"
#include "proto/job/job.h"

struct execution {
	uv_loop_t *loop;
	const struct job_spec *spec;
	const char *run_id; /* for the log; or NULL */
	struct arena *arena;
	struct worker *worker; /* NULL once it has been given back */
	struct facts facts;
	struct capture out;
	struct capture errout;
	struct timer *wall;
	bool wall_is_up;
	struct timer *cpu;
	struct timer *patience;     /* for deaths that do not come */
	int64_t looked_us;          /* since when its end is looked for */
	int64_t moved_us;           /* when there was a sign of it last */
	size_t gathered;            /* of its artifacts by then */
	struct gathering gathering; /* its artifacts */
	bool sent;
	bool on_hold;  /* the job is not sent before execution_go(); set by the owner */
	bool held;     /* that is all that it waits for */
	bool reported; /* a JOB_ERROR came, whether it could be read or not */
	bool finishing;
	bool over;
	int64_t started_us; /* execution_start() */
	int64_t sent_us;    /* the job went out */
	int64_t begun_us;   /* the program began */
	int64_t ended_us;   /* the end was known */
	void (*on_output)(struct execution *execution, const char *stream, uint64_t offset,
		const char *bytes, size_t len); /* may be NULL */
	void (*on_end)(struct execution *execution);
	void *owner;
	bool stdin_inline;         /* slotmsg.h; set by the owner */
	int files_fd;              /* what its slot notes of files, if somebody asks; 0: nobody */
	struct overhead *overhead; /* cgroups above its jail, or NULL; set by the owner */
	struct bytes rules;        /* that the worker holds the program to; set by the owner */
};

/* Takes a WARM worker and gives it the job. */
void execution_start(struct execution *execution, struct worker *worker);

/* The job may be sent; or with `trouble`, it may not, and that is told as our own fault. */
void execution_go(struct execution *execution, const char *trouble);

/* Kills it for a reason that is not the program's: cancelled, or the house is closing. */
void execution_cancel(struct execution *execution, enum limit_word why);

/* Gives the worker back to the pool, which kills what is left of it.  May be called twice. */
void execution_release(struct execution *execution);

/* Frees buffers; may be called twice.  The execution must be over. */
void execution_done(struct execution *execution);
