/* Budgets and allowances: numbers for some runs only, in sections such as `for_uid NAME { }`. */
#include <inttypes.h>
#include <string.h>

#include "daemon/settings/config_parts.h"

/* ---- budgets --------------------------------------------------------------------------------- */

static const char *const budget_sections[BUDGET_SCOPE_COUNT] = {
	[BUDGET_UID] = "budget_uid", [BUDGET_AGENT] = "budget_agent", [BUDGET_TASK] = "budget_task"
};

static const struct budget_limits budgets_otherwise[BUDGET_SCOPE_COUNT] = {
#define OF_UID(name, uid, agent, task, highest, meaning)   uid,
#define OF_AGENT(name, uid, agent, task, highest, meaning) agent,
#define OF_TASK(name, uid, agent, task, highest, meaning)  task,
	[BUDGET_UID] = { CONFIG_BUDGETS(OF_UID) },
	[BUDGET_AGENT] = { CONFIG_BUDGETS(OF_AGENT) },
	[BUDGET_TASK] = { CONFIG_BUDGETS(OF_TASK) },
#undef OF_UID
#undef OF_AGENT
#undef OF_TASK
};

void config_default_budgets(struct budget_limits budgets[BUDGET_SCOPE_COUNT])
{
	memcpy(budgets, budgets_otherwise, sizeof(budgets_otherwise));
}

unsigned config_take_budgets(
	struct budget_limits budgets[BUDGET_SCOPE_COUNT], const struct config_item *section)
{
	unsigned written = 0;

	for (unsigned scope = 0; scope < BUDGET_SCOPE_COUNT; scope++)
		written += config_take_numbers(&budgets[scope],
			config_find(section, budget_sections[scope]), &config_spending);
	return written;
}

/* ---- what they apply to --------------------------------------------------------------------- */

static const char *const for_words[FOR_COUNT] = {
	[FOR_RUNTIME] = "runtime",
	[FOR_POLICY] = "policy",
	[FOR_UID] = "uid",
	[FOR_GID] = "gid",
};

static const char *const for_sections[FOR_COUNT] = {
	[FOR_RUNTIME] = "runtime",
	[FOR_POLICY] = "for_policy",
	[FOR_UID] = "for_uid",
	[FOR_GID] = "for_gid",
};

const char *config_for_word(enum config_for whom)
{
	return for_words[whom];
}

/* ---- a section ------------------------------------------------------------------------------- */

/* Reads a number, or the name of a user or group of this host. */
static int take_id(
	struct config_allowance *allowance, const struct config_item *section, struct err *err)
{
	struct role_list one = { 0 };
	struct err why = ERR_INIT;

	if (allowance->whom != FOR_UID && allowance->whom != FOR_GID)
		return 0;
	if (roles_name(&one, allowance->whom == FOR_GID, allowance->name, &why) < 0)
		return config_fault(err, section, "%s", why.text);
	allowance->id = one.ids[0];
	return 0;
}

/* Adds the allowance of a section if it has a number.  A runtime's section may have none. */
static int take_allowance(struct config *config, enum config_for whom,
	const struct config_item *section, struct err *err)
{
	struct config_allowance *allowance = &config->allowances[config->allowance_count];
	char prefix[CONFIG_KEY_MAX];
	unsigned written;

	if (config->allowance_count == CONFIG_ALLOWANCES_MAX)
		return config_fault(err, section, "more than %d sections have numbers of their own",
			CONFIG_ALLOWANCES_MAX);
	allowance->whom = whom;
	if (config_take_text(
		    allowance->name, sizeof(allowance->name), section, section->title, err) < 0)
		return -1;
	memset(&allowance->limits, 0xff, sizeof(allowance->limits)); /* CONFIG_LIMIT_UNSET */
	memset(&allowance->most, 0xff, sizeof(allowance->most));
	memset(allowance->budgets, 0xff, sizeof(allowance->budgets));
	written = config_take_numbers(
		&allowance->limits, config_find(section, "limits"), &config_limits);
	written +=
		config_take_numbers(&allowance->most, config_find(section, "most"), &config_most);
	written += config_take_budgets(allowance->budgets, section);
	config->allowance_count += written > 0;
	if (take_id(allowance, section, err) < 0)
		return -1;
	cut_printf(prefix, sizeof(prefix), "%s.%s.", section->name, section->title);
	return config_check_limits(config, prefix, &allowance->limits, &allowance->most, err);
}

int config_check_twice(const struct config *config, struct err *err)
{
	for (unsigned i = 0; i < config->allowance_count; i++)
		for (unsigned k = 0; k < i; k++) {
			const struct config_allowance *one = &config->allowances[k];
			const struct config_allowance *other = &config->allowances[i];

			if (one->whom == other->whom && one->id == other->id &&
				(one->whom == FOR_UID || one->whom == FOR_GID))
				return config_refuse(config, err, for_sections[one->whom],
					"%s %s and %s %s are the same: write one section",
					for_sections[one->whom], one->name, for_sections[one->whom],
					other->name);
		}
	return 0;
}

/*
 * Returns the highest ceiling that any run may have.  Every kind of section may raise it, except
 * one for a policy.
 */
static uint64_t highest_most(const struct config *config, const struct number_rule *rule)
{
	uint64_t highest = config_number(&config->most, rule);

	for (unsigned i = 0; i < config->allowance_count; i++) {
		uint64_t most = config_number(&config->allowances[i].most, rule);

		if (config->allowances[i].whom != FOR_POLICY && most != CONFIG_LIMIT_UNSET &&
			most > highest)
			highest = most;
	}
	return highest;
}

int config_check_allowances(const struct config *config, struct err *err)
{
	for (size_t n = 0; n < config_most.count * config->allowance_count; n++) {
		const struct config_allowance *allowance =
			&config->allowances[n / config_most.count];
		const struct number_rule *rule = &config_most.rules[n % config_most.count];
		uint64_t limit = config_number(&allowance->limits, rule);
		char key[CONFIG_KEY_MAX];

		if (limit == CONFIG_LIMIT_UNSET || limit <= highest_most(config, rule))
			continue;
		cut_printf(key, sizeof(key), "%s.%s.limits.%s", for_sections[allowance->whom],
			allowance->name, rule->name);
		return config_refuse(config, err, key,
			"%s is above most.%s: lower it, or raise most.%s", key, rule->name,
			rule->name);
	}
	return 0;
}

int config_take_allowances(struct config *config, const struct config_item *whole, struct err *err)
{
	for (unsigned whom = 0; whom < FOR_COUNT; whom++) {
		const struct config_item *section = NULL;

		while ((section = config_next(whole, section, for_sections[whom])))
			if (take_allowance(config, (enum config_for)whom, section, err) < 0)
				return -1;
	}
	return 0;
}

/* ---- printing ------------------------------------------------------------------------------- */

static void print_some(FILE *out, const struct config_allowance *allowance, const char *kind,
	const struct job_limits *some)
{
#define PRINT(name_of, meaning)                                                                    \
	if (some->name_of != CONFIG_LIMIT_UNSET)                                                   \
		fprintf(out, "%s.%s.%s." #name_of "=%" PRIu64 "\n", for_sections[allowance->whom], \
			allowance->name, kind, some->name_of);
	JOB_LIMITS(PRINT)
#undef PRINT
}

static void print_allowance(FILE *out, const struct config_allowance *allowance)
{
	print_some(out, allowance, "limits", &allowance->limits);
	print_some(out, allowance, "most", &allowance->most);
}

void config_print_allowances(const struct config *config, FILE *out)
{
	for (unsigned i = 0; i < config->allowance_count; i++)
		print_allowance(out, &config->allowances[i]);
}
