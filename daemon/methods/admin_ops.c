#include "daemon/methods/admin_ops.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/methods/methods.h"
#include "daemon/news/events.h"
#include "daemon/record/recorder.h"
#include "daemon/redact/redactor.h"
#include "daemon/request/approvals.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/registry.h"
#include "daemon/runs/facts.h"
#include "daemon/services.h"
#include "daemon/sessions/sessions.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/json.h"

#define JSON_BYTES_MAX ((size_t)1 << 20)

/* ---- blocked users ------------------------------------------------------------------------- */

static int block_user(struct admin_ops *admin_ops, uint32_t uid, const char *reason)
{
	char *why = strdup(reason ? reason : "");
	void *old = NULL;

	if (!why || map_put(&admin_ops->blocks, &uid, sizeof(uid), why, &old) < 0) {
		free(why);
		return -1;
	}
	free(old);
	return 0;
}

/* Whether the user was blocked. */
static bool unblock_user(struct admin_ops *admin_ops, uint32_t uid)
{
	char *why = map_remove(&admin_ops->blocks, &uid, sizeof(uid));
	bool was_blocked = why != NULL;

	free(why);
	return was_blocked;
}

static int remember_block(void *context, uint32_t uid, const char *reason)
{
	return block_user(context, uid, reason);
}

int admin_ops_init(struct admin_ops *admin_ops, struct store *store, struct err *err)
{
	*admin_ops = (struct admin_ops){ .drained = false };
	map_init(&admin_ops->blocks);
	return store_each_block(store, remember_block, admin_ops, err);
}

void admin_ops_done(struct admin_ops *admin_ops)
{
	map_done_with(&admin_ops->blocks, free);
}

/* Never NULL, since NULL would accept the run.  Without memory the reason is left out. */
static const char *with_reason(struct arena *arena, const char *what, const char *why)
{
	const char *both = why[0] ? arena_printf(arena, "%s: %s", what, why) : NULL;

	return both ? both : what;
}

const char *admin_ops_refusal(const struct admin_ops *admin_ops, uint32_t uid, struct arena *arena,
	enum rpc_code *ret_code)
{
	const char *why = map_get(&admin_ops->blocks, &uid, sizeof(uid));

	if (why) {
		*ret_code = RPC_CODE_FORBIDDEN;
		return with_reason(arena, "an administrator has blocked this user", why);
	}
	*ret_code = RPC_CODE_DRAINING;
	return admin_ops->drained
		       ? with_reason(arena, "an administrator has stopped new runs", admin_ops->why)
		       : NULL;
}

struct description {
	struct arena *arena;
	struct value *list;
};

static int describe_block(void *context, const void *key, size_t key_len, void *value)
{
	const struct description *description = context;
	struct value *map = value_map(description->arena);
	uint32_t uid;

	memcpy(&uid, key, key_len);
	value_map_put(description->arena, map, "uid", value_int(description->arena, uid));
	if (*(const char *)value)
		value_map_put(
			description->arena, map, "reason", value_text(description->arena, value));
	value_list_add(description->arena, description->list, map);
	return 0;
}

struct value *admin_ops_describe_blocks(const struct admin_ops *admin_ops, struct arena *arena)
{
	struct description description = { arena, value_list(arena) };

	(void)map_each(&admin_ops->blocks, describe_block, &description);
	return description.list;
}

/* ---- the operations ------------------------------------------------------------------------ */

/* One operation, until its record is on disk. */
struct use {
	struct recording recording;
	struct call *call;
	struct value *result;
};

static const char *reason_of(const struct call *call)
{
	return value_as_text(value_get(call->params, "reason"));
}

static uint32_t uid_of(const struct call *call)
{
	return (uint32_t)value_as_int(value_get(call->params, "uid"), 0);
}

/* Puts the state of the daemon into the answer. */
static void put_state(struct use *use)
{
	const struct services *services = use->call->services;
	struct arena *arena = &use->call->arena;

	value_map_put(
		arena, use->result, "drained", value_bool(arena, services->admin_ops->drained));
	value_map_put(arena, use->result, "in_progress",
		value_int(arena,
			(int64_t)registry_count(services->runs) - services->approvals->count));
}

static int drain(struct use *use)
{
	struct admin_ops *admin_ops = use->call->services->admin_ops;
	const char *reason = reason_of(use->call);

	admin_ops->drained = true;
	cut_printf(admin_ops->why, sizeof(admin_ops->why), "%s", reason ? reason : "");
	put_state(use);
	return 0;
}

static int resume(struct use *use)
{
	use->call->services->admin_ops->drained = false;
	put_state(use);
	return 0;
}

/* Stops new runs before it kills the others, so that no run starts in between. */
static int kill_all(struct use *use)
{
	struct arena *arena = &use->call->arena;
	int64_t killed;

	(void)drain(use);
	killed = request_cancel_all(use->call->services->runs, KILLED_ADMIN);
	if (killed < 0)
		return -1;
	value_map_put(arena, use->result, "sessions",
		value_uint(arena, sessions_end_all(use->call->services->sessions, SESSION_ADMIN)));
	value_map_put(arena, use->result, "killed", value_int(arena, killed));
	return 0;
}

static int block(struct use *use)
{
	struct admin_ops *admin_ops = use->call->services->admin_ops;

	if (admin_ops->blocks.count >= ADMIN_BLOCKS_MAX)
		return -1;
	use->recording.act.block = STORE_SHUT_OUT;
	return block_user(admin_ops, uid_of(use->call), reason_of(use->call));
}

static int unblock(struct use *use)
{
	struct arena *arena = &use->call->arena;

	use->recording.act.block = STORE_LET_IN;
	value_map_put(arena, use->result, "was_blocked",
		value_bool(arena, unblock_user(use->call->services->admin_ops, uid_of(use->call))));
	return 0;
}

static int reset_budget(struct use *use)
{
	struct arena *arena = &use->call->arena;

	value_map_put(
		arena, use->result, "reset", value_bool(arena, budgets_reset_asked(use->call)));
	return 0;
}

static void admin_op_publish(const struct use *use)
{
	const struct event event = { .kind = EVENT_ADMIN_OP };
	struct events *events = use->call->services->events;
	struct arena *arena = &use->call->arena;
	struct value *map;

	if (!events_hears(events, &event))
		return;
	map = event_start(arena, &event);
	value_map_put(arena, map, "method", value_text(arena, use->call->method->name));
	value_map_put(arena, map, "by", value_int(arena, use->call->caller.uid));
	if (reason_of(use->call))
		value_map_put(arena, map, "reason", value_text(arena, reason_of(use->call)));
	if (value_get(use->call->params, "uid"))
		value_map_put(arena, map, "uid", value_int(arena, uid_of(use->call)));
	events_tell(events, &event, map);
}

static void on_recorded(struct recording *recording, const struct err *err)
{
	struct use *use = container_of(recording, struct use, recording);

	if (!err)
		admin_op_publish(use);
	if (err)
		call_error(use->call, RPC_CODE_INTERNAL,
			"the operation took effect, but the daemon could not record it: %s",
			err->text);
	else
		call_result(use->call, use->result);
	free(use);
}

static const char *as_json(struct call *call, const struct value *value)
{
	struct bytes text = { "{}", 2 };

	if (!value || json_write_text(&call->arena, value, JSON_WRITE_COMPACT, JSON_BYTES_MAX,
			      &text, NULL) < 0)
		return NULL;
	return text.data;
}

void admin_ops_act(struct call *call, const struct value *result, struct store_act *act)
{
	act->at_wall_us = clock_wall_us();
	act->uid = call->caller.uid;
	act->gid = call->caller.gid;
	act->pid = call->caller.pid;
	act->method = call->method->name;
	act->params = as_json(call, call->params);
	act->result = as_json(call, result);
	act->reason = reason_of(call);
	log_event(LOG_LEVEL_NOTICE, "admin_op", LOG_STR("method", act->method),
		LOG_INT("uid", act->uid), LOG_STR("why", act->reason ? act->reason : ""));
}

static void admin_op_record(struct use *use)
{
	struct call *call = use->call;

	admin_ops_act(call, use->result, &use->recording.act);
	use->recording.act.block_uid = uid_of(call);
	recorder_put(call->services->recorder, &use->recording);
}

static void start_op(struct call *call, int (*perform)(struct use *use))
{
	struct use *use = calloc(1, sizeof(*use));

	if (!use) {
		call_error(call, RPC_CODE_INTERNAL, "not done: no memory to record the operation");
		return;
	}
	/* Before the params are used, stored or logged: people may paste secrets into them. */
	call->params = redact_by_patterns(call->services->patterns, &call->arena, call->params);
	use->recording.kind = RECORDING_ACT;
	use->recording.durability = STORE_NOW;
	use->recording.done = on_recorded;
	use->call = call;
	use->result = value_map(&call->arena);
	if (perform(use) == 0) {
		admin_op_record(use);
		return;
	}
	free(use);
	call_error(call, RPC_CODE_INTERNAL,
		"not done: no memory, or %d users are blocked already: unblock one",
		ADMIN_BLOCKS_MAX);
}

void method_drain(struct call *call)
{
	start_op(call, drain);
}

void method_resume(struct call *call)
{
	start_op(call, resume);
}

void method_kill_all(struct call *call)
{
	start_op(call, kill_all);
}

void method_block(struct call *call)
{
	start_op(call, block);
}

void method_unblock(struct call *call)
{
	start_op(call, unblock);
}

void method_reset_budget(struct call *call)
{
	start_op(call, reset_budget);
}
