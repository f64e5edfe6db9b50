/*
 * The parts of the daemon as the other parts see them: pointers, which server.c sets.  Parts that
 * it holds by value are set before the first part starts; the others are NULL until they are made.
 * This header includes no part; a file that uses one includes its header.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/log.h"
#include "proto/job/job.h"

struct admin_ops;
struct alerts;
struct approvals;
struct audit;
struct backups;
struct blobs;
struct budgets;
struct canary;
struct ceilings;
struct claims;
struct config;
struct config_sources;
struct conn_events;
struct egress_link;
struct events;
struct gc;
struct health;
struct inspectors;
struct list;
struct listener;
struct metrics;
struct page_check;
struct pattern_book;
struct policies;
struct pool;
struct priv_host;
struct queue;
struct readers;
struct recorder;
struct reload;
struct run_registry;
struct sessions;
struct spawner_link;
struct store_thread;
struct thread_work;
struct turns;
struct ulid_source;
struct uv_loop_s;
struct wallclock;

/* The state of the daemon and its counters. */
struct daemon_state {
	bool ready;         /* a worker was ready and programs can be checked; reported once */
	bool draining;      /* accepts no new runs */
	bool closing;       /* the parts are being closed */
	unsigned examining; /* requests that threads work on */
	/* what checks of calls may still take in this turn of the loop; see run_calls.c */
	uint64_t checks_turn_ms, checks_work;
	int64_t started_ms, started_wall_us;
	uint64_t outcomes[OUTCOME_COUNT]; /* since the start */
	struct log_limit refusals;        /* limits log entries about refused connections */
};

struct services {
	struct daemon_state *state;
	struct uv_loop_s *loop;

	const struct config *config;
	const struct config_sources *sources; /* where the settings come from */
	const struct job_bounds *bounds;
	const struct job_entrypoint *entrypoints;
	const struct priv_host *host;

	struct spawner_link *spawner;
	struct pool *pool;
	struct canary *canary;
	struct egress_link *egress; /* NULL: no run may have a network */
	struct inspectors *inspectors;
	struct policies *policies;
	struct pattern_book *patterns; /* patterns of secrets */

	struct recorder *recorder; /* NULL: recording has stopped */
	struct readers *readers;
	struct store_thread *store_thread;
	struct page_check *page_check;
	struct backups *backups;
	struct gc *gc;
	struct audit *audit;
	struct wallclock *wallclock;

	struct ulid_source *ids;
	struct run_registry *runs;
	struct claims *claims;
	struct queue *queue;
	struct sessions *sessions;
	struct approvals *approvals;
	struct budgets *budgets;
	struct blobs *blobs;
	struct admin_ops *admin_ops;
	struct reload *reload;
	struct alerts *alerts;
	struct events *events;
	struct metrics *metrics;
	struct health *health;

	struct thread_work *thread_work;
	struct turns *turns;
	struct ceilings *ceilings;
	struct listener *listener;
	struct list *conns;
	const struct conn_events *conn_events;
	struct list *waits;        /* struct call: calls that wait for runs to end */
	struct list *asked_calls;  /* struct call_approval: calls of tools, oldest first */
	struct list *policy_tests; /* policies.test, in progress */
};
