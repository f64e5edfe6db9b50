#include "daemon/gate/approvals.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/door/conn.h"
#include "daemon/gate/revive.h"
#include "daemon/methods/methods.h"
#include "daemon/news/events_runs.h"
#include "daemon/pipeline.h"
#include "daemon/record/readers.h"
#include "daemon/server.h"
#include "daemon/stages.h"
#include "daemon/workers/pool.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

#define ARENA_BYTES ((size_t)128 << 20) /* beside three times what a request may hold */
#define WAKE_MS     20

static void end(struct request *request);

/* ---- all together --------------------------------------------------------------------------- */

void approvals_init(struct approvals *approvals, struct server *server)
{
	*approvals = (struct approvals){ .server = server };
	list_init(&approvals->parked);
	grants_init(&approvals->grants);
}

void approvals_done(struct approvals *approvals)
{
	grants_done(&approvals->grants);
}

const char *approvals_full(const struct approvals *approvals, uint32_t uid)
{
	const struct config *config = &approvals->server->config;
	uint64_t own = 0;

	list_for_each(at, &approvals->parked)
		own += container_of(at, struct parking, link)->request->caller.uid == uid;
	if (approvals->count >= config->parked_max)
		return "as many runs wait for approval as may wait";
	if (own >= config->parked_per_caller)
		return "as many of this caller's runs wait for approval as may wait";
	return NULL;
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void on_expiry(void *owner)
{
	struct request *request = owner;

	request->parking->word = PARKING_EXPIRED;
	end(request);
}

static void start_clock(struct request *request)
{
	struct parking *parking = request->parking;
	int64_t left_us = parking->until_wall_us - clock_wall_us();

	parking->state = PARKING_WAITS;
	parking->word = PARKING_NO_WORD;
	parking->act = 0;
	parking->reason = NULL;
	parking->expiry = timer_new(&request->server->loop,
		left_us > 0 ? (uint64_t)left_us / 1000 + 1 : 0, 0, on_expiry, request);
}

static void stop_clock(struct parking *parking)
{
	timer_close(parking->expiry);
	parking->expiry = NULL;
}

static struct value *describe(struct request *request, struct arena *arena)
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

/* Its client learns that it waits: in a notification, and as the answer to a detached run. */
static void tell_client(struct request *request)
{
	struct arena arena;
	struct buf message;
	struct err err = ERR_INIT;

	if (!request->conn)
		return;
	arena_init(&arena, ARENA_BYTES);
	if (request->spec.detach && !request->answered) {
		request->answered = true;
		conn_send_result(request->conn, request->msgid, describe(request, &arena));
	} else {
		buf_init(&message, ARENA_BYTES);
		if (rpc_write_notification(
			    &message, "run.parked", describe(request, &arena), &err) == 0)
			conn_send_buf(request->conn, &message);
		buf_done(&message);
	}
	arena_done(&arena);
}

/* The daemon is about to end: whoever hears of it is told that it is not over. */
static void tell_leaving(struct request *request)
{
	struct arena *arena = &request->arena;
	struct value *data = value_map(arena);
	const struct rpc_error error = { .code = RPC_CODE_DRAINING,
		.message = "the daemon is about to end; the run waits on for approval, also in "
			   "its next life: come back with `wait`",
		.data = data };
	const struct run_end ended = {
		.run_id = request->result.run_id, .uid = request->caller.uid, .error = &error
	};

	value_map_put(arena, data, "run_id", value_text(arena, request->result.run_id));
	if (request->conn && !request->answered)
		conn_send_error(request->conn, request->msgid, &error);
	methods_run_ended(request->server, &ended);
	stage_repeat_waits_on(request);
}

/* Its row in the store waits on. */
static void leave(struct request *request)
{
	stop_clock(request->parking);
	request->parking->state =
		PARKING_DECIDED; /* who is told may leave, and end nothing by it */
	tell_leaving(request);
	request_enter(request, STAGE_EXIT);
}

bool approval_begins_later(struct request *request)
{
	const struct parking *parking = request->parking;

	if (!parking || parking->word != PARKING_APPROVED || parking->started ||
		request->result.outcome != OUTCOME_CANCELED || request->canceled != KILLED_CLOSING)
		return false;
	tell_leaving(request);
	return true;
}

void approval_wait(struct request *request)
{
	start_clock(request);
	tell_client(request);
	event_run_asked(request);
	if (request->gone)
		approval_cancel(request);
	else if (request->server->draining)
		leave(request);
}

void approval_wait_on(struct request *request)
{
	start_clock(request);
	if (request->gone)
		approval_cancel(request);
	else if (request->server->draining)
		leave(request);
}

/* One that nobody is at work on, or NULL. */
static struct parking *idle_one(const struct approvals *approvals)
{
	list_for_each(at, &approvals->parked) {
		struct parking *parking = container_of(at, struct parking, link);

		if (parking->state == PARKING_WAITS || parking->state == PARKING_ASLEEP)
			return parking;
	}
	return NULL;
}

/* Who is told that one leaves may take others along. */
void approvals_leave(struct approvals *approvals)
{
	struct parking *parking;

	timer_close(approvals->wakes);
	approvals->wakes = NULL;
	while ((parking = idle_one(approvals)))
		leave(parking->request);
}

bool approval_outlives(const struct request *request)
{
	return request->stage == STAGE_APPROVAL && request->parking;
}

void approval_forget(struct request *request)
{
	struct parking *parking = request->parking;

	if (!parking)
		return;
	stop_clock(parking);
	if (!list_is_empty(&parking->link))
		request->server->approvals.count--;
	list_remove(&parking->link);
}

/* ---- what was asked, from the store ---------------------------------------------------------- */

struct filling {
	struct request *request;
	struct readers *readers;
	const struct value *page; /* NULL: it was not read */
	struct err err;
	void (*then)(struct request *request, const struct err *err, void *context);
	void *context;
};

/*
 * On a thread.  Nobody else touches the arena of a hollow request.  What it takes of memory counts for
 * nobody: its user may not be connected, and an approver lets in one after the other.
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
 * What the record has is what came, unless something was masked in it; and what its caller wanted to
 * be masked of what comes out is not there at all.
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
	if (!request->params || revive_spec(arena, request->params, request->server->entrypoints,
					&request->spec, err) < 0)
		return -1;
	request->has_spec = true;
	request->runtime = pool_find(&request->server->pool, request->spec.language);
	request->kept.spec = request->spec; /* what is to be masked in it has been */
	result->limits = request->spec.limits;
	if (policy_verdict_from_value(arena, value_get(record, "policy"), &result->verdict, err) <
		0)
		return -1;
	result->has_verdict = true;
	cut_printf(request->parking->digest, sizeof(request->parking->digest), "%s",
		result->verdict.digest);
	compare(request, record);
	request->parking->hollow = false;
	return 0;
}

static void filled(void *context)
{
	struct filling *filling = context;
	struct request *request = filling->request;
	struct err *err = &filling->err;
	bool failed;

	request->server->examining--;
	if (!filling->page && err->code == ERR_NONE)
		(void)err_set(err, ERR_CLOSED, "the daemon is closing");
	failed = !filling->page || take(request, filling->page, err) < 0;
	filling->then(request, failed ? err : NULL, filling->context);
	free(filling);
}

void approval_fill(struct request *request,
	void (*then)(struct request *request, const struct err *err, void *context), void *context)
{
	struct server *server = request->server;
	struct filling *filling;
	struct err err = ERR_INIT;

	if (!request->parking->hollow) {
		then(request, NULL, context);
		return;
	}
	filling = calloc(1, sizeof(*filling));
	if (filling) {
		*filling = (struct filling){ .request = request,
			.readers = server->readers,
			.then = then,
			.context = context };
		server->examining++; /* whoever closes the house waits for it */
		if (errands_start(&server->errands, request->caller.uid, fill, filled, filling) ==
			0)
			return;
		server->examining--;
		free(filling);
	}
	(void)err_set(&err, ERR_MEMORY, "there is no memory to read it from the store");
	then(request, &err, context);
}

/* ---- its end -------------------------------------------------------------------------------- */

int64_t approval_waited_us(const struct request *request)
{
	return request->parking ? request->parking->waited_us : 0;
}

struct value *approval_describe(struct arena *arena, const struct parking *parking)
{
	static const char *const words[] = { "", "approved", "denied", "expired", "canceled" };
	struct value *map = value_map(arena);

	value_map_put(arena, map, "decision", value_text(arena, words[parking->word]));
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

/* By clock_us(), a moment of the wall clock. */
static int64_t at_us(int64_t wall_us)
{
	return clock_us() - (clock_wall_us() - wall_us);
}

/* The waiting is over: for the trace, and taken out of the run's own time. */
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
		&(struct job_step){ steps[parking->word], "approval", 0,
			parking->word == PARKING_APPROVED, note });
	parking->waited_us += clock_wall_us() - parking->since_wall_us;
	request->result.approval = approval_describe(&request->arena, parking);
}

static const char *denied_words(struct request *request)
{
	const struct parking *parking = request->parking;
	const char *why = parking->reason ? parking->reason : "no reason was given";

	return arena_printf(
		&request->arena, "A person (uid %u) has refused it: %s.", parking->by, why);
}

static const char *expired_words(struct request *request)
{
	const struct parking *parking = request->parking;

	return arena_printf(&request->arena, "Nobody has decided about it within %lld s.",
		(long long)((parking->until_wall_us - parking->since_wall_us) / 1000000));
}

static const char *canceled_words_of(struct request *request)
{
	if (!request->gone)
		return "What the record keeps of it was masked, or it came with secrets, so that "
		       "it cannot be run of it after the daemon's restart; send it again.";
	return arena_printf(&request->arena,
		"The run was cancelled while it waited for approval, %s.",
		canceled_words(request->canceled));
}

/* With all that is known of it to RECORD; what could not be read any more is left out. */
static void record_end(struct request *request, const struct err *err, void *context)
{
	static const enum outcome outcomes[] = { OUTCOME_SANDBOX_ERROR, OUTCOME_SANDBOX_ERROR,
		OUTCOME_APPROVAL_DENIED, OUTCOME_APPROVAL_EXPIRED, OUTCOME_CANCELED };
	struct job_result *result = &request->result;

	(void)err;
	(void)context;
	if (request->server->closing) { /* its row says what was decided */
		leave(request);
		return;
	}
	note_waited(request);
	result->outcome = outcomes[request->parking->word];
	result->ran = RAN_NO;
	if (request->parking->word == PARKING_DENIED)
		result->reason = denied_words(request);
	else if (request->parking->word == PARKING_EXPIRED)
		result->reason = expired_words(request);
	else
		result->reason = canceled_words_of(request);
	request_enter(request, STAGE_RECORD);
}

static void end(struct request *request)
{
	stop_clock(request->parking);
	request->parking->state = PARKING_DECIDED;
	approval_fill(request, record_end, NULL);
}

void approval_cancel(struct request *request)
{
	struct parking *parking = request->parking;

	if (!parking || parking->state != PARKING_WAITS)
		return; /* whoever works at it will find out */
	parking->word = PARKING_CANCELED;
	end(request);
}

void approval_decide(struct request *request, enum parking_word word, uint32_t by)
{
	struct parking *parking = request->parking;

	stop_clock(parking);
	parking->state = PARKING_DECIDING;
	parking->word = word;
	parking->by = by;
}

/* ---- let run -------------------------------------------------------------------------------- */

/* As it came; what the record and the trace have of its waiting stays. */
static void renew(struct request *request)
{
	struct job_result *result = &request->result;
	struct job_result fresh = { .steps = result->steps,
		.step_count = result->step_count,
		.approval = result->approval,
		.replay_of = result->replay_of };

	if (request->pin_count) /* they stay pinned, and are not looked for on the shelf again */
		request->params = revive_files(&request->arena, request->params, &request->spec);
	memcpy(fresh.run_id, result->run_id, sizeof(fresh.run_id));
	*result = fresh;
	request->spec = (struct job_spec){ 0 };
	request->has_spec = false;
	request->policy = NULL;
	request->runtime = NULL;
	request->texts_judged = 0;
}

static void unreadable(struct request *request, const struct err *err)
{
	request->result.outcome = OUTCOME_SANDBOX_ERROR;
	request->result.ran = RAN_NO;
	request->result.reason = arena_printf(&request->arena,
		"It was approved, but what was asked could not be read from the store: %s.",
		err->text);
	request_enter(request, STAGE_RECORD);
}

static void start_again(struct request *request, const struct err *err, void *context)
{
	struct parking *parking = request->parking;

	(void)context;
	if (request->gone || (!err && parking->altered)) {
		parking->word = PARKING_CANCELED;
		record_end(request, NULL, NULL);
	} else if (request->server->draining) {
		leave(request); /* it is approved in the store, and runs in the next life */
	} else {
		note_waited(request);
		list_remove(&parking->link);
		request->server->approvals.count--;
		if (err) {
			unreadable(request, err);
			return;
		}
		renew(request);
		request_enter(request, STAGE_CONTRACT);
	}
}

void approval_go_on(struct request *request)
{
	struct parking *parking = request->parking;

	parking->state = PARKING_DECIDED;
	if (parking->word == PARKING_APPROVED)
		approval_fill(request, start_again, NULL);
	else
		end(request);
}

static void on_unparked(struct recording *recording, const struct err *err)
{
	struct request *request = container_of(recording, struct parking, recording)->request;

	execution_go(&request->execution,
		err ? arena_printf(&request->arena,
			      "Its start could not be recorded, so it was not run: %s.", err->text)
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
	recorder_put(request->server->recorder, recording);
}

/* ---- at the start --------------------------------------------------------------------------- */

static void note_decision(struct request *request, const struct store_parked *from)
{
	struct parking *parking = request->parking;

	if (!from->decision)
		return;
	parking->word = strcmp(from->decision, "approved") != 0 ? PARKING_DENIED : PARKING_APPROVED;
	parking->state = PARKING_ASLEEP;
	parking->by = from->by;
	parking->act = from->act;
	parking->decided_wall_us = from->at_wall_us;
	if (from->reason)
		parking->reason = arena_strdup(&request->arena, from->reason);
}

/* Its id is taken, as it was: others with it wait for what comes of it. */
static void take_claim(struct request *request, const struct store_parked *from)
{
	struct claims *claims = &request->server->claims;
	struct list nobody;

	if (!from->action)
		return;
	memcpy(request->claim.content, from->action, sizeof(request->claim.content));
	if (claims_enter(claims, from->uid, from->caller_id, &request->claim) != CLAIM_FIRST)
		return;
	claims_decide(&request->claim, &nobody);
	request->marked = true;
}

static size_t arena_bytes(const struct config *config)
{
	return ARENA_BYTES + 3 * (size_t)(config->code_bytes + config->input_bytes +
					  config->files_bytes + config->schema_bytes);
}

static int load_one(void *context, const struct store_parked *from)
{
	struct approvals *approvals = context;
	struct server *server = approvals->server;
	const struct caller caller = { .uid = from->uid, .gid = from->gid, .pid = from->pid };
	struct request *request =
		request_new_recalled(server, &caller, from->run_id, arena_bytes(&server->config));

	if (!request)
		return -1;
	request->parking = arena_new(&request->arena, struct parking);
	if (!request->parking || server_remember(server, request) < 0)
		return -1; /* the start fails, and nothing of it is kept */
	*request->parking = (struct parking){ .request = request,
		.state = PARKING_WAITS,
		.hollow = true,
		.since_wall_us = from->since_wall_us,
		.until_wall_us = from->until_wall_us };
	request->received_wall_us = from->received_wall_us;
	note_decision(request, from);
	take_claim(request, from);
	list_append(&approvals->parked, &request->parking->link);
	approvals->count++;
	return 0;
}

/* Once there are workers and inspectors: clocks start, and what was decided goes on. */
static void on_wake(void *owner)
{
	struct approvals *approvals = owner;
	struct server *server = approvals->server;

	if (!server->told_ready || !policies_ready(server->policies))
		return;
	timer_close(approvals->wakes);
	approvals->wakes = NULL;
	list_for_each(at, &approvals->parked) {
		struct parking *parking = container_of(at, struct parking, link);

		if (parking->state == PARKING_ASLEEP)
			approval_go_on(parking->request);
	}
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
			timer_new(&approvals->server->loop, WAKE_MS, WAKE_MS, on_wake, approvals);
	return 0;
}
