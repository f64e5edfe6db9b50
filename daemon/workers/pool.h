/*
 * Warm workers for each runtime.  Zygotes fork slots, and slots hold workers.
 *
 * Settings that make a run deterministic must be set before the interpreter starts.  If a runtime's
 * zygote holds an interpreter, the runtime therefore has a twin with zygotes of its own.  The first
 * deterministic run starts the twin's first zygote.
 *
 * A runtime has one zygote in use.  While that is being replaced, older ones finish their runs.
 *
 * The pool keeps at least workers_min slots.  When a run waits for a worker, it opens more, up to
 * workers_max.  For users with nothing running it opens up to workers_reserve more
 * (worker_queue.h).  It closes slots above the minimum that have been idle for a while.
 *
 * The pool lives from pool_start() until the daemon ends.  pool_stop() ends all runs.  pool_close()
 * frees everything at once; the spawner kills the remaining processes when the daemon exits.
 */
#pragma once

#include <stdbool.h>

#include "daemon/workers/runtime.h"

struct worker;

/* Sends the runtimes to the spawner, before the loop runs.  `host` is the answer to HELLO. */
int pool_configure(struct pool *pool, const struct config *config, const struct priv_host *host,
	struct spawner_link *spawner, const char *harness_dir, struct err *err);

/* Starts the zygotes.  The pool calls on_warm() whenever a worker of a runtime becomes ready. */
int pool_start(struct pool *pool, uv_loop_t *loop,
	void (*on_warm)(void *context, struct runtime *runtime), void *context, struct err *err);

/* Returns NULL when this host has no such runtime. */
struct runtime *pool_find(struct pool *pool, const char *name);

/*
 * Returns a WARM worker, or NULL.  Until worker_take() it stays in the list of warm workers, so the
 * caller must give it to an execution before anybody else looks there.
 */
struct worker *pool_take(struct runtime *runtime);

/* The same for a run that may not come.  If it comes, the caller counts it in runtime->runs. */
struct worker *pool_take_ahead(struct runtime *runtime);

/*
 * Opens another slot for a run that waits, up to workers_max.  A newcomer is a run whose user has
 * nothing running there; for it the pool opens up to workers_reserve more.  on_warm() follows.
 */
void pool_grow(struct runtime *runtime, bool newcomer);

/* A child of the spawner ended.  Returns true when it was a zygote of this pool. */
bool pool_child_exited(struct pool *pool, uint32_t child, int status);

/*
 * Gives up every worker and makes no more.  Runs in them end during this call, and their owners get
 * a report.
 */
void pool_stop(struct pool *pool);

/* Frees everything.  No run may be in a worker. */
void pool_close(struct pool *pool);
