/*
 * The runs in progress, by their ids: each from the moment it is admitted until it is freed.
 */
#pragma once

#include <stdint.h>

#include "proto/base/map.h"
#include "proto/job/job.h"

struct request;
enum limit_word;

struct rpc_error;
struct value;

/* A run has come to its end. */
struct run_end {
	const char *run_id;
	uint32_t uid;               /* of its caller */
	const struct value *result; /* for the caller; or else the error */
	const struct value *kept;   /* for everybody else: as it is in the record */
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

/* 0, or -1 (memory). */
int registry_add(struct run_registry *registry, struct request *request);
void registry_remove(struct run_registry *registry, struct request *request);

/* Gives it another id; 0, or -1 (memory), and it keeps its own. */
int registry_rename(struct run_registry *registry, struct request *request, const char *run_id);

/* NULL: no run in progress has this whole id. */
struct request *registry_find(const struct run_registry *registry, const char *run_id);

/* Whether a run has this id, or its place in the order of runs, or is about to have it. */
bool registry_has_place(const struct run_registry *registry, const char *run_id);

/* Calls `look` with each until it returns other than 0; returns that. */
int registry_each(const struct run_registry *registry,
	int (*look)(void *context, struct request *request), void *context);

/* Tells those that wait for it. */
void registry_tell_end(struct run_registry *registry, const struct run_end *end);

size_t registry_count(const struct run_registry *registry);

/* Cancels every run; how many, or -1 (memory). */
int64_t registry_cancel_all(struct run_registry *registry, enum limit_word why);
