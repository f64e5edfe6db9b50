#include <stdlib.h>
#include <string.h>

#include "daemon/loop/thread_work.h"
#include "daemon/record/readers.h"
#include "daemon/request/approvals.h"
#include "daemon/request/revive.h"
#include "daemon/services.h"
#include "daemon/workers/pool.h"

struct filling {
	struct request *request;
	struct readers *readers;
	const struct value *page; /* NULL: reading failed */
	struct err err;
	void (*then)(struct request *request, const struct err *err, void *context);
	void *context;
};

/*
 * Runs on a thread; nothing else uses the arena of a hollow request meanwhile.  The memory counts
 * for no user: the run's user may not be connected, and approvers decide runs one after the other.
 */
static void fill(void *context)
{
	struct filling *filling = context;
	const struct store_approvals_filter filter = {
		.run_id = filling->request->result.run_id, .limit = 1, .part_bytes = UINT64_MAX
	};
	struct store *store = readers_take(filling->readers, &filling->err);
	struct value *page = NULL;

	if (!store)
		return;
	if (store_approvals(store, &filter, &filling->request->arena, &page, &filling->err) == 0)
		filling->page = page;
	readers_give(filling->readers, store);
}

/*
 * Compares the recorded request with its hashes.  They differ when something in the request was
 * masked.  Values that the caller named for masking the output are not in the record at all.
 */
static void compare(struct request *request, const struct value *record)
{
	struct job_result *result = &request->result;
	const char *code_hash = value_as_text(value_get(record, "code_hash"));
	const char *input_hash = value_as_text(value_get(record, "input_hash"));

	job_code_hash(&request->spec, result->code_hash);
	job_input_hash(&request->spec, result->input_hash);
	request->parking->altered = !code_hash || strcmp(code_hash, result->code_hash) != 0 ||
				    !input_hash || strcmp(input_hash, result->input_hash) != 0 ||
				    value_get(value_get(record, "request"), "masks") ||
				    value_get(value_get(record, "policy"), "secrets");
	cut_printf(result->code_hash, sizeof(result->code_hash), "%s", code_hash ? code_hash : "");
	cut_printf(
		result->input_hash, sizeof(result->input_hash), "%s", input_hash ? input_hash : "");
}

static int take(struct request *request, const struct value *page, struct err *err)
{
	const struct value *record = value_at(value_get(page, "waiting"), 0);
	struct job_result *result = &request->result;
	struct arena *arena = &request->arena;

	if (!record)
		return err_set(err, ERR_MISSING, "it is not in the store any more");
	request->params = revive_params(arena, value_get(record, "request"));
	if (!request->params || revive_spec(arena, request->params, request->services->entrypoints,
					&request->spec, err) < 0)
		return -1;
	request->contract = CONTRACT_READ;
	request->runtime = pool_find(request->services->pool, request->spec.language);
	request->kept.spec = request->spec; /* what had to be masked is masked already */
	result->limits = request->spec.limits;
	compare(request, record);
	request->parking->hollow = false;
	request->parking->changed = value_get(record, "changed") != NULL;
	if (request->parking->changed)
		return 0;
	if (policy_verdict_from_value(arena, value_get(record, "policy"), &result->verdict, err) <
		0)
		return -1;
	result->has_verdict = true;
	cut_printf(request->parking->digest, sizeof(request->parking->digest), "%s",
		result->verdict.digest);
	return 0;
}

static void filled(void *context)
{
	struct filling *filling = context;
	struct request *request = filling->request;
	struct err *err = &filling->err;
	bool failed;

	request->services->state->examining--;
	if (!filling->page && err->code == ERR_NONE)
		(void)err_set(err, ERR_CLOSED, "the daemon is closing");
	failed = !filling->page || take(request, filling->page, err) < 0;
	filling->then(request, failed ? err : NULL, filling->context);
	free(filling);
}

void approval_fill(struct request *request,
	void (*then)(struct request *request, const struct err *err, void *context), void *context)
{
	struct services *services = request->services;
	struct filling *filling;
	struct err err = ERR_INIT;

	if (!request->parking->hollow) {
		then(request, NULL, context);
		return;
	}
	filling = calloc(1, sizeof(*filling));
	if (filling) {
		*filling = (struct filling){ .request = request,
			.readers = services->readers,
			.then = then,
			.context = context };
		services->state->examining++; /* closing the daemon waits for it */
		if (thread_work_start(
			    services->thread_work, request->caller.uid, fill, filled, filling) == 0)
			return;
		services->state->examining--;
		free(filling);
	}
	(void)err_set(&err, ERR_MEMORY, "there is no memory to read it from the store");
	then(request, &err, context);
}
