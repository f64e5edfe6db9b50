#include "daemon/request/call_approval.h"

#include <string.h>

#include "daemon/policy/policy.h"
#include "daemon/request/request.h"
#include "daemon/request/run_events.h"
#include "daemon/services.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/fill.h"
#include "proto/json.h"

#define LISTED_MOST      100
#define ARGS_LISTED      ((size_t)64 << 10) /* of each call, in a list of all runs */
#define ARGS_OF_RUN      ((size_t)1 << 20)  /* the same, of one run */
#define ARGS_LISTED_MOST ((size_t)16 << 20) /* of all calls of a list */
#define APPROVAL_MOST    4096

const char *call_rule(struct arena *arena, const struct policy_tool *tool)
{
	if (!tool->list)
		return NULL;
	return arena_printf(arena, "tools.%s%s%s", tool->list, tool->pattern ? " " : "",
		tool->pattern ? tool->pattern : "");
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void stop_clock(struct call_approval *asked)
{
	timer_close(asked->expiry);
	asked->expiry = NULL;
}

static void settle(struct call_approval *asked, enum parking_decision decision)
{
	asked->decision = decision;
	if (!asked->decided_wall_us)
		asked->decided_wall_us = clock_wall_us();
	call_approval_leave(asked);
}

static void on_expiry(void *owner)
{
	struct call_approval *asked = owner;

	settle(asked, PARKING_EXPIRED);
	asked->decided(asked);
}

static void start_clock(struct call_approval *asked)
{
	int64_t left_us = asked->until_wall_us - clock_wall_us();

	asked->state = CALL_ASK_WAITS;
	asked->decision = PARKING_UNDECIDED;
	asked->decided_wall_us = 0;
	asked->expiry = timer_new(asked->request->services->loop,
		left_us > 0 ? (uint64_t)left_us / 1000 + 1 : 0, 0, on_expiry, asked);
}

void call_approval_start(struct call_approval *asked)
{
	asked->state = CALL_ASK_RECORDING;
	asked->since_wall_us = clock_wall_us();
	list_append(asked->request->services->asked_calls, &asked->link);
}

void call_approval_wait(struct call_approval *asked, int64_t until_wall_us)
{
	asked->until_wall_us = until_wall_us;
	start_clock(asked);
	event_call_asked(asked);
}

void call_approval_leave(struct call_approval *asked)
{
	if (asked->state == CALL_NOT_ASKED || asked->state == CALL_ASK_DECIDED)
		return;
	if (asked->decision == PARKING_UNDECIDED || asked->deciding) {
		asked->decision = PARKING_CANCELED;
		asked->decided_wall_us = clock_wall_us();
	}
	if (asked->deciding)
		asked->deciding->approval = NULL;
	asked->deciding = NULL;
	asked->state = CALL_ASK_DECIDED;
	stop_clock(asked);
	list_remove(&asked->link);
}

/* ---- a decision ----------------------------------------------------------------------------- */

struct call_approval *call_approval_find(const struct request *request, int64_t number)
{
	list_for_each(at, request->services->asked_calls) {
		struct call_approval *asked = container_of(at, struct call_approval, link);

		if (asked->request == request && (!number || asked->number == number))
			return asked;
	}
	return NULL;
}

void call_approval_decide(struct call_approval *asked, enum parking_decision decision, uint32_t by,
	struct call_deciding *deciding)
{
	stop_clock(asked);
	asked->state = CALL_ASK_DECIDING;
	asked->decision = decision;
	asked->by = by;
	asked->decided_wall_us = clock_wall_us();
	asked->deciding = deciding;
	deciding->approval = asked;
}

void call_approval_decided(struct call_approval *asked, int64_t act, const char *reason)
{
	asked->act = act;
	asked->reason = reason ? arena_strdup(asked->arena, reason) : NULL;
	asked->deciding->approval = NULL;
	asked->deciding = NULL;
	if (asked->decision == PARKING_APPROVED)
		event_call_approved(asked);
	settle(asked, asked->decision);
	asked->decided(asked);
}

void call_approval_wait_on(struct call_approval *asked)
{
	asked->deciding->approval = NULL;
	asked->deciding = NULL;
	start_clock(asked);
}

/* ---- for the record ------------------------------------------------------------------------- */

const char *call_approval_json(const struct call_approval *asked)
{
	static const char *const words[] = { "", "approved", "denied", "expired", "canceled" };
	struct bytes text = { NULL, 0 };
	struct value *map;
	struct fill fill;

	if (asked->state == CALL_NOT_ASKED)
		return NULL;
	fill = fill_start(asked->arena);
	fill_text(&fill, "decision", words[asked->decision]);
	fill_int(&fill, "since_us", asked->since_wall_us);
	fill_int(&fill, "at_us", asked->decided_wall_us);
	if (asked->act) {
		fill_int(&fill, "by", asked->by);
		fill_int(&fill, "act", asked->act);
	}
	if (asked->reason)
		fill_text(&fill, "reason", asked->reason);
	map = fill_done(&fill);
	if (!map || json_write_text(
			    asked->arena, map, JSON_WRITE_COMPACT, APPROVAL_MOST, &text, NULL) < 0)
		return NULL;
	return text.data;
}

/* ---- lists ---------------------------------------------------------------------------------- */

static bool is_listed(const struct call_approval *asked, const struct call_approvals_filter *filter)
{
	if (asked->state != CALL_ASK_WAITS)
		return false;
	if (filter->run_id && strcmp(asked->request->result.run_id, filter->run_id) != 0)
		return false;
	return !filter->number || asked->number == filter->number;
}

static void fill_name(struct fill *fill, const char *key, const char *text)
{
	if (text)
		fill_text(fill, key, text);
}

static void put_args(
	struct fill *fill, struct arena *arena, const struct call_approval *asked, size_t most)
{
	struct value *args = NULL;

	if (asked->args.len > most ||
		json_parse(arena, asked->args.data, asked->args.len, NULL, &args, NULL) < 0)
		fill_bool(fill, "truncated", true);
	else
		fill_value(fill, "args", args);
	fill_uint(fill, "args_bytes", asked->args.len);
}

static struct value *describe(struct arena *arena, const struct call_approval *asked, size_t most)
{
	const struct request *request = asked->request;
	struct fill fill = fill_start(arena);

	fill_text(&fill, "run_id", request->result.run_id);
	fill_uint(&fill, "call", asked->number);
	fill_uint(&fill, "uid", request->caller.uid);
	fill_name(&fill, "agent", request->masked.spec.agent);
	fill_name(&fill, "task", request->masked.spec.task);
	fill_text(&fill, "policy", policy_name(request->policy));
	fill_text(&fill, "tool", asked->tool);
	fill_name(&fill, "rule", asked->rule);
	fill_bool(&fill, "effects", asked->effects);
	put_args(&fill, arena, asked, most);
	if (asked->masks)
		fill_uint(&fill, "masked", asked->masks);
	fill_int(&fill, "since_us", asked->since_wall_us);
	fill_int(&fill, "until_us", asked->until_wall_us);
	return fill_done(&fill);
}

static size_t most_args_of(const struct call_approvals_filter *filter)
{
	if (filter->number)
		return ARGS_LISTED_MOST;
	return filter->run_id ? ARGS_OF_RUN : ARGS_LISTED;
}

struct value *call_approvals_describe(const struct services *services,
	const struct call_approvals_filter *filter, struct arena *arena)
{
	const size_t each = most_args_of(filter);
	struct value *list = value_list(arena);
	size_t left = ARGS_LISTED_MOST;

	list_for_each(at, services->asked_calls) {
		const struct call_approval *asked = container_of(at, struct call_approval, link);
		size_t most = left < each ? left : each;

		if (!list || list->list.count == LISTED_MOST)
			break;
		if (!is_listed(asked, filter))
			continue;
		value_list_add(arena, list, describe(arena, asked, most));
		left -= asked->args.len <= most ? asked->args.len : 0;
	}
	return list;
}
