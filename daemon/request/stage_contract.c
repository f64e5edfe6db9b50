/* CONTRACT: checks the params and makes a struct job_spec: typed, complete and within bounds. */
#include <string.h>

#include "daemon/door/conn.h"
#include "daemon/door/notification.h"
#include "daemon/filter_digest.h"
#include "daemon/gate/blobs.h"
#include "daemon/loop/thread_work.h"
#include "daemon/policy/allowances.h"
#include "daemon/request/cell.h"
#include "daemon/request/known_names.h"
#include "daemon/request/masking.h"
#include "daemon/request/networking.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/record_lookup.h"
#include "daemon/request/registry.h"
#include "daemon/request/request_packages.h"
#include "daemon/request/run_calls.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "daemon/workers/fingerprint.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/job/language.h"
#include "proto/method/absent.h"
#include "proto/method/method.h"
#include "proto/ulid.h"
#include "proto/version.h"
#include "proto/wire/rpc.h"

#define FILES_MOST        1024 /* the limit in run.json */
#define NOTICE_BYTES      4096
#define EXEC_TEXT_BYTES   ((size_t)128 << 10) /* including the final NUL: MAX_ARG_STRLEN */
/* maximum age of a run_id that a caller chose: five minutes */
#define RUN_ID_AGE_MS     300000L
#define PACKAGES_RETRY_MS 1000
#define CHECK_AT_ONCE     ((size_t)512 << 10) /* a message with its values; about 1 ms */

/*
 * Runs before the params are checked, so the names of runtime and policy may be unknown; such names
 * have no limits of their own.
 */
const struct job_bounds *stage_contract_bounds(const struct services *services,
	const struct caller *caller, const struct value *params, struct job_bounds *room)
{
	const struct allowance_case what = {
		.runtime = value_as_text(value_get(params, "language")),
		.policy = value_as_text(value_get(params, "policy")),
		.has_caller = true,
		.uid = caller->uid,
		.gid = caller->gid,
	};

	return allowances_bounds(services->config, services->bounds, &what, room);
}

/* Describes the interpreter and the system below it, for the record. */
static const struct value *describe_interpreter(struct request *request)
{
	struct value *map = runtime_stamp(request->runtime, &request->arena);

	value_map_put(&request->arena, map, "ced", value_text(&request->arena, CED_VERSION));
	value_map_put(
		&request->arena, map, "filters", value_text(&request->arena, CED_FILTERS_DIGEST));
	value_map_put(
		&request->arena, map, "kernel", value_text(&request->arena, fingerprint_kernel()));
	if (request->packages.count)
		value_map_put(&request->arena, map, "packages",
			packages_stamp(&request->arena, &request->packages));
	return map;
}

/* ---- rejecting ------------------------------------------------------------------------------ */

/* Names that the schema run.json cannot check. */
static const struct {
	const char *key;
	const char *pointer;
	const char *(*unknown)(
		const struct services *services, struct arena *arena, const char *name);
} names[] = {
	{ "language", "/language", names_unknown_runtime },
	{ "policy", "/policy", names_unknown_policy },
};

static const char *name_in(const struct request *request, const char *key)
{
	return value_as_text(value_get(request->params, key));
}

static bool is_listed(const struct job_refusals *refusals, const char *pointer)
{
	for (size_t i = 0; i < refusals->count; i++)
		if (strcmp(refusals->items[i].pointer, pointer) == 0)
			return true;
	return false;
}

/* Adds unknown names, so that a check reports all faults at once. */
static void add_unknown_names(struct request *request, struct job_refusals *all)
{
	for (size_t i = 0; i < COUNT_OF(names) && all->count < JOB_REFUSALS_MAX; i++) {
		const char *message = names[i].unknown(
			request->services, &request->arena, name_in(request, names[i].key));

		if (message && !is_listed(all, names[i].pointer))
			all->items[all->count++] =
				(struct job_refusal){ names[i].pointer, "value", message };
	}
}

/* Also adds a fault that was found only after the contract was met. */
static void add_late_fault(
	struct request *request, struct job_refusals *all, const struct job_refusal *refusal)
{
	add_unknown_names(request, all);
	if (all->count < JOB_REFUSALS_MAX && !is_listed(all, refusal->pointer))
		all->items[all->count++] = *refusal;
}

static enum stage refuse_contract(struct request *request, const struct job_refusal *refusal)
{
	request->result.outcome = OUTCOME_REFUSED;
	request->result.ran = RAN_NO;
	request->result.reason = refusal->message;
	request->failure.pointer = refusal->pointer;
	request->failure.reason = refusal->reason;
	request_fail(request, RPC_CODE_BAD_REQUEST, "%s", refusal->message);
	request_step(request, "contract.refused", "contract", false, refusal->message);
	if (request->refusals)
		add_late_fault(request, request->refusals, refusal);
	return request->is_check ? STAGE_REPLY : STAGE_RECORD;
}

/*
 * Finds the runtime and the policy.  Returns false and fills in the refusal when this host lacks
 * one.
 */
static bool find_names(struct request *request, struct job_refusal *ret_refusal)
{
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const char *message = names[i].unknown(
			request->services, &request->arena, name_in(request, names[i].key));

		if (!message)
			continue;
		*ret_refusal = (struct job_refusal){ names[i].pointer, "value", message };
		return false;
	}
	request->runtime = pool_find(request->services->pool, request->spec.language);
	request_take_policies(request);
	request->policy = policies_find(request->policies, request->spec.policy);
	return request->runtime && request->policy;
}

/* ---- in the loop or on a thread ------------------------------------------------------------- */

/* One check of the params.  Of the request it changes only the arena. */
struct contract_check {
	struct request *request;
	const struct job_bounds *bounds;
	struct job_bounds room;
	int answer; /* result of job_spec_from_value() */
	struct job_spec spec;
	struct job_refusal refusal;
	struct job_refusals *all; /* of a check; NULL: none, or no memory */
	char code_hash[HASH_TEXT_LEN + 1], input_hash[HASH_TEXT_LEN + 1];
	struct err err;
};

static void find_all_faults(struct contract_check *check)
{
	struct request *request = check->request;
	struct job_refusals *all = arena_new(&request->arena, struct job_refusals);
	struct err err = ERR_INIT;

	/* Without memory only the first fault is reported. */
	if (all &&
		job_spec_refusals(&request->arena, request->params, check->bounds, all, &err) == 0)
		check->all = all;
}

static void check_contract(void *context)
{
	struct contract_check *check = context;
	struct request *request = check->request;

	check->answer = job_spec_from_value(&request->arena, request->params, check->bounds,
		&check->spec, &check->refusal, &check->err);
	if (request->is_check && check->answer >= 0)
		find_all_faults(check);
	if (check->answer)
		return;
	job_code_hash(&check->spec, check->code_hash);
	job_input_hash(&check->spec, check->input_hash);
}

/*
 * Sends the id of the run if the client asked for that, so that the run can be cancelled wherever
 * it waits.  An id is neither output nor a result, so it may be sent before the store knows the
 * run.
 */
static void announce(struct request *request)
{
	struct buf message;

	if (!request->spec.announce || (request->sent & SENT_ID) || request->is_check ||
		!request->conn)
		return;
	request->sent |= SENT_ID;
	buf_init(&message, NOTICE_BYTES);
	if (notification_write_started(
		    &message, request->result.run_id, request->msgid, request->spec.id, NULL) == 0)
		conn_send_buf(request->conn, &message);
	buf_done(&message);
}

static enum stage accept_contract(struct request *request)
{
	request_step(request, "contract.held", "contract", true, NULL);
	announce(request);
	return STAGE_REPEAT;
}

/* ---- a run_id that the caller chose --------------------------------------------------------- */

static enum stage refuse_run_id(struct request *request, const char *reason, const char *message)
{
	const struct job_refusal refusal = { "/run_id", reason, message };

	return refuse_contract(request, &refusal);
}

static enum stage refuse_taken_run_id(struct request *request)
{
	request_fail(request, RPC_CODE_CONFLICT, "%s",
		"/run_id: another run has this id: make a new one for each run");
	return refuse_run_id(request, "conflict", request->failure.message);
}

static enum stage fail_run_id_lookup(struct request *request, const char *why)
{
	request_fail(request, RPC_CODE_INTERNAL,
		"the daemon cannot find out whether the run_id is free, so it did nothing: %s",
		why);
	return request_not_run(request, OUTCOME_SANDBOX_ERROR, request->failure.message);
}

static enum stage use_free_run_id(struct request *request, const struct record_lookup *lookup)
{
	request->contract = CONTRACT_READ;
	if (lookup->answer == LOOKUP_FOUND)
		return refuse_taken_run_id(request);
	if (lookup->answer != LOOKUP_NONE)
		return fail_run_id_lookup(request, lookup->err.text);
	if (registry_rename(request->services->runs, request, request->spec.run_id) < 0)
		return fail_run_id_lookup(request, "no memory");
	return accept_contract(request);
}

static void on_run_id_looked_up(struct request *request, const struct record_lookup *lookup)
{
	request_enter(request, use_free_run_id(request, lookup));
}

/*
 * Takes the id that the caller chose.  Runs are ordered and kept by the time in their ids, so that
 * time must be recent.  ulid_pass() keeps the daemon from giving out the same place in that order.
 */
static enum stage take_run_id(struct request *request)
{
	struct services *services = request->services;
	const char *run_id = request->spec.run_id;
	int64_t age_ms;

	/* set before it waited for approval */
	if (!run_id || strcmp(run_id, request->result.run_id) == 0)
		return accept_contract(request);
	age_ms = clock_wall_us() / 1000 - (int64_t)ulid_time_ms(run_id);
	if (age_ms < 0 || age_ms > RUN_ID_AGE_MS)
		return refuse_run_id(request, "range",
			"/run_id: its time must lie within the last five minutes");
	if (request->is_check)
		return accept_contract(request);
	if (registry_has_place(services->runs, run_id))
		return refuse_taken_run_id(request);
	if (record_lookup_start(request, LOOKUP_PLACE, run_id, on_run_id_looked_up) < 0)
		return fail_run_id_lookup(request, "no thread could ask the store");
	ulid_pass(services->ids, run_id);
	request->contract = CONTRACT_NAMING;
	return STAGE_WAIT;
}

/* ---- limits of new processes ---------------------------------------------------------------- */

static bool is_too_long(
	struct request *request, size_t len, const char *pointer, struct job_refusal *ret_refusal)
{
	if (len < EXEC_TEXT_BYTES)
		return false;
	*ret_refusal = (struct job_refusal){ pointer, "too_long",
		arena_printf(&request->arena,
			"%s: must have fewer than %zu bytes, not %zu: \"%s\" starts a process for "
			"each run, and the kernel gives it no more in one argument or variable",
			pointer, EXEC_TEXT_BYTES, len, request->spec.language) };
	return true;
}

/* A command is started by execve(2), which limits the length of each text. */
static bool cannot_be_passed(struct request *request, struct job_refusal *ret_refusal)
{
	const struct job_spec *spec = &request->spec;
	struct arena *arena = &request->arena;

	if (request->runtime->config->kind != KIND_COMMAND)
		return false;
	for (size_t i = 0; i < spec->arg_count; i++)
		if (is_too_long(request, spec->args[i].len, arena_printf(arena, "/args/%zu", i),
			    ret_refusal))
			return true;
	for (size_t i = 0; i < spec->env_count; i++)
		if (is_too_long(request, strlen(spec->env[i].key) + 1 + spec->env[i].value.len,
			    arena_printf(arena, "/env/%s", spec->env[i].key), ret_refusal))
			return true;
	return false;
}

/* The client may send the request again when the set has been checked. */
static enum stage refuse_until_checked(struct request *request, const struct job_refusal *refusal)
{
	request_fail(request, RPC_CODE_BUSY, "%s", refusal->message);
	request->failure.retry_after_ms = PACKAGES_RETRY_MS;
	if (request->is_check)
		return refuse_contract(request, refusal);
	return request_not_run(request, OUTCOME_BUSY, refusal->message);
}

/* A request that was approved comes here again, with its calls. */
static bool offer_tools(struct request *request, struct job_refusal *ret_refusal)
{
	if (request->calls || request->is_check)
		return true;
	request->calls = run_calls_new(request);
	*ret_refusal = (struct job_refusal){ "/tools", "work", "no memory for the calls of tools" };
	return request->calls != NULL;
}

/*
 * Finds what this host has for the request.  The spec of a run is masked before, since the record of
 * a refusal needs that.
 */
static enum stage fit_to_host(struct request *request)
{
	struct job_refusal refusal = { "", "value",
		"this host lacks something that the request names" };
	struct wish wish;

	if (!find_names(request, &refusal) || cannot_be_passed(request, &refusal))
		return refuse_contract(request, &refusal);
	request->masked.spec.language = request->spec.language; /* names of this host: no secrets */
	request->masked.spec.policy = request->spec.policy;
	wish = request_wish(request);
	if (!networking_is_allowed(&wish, &refusal))
		return refuse_contract(request, &refusal);
	switch (request_packages_find(request, &refusal)) {
	case PACKAGES_FOUND:
		request->masked.spec.packages = request->spec.packages;
		break;
	case PACKAGES_REFUSED:
		return refuse_contract(request, &refusal);
	case PACKAGES_CHECKED_NOW:
		return refuse_until_checked(request, &refusal);
	}
	if (request->spec.tool_count && !offer_tools(request, &refusal))
		return refuse_contract(request, &refusal);
	request->result.runtime = describe_interpreter(request);
	if (request->spec.deterministic)
		request->runtime = request->runtime->steady;
	if (request->spec.network)
		request->runtime = request->runtime->networked;
	return take_run_id(request);
}

static enum stage contract_checked(struct request *request, struct contract_check *check)
{
	request->refusals = check->all;
	if (check->answer < 0) {
		request->result.outcome = OUTCOME_REFUSED;
		request->result.reason = "no memory to read the request";
		request_fail(request, RPC_CODE_TOO_LARGE, "%s", check->err.text);
		return request->is_check ? STAGE_REPLY : STAGE_RECORD;
	}
	if (check->answer > 0)
		return refuse_contract(request, &check->refusal);
	request->spec = check->spec;
	request->contract = CONTRACT_READ;
	request->result.limits = request->spec.limits;
	if (request->spec.display)
		request->result.display = value_list(&request->arena);
	memcpy(request->result.code_hash, check->code_hash, sizeof(check->code_hash));
	memcpy(request->result.input_hash, check->input_hash, sizeof(check->input_hash));
	return request->is_check ? fit_to_host(request) : masking_of_spec(request, fit_to_host);
}

static void on_contract_checked(void *context)
{
	struct contract_check *check = context;
	struct request *request = check->request;

	request->services->state->examining--;
	request_enter(request, contract_checked(request, check));
}

/* Checks large params on a thread, so that they do not block the loop. */
static bool check_on_thread(struct contract_check *check)
{
	struct request *request = check->request;
	struct services *services = request->services;

	if (request->held_bytes <= CHECK_AT_ONCE || services->state->closing ||
		thread_work_start(services->thread_work, request->caller.uid, check_contract,
			on_contract_checked, check) < 0)
		return false;
	services->state->examining++; /* closing the daemon waits for it */
	return true;
}

/* ---- blobs ---------------------------------------------------------------------------------- */

static void pin_blob(struct request *request, const struct value *file, struct job_blob *ret_blob)
{
	const char *sha256 = value_as_text(value_get(file, "blob"));
	struct blob *blob =
		sha256 ? blobs_find(request->services->blobs, request->caller.uid, sha256) : NULL;

	if (!blob || !blob->settled)
		return;
	request->pins[request->pin_count++] = blob_ref(blob);
	*ret_blob = (struct job_blob){ blob->sha256, { blob->data, blob->total } };
}

/*
 * Holds the blobs that its files name until the request ends.  Missing blobs are rejected by name.
 */
static void pin_blobs(struct request *request, struct contract_check *check)
{
	const struct value *files = value_get(request->params, "files");
	size_t count = value_is(files, VALUE_LIST) ? files->list.count : 0;
	struct job_blob *blobs = NULL;
	bool any = false;

	for (size_t i = 0; i < count && !any; i++)
		any = value_get(value_at(files, i), "blob") != NULL;
	if (!any || count > FILES_MOST ||
		request->pin_count) /* it has held them since before it waited */
		return;
	blobs = arena_array(&request->arena, struct job_blob, count);
	request->pins = arena_array(&request->arena, struct blob *, count);
	if (!blobs || !request->pins)
		return;
	for (size_t i = 0; i < count; i++)
		pin_blob(request, value_at(files, i), &blobs[request->pin_count]);
	check->room = *check->bounds;
	check->room.blobs = blobs;
	check->room.blob_count = request->pin_count;
	check->bounds = &check->room;
}

/* ---- normal form ---------------------------------------------------------------------------- */

/* Returns the params with another text under one key. */
static const struct value *with_text(
	struct arena *arena, const struct value *params, const char *key, const char *text)
{
	struct value *copy = value_map(arena);
	const struct value *old = value_get(params, key);

	for (size_t i = 0; i < params->map.count; i++) {
		const struct value_entry *entry = &params->map.entries[i];
		struct value *value = entry->value == old ? value_text(arena, text) : entry->value;

		if (value_map_put_len(arena, copy, entry->key, entry->key_len, value) < 0)
			return NULL;
	}
	return copy;
}

/*
 * Drops optional keys that are nil and replaces an alias of a language by its runtime's name.  So
 * the later stages and the record see only one form.
 */
static const struct value *normal_form(struct request *request)
{
	const struct value *params =
		method_without_absent(&request->arena, METHOD_RUN, request->params);
	const char *word = value_as_text(value_get(params, "language"));
	const char *language = word ? language_of_alias(word) : NULL;

	if (!language || params->map.count > ABSENT_ITEMS_MAX ||
		pool_find(request->services->pool, word) ||
		!pool_find(request->services->pool, language))
		return params;
	return with_text(&request->arena, params, "language", language);
}

enum stage stage_contract(struct request *request)
{
	const struct value *normal = normal_form(request);
	struct contract_check here = { .request = request, .err = ERR_INIT };
	struct contract_check *check = &here;
	int bound;

	if (normal) /* without memory the params stay as they are */
		request->params = normal;
	bound = cell_bind(request, &here.refusal);
	if (bound) {
		here.answer = bound;
		(void)err_set(&here.err, ERR_MEMORY, "no memory for a request");
		return contract_checked(request, &here);
	}
	if (request->held_bytes > CHECK_AT_ONCE)
		check = arena_new(&request->arena, struct contract_check);
	if (!check)
		check = &here;
	*check = here;
	check->bounds = stage_contract_bounds(
		request->services, &request->caller, request->params, &check->room);
	if (check->bounds != &check->room) {
		check->room = *check->bounds; /* a reload may change them while a thread reads */
		check->bounds = &check->room;
	}
	pin_blobs(request, check);
	if (check != &here && check_on_thread(check))
		return STAGE_WAIT;
	check_contract(check);
	return contract_checked(request, check);
}

void stage_contract_leave(struct request *request)
{
	for (size_t i = 0; i < request->pin_count; i++)
		blob_unref(request->pins[i]);
	run_calls_free(request->calls);
	request->calls = NULL;
	cell_unbind(request);
}
