/*
 * The server with its parts by value, for the files that make, connect and close them:
 * server_start.c and server_stop.c.  All other files use services.h.
 */
#pragma once

#include <uv.h>

#include "daemon/door/ceilings.h"
#include "daemon/door/conn.h"
#include "daemon/door/turns.h"
#include "daemon/gate/blobs.h"
#include "daemon/gate/budgets.h"
#include "daemon/loop/loop.h"
#include "daemon/loop/thread_work.h"
#include "daemon/methods/admin_ops.h"
#include "daemon/news/alerts.h"
#include "daemon/news/events.h"
#include "daemon/record/audit.h"
#include "daemon/record/backups.h"
#include "daemon/record/gc.h"
#include "daemon/record/page_check.h"
#include "daemon/record/recorder.h"
#include "daemon/record/wallclock.h"
#include "daemon/request/approvals.h"
#include "daemon/request/claims.h"
#include "daemon/request/registry.h"
#include "daemon/request/request.h"
#include "daemon/server.h"
#include "daemon/services.h"
#include "daemon/settings/config.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/spawner_link.h"
#include "daemon/workers/worker_queue.h"
#include "proto/ulid.h"

struct server {
	struct services services; /* pointers to the parts, for the other parts */
	struct daemon_state state;
	uv_loop_t loop;
	struct config config;
	struct job_bounds bounds;
	struct job_entrypoint entrypoints[CONFIG_RUNTIMES_MAX + 1];
	struct priv_host host;
	struct pool pool;
	struct ulid_source ids;
	struct run_registry runs;
	struct claims claims;
	struct queue queue;
	struct approvals approvals;
	struct budgets budgets; /* of users, agents and tasks */
	struct blobs blobs;
	struct admin_ops admin_ops;
	struct page_check page_check;
	struct backups backups;
	struct gc gc;
	struct audit audit;
	struct wallclock wallclock;
	struct alerts alerts;
	struct events events;
	struct thread_work thread_work; /* work on threads */
	struct turns turns;             /* share of messages that each user gets handled */
	struct ceilings ceilings;       /* limits on what clients hold */
	struct list conns;
	struct conn_events conn_events;
	struct list waits;
	struct list policy_tests;
	uv_signal_t signals[2];
	struct timer *sweep; /* drops expired blobs */
	struct timer *trim;  /* returns freed memory to the system */
	struct timer *watchdog;
	struct timer *grace; /* while draining */
	unsigned grace_rounds;
	bool is_warm; /* a worker was ready at least once */
	int exit_code;
};

/* ---- server_start.c ---- */

/* Reports once that the daemon is ready: a worker is ready and programs can be checked. */
void server_look_ready(struct server *server);

/* ---- server_stop.c ---- */

/* SIGTERM and SIGINT start draining; a second one ends the grace period. */
int server_watch_signals(struct server *server, struct err *err);

/* While draining, ends the daemon when its last run has ended. */
void server_end_when_empty(struct server *server);

void server_on_spawner_lost(void *context, const char *why);

/* Ends the daemon, since it cannot work.  Returns false when it is ending already. */
bool server_cannot_start(struct server *server, const char *why, const char *repair);

/*
 * No jail can be made.  Before the daemon was ready, the host is the cause: the daemon ends instead
 * of retrying forever, and the function returns true.  Later it returns false.
 */
bool server_cannot_jail(struct server *server, const char *why);
