/*
 * The server with its parts by value, for server.c, which makes, connects and closes them, and for
 * tests.  All other files use services.h.
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
#include "daemon/methods/health.h"
#include "daemon/methods/reload.h"
#include "daemon/news/alerts.h"
#include "daemon/news/events.h"
#include "daemon/news/metrics.h"
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
#include "daemon/runs/canary.h"
#include "daemon/server.h"
#include "daemon/services.h"
#include "daemon/sessions/sessions.h"
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
	struct config_sources sources; /* borrows the texts of the command line */
	struct job_bounds bounds;
	struct job_entrypoint entrypoints[CONFIG_RUNTIMES_MAX + 1];
	struct priv_host host;
	struct pool pool;
	struct canary canary;
	struct ulid_source ids;
	struct run_registry runs;
	struct claims claims;
	struct queue queue;
	struct sessions sessions;
	struct approvals approvals;
	struct budgets budgets; /* of users, agents and tasks */
	struct blobs blobs;
	struct admin_ops admin_ops;
	struct reload reload;
	struct page_check page_check;
	struct backups backups;
	struct gc gc;
	struct audit audit;
	struct wallclock wallclock;
	struct alerts alerts;
	struct events events;
	struct metrics metrics;
	struct health health;
	struct thread_work thread_work; /* work on threads */
	struct turns turns;             /* share of messages that each user gets handled */
	struct ceilings ceilings;       /* limits on what clients hold */
	struct list conns;
	struct conn_events conn_events;
	struct list waits;
	struct list asked_calls;
	struct list policy_tests;
	uv_signal_t signals[3];
	struct timer *sweep;       /* drops expired blobs */
	struct timer *trim;        /* returns freed memory to the system */
	struct timer *health_look; /* notices faults also when nobody asks */
	struct timer *grace;       /* while draining */
	unsigned grace_rounds;
	bool is_warm; /* a worker was ready at least once */
	int exit_code;
};

/* A callback of the inspectors: reports once that a worker is ready and programs can be checked. */
void server_look_ready(void *owner);
