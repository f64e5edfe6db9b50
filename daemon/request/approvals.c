#include "daemon/request/approvals.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/door/conn.h"
#include "daemon/loop/thread_work.h"
#include "daemon/record/readers.h"
#include "daemon/request/judged_parts.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/registry.h"
#include "daemon/request/request_packages.h"
#include "daemon/request/restore.h"
#include "daemon/request/run_events.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "daemon/workers/pool.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/digest.h"
#include "proto/job/job_network.h"

#define MESSAGE_BYTES ((size_t)128 << 20) /* limit for a message about a waiting run */
#define ARENA_BYTES   ((size_t)128 << 20) /* in addition to three times the largest request */
#define SUBJECT_BYTES ((size_t)1 << 20)
#define WAKE_MS       20
#define WAKE_AT_ONCE  8 /* runs; INSPECT_QUEUE_MAX is far more */

/* ---- reading the request from the store ------------------------------------------------------ */

/* One request that is being read. */
struct filling {
	struct request *request;
	struct readers *readers;
	const struct value *page; /* NULL: reading failed */
	struct err err;
	void (*then)(struct request *request, const struct err *err, void *context);
	void *context;
};

/*
 * Runs on a thread; nothing else uses the arena of an unread request meanwhile.  The memory counts
 * for no user: the run's user may not be connected, and approvers decide runs one after the other.
 */
static void read_request(void *context)
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

static bool is_masked(const struct value *record)
{
	return value_get(value_get(record, "request"), "masks") != NULL;
}

/*
 * Compares the recorded request with its hashes.  They differ when something in the request was
 * masked.  Values that the caller named for masking the output are not in the record at all.
 */
static void compare_hashes(struct request *request, const struct value *record)
{
	struct job_result *result = &request->result;
	const char *code_hash = value_as_text(value_get(record, "code_hash"));
	const char *input_hash = value_as_text(value_get(record, "input_hash"));

	job_code_hash(&request->spec, result->code_hash);
	job_input_hash(&request->spec, result->input_hash);
	request->parking->incomplete = !code_hash || strcmp(code_hash, result->code_hash) != 0 ||
				       !input_hash || strcmp(input_hash, result->input_hash) != 0 ||
				       is_masked(record) ||
				       value_get(value_get(record, "policy"), "secrets");
	cut_printf(result->code_hash, sizeof(result->code_hash), "%s", code_hash ? code_hash : "");
	cut_printf(
		result->input_hash, sizeof(result->input_hash), "%s", input_hash ? input_hash : "");
}

static int take_record(struct request *request, const struct value *page, struct err *err)
{
	/* Of secrets and masks the record has only the numbers. */
	static const char *const numbers[] = { "secrets", "masks", NULL };
	const struct value *record = value_at(value_get(page, "waiting"), 0);
	struct job_result *result = &request->result;
	struct arena *arena = &request->arena;
	struct job_refusal refusal;

	if (!record)
		return err_set(err, ERR_MISSING, "the store no longer has it");
	request->params = restore_params(arena, value_get(record, "request"), numbers);
	if (!request->params)
		return -1;
	if (restore_spec(arena, request->params, request->services->entrypoints, &request->spec,
		    err) == 0) {
		request->contract = CONTRACT_READ;
		request->runtime = pool_find(request->services->pool, request->spec.language);
		/* If they are gone, the run is refused when it is to begin. */
		request->parking->packages_unknown =
			request->runtime &&
			request_packages_find(request, &refusal) != PACKAGES_FOUND;
	} else if (err->code == ERR_CORRUPT && is_masked(record)) {
		/* A mask may stand where no text may, as in the name of a variable. */
		request->spec = (struct job_spec){ 0 };
		*err = (struct err)ERR_INIT;
	} else {
		return -1;
	}
	request->masked.spec = request->spec; /* what had to be masked is masked already */
	result->limits = request->spec.limits;
	compare_hashes(request, record);
	request->parking->unread = false;
	request->parking->tampered = value_get(record, "changed") != NULL;
	if (request->parking->tampered)
		return 0;
	if (policy_verdict_from_value(arena, value_get(record, "policy"), &result->verdict, err) <
		0)
		return -1;
	result->has_verdict = true;
	cut_printf(request->parking->digest, sizeof(request->parking->digest), "%s",
		result->verdict.digest);
	return 0;
}

static void on_request_read(void *context)
{
	struct filling *filling = context;
	struct request *request = filling->request;
	struct err *err = &filling->err;
	bool failed;

	request->services->state->examining--;
	if (!filling->page && err->code == ERR_NONE)
		(void)err_set(err, ERR_CLOSED, "the daemon is closing");
	failed = !filling->page || take_record(request, filling->page, err) < 0;
	filling->then(request, failed ? err : NULL, filling->context);
	free(filling);
}

void approval_fill(struct request *request,
	void (*then)(struct request *request, const struct err *err, void *context), void *context)
{
	struct services *services = request->services;
	struct filling *filling;
	struct err err = ERR_INIT;

	if (!request->parking->unread) {
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
		if (thread_work_start(services->thread_work, request->caller.uid, read_request,
			    on_request_read, filling) == 0)
			return;
		services->state->examining--;
		free(filling);
	}
	(void)err_set(&err, ERR_MEMORY, "no memory to read it from the store");
	then(request, &err, context);
}

/* ---- leaving: the store keeps the run -------------------------------------------------------- */

static void stop_clock(struct parking *parking)
{
	timer_close(parking->expiry);
	parking->expiry = NULL;
}

/* The daemon is about to end: reports to clients that the run still waits. */
static void tell_leaving(struct request *request)
{
	struct arena *arena = &request->arena;
	struct value *data = value_map(arena);
	const struct rpc_error error = { .code = RPC_CODE_DRAINING,
		.message = "the daemon is about to end; the run still waits for approval: call "
			   "`wait` when the daemon has restarted",
		.data = data };
	const struct run_end ended = {
		.run_id = request->result.run_id, .uid = request->caller.uid, .error = &error
	};

	value_map_put(arena, data, "run_id", value_text(arena, request->result.run_id));
	if (request->conn && !(request->sent & SENT_ANSWER))
		conn_send_error(request->conn, request->msgid, &error);
	registry_tell_end(request->services->runs, &ended);
	stage_repeat_waits_on(request);
}

/* The row in the store remains. */
static void leave_waiting(struct request *request)
{
	stop_clock(request->parking);
	/* a client that leaves on this message must not end the run */
	request->parking->state = PARKING_DECIDED;
	tell_leaving(request);
	request_enter(request, STAGE_EXIT);
}

bool approval_begins_later(struct request *request)
{
	const struct parking *parking = request->parking;

	if (!parking || parking->decision != PARKING_APPROVED || parking->started ||
		request->result.outcome != OUTCOME_CANCELED || request->canceled != KILLED_CLOSING)
		return false;
	tell_leaving(request);
	return true;
}

/* ---- the end of a run that did not start ----------------------------------------------------- */

int64_t approval_waited_us(const struct request *request)
{
	return request->parking ? request->parking->waited_us : 0;
}

static struct value *describe_decision(struct arena *arena, const struct parking *parking)
{
	static const char *const words[] = { "", "approved", "denied", "expired", "canceled" };
	struct value *map = value_map(arena);

	value_map_put(arena, map, "decision", value_text(arena, words[parking->decision]));
	value_map_put(arena, map, "since_us", value_int(arena, parking->since_wall_us));
	value_map_put(arena, map, "at_us", value_int(arena, parking->decided_wall_us));
	if (!parking->act)
		return map;
	value_map_put(arena, map, "by", value_int(arena, parking->by));
	value_map_put(arena, map, "act", value_int(arena, parking->act));
	if (parking->reason)
		value_map_put(arena, map, "reason", value_text(arena, parking->reason));
	return map;
}

/* Converts a time of the wall clock to clock_us(). */
static int64_t at_us(int64_t wall_us)
{
	return clock_us() - (clock_wall_us() - wall_us);
}

/* Adds the waiting to the trace, and subtracts it from the run's own time. */
static void note_waited(struct request *request)
{
	struct parking *parking = request->parking;
	static const char *const steps[] = { "", "approval.given", "approval.denied",
		"approval.expired", "approval.canceled" };
	const char *note = NULL;

	if (!request->received_us)
		request->received_us = at_us(request->received_wall_us);
	if (!parking->decided_wall_us)
		parking->decided_wall_us = clock_wall_us();
	if (parking->act)
		note = arena_printf(&request->arena, "by uid %u", parking->by);
	request_step_at(request, at_us(parking->since_wall_us),
		&(struct job_step){ "approval.asked", "approval", 0, true, NULL });
	request_step_at(request, at_us(parking->decided_wall_us),
		&(struct job_step){ steps[parking->decision], "approval", 0,
			parking->decision == PARKING_APPROVED, note });
	parking->waited_us += clock_wall_us() - parking->since_wall_us;
	request->result.approval = describe_decision(&request->arena, parking);
}

static const char *denied_words(struct request *request)
{
	const struct parking *parking = request->parking;
	const char *why = parking->reason ? parking->reason : "no reason was given";

	return arena_printf(&request->arena, "uid %u denied the run: %s.", parking->by, why);
}

static const char *expired_words(struct request *request)
{
	const struct parking *parking = request->parking;

	return arena_printf(&request->arena, "No approver decided within %lld s.",
		(long long)((parking->until_wall_us - parking->since_wall_us) / 1000000));
}

static const char *canceled_words_of(struct request *request)
{
	if (!request_is_canceled(request) && request->parking->tampered)
		return "The request was changed in the store while the run waited for approval, so "
		       "the original is unknown: send it again.";
	if (!request_is_canceled(request))
		return "The daemon restarted while the run waited for approval, and its secrets or "
		       "masked parts are not in the store: send it again.";
	return arena_printf(&request->arena,
		"The run was cancelled while it waited for approval, %s.",
		canceled_words(request->canceled));
}

/* Sends the run to RECORD.  Values that could not be read from the store (`err`) are left out. */
static void record_end(struct request *request, const struct err *err, void *context)
{
	static const enum outcome outcomes[] = { OUTCOME_SANDBOX_ERROR, OUTCOME_SANDBOX_ERROR,
		OUTCOME_APPROVAL_DENIED, OUTCOME_APPROVAL_EXPIRED, OUTCOME_CANCELED };
	struct job_result *result = &request->result;

	(void)err;
	(void)context;
	if (request->services->state->closing) { /* its row in the store keeps the decision */
		leave_waiting(request);
		return;
	}
	note_waited(request);
	result->outcome = outcomes[request->parking->decision];
	result->ran = RAN_NO;
	if (request->parking->decision == PARKING_DENIED)
		result->reason = denied_words(request);
	else if (request->parking->decision == PARKING_EXPIRED)
		result->reason = expired_words(request);
	else
		result->reason = canceled_words_of(request);
	request_enter(request, STAGE_RECORD);
}

static void end_waiting(struct request *request)
{
	stop_clock(request->parking);
	request->parking->state = PARKING_DECIDED;
	approval_fill(request, record_end, NULL);
}

void stage_approval_cancel(struct request *request)
{
	struct parking *parking = request->parking;

	if (!request_waits_in(request, STAGE_APPROVAL) || !parking ||
		parking->state != PARKING_WAITS)
		return; /* the step in progress will see request->canceled */
	parking->decision = PARKING_CANCELED;
	end_waiting(request);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void on_expiry(void *owner)
{
	struct request *request = owner;

	request->parking->decision = PARKING_EXPIRED;
	end_waiting(request);
}

static void start_clock(struct request *request)
{
	struct parking *parking = request->parking;
	int64_t left_us = parking->until_wall_us - clock_wall_us();

	parking->state = PARKING_WAITS;
	parking->decision = PARKING_UNDECIDED;
	parking->act = 0;
	parking->reason = NULL;
	parking->expiry = timer_new(request->services->loop,
		left_us > 0 ? (uint64_t)left_us / 1000 + 1 : 0, 0, on_expiry, request);
}

static struct value *describe_waiting(struct request *request, struct arena *arena)
{
	const struct parking *parking = request->parking;
	struct value *map = value_map(arena);

	value_map_put(arena, map, "run_id", value_text(arena, request->result.run_id));
	value_map_put(arena, map, "state", value_text(arena, "parked"));
	value_map_put(arena, map, "until_us", value_int(arena, parking->until_wall_us));
	value_map_put(
		arena, map, "policy", policy_verdict_to_value(arena, &request->result.verdict));
	return map;
}

/*
 * Reports to the client that its run waits: as the reply to a detached run, else as a notification.
 */
static void tell_client(struct request *request)
{
	struct arena arena;
	struct buf message;
	struct err err = ERR_INIT;

	if (!request->conn)
		return;
	arena_init(&arena, MESSAGE_BYTES);
	if (request->spec.detach && !(request->sent & SENT_ANSWER)) {
		request->sent |= SENT_ANSWER;
		conn_send_result(request->conn, request->msgid, describe_waiting(request, &arena));
	} else {
		buf_init(&message, MESSAGE_BYTES);
		if (rpc_write_notification(
			    &message, "run.parked", describe_waiting(request, &arena), &err) == 0)
			conn_send_buf(request->conn, &message);
		buf_done(&message);
	}
	arena_done(&arena);
}

void approval_wait_on(struct request *request)
{
	start_clock(request);
	if (request_is_canceled(request))
		stage_approval_cancel(request);
	else if (request->services->state->draining)
		leave_waiting(request);
}

void approval_wait(struct request *request)
{
	tell_client(request);
	event_run_asked(request);
	approval_wait_on(request);
}

void approval_decide(struct request *request, enum parking_decision decision, uint32_t by)
{
	struct parking *parking = request->parking;

	stop_clock(parking);
	parking->state = PARKING_DECIDING;
	parking->decision = decision;
	parking->by = by;
}

/* ---- an approved run starts ------------------------------------------------------------------ */

/* Resets the request to its state on arrival, except for the record and trace of its waiting. */
static void reset_request(struct request *request)
{
	struct job_result *result = &request->result;
	struct job_result fresh = { .steps = result->steps,
		.step_count = result->step_count,
		.approval = result->approval,
		.replay_of = result->replay_of };

	if (request->pin_count) /* its blobs stay pinned and are not looked up again */
		request->params = restore_files(&request->arena, request->params, &request->spec);
	memcpy(fresh.run_id, result->run_id, sizeof(fresh.run_id));
	*result = fresh;
	request->spec = (struct job_spec){ 0 };
	request->contract = CONTRACT_UNREAD;
	request->policy = NULL;
	request->runtime = NULL;
	request->texts_judged = 0;
}

static void unreadable(struct request *request, const struct err *err)
{
	request->result.outcome = OUTCOME_SANDBOX_ERROR;
	request->result.ran = RAN_NO;
	request->result.reason = arena_printf(&request->arena,
		"The run was approved, but the daemon could not read its request: %s.", err->text);
	request_enter(request, STAGE_RECORD);
}

static void start_again(struct request *request, const struct err *err, void *context)
{
	struct parking *parking = request->parking;

	(void)context;
	request->services->approvals->filling--;
	if (request_is_canceled(request) || (!err && (parking->incomplete || parking->tampered))) {
		parking->decision = PARKING_CANCELED;
		record_end(request, NULL, NULL);
	} else if (request->services->state->draining) {
		leave_waiting(request); /* approved in the store: the next daemon starts it */
	} else {
		note_waited(request);
		list_remove(&parking->link);
		request->services->approvals->count--;
		if (err) {
			unreadable(request, err);
			return;
		}
		reset_request(request);
		request_enter(request, STAGE_CONTRACT);
	}
}

void approval_go_on(struct request *request)
{
	struct parking *parking = request->parking;

	parking->state = PARKING_DECIDED;
	if (parking->decision == PARKING_APPROVED) {
		request->services->approvals->filling++;
		approval_fill(request, start_again, NULL);
	} else {
		end_waiting(request);
	}
}

static void on_unparked(struct recording *recording, const struct err *err)
{
	struct request *request = container_of(recording, struct parking, recording)->request;

	execution_go(&request->execution,
		err ? arena_printf(&request->arena,
			      "The daemon could not record the start, so it did not run the program: %s.",
			      err->text)
		    : NULL);
	if (!err)
		event_run_started(request);
}

void approval_start(struct request *request)
{
	struct recording *recording = &request->parking->recording;

	request->parking->started = true;
	recording->kind = RECORDING_UNPARKED;
	recording->durability = STORE_NOW;
	recording->done = on_unparked;
	recording->run.run_id = request->result.run_id;
	recorder_put(request->services->recorder, recording);
}

/* ---- the subject of an approval ------------------------------------------------------------- */

static int put_text_hash(struct buf *buf, const char *path, struct bytes text)
{
	char hash[DIGEST_TEXT_LEN + 1];

	digest_text_of(text.data, text.len, hash);
	return buf_append(buf, path, strlen(path) + 1) < 0 ||
			       buf_append(buf, hash, sizeof(hash)) < 0
		       ? -1
		       : 0;
}

/* The network counts whatever the policy says about it: a person approves what is asked for. */
static int put_network(struct buf *buf, const struct job_network *network)
{
	static const char mark[] = "network";

	if (!network)
		return 0;
	if (buf_append(buf, mark, sizeof(mark)) < 0)
		return -1;
	for (size_t i = 0; i < network->pair_count; i++) {
		const struct network_pair *pair = &network->pairs[i];

		if (buf_printf(buf, "%s:%u %d", pair->host, pair->port, pair->tls) < 0 ||
			buf_append_byte(buf, '\0') < 0)
			return -1;
	}
	return buf_printf(buf, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, network->connections,
		       network->at_once, network->up_bytes, network->down_bytes) < 0 ||
			       buf_append_byte(buf, '\0') < 0
		       ? -1
		       : 0;
}

/* What the program imports is as much a part of it as its own files. */
static int put_packages(struct buf *buf, const struct chosen_packages *chosen)
{
	static const char mark[] = "packages";

	if (chosen->count && buf_append(buf, mark, sizeof(mark)) < 0)
		return -1;
	for (size_t i = 0; i < chosen->count; i++) {
		const struct config_package *set = chosen->sets[i]->config;

		if (buf_append(buf, set->name, strlen(set->name) + 1) < 0 ||
			buf_append(buf, set->digest, strlen(set->digest) + 1) < 0)
			return -1;
	}
	return 0;
}

/*
 * A variable that a shell runs as code can name a file of any kind, stdin, an argument or another
 * variable.  So with such a variable all of them are part of the program.
 */
static int put_input(struct buf *buf, const struct request *request)
{
	const struct job_spec *spec = &request->spec;
	const char *hash = request->result.input_hash;

	for (size_t i = 0; i < spec->env_count; i++)
		if (judged_variable(request, spec->env[i].key))
			return buf_append(buf, hash, strlen(hash) + 1);
	return 0;
}

/*
 * Collects everything that was judged, and the policy.  NULs separate the parts, since no part can
 * contain one.
 */
static int put_subject(struct buf *buf, const struct request *request)
{
	const struct job_spec *spec = &request->spec;
	const char *digest = request->result.verdict.digest;

	if (buf_append(buf, digest, strlen(digest) + 1) < 0 ||
		buf_append(buf, spec->language, strlen(spec->language) + 1) < 0 ||
		put_text_hash(buf, "", spec->code) < 0)
		return -1;
	if (spec->session && buf_append(buf, spec->session, strlen(spec->session) + 1) < 0)
		return -1;
	for (size_t i = 0; i < spec->file_count; i++)
		if (judged_file_kind(request, &spec->files[i]) != FILE_OF_DATA &&
			put_text_hash(buf, spec->files[i].path, spec->files[i].data) < 0)
			return -1;
	if (put_input(buf, request) < 0)
		return -1;
	if (put_packages(buf, &request->packages) < 0)
		return -1;
	return put_network(buf, spec->network);
}

int approval_subject(const struct request *request, char ret_subject[HASH_TEXT_LEN + 1])
{
	struct buf buf;
	int put;

	buf_init(&buf, SUBJECT_BYTES);
	put = put_subject(&buf, request);
	if (put == 0)
		digest_text_of(buf.bytes, buf.len, ret_subject);
	buf_done(&buf);
	return put;
}

/* ---- all waiting runs ------------------------------------------------------------------------ */

void approvals_init(struct approvals *approvals, struct services *services)
{
	*approvals = (struct approvals){ .services = services };
	list_init(&approvals->parked);
	grants_init(&approvals->grants);
}

void approvals_done(struct approvals *approvals)
{
	grants_done(&approvals->grants);
}

const char *approvals_full(const struct approvals *approvals, uint32_t uid)
{
	const struct config *config = approvals->services->config;
	uint64_t own = 0;

	list_for_each(at, &approvals->parked)
		own += container_of(at, struct parking, link)->request->caller.uid == uid;
	if (approvals->count >= config->parked_max)
		return "too many runs wait for approval (parked_max)";
	if (own >= config->parked_per_caller)
		return "too many runs of this caller wait for approval (parked_per_caller)";
	return NULL;
}

/* Returns a waiting run that no step is working on, or NULL. */
static struct parking *idle_one(const struct approvals *approvals)
{
	list_for_each(at, &approvals->parked) {
		struct parking *parking = container_of(at, struct parking, link);

		if (parking->state == PARKING_WAITS || parking->state == PARKING_ASLEEP)
			return parking;
	}
	return NULL;
}

/* Searches anew after each run, since a client that learns of it may leave and end other runs. */
void approvals_leave(struct approvals *approvals)
{
	struct parking *parking;

	timer_close(approvals->wakes);
	approvals->wakes = NULL;
	while ((parking = idle_one(approvals)))
		leave_waiting(parking->request);
}

void stage_approval_leave(struct request *request)
{
	struct parking *parking = request->parking;

	if (!parking)
		return;
	stop_clock(parking);
	if (!list_is_empty(&parking->link))
		request->services->approvals->count--;
	list_remove(&parking->link);
}

/* ---- the daemon starts ----------------------------------------------------------------------- */

static void note_decision(struct request *request, const struct store_parked *from)
{
	struct parking *parking = request->parking;

	if (!from->decision)
		return;
	parking->decision =
		strcmp(from->decision, "approved") != 0 ? PARKING_DENIED : PARKING_APPROVED;
	parking->state = PARKING_ASLEEP;
	parking->by = from->by;
	parking->act = from->act;
	parking->decided_wall_us = from->at_wall_us;
	if (from->reason)
		parking->reason = arena_strdup(&request->arena, from->reason);
}

/* Takes the run's id again, so that requests with the same id wait for its result. */
static void take_claim(struct request *request, const struct store_parked *from)
{
	struct claims *claims = request->services->claims;
	struct list nobody;

	if (!from->action)
		return;
	memcpy(request->claim.content, from->action, sizeof(request->claim.content));
	if (claims_enter(claims, from->uid, from->caller_id, &request->claim) != CLAIM_FIRST)
		return;
	claims_decide(&request->claim, &nobody);
	request->known = KNOWN_BY_ID;
}

static size_t arena_bytes(const struct config *config)
{
	return ARENA_BYTES + 3 * (size_t)(config->code_bytes + config->input_bytes +
					  config->files_bytes + config->schema_bytes);
}

static int load_one(void *context, const struct store_parked *from)
{
	struct approvals *approvals = context;
	struct services *services = approvals->services;
	const struct caller caller = { .uid = from->uid, .gid = from->gid, .pid = from->pid };
	struct request *request = request_new_restored(
		services, &caller, from->run_id, arena_bytes(services->config));

	if (!request)
		return -1;
	request->parking = arena_new(&request->arena, struct parking);
	if (!request->parking || registry_add(services->runs, request) < 0)
		return -1; /* the start of the daemon fails, so nothing is freed */
	*request->parking = (struct parking){ .request = request,
		.state = PARKING_WAITS,
		.unread = true,
		.since_wall_us = from->since_wall_us,
		.until_wall_us = from->until_wall_us };
	request->received_wall_us = from->received_wall_us;
	if (from->is_changed)
		log_event(LOG_LEVEL_ERROR, "approval.changed", LOG_STR("run_id", from->run_id),
			LOG_STR("repair", "see `cectl audit verify`; it can be denied"));
	note_decision(request, from);
	take_claim(request, from);
	list_append(&approvals->parked, &request->parking->link);
	approvals->count++;
	return 0;
}

/*
 * Once there are workers and inspectors, continues the runs that were decided before the start: a
 * few at a time, since all of them at once would find the line before the inspectors full.
 */
static void on_wake(void *owner)
{
	struct approvals *approvals = owner;
	struct services *services = approvals->services;
	unsigned asleep = 0;

	if (!services->state->ready || !policies_ready(services->policies) ||
		!policies_have_room(services->policies) || approvals->filling)
		return;
	list_for_each(at, &approvals->parked) {
		struct parking *parking = container_of(at, struct parking, link);

		if (parking->state == PARKING_ASLEEP && asleep++ < WAKE_AT_ONCE)
			approval_go_on(parking->request);
	}
	if (asleep > WAKE_AT_ONCE)
		return;
	timer_close(approvals->wakes);
	approvals->wakes = NULL;
}

int approvals_load(struct approvals *approvals, struct store *store, struct err *err)
{
	if (grants_load(&approvals->grants, store, err) < 0 ||
		store_each_parked(store, load_one, approvals, err) < 0)
		return -1;
	list_for_each(at, &approvals->parked) {
		struct parking *parking = container_of(at, struct parking, link);

		if (parking->state == PARKING_WAITS)
			start_clock(parking->request);
	}
	if (approvals->count)
		approvals->wakes =
			timer_new(approvals->services->loop, WAKE_MS, WAKE_MS, on_wake, approvals);
	return 0;
}
