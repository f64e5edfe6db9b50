/*
 * Reads the store for methods of the protocol: the column `read` of proto/method/method_table.h.
 * The daemon uses it, and so does cectl when it reads a copy of a store.
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
	const char *run_id; /* of the run that the params name, if it is known already; or NULL */

	/*
	 * audit.verify: returns what to trust unless the params say otherwise (audit_trust() of the
	 * daemon), or NULL.
	 */
	int (*trust)(const void *owner, int64_t from, char **ret_text,
		struct store_trust *ret_trust, struct err *err);
	const void *trust_owner;
};

struct store_answer {
	struct value *value;         /* in the arena; NULL: refused */
	enum rpc_code code;          /* if refused: why; err has the message */
	char run_id[RUN_ID_LEN + 1]; /* the run that the params name, or "" */
};

/* Whether cectl may call this method for a copy of a store, without a daemon. */
bool store_answers_offline(enum method_id method);

/*
 * 0 with *ret_answer, which may be a refusal with *err; -1 when asking failed.  The method has a
 * function in the column `read` of proto/method/method_table.h.
 */
int store_answer(struct store *store, const struct store_question *question, struct arena *arena,
	struct store_answer *ret_answer, struct err *err);
