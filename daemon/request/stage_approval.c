/*
 * APPROVAL: a run that its policy asks about continues with an approval or grant, else it is
 * parked.
 */
#include <string.h>

#include "daemon/request/approvals.h"
#include "daemon/request/masking.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/json.h"
#include "proto/wire/rpc.h"

#define VERDICT_BYTES_MAX ((size_t)8 << 20)

static enum stage refuse_approval(struct request *request, enum rpc_code code, const char *why)
{
	request_fail(request, (int)code, "%s", why);
	if (code == RPC_CODE_BUSY)
		request->failure.retry_after_ms = 60000;
	return request_not_run(request, OUTCOME_SANDBOX_ERROR, why);
}

/* ---- approved runs -------------------------------------------------------------------------- */

/* Continues after a record was written; the run may have been cancelled meanwhile. */
static enum stage approved(struct request *request)
{
	if (request_is_canceled(request))
		return request_give_up(request);
	/* A run that was parked is recorded already, and a detached client has its reply. */
	if (request->spec.detach && !request->parking && !request->begun.done)
		stage_record_begun(request, true);
	return STAGE_CACHE;
}

static void describe_grant(struct request *request, const struct grant *grant)
{
	struct arena *arena = &request->arena;
	struct value *map = value_map(arena);

	value_map_put(arena, map, "decision", value_text(arena, "approved"));
	value_map_put(arena, map, "by", value_int(arena, grant->by));
	value_map_put(arena, map, "act", value_int(arena, grant->act));
	value_map_put(arena, map, "grant", value_bool(arena, true));
	request->result.approval = map;
	request_step(request, "approval.given", "approval", true,
		arena_printf(arena, "by uid %u, for this program (act %lld)", grant->by,
			(long long)grant->act));
}

/* One use of a grant, while it is being recorded. */
struct use {
	struct recording recording;
	struct request *request;
};

static enum stage not_counted(const struct use *use, const struct err *err)
{
	struct request *request = use->request;
	struct approvals *approvals = request->services->approvals;
	struct grant *grant = grants_get(&approvals->grants, use->recording.grant);

	if (grant && grant->uses >= 0)
		grant->uses++;
	return request_not_run(request, OUTCOME_SANDBOX_ERROR,
		arena_printf(&request->arena,
			"The daemon could not record this use of the approval, so nothing ran: %s.",
			err->text));
}

static void on_counted(struct recording *recording, const struct err *err)
{
	struct use *use = container_of(recording, struct use, recording);

	request_enter(use->request, err ? not_counted(use, err) : approved(use->request));
}

/* Takes the use in the loop, before it is recorded, so that two runs cannot share the last one. */
static enum stage use_grant(struct request *request, struct grant *grant)
{
	struct use *use;

	describe_grant(request, grant);
	if (grant->uses < 0)
		return approved(request);
	use = arena_new(&request->arena, struct use);
	if (!use)
		return refuse_approval(request, RPC_CODE_BUSY, "no memory for another run");
	grant->uses--;
	use->request = request;
	use->recording.kind = RECORDING_USE;
	use->recording.durability = STORE_NOW;
	use->recording.grant = grant->act;
	use->recording.done = on_counted;
	recorder_put(request->services->recorder, &use->recording);
	return STAGE_WAIT;
}

/* ---- parking -------------------------------------------------------------------------------- */

static void on_parked(struct recording *recording, const struct err *err)
{
	struct request *request = container_of(recording, struct parking, recording)->request;

	if (err) {
		request_enter(request,
			refuse_approval(request, RPC_CODE_INTERNAL,
				arena_printf(&request->arena,
					"the daemon could not record that the run waits for approval: %s",
					err->text)));
		return;
	}
	request->known = recording->run.action ? KNOWN_BY_ID : KNOWN;
	approval_wait(request);
}

static const char *verdict_json(struct request *request)
{
	struct arena *arena = &request->arena;
	struct value *verdict = policy_verdict_to_value(arena, &request->masked.result.verdict);
	struct bytes text = { NULL, 0 };

	if (request->spec.secret_count) /* secrets are stored nowhere; keep their number */
		value_map_put(
			arena, verdict, "secrets", value_uint(arena, request->spec.secret_count));
	if (!verdict || json_write_text(arena, verdict, JSON_WRITE_BASE64, VERDICT_BYTES_MAX, &text,
				NULL) < 0)
		return NULL;
	return text.data;
}

/* Adds the run to the waiting ones.  A run that waited before was removed from them. */
static struct parking *take_place(struct request *request)
{
	struct approvals *approvals = request->services->approvals;
	struct parking *parking = request->parking;

	if (!parking)
		parking = arena_new(&request->arena, struct parking);
	if (!parking)
		return NULL;
	*parking = (struct parking){ .request = request,
		.state = PARKING_RECORDING,
		.since_wall_us = clock_wall_us(),
		.waited_us = parking->waited_us };
	parking->until_wall_us =
		parking->since_wall_us + (int64_t)request->services->config->approval_ms * 1000;
	cut_printf(parking->digest, sizeof(parking->digest), "%s", request->result.verdict.digest);
	list_append(&approvals->parked, &parking->link);
	approvals->count++;
	return parking;
}

/* The verdict is masked by now, for the disk and for approvers. */
static enum stage park(struct request *request)
{
	const char *full = approvals_full(request->services->approvals, request->caller.uid);
	const char *verdict = verdict_json(request);
	bool is_begun = request->begun.done || request->parking;
	struct recording *recording;

	if (full)
		return refuse_approval(request, RPC_CODE_BUSY, full);
	request->parking = verdict ? take_place(request) : NULL;
	if (!request->parking)
		return refuse_approval(request, RPC_CODE_BUSY, "no memory for another run");
	recording = &request->parking->recording;
	recording->kind = RECORDING_PARKED;
	recording->durability = STORE_NOW;
	recording->done = on_parked;
	stage_record_describe(request, &recording->run);
	recording->run.is_begun = is_begun;
	recording->parking =
		(struct store_parking){ .since_wall_us = request->parking->since_wall_us,
			.until_wall_us = request->parking->until_wall_us,
			.verdict = verdict };
	stage_budget_pause(request);
	recorder_put(request->services->recorder, recording);
	return STAGE_WAIT;
}

/* An approval counts only for the policy that asked; another one may have found something else. */
static bool is_approved(const struct request *request)
{
	const struct parking *parking = request->parking;

	return parking && parking->decision == PARKING_APPROVED &&
	       (request->result.verdict.decision != POLICY_ASK ||
		       !strcmp(parking->digest, request->result.verdict.digest));
}

enum stage stage_approval(struct request *request)
{
	char subject[HASH_TEXT_LEN + 1];
	struct grant *grant;

	if (is_approved(request))
		return approved(request);
	if (approval_subject(request, subject) < 0)
		return refuse_approval(request, RPC_CODE_BUSY, "no memory for another run");
	/* A grant is for a program that carries all that it is.  A cell does not. */
	grant = request->session ? NULL
				 : grants_find(&request->services->approvals->grants,
					   request->caller.uid, subject);
	if (grant)
		return use_grant(request, grant);
	return masking_of_record(request, park);
}
