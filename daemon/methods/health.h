/*
 * Health: which parts of the daemon do not work as they should, and since when.  A table names the
 * faults (health.c); each is read from what admin.status answers, so both always agree.
 *
 * The daemon looks every few seconds, so that `since` does not depend on who asks.  A fault that
 * comes or goes is logged once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/value.h"

#define HEALTH_LOOK_MS   5000
#define HEALTH_MOST      48 /* faults at a time; each runtime may have one */
#define HEALTH_NAME_MOST 80

/* What a fault means for callers. */
enum health_level {
	HEALTH_OK,
	HEALTH_DEGRADED, /* runs are accepted, but something needs a person */
	HEALTH_FAILING,  /* runs are refused or denied */
};

/* A fault that was seen in the last look. */
struct health_fault {
	char name[HEALTH_NAME_MOST]; /* of its part: "record", "runtime python" */
	enum health_level level;
	int64_t since_us; /* since when it has this level, wall time */
	bool seen;        /* in the look that is in progress */
};

struct health {
	struct health_fault faults[HEALTH_MOST];
	unsigned count;
};

void health_init(struct health *health);

/* "ok", "degraded", "failing". */
const char *health_word(enum health_level level);

/*
 * Looks at a status, which may lack `store`; then the faults of the store's disk stay as they were.
 * Returns {status, faults: [{part, level, since_us, message, remedy}]}, the worst first.
 */
struct value *health_look(struct health *health, const struct value *status, struct arena *arena);
