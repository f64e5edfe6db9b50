/*
 * A zygote as the daemon sees it: it forks slots, and each slot holds one worker after the other.
 *
 *	ASKED --> STARTING --> READY --> RETIRING --> GONE
 *
 * One that never gets ready is tried again later, later each time; one that dies with runs in it is
 * replaced at once.  Its memory goes with zygote_tend(), when nobody has a question about it open.
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
	uint32_t child; /* with the spawner */
	struct watch *control;
	int early_sock; /* our end, until the spawner has answered */
	struct list workers;
	uint32_t opened;  /* bitmap would do; indexes are given once, never again */
	uint32_t opening; /* asked of the spawner, not answered yet */
	uint64_t runs;
	int64_t started_ms;
};

/* Starts another, which becomes the one in use when it is ready; the older ones finish what they run. */
void zygote_start(struct runtime *runtime);

/* The one that is ready and newest, or NULL. */
struct zygote *zygote_in_use(const struct runtime *runtime);

/* Opens slots until as many are there as are wanted; a zygote out of indexes is replaced. */
void zygote_open_slots(struct runtime *runtime);

/* From time to time: gives up what is silent, lets go of what has ended, in the end of itself. */
void zygote_tend(struct zygote *zygote);

/* Has run enough; or came on demand, and there is none any more. */
bool zygote_is_worn(const struct zygote *zygote);
bool zygote_is_idle(const struct zygote *zygote);

/* What it held is lost and the runs in it are told. */
void zygote_lose(struct zygote *zygote, const char *why);

void zygote_free(struct zygote *zygote);
