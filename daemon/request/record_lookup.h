/*
 * Uses the result of a recorded run as the result of another request.  A thread reads the store and
 * owns the request's arena until it has answered; the loop then takes the result over.  The result
 * counts for the caller until the request ends.
 */
#pragma once

#include "daemon/request/request.h"
#include "store/store.h"

enum lookup_kind {
	/* the action under the caller's id, and its result when the content is the same */
	LOOKUP_ACTION,
	LOOKUP_CACHED, /* a result with the key request->cache_key */
	LOOKUP_RUN,    /* the result of run `run_id` */
	LOOKUP_PLACE,  /* whether a run has this id, or its place in the order of runs */
};

enum lookup_answer {
	LOOKUP_FOUND,
	LOOKUP_NONE,
	LOOKUP_OTHER,   /* the id belongs to other content */
	LOOKUP_UNENDED, /* same content, but its end is not recorded */
	LOOKUP_PRUNED,  /* same content, but its result was deleted */
	LOOKUP_FULL,    /* the caller holds too much memory for this result */
	LOOKUP_FAILED,  /* the store cannot be read, or its content is damaged: see `err` */
};

struct record_lookup {
	struct request *request;
	enum lookup_kind what;
	enum lookup_answer answer;
	char run_id[RUN_ID_LEN + 1]; /* the run that was found */
	uint8_t content[32];         /* digest of the action under the id */
	struct job_result result;
	size_t arena_before;
	struct err err;
	void (*done)(struct request *request, const struct record_lookup *lookup);
};

/*
 * Calls `done` later, from the loop.  Returns -1 when it cannot start; `done` is not called then.
 */
int record_lookup_start(struct request *request, enum lookup_kind what, const char *run_id,
	void (*done)(struct request *request, const struct record_lookup *lookup));

/* Makes the found result the request's own, and sets `cached_from`. */
void record_lookup_use(struct request *request, const struct record_lookup *lookup);
