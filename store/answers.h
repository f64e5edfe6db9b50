/*
 * Answers methods of the protocol from the store: `runs.list`, `runs.get`, `runs.output`, `stats`,
 * `audit.verify` ..., and finds the run that a name means.  The daemon uses it, and so does cectl
 * when it reads a copy of a store.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/method/method.h"
#include "proto/wire/rpc.h"
#include "store/store.h"

/* One question.  Its params match the schema of the method. */
struct store_question {
	enum method_id method;
	const struct value *params;
	bool all_callers; /* an administrator; else only runs of `uid` */
	uint32_t uid;
	const struct store_trust
		*trust; /* audit.verify: unless the params say otherwise; or NULL */
};

struct store_answer {
	struct value *value; /* in the arena; NULL: refused */
	enum rpc_code code;  /* if refused: why; err has the message */
};

/* Whether store_answer() answers this method. */
bool store_can_answer(enum method_id method);

/* 0 with *ret_answer, which may be a refusal with *err; -1 when asking failed. */
int store_answer(struct store *store, const struct store_question *question, struct arena *arena,
	struct store_answer *ret_answer, struct err *err);

/* The full id for the name of a run, among those that the caller may see. As store_answer(). */
int store_answer_name(struct store *store, const struct store_question *question, const char *name,
	char ret_run_id[RUN_ID_LEN + 1], struct store_answer *ret_answer, struct err *err);

/*
 * The full id of the caller's own run that has the `id` of the params: the run that executed it, or
 * else the newest run with that id.  As store_answer().
 */
int store_answer_caller_id(struct store *store, const struct store_question *question,
	char ret_run_id[RUN_ID_LEN + 1], struct store_answer *ret_answer, struct err *err);

/* The run's record with its streams up to `stream_bytes` each.  As store_answer(). */
int store_answer_record(struct store *store, const char *run_id, uint64_t stream_bytes,
	struct arena *arena, struct store_answer *ret_answer, struct err *err);
