/* CACHE: uses a recorded result instead of a run, if the caller allows that. */
#include "daemon/request/pipeline.h"
#include "daemon/request/record_lookup.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "daemon/workers/pool.h"
#include "proto/job/job_identity.h"

static enum stage missed(struct request *request, const char *why)
{
	request_step(request, "cache.miss", "cache", true, why);
	return STAGE_BEGIN;
}

/*
 * The policy has checked the program in either case.  The output is checked again, since this
 * request may ask for another format or schema.
 */
static void on_found(struct request *request, const struct record_lookup *lookup)
{
	if (request_is_canceled(request)) {
		request_enter(request, request_give_up(request));
		return;
	}
	if (lookup->answer != LOOKUP_FOUND) {
		request_enter(request, missed(request, NULL));
		return;
	}
	record_lookup_use(request, lookup);
	request->result.value = NULL;
	request_step(request, "cache.hit", "cache", true, request->result.cached_from);
	request_enter(request, STAGE_OUTPUT);
}

enum stage stage_cache(struct request *request)
{
	const struct job_hashes hashes = { request->result.code_hash, request->result.input_hash };
	const char *runtime = value_as_text(value_get(request->result.runtime, "digest"));
	const struct job_circumstances circumstances = { request->caller.uid, runtime,
		policy_digest(request->policy), value_get(request->result.runtime, "packages") };

	if (request->spec.cache == CACHE_OFF)
		return STAGE_BEGIN;
	if (!runtime)
		return missed(request, "the runtime has no digest yet");
	request->cache_key = arena_alloc(&request->arena, DIGEST_LEN);
	if (!request->cache_key)
		return missed(request, "no memory to look for it");
	job_cache_key(&request->spec, &hashes, &circumstances, request->cache_key);
	if (request->spec.cache == CACHE_USE &&
		record_lookup_start(request, LOOKUP_CACHED, NULL, on_found) == 0)
		return STAGE_WAIT;
	return missed(request, NULL);
}

/* While one zygote replaces another, it is unknown which of them made the worker. */
const uint8_t *stage_cache_key(const struct request *request)
{
	const char *runtime = value_as_text(value_get(request->result.runtime, "digest"));

	if (!request->cache_key || request->result.cached_from[0] ||
		!runtime_is_made_of(request->runtime, runtime))
		return NULL;
	return request->cache_key;
}
