/*
 * Uses the result of a recorded run as the result of another request.  A thread reads the store and
 * owns the request's arena until it has answered; the loop then takes the result over.  The result
 * counts for the caller until the request ends.
 */
#pragma once

#include "daemon/request/request.h"
#include "store/store.h"

enum recall_what {
	/* the action under the caller's id, and its result when the content is the same */
	RECALL_ACTION,
	RECALL_CACHED, /* a result with the key request->cache_key */
	RECALL_RUN,    /* the result of run `run_id` */
	RECALL_PLACE,  /* whether a run has this id, or its place in the order of runs */
};

enum recall_answer {
	RECALL_FOUND,
	RECALL_NONE,
	RECALL_OTHER,   /* the id belongs to other content */
	RECALL_UNENDED, /* same content, but its end is not recorded */
	RECALL_PRUNED,  /* same content, but its result was deleted */
	RECALL_FULL,    /* the caller holds too much memory for this result */
	RECALL_FAILED,  /* the store cannot be read, or its content is damaged: see `err` */
};

struct recall {
	struct request *request;
	enum recall_what what;
	enum recall_answer answer;
	char run_id[RUN_ID_LEN + 1]; /* the run that was found */
	uint8_t content[32];         /* digest of the action under the id */
	struct job_result result;
	size_t arena_before;
	struct err err;
	void (*done)(struct request *request, const struct recall *recall);
};

/*
 * Calls `done` later, from the loop.  Returns -1 when it cannot start; `done` is not called then.
 */
int recall_start(struct request *request, enum recall_what what, const char *run_id,
	void (*done)(struct request *request, const struct recall *recall));

/* Makes the found result the request's own, and sets `cached_from`. */
void recall_take(struct request *request, const struct recall *recall);
