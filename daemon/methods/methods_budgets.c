/* budgets.list, admin.reset_budget, and the start of the budgets from recorded runs. */
#include <string.h>

#include "daemon/gate/budgets.h"
#include "daemon/methods/methods.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "proto/base/clock.h"
#include "proto/fill.h"

#define LIST_MOST     1000
#define RESETS_MOST   256
#define REMEMBER_MOST 200000 /* runs that are read at the start: about half a second */

void method_budgets(struct call *call)
{
	struct services *services = call->services;
	struct arena *arena = &call->arena;
	const struct value *uid_value = value_get(call->params, "uid");
	uint32_t uid = (uint32_t)value_as_int(uid_value, call->caller.uid);
	bool all = call->right == RIGHT_YES && !uid_value;
	struct fill map = fill_start(arena);
	bool more = false;
	struct value *list;

	if (call->right != RIGHT_YES)
		uid = call->caller.uid;
	list = budgets_describe(
		services->budgets, all ? NULL : &uid, LIST_MOST, clock_us(), arena, &more);
	fill_value(&map, "budgets", list);
	fill_bool(&map, "more", more);
	fill_uint(&map, "window_ms", services->config->budget_window_ms);
	fill_uint(&map, "circuit_ms", services->config->circuit_ms);
	call_result(call, fill_done(&map));
}

/* ---- which budget a reset names ------------------------------------------------------------ */

struct whose {
	enum budget_scope scope;
	uint32_t uid;
	const char *name;
};

static struct whose whose(const struct value *params, uint32_t otherwise)
{
	const char *agent = value_as_text(value_get(params, "agent"));
	const char *task = value_as_text(value_get(params, "task"));

	return (struct whose){ agent  ? BUDGET_AGENT
			       : task ? BUDGET_TASK
				      : BUDGET_UID,
		(uint32_t)value_as_int(value_get(params, "uid"), otherwise),
		agent  ? agent
		: task ? task
		       : "" };
}

bool budgets_reset_asked(struct call *call)
{
	const struct whose whom = whose(call->params, call->caller.uid);

	return budgets_reset(call->services->budgets, whom.scope, whom.uid, whom.name);
}

/* ---- at the start --------------------------------------------------------------------------- */

/* The resets of administrators within the window. */
struct resets {
	struct arena arena;
	struct {
		struct whose whom;
		int64_t at_us;
	} items[RESETS_MOST];
	size_t count;
};

static int note_reset(void *context, int64_t at_us, uint32_t uid, const struct value *params)
{
	struct resets *resets = context;
	size_t at = resets->count;

	if (at == RESETS_MOST) /* drop the oldest */
		memmove(&resets->items[0], &resets->items[1], --at * sizeof(resets->items[0]));
	resets->items[at].whom = whose(params, uid);
	resets->items[at].at_us = at_us;
	resets->count = at + 1;
	return 0;
}

static bool was_reset(const struct resets *resets, enum budget_scope scope, uint32_t uid,
	const char *name, int64_t ended_us)
{
	for (size_t i = 0; i < resets->count; i++) {
		const struct whose *whom = &resets->items[i].whom;

		if (whom->scope == scope && whom->uid == uid &&
			resets->items[i].at_us >= ended_us && !strcmp(whom->name, name))
			return true;
	}
	return false;
}

struct remembering {
	struct budgets *budgets;
	const struct resets *resets;
	int64_t now_us, now_wall_us;
};

static int remember(void *context, const struct store_spent *run)
{
	const struct remembering *all = context;
	const struct budget_spent spent = { budget_end_of(run->outcome), (uint64_t)run->cpu_us,
		(uint64_t)run->wall_us, (uint64_t)run->bytes };
	struct budget_case what = { .uid = run->uid, .agent = run->agent, .task = run->task };
	int64_t age_us = all->now_wall_us - run->ended_wall_us;
	const bool reset[] = {
		was_reset(all->resets, BUDGET_UID, run->uid, "", run->ended_wall_us),
		run->agent && was_reset(all->resets, BUDGET_AGENT, run->uid, run->agent,
				      run->ended_wall_us),
		run->task && was_reset(all->resets, BUDGET_TASK, run->uid, run->task,
				     run->ended_wall_us),
	};

	if (run->outcome == OUTCOME_BUDGET_EXCEEDED || run->outcome == OUTCOME_REFUSED)
		return 0;
	if (reset[BUDGET_AGENT])
		what.agent = NULL;
	if (reset[BUDGET_TASK])
		what.task = NULL;
	budgets_remember(all->budgets, &what, &spent, !reset[BUDGET_UID], age_us, all->now_us);
	return 0;
}

int budgets_load(struct services *services, struct store *store, struct err *err)
{
	static struct resets resets; /* large, and used once */
	struct remembering all = { services->budgets, &resets, clock_us(), clock_wall_us() };
	uint64_t window_ms = services->config->budget_window_ms;
	int64_t since_us;
	int r;

	budgets_init(services->budgets, window_ms, services->config->circuit_ms);
	if (window_ms < services->config->circuit_ms)
		window_ms = services->config->circuit_ms;
	since_us = all.now_wall_us - (int64_t)window_ms * 1000;
	resets.count = 0;
	arena_init(&resets.arena, (size_t)4 << 20);
	r = store_each_reset(store, since_us, &resets.arena, note_reset, &resets, err);
	if (r == 0)
		r = store_each_spent(store, since_us, REMEMBER_MOST, remember, &all, err);
	arena_done(&resets.arena);
	return r;
}
