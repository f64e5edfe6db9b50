/*
 * One jail (slot) that can hold a worker, and the worker in it, as the daemon sees them: sockets
 * and pipes, cgroup files, and a state.
 *
 *	OPENING --> EMPTY --> MAKING --> WARM --> TAKEN --> RUNNING --> ENDING --> EMPTY ...
 *	   |          |          |        |         |          |          |
 *	   +----------+----------+--------+---------+----------+----------+---> GONE
 *
 * A worker that fails or dies before its job goes from MAKING, WARM or TAKEN straight to ENDING.
 * One that belongs to a session goes from RUNNING to KEPT after each cell, and stands still there;
 * the next cell takes it again.  If it dies before it has that cell, it goes back to KEPT when a kept
 * state can take its place.
 *
 * The slot is made once.  Each worker in it runs one program and ends, and the next worker is made
 * in the background.  The zygote owns the struct, which lives until the slot has gone.
 *
 * All reports come from the loop, to the zygote and to the owner that has taken the worker.
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
#define WORKER_DOUBT_MS   3000  /* the same for ending, if the slot was silent before */

#define WORKER_LEAVES_MAX  (PRIV_LEAVES_MAX - 1) /* beside that of the worker */
#define WORKER_JOB_FDS_MAX 4                     /* that go with a job: see joblink.h */

enum worker_state {
	WORKER_OPENING,
	WORKER_EMPTY,
	WORKER_MAKING,
	WORKER_WARM,
	WORKER_TAKEN,
	WORKER_RUNNING,
	WORKER_KEPT,
	WORKER_ENDING,
	WORKER_GONE,
};

struct zygote;
struct runtime;
struct job_head;
struct slotmsg;
struct worker;

/* Reports to the owner that has taken the worker. */
struct worker_events {
	void (*adjusted)(
		void *owner, const struct slotmsg *msg); /* its limits are set, or cannot be */
	/* it has its network, or cannot have it; NULL: it is not asked for one */
	void (*networked)(void *owner, const struct slotmsg *msg);
	void (*job_message)(void *owner, const struct job_head *head, const char *body);
	void (*drained)(void *owner); /* all answers are in its job socket; may be NULL */
	void (*output)(void *owner, bool is_stderr);
	void (*ended)(void *owner, const struct slotmsg *msg);
	void (*collected)(void *owner, const struct slotmsg *msg);
	void (*cell_ended)(void *owner, const struct slotmsg *msg); /* answers worker_end_cell() */
	/* PERMITTED, KEPT, PROMOTED, STATE_GONE: about a kept state */
	void (*state)(void *owner, const struct slotmsg *msg);
	void (*gone)(void *owner, const char *why);
};

struct worker {
	struct list link;       /* in its zygote */
	struct list ready_link; /* in the runtime's list of warm workers */
	struct zygote *zygote;
	uint32_t index; /* of the slot */
	enum worker_state state;
	uint32_t sequence; /* counts the workers in this slot */
	uint32_t misses;   /* failed attempts in a row to make one */
	struct knobs knobs;
	struct watch *slot;
	struct watch *job;
	struct watch *out;
	struct watch *errout;
	int lifeline;               /* -1: the daemon has killed the worker */
	bool is_ready, is_made;     /* as the worker says, and as its slot says */
	unsigned jobs;              /* job sockets that it has had: see worker_replace_job() */
	unsigned job_messages;      /* from its job socket so far ... */
	unsigned job_messages_most; /* ... and the most before it is no longer read */
	size_t job_message_bytes;   /* the longest body of one */
	bool refused;               /* its slot reported a refused call */
	unsigned kept;              /* states of its session, which a kill of the run spares */
	uint32_t gone[SESSION_STATES_MAX]; /* those that died while a cell ran */
	unsigned gone_count;
	/*
	 * Further leaves of the slot, in which kept states stand.  Each has one of its own, so that
	 * the worker goes on, dies or runs out of memory alone.  Going back exchanges `knobs` for
	 * the leaf of the state.  They stay open until what the last session has left in them is
	 * reclaimed.
	 */
	struct knobs leaves[WORKER_LEAVES_MAX];
	unsigned leaf_count;
	char done_run[RUN_ID_LEN + 1]; /* the run, if its end was reported before it was dead */
	bool ended;                    /* its slot has reported its death */
	bool doubted;                  /* its slot was silent when its run was over */
	int64_t moved_us;              /* when it entered its state */
	uint64_t dying_cpu_us;         /* at the last look at its death */
	struct buf incoming;           /* from the job socket: a partial message */
	struct buf outgoing;           /* to the job socket: not yet sent */
	size_t outgoing_at;
	int outgoing_fds[WORKER_JOB_FDS_MAX]; /* sent with the first byte */
	unsigned outgoing_fd_count;
	bool displays; /* it has words and no pipe for that: JOB_DISPLAY is not counted in job_messages */
	bool same_pipes; /* all cells of a session write to the pipes of the first */
	struct job_limits made_with;
	struct knob_counts before; /* counters when the worker became warm */
	const struct worker_events *events;
	void *owner; /* has taken it, until all facts are known; else NULL */
};

const char *worker_state_word(enum worker_state state);

/* Takes `slot_sock` and moves the knobs in.  NULL: out of memory. */
struct worker *worker_new(
	struct zygote *zygote, uint32_t index, int slot_sock, struct knobs *knobs);

/* The zygote reported that the slot is open. */
void worker_opened(struct worker *worker);

/* Begins to make a worker in an EMPTY slot. */
void worker_make(struct worker *worker, const struct job_limits *limits);

/* Takes a WARM worker for an owner, which gets all reports from here on. */
void worker_take(struct worker *worker, const struct worker_events *events, void *owner);

/*
 * Sends the job and enters WORKER_RUNNING.  Takes `body` (malloc) and `fds`, at most
 * WORKER_JOB_FDS_MAX.  -1: the worker is dead, and nothing has run.
 */
int worker_send_job(
	struct worker *worker, char *body, size_t len, const int *fds, unsigned fd_count);

/*
 * The same for the next cell of a session, whose worker was kept.  It has new pipes, and stands
 * still until the job is sent.
 */
int worker_send_cell(
	struct worker *worker, char *body, size_t len, const int *fds, unsigned fd_count);

/* Lets the program of a job with JOB_FLAG_GATE begin.  -1: the worker is dead, and nothing has run. */
int worker_send_go(struct worker *worker);

/*
 * Its program may call tools: accepts `calls` more messages, with bodies of up to `bytes`.  Before
 * the job is sent.
 */
void worker_expect_calls(struct worker *worker, unsigned calls, size_t bytes);

/* Sends a message after the job.  A worker that does not read it is the program's loss. */
void worker_send(
	struct worker *worker, enum job_kind kind, int32_t number, const char *body, size_t len);

/* Bytes that its job socket has not taken yet. */
size_t worker_unsent(const struct worker *worker);

/*
 * A cell has sent JOB_DONE: its processes are to stand still, and the slot reports the cell's facts
 * with events->cell_ended().  `limits` hold again from there.  -1: the worker cannot be kept.
 */
int worker_end_cell(struct worker *worker, const struct job_limits *limits);

/* Whether every process of the worker stands still. */
bool worker_stands(const struct worker *worker);

/* Lets a KEPT worker go on, or stand still.  -1: the host has no such knob. */
int worker_hold_still(struct worker *worker, bool stand);

/* Adds another leaf of the slot, until the end of the session.  Takes the knobs. */
void worker_add_leaf(struct worker *worker, struct knobs *knobs);

/* Whether nothing lives in it, also nothing that dies. */
bool worker_leaf_is_empty(const struct worker *worker, unsigned leaf);

/*
 * Sends KEEP: permits a fork, whose child says hello at `hello` (borrowed) and is to stand still in
 * this leaf.  -1: the slot does not answer, or nothing can be told to stand still.
 */
int worker_send_keep(struct worker *worker, uint32_t number, unsigned leaf, int hello);

/*
 * Sends PROMOTE: the state in this leaf becomes the worker and goes on, under these limits.  From here
 * on, the number of the leaf is that of the leaf where the worker before it was.
 */
int worker_send_promote(
	struct worker *worker, uint32_t number, unsigned leaf, const struct job_limits *limits);

/* Sends STATE_DROP. */
int worker_send_drop(struct worker *worker, uint32_t number);

/* Kills what lives in it. */
void worker_kill_leaf(struct worker *worker, unsigned leaf);

/* Writes limits that hold for all leaves of the worker together.  -1: the kernel refuses one. */
int worker_limit(struct worker *worker, const struct job_limits *limits);

/* The memory of the worker and of its kept states. */
uint64_t worker_memory(const struct worker *worker);

/*
 * What it has used since it was kept, or woken; the next cell's record begins behind that.  Its other
 * leaves stand still, so nothing is used there.
 */
uint64_t worker_take_cpu_us(struct worker *worker);

/* The processes that it was refused were not the program's. */
void worker_forget_refusals(struct worker *worker);

/* Sends JOB_KEEP or JOB_WAKE.  Takes the descriptors. */
int worker_send_word(struct worker *worker, enum job_kind kind, const int *fds, unsigned fd_count);

/* The state with this job socket has become the worker.  Takes `job`. */
int worker_replace_job(struct worker *worker, int job);

/* Kills the run, but not the kept states of its session. */
void worker_kill_run(struct worker *worker);

/*
 * Keeps the worker for the next cell.  Its pipes are closed, and what is left in its job socket is
 * dropped.  `events` and `owner` as for worker_take().
 */
void worker_keep(struct worker *worker, const struct worker_events *events, void *owner);

/* Passes on the messages that are left in the job socket after its first process is dead. */
void worker_drain_job(struct worker *worker);

/*
 * Changes limits of a TAKEN worker.  events->adjusted() follows.  The slot notes opened files in
 * `files_fd` (borrowed; -1: not requested).
 */
int worker_adjust(
	struct worker *worker, const struct job_limits *limits, const char *modules, int files_fd);

/*
 * Opens the network of a TAKEN worker of a networked runtime.  events->networked() follows.  Borrows
 * the file with struct slotmsg_network and the socket on which ced-egress gets the listeners.
 */
int worker_open_network(struct worker *worker, int orders_fd, int egress_fd);

/*
 * Whether the slot has reported something about the worker, read or unread.  A slot reports a
 * refused call before it answers the call.  So this report is here before anything that the program
 * does next.
 */
bool worker_has_news(const struct worker *worker);

/* Kills everything in the jail now by closing its lifeline.  May be called again. */
void worker_kill(struct worker *worker);

/*
 * Kills a worker whose program has sent JOB_DONE.  The run ends without waiting for its death.
 * Calls that the jail refuses it until then go to the log under `run_id` (NULL: they are not
 * logged).
 */
void worker_done(struct worker *worker, const char *run_id);

/*
 * Kills by the lifeline and by the cgroup, for processes that survive the first.  This is not for
 * every end, because the kernel handles changes of cgroups one after the other.  A new worker that
 * enters its cgroup takes some 10 ms if none did recently.  This loop, and so every client, would
 * wait for that.
 */
void worker_kill_harder(struct worker *worker);

/* What worker_collect() requests, and where the slot writes it. */
struct worker_collection {
	int pipe_fd; /* borrowed */
	int globs_fd;
	uint64_t bytes;
	uint32_t count;
	bool stands; /* its processes live and stand still; else the slot kills them first */
};

/* Requests the artifacts that match the globs. */
int worker_collect(struct worker *worker, const struct worker_collection *collection);

/* The run is over: drops all its data.  The slot becomes EMPTY again. */
void worker_release(struct worker *worker);

/*
 * Gives the slot up: kills its processes, reports to the owner and closes the socket.  The memory
 * stays, as WORKER_GONE, until worker_close().
 */
void worker_let_go(struct worker *worker, const char *why);

/* The same with a warning in the log, for ends that should not happen. */
void worker_lose(struct worker *worker, const char *why);

/* Whether, after a kill, no process has its job socket and pipes open: all of them are dead. */
bool worker_is_deserted(const struct worker *worker);

/* Whether its processes have used cpu time since the last call: then they are still dying. */
bool worker_still_dies(struct worker *worker);

/*
 * Whether the slot's next message is overdue: by WORKER_SILENCE_MS, or WORKER_DOUBT_MS for a slot
 * that was silent before.  Gives a worker that still dies another second.
 */
bool worker_is_stuck(struct worker *worker);

/* Closes everything and frees the worker.  The slot ends when its socket closes. */
void worker_close(struct worker *worker);

/* ---- reports to the zygote ----------------------------------------------------------------- */

/* in zygote.c */
uv_loop_t *zygote_loop(struct zygote *zygote);
void zygote_on_warm(struct zygote *zygote, struct worker *worker);
void zygote_on_empty(struct zygote *zygote, struct worker *worker);
