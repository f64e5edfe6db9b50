#include "daemon/door/conn.h"
#include "daemon/request/approval_parts.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/registry.h"
#include "daemon/request/run_events.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

#define TELLING_BYTES ((size_t)128 << 20) /* limit for a message about a waiting run */

/* ---- all waiting runs ----------------------------------------------------------------------- */

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
	approval_end(request);
}

void approval_start_clock(struct request *request)
{
	struct parking *parking = request->parking;
	int64_t left_us = parking->until_wall_us - clock_wall_us();

	parking->state = PARKING_WAITS;
	parking->word = PARKING_NO_WORD;
	parking->act = 0;
	parking->reason = NULL;
	parking->expiry = timer_new(request->services->loop,
		left_us > 0 ? (uint64_t)left_us / 1000 + 1 : 0, 0, on_expiry, request);
}

void approval_stop_clock(struct parking *parking)
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
	arena_init(&arena, TELLING_BYTES);
	if (request->spec.detach && !(request->told & TOLD_ANSWER)) {
		request->told |= TOLD_ANSWER;
		conn_send_result(request->conn, request->msgid, describe(request, &arena));
	} else {
		buf_init(&message, TELLING_BYTES);
		if (rpc_write_notification(
			    &message, "run.parked", describe(request, &arena), &err) == 0)
			conn_send_buf(request->conn, &message);
		buf_done(&message);
	}
	arena_done(&arena);
}

/* The daemon is about to end: reports to clients that the run still waits. */
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
	if (request->conn && !(request->told & TOLD_ANSWER))
		conn_send_error(request->conn, request->msgid, &error);
	registry_tell_end(request->services->runs, &ended);
	stage_repeat_waits_on(request);
}

/* The row in the store remains. */
void approval_leave(struct request *request)
{
	approval_stop_clock(request->parking);
	request->parking->state =
		PARKING_DECIDED; /* a client that leaves on this message must not end the run */
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
	approval_start_clock(request);
	tell_client(request);
	event_run_asked(request);
	if (request_is_canceled(request))
		approval_cancel(request);
	else if (request->services->state->draining)
		approval_leave(request);
}

void approval_wait_on(struct request *request)
{
	approval_start_clock(request);
	if (request_is_canceled(request))
		approval_cancel(request);
	else if (request->services->state->draining)
		approval_leave(request);
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
		approval_leave(parking->request);
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
	approval_stop_clock(parking);
	if (!list_is_empty(&parking->link))
		request->services->approvals->count--;
	list_remove(&parking->link);
}
