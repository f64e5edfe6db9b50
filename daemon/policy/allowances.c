#include "daemon/policy/allowances.h"

#include <stdio.h>
#include <string.h>

#include "daemon/settings/config_allowances.h"
#include "proto/base/container.h"
#include "proto/job/job_network.h"

static const enum config_for order[] = { FOR_RUNTIME, FOR_GID, FOR_UID, FOR_POLICY };

static void replace(struct job_limits *limits, const struct job_limits *named)
{
	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++)
		if (named->each[i] != CONFIG_LIMIT_UNSET)
			limits->each[i] = named->each[i];
}

/* A limit that is not set is the largest number, so it lowers nothing. */
static void lower(struct job_limits *limits, const struct job_limits *most)
{
	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++)
		if (most->each[i] < limits->each[i])
			limits->each[i] = most->each[i];
}

static bool is_for(const struct config_allowance *allowance, enum config_for whom,
	const struct allowance_case *what)
{
	const char *name = whom == FOR_RUNTIME ? what->runtime : what->policy;

	if (allowance->whom != whom)
		return false;
	if (whom == FOR_UID || whom == FOR_GID)
		return what->has_caller &&
		       allowance->id == (whom == FOR_UID ? what->uid : what->gid);
	return name && !strcmp(allowance->name, name);
}

static void apply(const struct config *config, enum config_for whom,
	const struct allowance_case *what, struct job_bounds *bounds)
{
	for (unsigned i = 0; i < config->allowance_count; i++) {
		const struct config_allowance *allowance = &config->allowances[i];

		if (!is_for(allowance, whom, what))
			continue;
		replace(&bounds->standard, &allowance->limits);
		if (whom == FOR_POLICY)
			lower(&bounds->most, &allowance->most);
		else
			replace(&bounds->most, &allowance->most);
	}
}

const struct job_bounds *allowances_bounds(const struct config *config,
	const struct job_bounds *general, const struct allowance_case *what,
	struct job_bounds *room)
{
	struct allowance_case whole = *what;

	if (!config->allowance_count)
		return general;
	if (!whole.policy)
		whole.policy = config->policy;
	*room = *general;
	for (size_t i = 0; i < COUNT_OF(order); i++)
		apply(config, order[i], &whole, room);
	lower(&room->standard, &room->most);
	return room;
}

static bool says_something(const struct job_limits *limits)
{
	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++)
		if (limits->each[i] != CONFIG_LIMIT_UNSET)
			return true;
	return false;
}

int allowances_add_policies(struct config *config, const struct policies *policies, struct err *err)
{
	struct config_allowance row = { .whom = FOR_POLICY };
	const char *name;

	for (uint32_t i = 0; (name = policies_limits(policies, i, &row.limits, &row.most)); i++) {
		if (!says_something(&row.limits) && !says_something(&row.most))
			continue;
		if (setting_check_numbers(&row.limits, config_limits, err) < 0)
			return err_wrap(err, "policy %s: limits", name);
		if (setting_check_numbers(&row.most, config_most, err) < 0)
			return err_wrap(err, "policy %s: most", name);
		if (config->allowance_count == CONFIG_ALLOWANCES_MAX)
			return err_set(err, ERR_TOO_BIG,
				"policy %s: too many sections have numbers", name);
		(void)snprintf(row.name, sizeof(row.name), "%s", name);
		memmove(config->allowances + 1, config->allowances,
			config->allowance_count * sizeof(row));
		config->allowances[0] = row;
		config->allowance_count++;
	}
	return 0;
}

/* ---- hosts ----------------------------------------------------------------------------------- */

/* `list` has words as network_read_host() reads them; without a port, 443 is meant. */
static bool list_covers(const char *list, const char *host, uint16_t port)
{
	while (*list) {
		char allowed[NETWORK_HOST_MAX];
		size_t len = strcspn(list, " ");
		int allowed_port = 0;

		if (network_read_host(list, len, allowed, &allowed_port) &&
			(allowed_port < 0 || (allowed_port ? allowed_port : 443) == port) &&
			network_covers(allowed, host))
			return true;
		list += len + (list[len] == ' ');
	}
	return false;
}

static const char *egress_list(
	const struct config *config, enum config_for whom, const struct allowance_case *what)
{
	for (unsigned i = 0; i < config->allowance_count; i++)
		if (config->allowances[i].has_egress && is_for(&config->allowances[i], whom, what))
			return config->allowances[i].egress_allow;
	return NULL;
}

bool allowances_cover_host(const struct config *config, const struct allowance_case *what,
	const char *host, uint16_t port)
{
	struct allowance_case whole = *what;
	const char *list = config->egress.allow;
	const char *of_policy;

	if (!whole.policy)
		whole.policy = config->policy;
	of_policy = egress_list(config, FOR_POLICY, &whole);
	for (size_t i = 0; i + 1 < COUNT_OF(order); i++) { /* without the policy */
		const char *replaced = egress_list(config, order[i], &whole);

		list = replaced ? replaced : list;
	}
	return list_covers(list, host, port) && (!of_policy || list_covers(of_policy, host, port));
}

/* 0: no bound. */
static void set_bound(uint64_t *bound, uint64_t named, bool only_lowers)
{
	if (named == CONFIG_LIMIT_UNSET)
		return;
	if (!only_lowers || (named && (!*bound || named < *bound)))
		*bound = named;
}

static void set_bounds(
	struct budget_limits *budgets, const struct budget_limits *named, bool only_lowers)
{
#define SET(name, uid, agent, task, highest, meaning) \
	set_bound(&budgets->name, named->name, only_lowers);
	CONFIG_BUDGETS(SET)
#undef SET
}

void allowances_budgets(const struct config *config, const struct allowance_case *what,
	struct budget_limits ret_budgets[BUDGET_SCOPE_COUNT])
{
	memcpy(ret_budgets, config->budgets, sizeof(config->budgets));
	for (size_t i = 0; config->allowance_count && i < COUNT_OF(order); i++)
		for (unsigned k = 0; k < config->allowance_count; k++) {
			const struct config_allowance *allowance = &config->allowances[k];

			for (unsigned s = 0;
				is_for(allowance, order[i], what) && s < BUDGET_SCOPE_COUNT; s++)
				set_bounds(&ret_budgets[s], &allowance->budgets[s],
					order[i] == FOR_POLICY);
		}
}

static void put_if_set(struct arena *arena, struct value *map, const char *name, uint64_t number)
{
	if (number != CONFIG_LIMIT_UNSET)
		value_map_put(arena, map, name, value_uint(arena, number));
}

static struct value *describe_limits(struct arena *arena, const struct job_limits *limits)
{
	struct value *map = value_map(arena);

#define PUT(name, meaning) put_if_set(arena, map, #name, limits->name);
	JOB_LIMITS(PUT)
#undef PUT
	return map;
}

static struct value *describe_budget(struct arena *arena, const struct budget_limits *budget)
{
	struct value *map = value_map(arena);

#define PUT(name, uid, agent, task, highest, meaning) put_if_set(arena, map, #name, budget->name);
	CONFIG_BUDGETS(PUT)
#undef PUT
	return map;
}

static struct value *describe_budgets(
	struct arena *arena, const struct budget_limits budgets[BUDGET_SCOPE_COUNT])
{
	static const char *const words[] = { "uid", "agent", "task" };
	struct value *map = value_map(arena);

	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		struct value *budget = describe_budget(arena, &budgets[i]);

		if (budget && budget->map.count)
			value_map_put(arena, map, words[i], budget);
	}
	return map;
}

struct value *allowances_describe(const struct config *config, struct arena *arena)
{
	struct value *list = value_list(arena);

	for (unsigned i = 0; i < config->allowance_count; i++) {
		const struct config_allowance *allowance = &config->allowances[i];
		struct value *map = value_map(arena);

		value_map_put(
			arena, map, "for", value_text(arena, config_for_word(allowance->whom)));
		value_map_put(arena, map, "name", value_text(arena, allowance->name));
		value_map_put(arena, map, "limits", describe_limits(arena, &allowance->limits));
		value_map_put(arena, map, "most", describe_limits(arena, &allowance->most));
		value_map_put(arena, map, "budgets", describe_budgets(arena, allowance->budgets));
		value_list_add(arena, list, map);
	}
	return list;
}
