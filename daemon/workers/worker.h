/*
 * One jail that can hold a worker, and the worker in it, as the daemon sees them: sockets and
 * pipes to it, cgroup files of it, and where it is in its life.
 *
 *	OPENING --> EMPTY --> MAKING --> WARM --> TAKEN --> RUNNING --> ENDING --> EMPTY ...
 *	   |          |          |        |         |          |          |
 *	   +----------+----------+--------+---------+----------+----------+---> GONE
 *
 * The jail (slot) is made once; each worker in it runs one program and is gone, and the next one
 * is made in the background.  The worker belongs to its zygote and lives until the slot has gone.
 *
 * Everything a worker does is told from the loop: to its zygote, and to whoever has taken it.
 */
#pragma once

#include <stdbool.h>

#include "daemon/loop/loop.h"
#include "daemon/workers/knobs.h"
#include "proto/base/buf.h"
#include "proto/base/list.h"
#include "proto/internal/slotmsg.h"
#include "proto/job/job.h"

#define WORKER_SILENCE_MS 20000 /* for opening, making or ending; then the slot is given up */
#define WORKER_DOUBT_MS   3000  /* the same for ending, where it has been silent already */

enum worker_state {
	WORKER_OPENING,
	WORKER_EMPTY,
	WORKER_MAKING,
	WORKER_WARM,
	WORKER_TAKEN,
	WORKER_RUNNING,
	WORKER_ENDING,
	WORKER_GONE,
};

struct zygote;
struct runtime;
struct job_head;
struct slotmsg;
struct worker;

/* What a worker reports to whoever has taken it. */
struct worker_events {
	void (*adjusted)(
		void *owner, const struct slotmsg *msg); /* its limits are set, or cannot be */
	void (*job_message)(void *owner, const struct job_head *head, const char *body);
	void (*job_broken)(void *owner);
	void (*output)(void *owner, bool is_stderr);
	void (*ended)(void *owner, const struct slotmsg *msg);
	void (*collected)(void *owner);
	void (*gone)(void *owner, const char *why);
};

struct worker {
	struct list link;       /* in its zygote */
	struct list ready_link; /* in the runtime's list of warm workers */
	struct zygote *zygote;
	uint32_t index; /* of the slot */
	enum worker_state state;
	uint32_t sequence; /* of the worker in this slot */
	uint32_t misses;   /* makings that failed in a row */
	struct knobs knobs;
	struct watch *slot;
	struct watch *job;
	struct watch *out;
	struct watch *errout;
	int lifeline; /* -1: the worker has been told to die */
	bool told_ready, told_made;
	unsigned words;                /* messages that came up its job socket */
	bool refused;                  /* its slot has more to tell of it */
	char done_run[RUN_ID_LEN + 1]; /* of which the end was told before it was dead */
	bool ended;                    /* every process of it is dead */
	bool doubted;                  /* its slot was silent when its run was over */
	int64_t moved_us;              /* when it came into its state */
	int64_t made_us, warm_us;
	uint64_t dying_cpu_us; /* when its death was last looked at */
	struct buf incoming;   /* from the job socket: part of a message */
	struct buf outgoing;   /* to the job socket: what did not fit */
	size_t outgoing_at;
	int outgoing_fd; /* stdin, travels with the first byte */
	struct job_limits made_with;
	struct knob_counts before; /* counters when the worker got warm */
	const struct worker_events *events;
	void *owner; /* who has taken it, until all facts are there; else NULL */
};

const char *worker_state_word(enum worker_state state);

/* Takes `slot_sock`; the knobs are moved in.  NULL: no memory. */
struct worker *worker_new(
	struct zygote *zygote, uint32_t index, int slot_sock, struct knobs *knobs);

/* The zygote said that the slot is there. */
void worker_opened(struct worker *worker);

/* Begins to make a worker in an EMPTY slot. */
void worker_make(struct worker *worker, const struct job_limits *limits);

/* Somebody takes a WARM worker, and hears from here on what happens to it. */
void worker_take(struct worker *worker, const struct worker_events *events, void *owner);

/* Limits in the slot's words, with the flags for what no cgroup holds. */
void worker_lease_limits(
	const struct worker *worker, const struct job_limits *limits, struct slotmsg *msg);

/*
 * Sends the job; WORKER_RUNNING from here.  Takes `body` (malloc) and `stdin_fd` (-1: none).
 * -1 when the worker turned out to be dead: nothing has run.
 */
int worker_send_job(struct worker *worker, char *body, size_t len, int stdin_fd);

/* Hands on what is still in the job socket, now that nobody writes to it any more. */
void worker_drain_job(struct worker *worker);

/*
 * Changes limits of a TAKEN worker; events->adjusted() follows.  `files_fd` (borrowed; -1: nobody
 * asks) is where the slot tells which files it opens.
 */
int worker_adjust(struct worker *worker, const struct job_limits *limits, int files_fd);

/*
 * Whether the slot has something to tell of it, said or waiting to be read.  A slot speaks of a call
 * that it refuses before it answers, so what a program does next cannot come before its word.
 */
bool worker_has_news(const struct worker *worker);

/* Kills everything in the jail now, by its lifeline.  May be called again. */
void worker_kill(struct worker *worker);

/*
 * Its program has said that it is done, and its run is told without waiting for its death: kills it.
 * What it is refused until it is dead goes to the log, under the name of the run (NULL: not at all).
 */
void worker_done(struct worker *worker, const char *run_id);

/*
 * The same by the cgroup too, for what does not die of the first.  Not for every end: the kernel
 * has all changes of cgroups wait for each other, and while a new worker enters its own, which takes
 * some 10 ms when none did lately, this loop would wait and everybody with it.
 */
void worker_kill_harder(struct worker *worker);

/* Asks the slot to send artifacts into `pipe_fd`, as `globs_fd` says.  Borrows both. */
int worker_collect(
	struct worker *worker, int pipe_fd, int globs_fd, uint64_t bytes, uint32_t count);

/* The run is over: nothing of it is kept, and the slot becomes EMPTY again. */
void worker_release(struct worker *worker);

/*
 * Gives the slot up: kills what is in it, tells the execution, closes the conversation.  The memory
 * stays, as WORKER_GONE, until worker_close().
 */
void worker_let_go(struct worker *worker, const char *why);

/* The same, and a warning in the log: nobody wanted that. */
void worker_lose(struct worker *worker, const char *why);

/* Killed as it is, nobody holds its job socket and its pipes any more: all its processes are dead. */
bool worker_is_deserted(const struct worker *worker);

/* Whether its processes have used processor time since this was asked last: they take long to die. */
bool worker_still_dies(struct worker *worker);

/* Whether the slot owes us a word for longer than WORKER_SILENCE_MS. */
bool worker_is_stuck(struct worker *worker);

/* Closes everything; the slot leaves when its socket closes.  Frees the worker. */
void worker_close(struct worker *worker);

/* ---- what workers tell their zygote -------------------------------------------------------- */

/* zygote.c */
uv_loop_t *zygote_loop(struct zygote *zygote);
struct runtime *zygote_runtime(struct zygote *zygote);
void zygote_on_warm(struct zygote *zygote, struct worker *worker);
void zygote_on_empty(struct zygote *zygote, struct worker *worker);
void zygote_on_slot_lost(struct zygote *zygote, struct worker *worker);
