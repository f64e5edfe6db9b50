#include "daemon/request/record_lookup.h"

#include <stddef.h>
#include <string.h>

#include "daemon/door/ceilings.h"
#include "daemon/loop/thread_work.h"
#include "daemon/record/readers.h"
#include "daemon/services.h"
#include "proto/base/clock.h"

/* limit for a result, in addition to the request's own */
#define RESULT_BYTES_MAX ((size_t)256 << 20)

/* ---- on the thread -------------------------------------------------------------------------- */

static enum lookup_answer lookup_failed(struct record_lookup *lookup)
{
	if (lookup->err.code == ERR_NONE)
		(void)err_set(&lookup->err, ERR_CORRUPT, "the store no longer has run %s",
			lookup->run_id);
	return LOOKUP_FAILED;
}

/* Never returns a run of another user, however it was found. */
static enum lookup_answer read_result(struct record_lookup *lookup, struct store *store)
{
	struct request *request = lookup->request;
	struct value *record = NULL;
	uint32_t uid = 0;

	if (store_get(store, lookup->run_id, UINT64_MAX, &request->arena, &record, &uid,
		    &lookup->err) != 0 ||
		uid != request->caller.uid)
		return lookup_failed(lookup);
	if (value_get(record, "pruned"))
		return LOOKUP_PRUNED;
	if (job_result_from_value(&request->arena, record, &lookup->result, &lookup->err) < 0)
		return lookup_failed(lookup);
	return LOOKUP_FOUND;
}

static enum lookup_answer find_action(struct record_lookup *lookup, struct store *store)
{
	const struct request *request = lookup->request;
	struct store_action action;
	int found = store_find_action(
		store, request->caller.uid, request->masked.spec.id, &action, &lookup->err);

	if (found)
		return found < 0 ? LOOKUP_FAILED : LOOKUP_NONE;
	memcpy(lookup->run_id, action.run_id, sizeof(lookup->run_id));
	memcpy(lookup->content, action.content, sizeof(lookup->content));
	if (!action.is_known) {
		(void)err_set(&lookup->err, ERR_CORRUPT,
			"run %s has this id, and its request is no longer in the store",
			action.run_id);
		return LOOKUP_FAILED;
	}
	if (memcmp(action.content, request->claim.content, sizeof(action.content)) != 0)
		return LOOKUP_OTHER;
	return action.ended ? read_result(lookup, store) : LOOKUP_UNENDED;
}

static enum lookup_answer find_cached(struct record_lookup *lookup, struct store *store)
{
	const struct request *request = lookup->request;
	int64_t age_us = (int64_t)request->services->config->cache_s * 1000000;
	int found = store_find_cached(
		store, request->cache_key, clock_wall_us() - age_us, lookup->run_id, &lookup->err);

	if (found)
		return found < 0 ? LOOKUP_FAILED : LOOKUP_NONE;
	/* an incomplete result does not count: the program runs again */
	return read_result(lookup, store);
}

static enum lookup_answer find_place(struct record_lookup *lookup, struct store *store)
{
	int found = store_find_place(store, lookup->run_id, &lookup->err);

	if (found < 0)
		return LOOKUP_FAILED;
	return found == 0 ? LOOKUP_FOUND : LOOKUP_NONE;
}

static void ask_store(void *context)
{
	struct record_lookup *lookup = context;
	struct readers *readers = lookup->request->services->readers;
	struct store *store = readers_take(readers, &lookup->err);

	if (!store)
		return; /* `answer` is LOOKUP_FAILED already */
	if (lookup->what == LOOKUP_ACTION)
		lookup->answer = find_action(lookup, store);
	else if (lookup->what == LOOKUP_CACHED)
		lookup->answer = find_cached(lookup, store);
	else if (lookup->what == LOOKUP_PLACE)
		lookup->answer = find_place(lookup, store);
	else
		lookup->answer = read_result(lookup, store);
	readers_give(readers, store);
}

/* ---- in the loop ---------------------------------------------------------------------------- */

/* Counts the result for the caller: results from the store arrive faster than clients read them. */
static bool exceeds_ceiling(struct record_lookup *lookup)
{
	struct request *request = lookup->request;
	size_t grown = request->arena.used - lookup->arena_before;

	if (!ceilings_hold(request->services->ceilings, request->caller.uid, grown))
		return true;
	request->held_bytes += grown;
	return false;
}

static void on_answered(void *context)
{
	struct record_lookup *lookup = context;

	lookup->request->services->state->examining--;
	if (lookup->answer == LOOKUP_FOUND && exceeds_ceiling(lookup))
		lookup->answer = LOOKUP_FULL;
	lookup->done(lookup->request, lookup);
}

int record_lookup_start(struct request *request, enum lookup_kind what, const char *run_id,
	void (*done)(struct request *request, const struct record_lookup *lookup))
{
	struct services *services = request->services;
	struct record_lookup *lookup =
		services->state->closing ? NULL : arena_new(&request->arena, struct record_lookup);

	if (!lookup)
		return -1;
	lookup->request = request;
	lookup->what = what;
	lookup->answer = LOOKUP_FAILED;
	lookup->done = done;
	request->arena.ceiling += RESULT_BYTES_MAX;
	lookup->arena_before = request->arena.used;
	if (run_id)
		memcpy(lookup->run_id, run_id, sizeof(lookup->run_id));
	if (thread_work_start(
		    services->thread_work, request->caller.uid, ask_store, on_answered, lookup) < 0)
		return -1;
	services->state->examining++; /* closing the daemon waits for it */
	return 0;
}

/*
 * Keeps the id and the hashes untouched, even by equal bytes: the recorder's thread may be reading
 * them for a begun record.
 */
static void replace_result(struct job_result *result, const struct job_result *with)
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

void record_lookup_use(struct request *request, const struct record_lookup *lookup)
{
	const struct job_result *own = &request->result;
	struct job_result result = lookup->result;

	memcpy(result.cached_from, lookup->run_id, sizeof(result.cached_from));
	result.metrics = own->metrics;
	result.approval = own->approval;
	result.steps = own->steps;
	result.replay_of = own->replay_of;
	result.step_count = own->step_count;
	if (own->has_verdict) {
		result.has_verdict = true;
		result.verdict = own->verdict;
	}
	replace_result(&request->result, &result);
}
