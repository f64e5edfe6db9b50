#include "daemon/request/recall.h"

#include <stddef.h>
#include <string.h>

#include "daemon/door/ceilings.h"
#include "daemon/loop/thread_work.h"
#include "daemon/record/readers.h"
#include "daemon/services.h"
#include "proto/base/clock.h"

/* limit for a result, in addition to the request's own */
#define RECALL_BYTES_MAX ((size_t)256 << 20)

/* ---- on the thread -------------------------------------------------------------------------- */

static enum recall_answer failed(struct recall *recall)
{
	if (recall->err.code == ERR_NONE)
		(void)err_set(&recall->err, ERR_CORRUPT, "run %s is not in the record any more",
			recall->run_id);
	return RECALL_FAILED;
}

/* Never returns a run of another user, however it was found. */
static enum recall_answer read_run(struct recall *recall, struct store *store)
{
	struct request *request = recall->request;
	struct value *record = NULL;
	uint32_t uid = 0;

	if (store_get(store, recall->run_id, UINT64_MAX, &request->arena, &record, &uid,
		    &recall->err) != 0 ||
		uid != request->caller.uid)
		return failed(recall);
	if (value_get(record, "pruned"))
		return RECALL_PRUNED;
	if (job_result_from_value(&request->arena, record, &recall->result, &recall->err) < 0)
		return failed(recall);
	return RECALL_FOUND;
}

static enum recall_answer find_action(struct recall *recall, struct store *store)
{
	const struct request *request = recall->request;
	struct store_action action;
	int found = store_find_action(
		store, request->caller.uid, request->kept.spec.id, &action, &recall->err);

	if (found)
		return found < 0 ? RECALL_FAILED : RECALL_NONE;
	memcpy(recall->run_id, action.run_id, sizeof(recall->run_id));
	memcpy(recall->content, action.content, sizeof(recall->content));
	if (!action.is_known) {
		(void)err_set(&recall->err, ERR_CORRUPT,
			"it is in the record as run %s, and what was asked then is not there any more",
			action.run_id);
		return RECALL_FAILED;
	}
	if (memcmp(action.content, request->claim.content, sizeof(action.content)) != 0)
		return RECALL_OTHER;
	return action.ended ? read_run(recall, store) : RECALL_UNENDED;
}

static enum recall_answer find_cached(struct recall *recall, struct store *store)
{
	const struct request *request = recall->request;
	int64_t age_us = (int64_t)request->services->config->cache_s * 1000000;
	int found = store_find_cached(
		store, request->cache_key, clock_wall_us() - age_us, recall->run_id, &recall->err);

	if (found)
		return found < 0 ? RECALL_FAILED : RECALL_NONE;
	/* an incomplete result does not count: the program runs again */
	return read_run(recall, store);
}

static enum recall_answer find_place(struct recall *recall, struct store *store)
{
	int found = store_find_place(store, recall->run_id, &recall->err);

	if (found < 0)
		return RECALL_FAILED;
	return found == 0 ? RECALL_FOUND : RECALL_NONE;
}

static void ask(void *context)
{
	struct recall *recall = context;
	struct readers *readers = recall->request->services->readers;
	struct store *store = readers_take(readers, &recall->err);

	if (!store)
		return; /* `answer` is RECALL_FAILED already */
	if (recall->what == RECALL_ACTION)
		recall->answer = find_action(recall, store);
	else if (recall->what == RECALL_CACHED)
		recall->answer = find_cached(recall, store);
	else if (recall->what == RECALL_PLACE)
		recall->answer = find_place(recall, store);
	else
		recall->answer = read_run(recall, store);
	readers_give(readers, store);
}

/* ---- in the loop ---------------------------------------------------------------------------- */

/* Counts the result for the caller: results from the store arrive faster than clients read them. */
static bool is_too_much(struct recall *recall)
{
	struct request *request = recall->request;
	size_t grown = request->arena.used - recall->arena_before;

	if (!ceilings_hold(request->services->ceilings, request->caller.uid, grown))
		return true;
	request->held_bytes += grown;
	return false;
}

static void answer(void *context)
{
	struct recall *recall = context;

	recall->request->services->state->examining--;
	if (recall->answer == RECALL_FOUND && is_too_much(recall))
		recall->answer = RECALL_FULL;
	recall->done(recall->request, recall);
}

int recall_start(struct request *request, enum recall_what what, const char *run_id,
	void (*done)(struct request *request, const struct recall *recall))
{
	struct services *services = request->services;
	struct recall *recall =
		services->state->closing ? NULL : arena_new(&request->arena, struct recall);

	if (!recall)
		return -1;
	recall->request = request;
	recall->what = what;
	recall->answer = RECALL_FAILED;
	recall->done = done;
	request->arena.ceiling += RECALL_BYTES_MAX;
	recall->arena_before = request->arena.used;
	if (run_id)
		memcpy(recall->run_id, run_id, sizeof(recall->run_id));
	if (thread_work_start(services->thread_work, request->caller.uid, ask, answer, recall) < 0)
		return -1;
	services->state->examining++; /* closing the daemon waits for it */
	return 0;
}

/*
 * Keeps the id and the hashes untouched, even by equal bytes: the recorder's thread may be reading
 * them for a begun record.
 */
static void replace(struct job_result *result, const struct job_result *with)
{
	const size_t rest = offsetof(struct job_result, outcome);

	_Static_assert(offsetof(struct job_result, run_id) < offsetof(struct job_result, outcome) &&
			       offsetof(struct job_result, code_hash) <
				       offsetof(struct job_result, outcome) &&
			       offsetof(struct job_result, input_hash) <
				       offsetof(struct job_result, outcome),
		"what the recorder reads stands in front");
	memcpy((char *)result + rest, (const char *)with + rest, sizeof(*result) - rest);
}

void recall_take(struct request *request, const struct recall *recall)
{
	const struct job_result *own = &request->result;
	struct job_result result = recall->result;

	memcpy(result.cached_from, recall->run_id, sizeof(result.cached_from));
	result.metrics = own->metrics;
	result.approval = own->approval;
	result.steps = own->steps;
	result.replay_of = own->replay_of;
	result.step_count = own->step_count;
	if (own->has_verdict) {
		result.has_verdict = true;
		result.verdict = own->verdict;
	}
	replace(&request->result, &result);
}
