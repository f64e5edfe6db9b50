/*
 * Runs one program in one worker, from sending the job to the facts about its end.
 *
 * An execution lives in its request's memory.  It borrows the spec from execution_start() until
 * on_end().  If the job has artifact globs, the artifacts are collected before on_end().  After
 * on_end() the owner gives the worker back with execution_release().
 *
 * A cell of a session ends without the death of its worker: the cgroup is frozen, the slot reports
 * the cell's facts, and the artifacts are collected.  The owner may then take the worker from the
 * execution and keep it.
 */
#pragma once

#include "daemon/runs/artifacts.h"
#include "daemon/runs/capture.h"
#include "daemon/runs/facts.h"
#include "daemon/workers/outer_cgroups.h"
#include "daemon/workers/worker.h"
#include "proto/base/arena.h"
#include "proto/job/job.h"

struct channels;

/* A call of a tool, as it came. */
struct execution_call {
	uint64_t channel; /* 0: by the job socket */
	int32_t number;   /* of the program's choice */
	const char *body;
	size_t len;
};

struct execution {
	uv_loop_t *loop;
	const struct job_spec *spec;
	const char *run_id; /* for the log; or NULL */
	struct arena *arena;
	struct worker *worker; /* NULL once it is released or lost */
	struct facts facts;
	struct capture out;
	struct capture errout;
	struct capture display;     /* if spec->display */
	struct watch *display_pipe; /* ... of a worker that can receive descriptors */
	struct arena display_arena; /* for the values in it */
	struct timer *wall;
	bool wall_is_up;  /* the time limit has passed; killed after one more turn of the loop */
	bool by_channels; /* its processes call tools and display by channels; set by the owner */
	struct channels *channels;
	int queue_fd;          /* of a cell: the socket with channels; 0: none */
	bool waits;            /* a call of a tool waits: `wall` counts calls_ms */
	int64_t clock_from_us; /* since when `wall` counts */
	int64_t wall_used_us;  /* before that: without, and with a waiting call */
	int64_t calls_used_us;
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
	bool next_cell; /* its worker has run cells of its session before */
	bool stands;    /* the cell ended well, and its worker stands still: it may be kept */
	bool over;      /* on_end() has been called; nothing changes any more */
	int64_t started_us; /* execution_start() */
	int64_t sent_us;    /* the job was sent */
	int64_t begun_us;   /* the program began */
	int64_t ended_us;   /* the end became known */
	void (*on_output)(struct execution *execution, const char *stream, uint64_t offset,
		const char *bytes, size_t len); /* may be NULL */
	/* A program called a tool.  NULL: it may not. */
	void (*on_call)(struct execution *execution, const struct execution_call *call);
	void (*on_room)(struct execution *execution); /* answers to calls may be sent again */
	/* More bytes are in `display`; may be NULL. */
	void (*on_display)(struct execution *execution);
	void (*on_end)(struct execution *execution);
	void *owner;
	bool stdin_inline; /* slotmsg.h; set by the owner */
	/* of a cell: limits of its session, which hold between cells; else NULL; set by the owner */
	const struct job_limits *session_limits;
	bool disk_was_full; /* by the cells before; set by the owner */
	uint64_t cell;      /* its number in the session */
	uint32_t turn;      /* ... and the number with which its worker tells its end */
	bool has_network; /* its worker gets one before the job; set by the owner, as the next two */
	int network_fds[2];          /* for worker_open_network(); closed when it has them */
	const char *network_trouble; /* why it cannot have one, or NULL */
	bool networked;              /* it has it */
	int files_fd;                /* where its slot notes opened files; 0: not requested */
	struct outer_cgroups *outer_cgroups; /* cgroups above its jail, or NULL; set by the owner */
	struct bytes rules;                  /* for the worker to enforce; set by the owner */
	const char *const *packages;         /* sets that the worker prepares; set by the owner */
	size_t package_count;
	const char *modules; /* the set whose modules its slot shows, or NULL; set by the owner */
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

/*
 * The first call of a tool waits, or none does any more.  Meanwhile the limit wall_ms stands, and
 * calls_ms runs.
 */
void execution_wait(struct execution *execution, bool waits);

/* Sends the answer to a call. */
void execution_answer(struct execution *execution, const struct execution_call *call,
	enum job_kind kind, const char *body, size_t len);

/* For how long at least one call has waited. */
int64_t execution_waited_us(const struct execution *execution);

/* Kills the run for a reason outside the program: it was cancelled, or the daemon shuts down. */
void execution_cancel(struct execution *execution, enum kill_reason why);

/* Gives the worker back to the pool, which kills everything left in it.  May be called twice. */
void execution_release(struct execution *execution);

/* Frees all buffers.  May be called twice.  The execution must be over, or gated. */
void execution_done(struct execution *execution);
