/* The runs in progress, by id.  A run is listed from its admission until it is freed. */
#pragma once

#include <stdint.h>

#include "proto/base/map.h"
#include "proto/job/job.h"

struct request;
struct rpc_error;
struct value;

/* The end of a run. */
struct run_end {
	const char *run_id;
	uint32_t uid;               /* of its caller */
	const struct value *result; /* as the caller sees it; NULL: `error` is set instead */
	const struct value *masked; /* as recorded, for everyone else */
	const struct rpc_error *error;
};

struct registry_events {
	void (*on_ended)(void *owner, const struct run_end *end);
	void (*on_renamed)(void *owner, const char *old_id, const char *run_id);
	void (*on_removed)(void *owner);
	void *owner;
};

struct run_registry {
	struct map runs; /* run_id -> struct request */
	struct registry_events events;
};

void registry_init(struct run_registry *registry, const struct registry_events *events);
void registry_done(struct run_registry *registry);

/* Returns 0, or -1 without memory. */
int registry_add(struct run_registry *registry, struct request *request);
void registry_remove(struct run_registry *registry, struct request *request);

/* Changes the id of a run.  Returns 0, or -1 without memory; the run keeps its id then. */
int registry_rename(struct run_registry *registry, struct request *request, const char *run_id);

/* Returns NULL when no run in progress has exactly this id. */
struct request *registry_find(const struct run_registry *registry, const char *run_id);

/*
 * Whether a run in progress has this id or its place in the order of runs, or is about to get it.
 */
bool registry_has_place(const struct run_registry *registry, const char *run_id);

/* Calls `look` for each run until it returns nonzero, and returns that value. */
int registry_each(const struct run_registry *registry,
	int (*look)(void *context, struct request *request), void *context);

/* Reports the end of a run to the clients that wait for it. */
void registry_tell_end(struct run_registry *registry, const struct run_end *end);

size_t registry_count(const struct run_registry *registry);
