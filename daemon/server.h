/*
 * The daemon as a whole: it owns every part, starts them in order and stops them in the reverse
 * order.
 *
 *	start   configuration, spawner, store, policies, pool, inspectors, listener
 *	drain   no new work; what runs goes on, then it ends (SIGTERM); admin.drain only stops new runs
 *	stop    cancel what still runs, record it, answer it, then close everything
 */
#pragma once

#include "daemon/door/ceilings.h"
#include "daemon/door/conn.h"
#include "daemon/door/turns.h"
#include "daemon/gate/approvals.h"
#include "daemon/gate/blobs.h"
#include "daemon/gate/budgets.h"
#include "daemon/gate/levers.h"
#include "daemon/loop/errands.h"
#include "daemon/loop/loop.h"
#include "daemon/news/alerts.h"
#include "daemon/news/events.h"
#include "daemon/record/audit.h"
#include "daemon/record/backups.h"
#include "daemon/record/checkup.h"
#include "daemon/record/gc.h"
#include "daemon/record/recorder.h"
#include "daemon/record/wallclock.h"
#include "daemon/request/claims.h"
#include "daemon/request/request.h"
#include "daemon/runs/queue.h"
#include "daemon/settings/config.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/spawner_link.h"
#include "proto/base/log.h"
#include "proto/base/map.h"
#include "proto/ulid.h"

struct inspectors;
struct listener;
struct pattern_book;
struct policies;
struct readers;

struct server {
	uv_loop_t loop;
	struct config config;
	struct job_bounds bounds;
	struct job_entrypoint entrypoints[CONFIG_RUNTIMES_MAX + 1];
	struct priv_host host;
	struct spawner_link *spawner;
	struct pool pool;
	struct claims claims;
	struct blobs blobs;
	struct timer *sweep; /* of what is kept for a while */
	struct timer *trim;  /* of memory that clients have given back */
	struct policies *policies;
	struct pattern_book *patterns; /* of secrets */
	struct inspectors *inspectors;
	struct recorder *recorder;
	struct readers *readers;
	struct caretaker *caretaker;
	struct checkup checkup;
	struct backups backups;
	struct gc gc;
	struct alerts alerts;
	struct wallclock wallclock;
	struct listener *listener;
	struct queue queue;
	struct ulid_source ids;
	struct map runs; /* run_id -> struct request, while it is in the house */
	struct list conns;
	struct conn_events conn_events;
	struct budgets budgets;   /* of users, agents and tasks */
	struct ceilings ceilings; /* of what clients hold */
	struct errands errands;   /* on threads */
	struct turns turns;       /* of users, with their messages */
	struct levers levers;
	struct audit audit;
	struct list rehearsals; /* examples that are held against policies */
	struct list waits;      /* struct call, for runs to end */
	struct events events;
	struct approvals approvals;
	struct log_limit refusals;
	uv_signal_t signals[2];
	struct timer *grace; /* while draining */
	unsigned grace_rounds;
	unsigned examining; /* outputs that a thread looks at */
	bool is_warm;       /* there was a worker that waits */
	bool told_ready;
	struct timer *watchdog;
	int64_t started_ms, started_wall_us;
	bool draining;
	bool closing;
	int exit_code;
	uint64_t outcomes[OUTCOME_COUNT]; /* since the start */
};

struct server_options {
	const char *config_path; /* NULL: defaults */
	const char *socket_path; /* NULL: as configured */
	const char *state_path;
	const char *libexec; /* folder of our own programs and harnesses */
	int spawner_fd;
	bool shipped; /* also the runtimes beside python, where the host has them */
};

/*
 * Starts every part.  NULL with *err: the process is to end then, for what was made is not given
 * back.  Takes options->spawner_fd; the rest is borrowed.
 */
struct server *server_start(const struct server_options *options, struct err *err);

/*
 * Whether a daemon would start with this file, as far as that can be told without a spawner: the
 * settings, the files that they name, policies and patterns.  Fills `server`, which is zeroed, with what
 * it reads; nothing is started.
 */
int server_check(struct server *server, const char *config_path, struct err *err);

/* Runs until told to stop.  Takes the server; returns the exit status. */
int server_run(struct server *server);

/* No new work; ends when nothing runs any more, or after a grace. */
void server_drain(struct server *server, const char *why);

/*
 * No jail can be made.  Before the daemon was ready once that is the host's fault, and the daemon
 * ends instead of trying for ever: returns true.  Later it is not: false.
 */
bool server_cannot_jail(struct server *server, const char *why);

/* Says that the house is ready, once: a worker waits and programs can be checked. */
void server_look_ready(struct server *server);

/* What was found only now makes every further work impossible: the daemon ends.  False: it does already. */
bool server_cannot_start(struct server *server, const char *why, const char *repair);

/* Puts a run among those in the house; 0, or -1 (memory). */
int server_remember(struct server *server, struct request *request);
void server_forget(struct server *server, struct request *request);

/* Gives it another id; 0, or -1 (memory), and it keeps its own. */
int server_rename(struct server *server, struct request *request, const char *run_id);

/* Whether a run in the house has this id, or its place in the order of runs, or is about to have it. */
bool server_has_place(const struct server *server, const char *run_id);

/* How many are in the house without those that wait for a person. */
int64_t server_in_house(const struct server *server);

/* Cancels every run in the house; how many, or -1 (memory). */
int64_t server_cancel_all(struct server *server, enum limit_word why);

/* A client wants in.  NULL when it may, else why not. */
const char *server_admit(struct server *server, struct list *link, const struct caller *caller);
void server_conn_gone(struct server *server, struct list *link, uint32_t uid);
void server_log_refusal(struct server *server, uint32_t uid, const char *why);
