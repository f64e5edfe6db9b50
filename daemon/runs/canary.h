/*
 * The canary: an empty program that goes through a jail now and then, as runs do.  While it ends as
 * it should, the service manager hears that the daemon is alive.  So a daemon whose loop still turns
 * and whose jails do not work any more is restarted as well.
 *
 *	each time the timer fires, one of these holds:
 *	  a worker is warm     the canary takes it; `on_alive` follows when the program has ended well
 *	  runs have all        on_alive() at once: their limits end them, and a restart would too
 *	  neither              nothing; a daemon that goes on so long enough is restarted
 *
 * The canary is no run: no request, no caller, no policy, no row in the record, no count in shares,
 * budgets or metrics.  It takes workers of the configured runtimes in turns, and none for which a run
 * waits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/runs/execution.h"

#define CANARY_TROUBLE_MAX 256

struct pool;

struct canary {
	struct pool *pool; /* NULL: it was never started */
	struct timer *timer;
	uint64_t every_ms;
	struct execution execution;
	struct job_spec spec;
	struct arena arena;
	const char *runtime; /* whose worker it has, or had last; NULL: none yet */
	bool out;            /* a worker has it */
	bool closing;
	unsigned next; /* runtime whose turn it is */
	uint64_t ended_well, failed;
	char trouble[CANARY_TROUBLE_MAX]; /* how the last one ended, if not well; else "" */
	void (*on_alive)(void);
};

/* Calls on_alive() about every `every_ms`, as long as jails work. */
int canary_start(struct canary *canary, struct pool *pool, uint64_t every_ms,
	void (*on_alive)(void), struct err *err);

/* {ended_well, failed, trouble} for admin.status.  NULL: there is no canary. */
struct value *canary_describe(const struct canary *canary, struct arena *arena);

/* Starts no more; before pool_stop(), which ends the one that is out. */
void canary_stop(struct canary *canary);

/* Frees it; after pool_stop().  Both may be called without canary_start(). */
void canary_close(struct canary *canary);
