/*
 * Warm workers for each runtime: zygotes that fork slots, slots that hold workers.
 *
 * What makes runs deterministic must be so before an interpreter starts, where a zygote holds one:
 * such a runtime has a twin, with zygotes of its own, the first of which starts with the first
 * deterministic run.
 *
 * A runtime has one zygote that is used and, while it is being replaced, older ones that finish
 * what they run.  The pool keeps at least workers_min slots and opens more, up to workers_max,
 * when a run waits for a worker, and up to workers_reserve beyond that for users who have nothing
 * running (queue.h); what has been idle for a while beyond the floor is closed.
 *
 * Lives from pool_start() until the daemon ends: pool_stop() ends what runs, pool_close() lets go of
 * everything at once (the spawner kills what is left when the daemon leaves).
 */
#pragma once

#include <stdbool.h>

#include "daemon/loop/loop.h"
#include "daemon/settings/config.h"
#include "daemon/workers/overhead.h"
#include "daemon/workers/residue.h"
#include "daemon/workers/runtime.h"
#include "daemon/workers/spawner_link.h"

struct worker;

struct pool {
	uv_loop_t *loop;
	const struct config *config;
	struct spawner_link *spawner;
	struct priv_host host;
	struct runtime *runtimes; /* those of the configuration, then twins of some of them */
	unsigned runtime_count;
	unsigned all_count; /* with the twins */
	struct timer *upkeep;
	struct residue residue;
	struct overhead overhead; /* cgroups above all jails */
	bool closing;
	void (*on_warm)(void *context, struct runtime *runtime);
	void *context;
};

/* Configures the spawner's side (before the loop runs).  `host` is what HELLO answered. */
int pool_configure(struct pool *pool, const struct config *config, const struct priv_host *host,
	struct spawner_link *spawner, const char *harness_dir, struct err *err);

/* Starts the zygotes.  on_warm comes whenever a worker of a runtime is ready to be taken. */
int pool_start(struct pool *pool, uv_loop_t *loop,
	void (*on_warm)(void *context, struct runtime *runtime), void *context, struct err *err);

/* NULL: this host has no such runtime. */
struct runtime *pool_find(struct pool *pool, const char *name);

/* A WARM worker, or NULL. */
struct worker *pool_take(struct runtime *runtime);

/*
 * A run waits: opens another slot, up to workers_max; for a newcomer, whose user has nothing running
 * there, up to workers_reserve beyond that.  on_warm comes when it has a worker.
 */
void pool_grow(struct runtime *runtime, bool newcomer);

/* A child of the spawner ended.  True when it was one of ours. */
bool pool_child_exited(struct pool *pool, uint32_t child, int status);

/* Gives every worker up: what runs in them ends now, in this call, and is told so.  Makes no more. */
void pool_stop(struct pool *pool);

/* Frees everything.  No run may be in a worker any more. */
void pool_close(struct pool *pool);
