#include <string.h>

#include "daemon/request/approval_parts.h"
#include "daemon/request/registry.h"
#include "daemon/services.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

#define ARENA_BYTES ((size_t)128 << 20) /* in addition to three times the largest request */
#define WAKE_MS     20

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
	struct request *request = request_new_recalled(
		services, &caller, from->run_id, arena_bytes(services->config));

	if (!request)
		return -1;
	request->parking = arena_new(&request->arena, struct parking);
	if (!request->parking || registry_add(services->runs, request) < 0)
		return -1; /* the start of the daemon fails, so nothing is freed */
	*request->parking = (struct parking){ .request = request,
		.state = PARKING_WAITS,
		.hollow = true,
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

/* Once there are workers and inspectors, continues the runs that were decided before the start. */
static void on_wake(void *owner)
{
	struct approvals *approvals = owner;
	struct services *services = approvals->services;

	if (!services->state->ready || !policies_ready(services->policies))
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
			approval_start_clock(parking->request);
	}
	if (approvals->count)
		approvals->wakes =
			timer_new(approvals->services->loop, WAKE_MS, WAKE_MS, on_wake, approvals);
	return 0;
}
