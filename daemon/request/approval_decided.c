#include <string.h>

#include "daemon/request/approval_parts.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/revive.h"
#include "daemon/request/run_events.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

/* ---- the end of a run that did not start ---------------------------------------------------- */

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
	if (!request_is_canceled(request) && request->parking->changed)
		return "What the record keeps of it was changed while it waited for approval, so "
		       "that nobody can say what was asked; send it again.";
	if (!request_is_canceled(request))
		return "What the record keeps of it was masked, or it came with secrets, so that "
		       "it cannot be run of it after the daemon's restart; send it again.";
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
		approval_leave(request);
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

void approval_end(struct request *request)
{
	approval_stop_clock(request->parking);
	request->parking->state = PARKING_DECIDED;
	approval_fill(request, record_end, NULL);
}

void approval_cancel(struct request *request)
{
	struct parking *parking = request->parking;

	if (!request_waits_in(request, STAGE_APPROVAL) || !parking ||
		parking->state != PARKING_WAITS)
		return; /* the step in progress will see request->canceled */
	parking->word = PARKING_CANCELED;
	approval_end(request);
}

void approval_decide(struct request *request, enum parking_word word, uint32_t by)
{
	struct parking *parking = request->parking;

	approval_stop_clock(parking);
	parking->state = PARKING_DECIDING;
	parking->word = word;
	parking->by = by;
}

/* ---- the run starts ------------------------------------------------------------------------- */

/* Resets the request to its state on arrival, except for the record and trace of its waiting. */
static void renew(struct request *request)
{
	struct job_result *result = &request->result;
	struct job_result fresh = { .steps = result->steps,
		.step_count = result->step_count,
		.approval = result->approval,
		.replay_of = result->replay_of };

	if (request->pin_count) /* its blobs stay pinned and are not looked up again */
		request->params = revive_files(&request->arena, request->params, &request->spec);
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
		"It was approved, but what was asked could not be read from the store: %s.",
		err->text);
	request_enter(request, STAGE_RECORD);
}

static void start_again(struct request *request, const struct err *err, void *context)
{
	struct parking *parking = request->parking;

	(void)context;
	if (request_is_canceled(request) || (!err && (parking->altered || parking->changed))) {
		parking->word = PARKING_CANCELED;
		record_end(request, NULL, NULL);
	} else if (request->services->state->draining) {
		approval_leave(
			request); /* approved in the store; the next daemon will start the run */
	} else {
		note_waited(request);
		list_remove(&parking->link);
		request->services->approvals->count--;
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
		approval_end(request);
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
	recorder_put(request->services->recorder, recording);
}
