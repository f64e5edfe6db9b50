/*
 * What a run left in the store, as the result of another request: asked on a thread, which has the
 * request's arena to itself until it has answered, and taken over in the loop.  What it brings is
 * counted as held by its caller until the request has left.
 */
#pragma once

#include "daemon/request/request.h"
#include "store/store.h"

enum recall_what {
	RECALL_ACTION, /* what the caller's id stands for, and its result when that is the same */
	RECALL_CACHED, /* a result that will do: request->cache_key */
	RECALL_RUN,    /* of the run that `run_id` names */
	RECALL_PLACE,  /* whether a run has this id, or its place in the order of runs */
};

enum recall_answer {
	RECALL_FOUND,
	RECALL_NONE,
	RECALL_OTHER,   /* the id stands for something else */
	RECALL_UNENDED, /* for the same, and nobody wrote down how it ended */
	RECALL_PRUNED,  /* for the same, and its result is not kept any more */
	RECALL_FULL,    /* its caller holds so much already that this does not fit beside it */
	RECALL_FAILED,  /* the store could not be asked, or what it has cannot be read: `err` */
};

struct recall {
	struct request *request;
	enum recall_what what;
	enum recall_answer answer;
	char run_id[RUN_ID_LEN + 1]; /* where it was found */
	uint8_t content[32];         /* what the id stands for */
	struct job_result result;
	size_t arena_before;
	struct err err;
	void (*done)(struct request *request, const struct recall *recall);
};

/* `done` comes later, from the loop.  -1: it cannot be asked; then it does not come. */
int recall_start(struct request *request, enum recall_what what, const char *run_id,
	void (*done)(struct request *request, const struct recall *recall));

/* Makes what was found the request's own result, with `cached_from`. */
void recall_take(struct request *request, const struct recall *recall);
