/*
 * A zygote as the daemon sees it.  It forks slots, and each slot holds one worker after the other.
 *
 *	ASKED --> STARTING --> READY --> RETIRING --> GONE
 *
 * A zygote that never gets ready is tried again, later each time.  One that dies with runs in it is
 * replaced at once.  zygote_tend() frees it when no question to the spawner about it is open.
 */
#pragma once

#include "daemon/loop/loop.h"
#include "proto/base/list.h"

struct runtime;
struct worker;

enum zygote_state {
	ZYGOTE_ASKED,
	ZYGOTE_STARTING,
	ZYGOTE_READY,
	ZYGOTE_RETIRING,
	ZYGOTE_GONE
};

struct zygote {
	struct list link;
	struct runtime *runtime;
	enum zygote_state state;
	uint32_t child; /* the spawner's number for it */
	struct watch *control;
	int early_sock; /* our end, until the spawner has answered */
	struct list workers;
	uint32_t opened;  /* slots so far; an index is never used again */
	uint32_t opening; /* slots requested from the spawner, not answered yet */
	uint64_t runs;
	int64_t started_ms;
};

/* Starts a zygote, which is used once it is ready.  The older ones finish their runs. */
void zygote_start(struct runtime *runtime);

/* Returns the newest zygote if it is ready, or NULL. */
struct zygote *zygote_in_use(const struct runtime *runtime);

/* Opens slots up to the wanted number.  A zygote without unused indexes will be replaced. */
void zygote_open_slots(struct runtime *runtime);

/*
 * Gives up silent workers, frees ended ones, and in the end frees itself.  Called at an interval.
 */
void zygote_tend(struct zygote *zygote);

/* Whether it is to be replaced: it has served enough runs, is old, or has no slot number left. */
bool zygote_is_worn(const struct zygote *zygote);

/* Whether it was started on demand and there is no demand left. */
bool zygote_is_idle(const struct zygote *zygote);

/* Gives up its workers and reports to the owners of their runs. */
void zygote_lose(struct zygote *zygote, const char *why);

void zygote_free(struct zygote *zygote);
