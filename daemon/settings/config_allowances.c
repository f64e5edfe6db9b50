#include "daemon/settings/config_allowances.h"

#include <inttypes.h>
#include <string.h>

#include "daemon/settings/config_egress.h"
#include "daemon/settings/config_numbers.h"
#include "proto/base/container.h"

/* ---- the tables ------------------------------------------------------------------------------ */

/* clang-format off */
#define ROW(field, standard, ceiling, least, greatest, says) \
	SETTING_NUMBER_OF(job_limits, field, .otherwise = standard, .lowest = least, \
		.highest = greatest, .change = CHANGE_RELOAD, .meaning = says),
const struct setting config_limits[] = { CONFIG_LIMITS(ROW) { 0 } };
#undef ROW

#define ROW(field, standard, ceiling, least, greatest, says) \
	SETTING_NUMBER_OF(job_limits, field, .otherwise = ceiling, .lowest = least, \
		.highest = greatest, .change = CHANGE_RELOAD, .meaning = says),
const struct setting config_most[] = { CONFIG_LIMITS(ROW) { 0 } };
#undef ROW

#define ROW(field, uid, agent, task, greatest, says) \
	SETTING_NUMBER_OF(budget_limits, field, .highest = greatest, .change = CHANGE_RELOAD, \
		.meaning = says),
const struct setting config_spending[] = { CONFIG_BUDGETS(ROW) { 0 } };
#undef ROW

const struct setting config_allowance[] = {
	CONFIG_NUMBERS_SECTIONS(config_allowance, .take = NULL),
	{ .name = "egress_allow", .type = SETTING_LIST, .take = config_take_egress_allow,
		.change = CHANGE_RELOAD, .meaning = CONFIG_EGRESS_ALLOW_MEANING },
	{ 0 },
};
/* clang-format on */

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

static const char *const sections[FOR_COUNT] = {
	[FOR_RUNTIME] = "runtime",
	[FOR_POLICY] = "for_policy",
	[FOR_UID] = "for_uid",
	[FOR_GID] = "for_gid",
};

const char *config_for_word(enum config_for whom)
{
	return whom == FOR_RUNTIME ? sections[whom] : sections[whom] + strlen("for_");
}

/* ---- a section ------------------------------------------------------------------------------- */

static bool has_numbers(const struct config_item *section)
{
	for (const struct config_item *item = section->items; item; item = item->next)
		if (item->shape == CONFIG_IS_SECTION && item->items)
			return true;
	return false;
}

int config_take_allowance(
	void *config, const struct setting *row, const struct config_item *section, struct err *err)
{
	struct config *whole = config;
	struct config_allowance *allowance = &whole->allowances[whole->allowance_count];
	unsigned whom = 0;

	(void)row;
	if (whole->allowance_count == CONFIG_ALLOWANCES_MAX)
		return setting_fault(err, section->line,
			"more than %d sections have numbers of their own", CONFIG_ALLOWANCES_MAX);
	while (strcmp(section->name, sections[whom]) != 0)
		whom++;
	memset(allowance, 0xff, sizeof(*allowance)); /* CONFIG_LIMIT_UNSET, each of them */
	allowance->whom = (enum config_for)whom;
	allowance->id = 0;
	allowance->has_egress = false;
	allowance->egress_allow[0] = '\0';
	if (setting_copy(allowance->name, sizeof(allowance->name), section, section->title, err) <
			0 ||
		setting_take(allowance, section, config_allowance, err) < 0)
		return -1;
	if ((whom == FOR_UID || whom == FOR_GID) &&
		roles_read_id(whom == FOR_GID, allowance->name, &allowance->id, err) < 0)
		return err_wrap(err, "line %u", section->line);
	whole->allowance_count += has_numbers(section) || allowance->has_egress;
	return 0;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Refuses a limit that is above the most of its kind.  `prefix` names the section with both. */
static int check_limits(const struct config *config, const char *prefix,
	const struct job_limits *some, const struct job_limits *most_of_them, struct err *err)
{
	for (SETTING_EACH(row, config_limits)) {
		uint64_t limit = setting_number(some, row);
		uint64_t most = setting_number(most_of_them, row);
		char key[CONFIG_KEY_MAX];
		char low[32];
		char high[32];

		if (limit == CONFIG_LIMIT_UNSET || limit <= most)
			continue;
		config_number_text(low, sizeof(low), row->name, limit);
		config_number_text(high, sizeof(high), row->name, most);
		cut_printf(key, sizeof(key), "%slimits.%s", prefix, row->name);
		return setting_refuse(config, err, key,
			"%s = %s is above %smost.%s = %s: lower it, or raise most.%s", key, low,
			prefix, row->name, high, row->name);
	}
	return 0;
}

/*
 * Returns the highest ceiling that any run may have.  Every kind of section may raise it, except
 * one for a policy.
 */
static uint64_t highest_most(const struct config *config, const struct setting *row)
{
	uint64_t highest = setting_number(&config->most, row);

	for (unsigned i = 0; i < config->allowance_count; i++) {
		uint64_t most = setting_number(&config->allowances[i].most, row);

		if (config->allowances[i].whom != FOR_POLICY && most != CONFIG_LIMIT_UNSET &&
			most > highest)
			highest = most;
	}
	return highest;
}

static int check_allowance(
	const struct config *config, const struct config_allowance *allowance, struct err *err)
{
	const char *section = sections[allowance->whom];
	char key[CONFIG_KEY_MAX];

	cut_printf(key, sizeof(key), "%s.%s.", section, allowance->name);
	if (check_limits(config, key, &allowance->limits, &allowance->most, err) < 0)
		return -1;
	for (SETTING_EACH(row, config_limits)) {
		uint64_t limit = setting_number(&allowance->limits, row);

		if (limit == CONFIG_LIMIT_UNSET || limit <= highest_most(config, row))
			continue;
		cut_printf(
			key, sizeof(key), "%s.%s.limits.%s", section, allowance->name, row->name);
		return setting_refuse(config, err, key,
			"%s is above most.%s: lower it, or raise most.%s", key, row->name,
			row->name);
	}
	return 0;
}

/* Refuses an allowance that is for the same user or group as an earlier one. */
static int check_same(
	const struct config *config, const struct config_allowance *allowance, struct err *err)
{
	const char *section = sections[allowance->whom];
	char key[CONFIG_KEY_MAX];

	if (allowance->whom != FOR_UID && allowance->whom != FOR_GID)
		return 0;
	cut_printf(key, sizeof(key), "%s.%s", section, allowance->name);
	for (const struct config_allowance *other = config->allowances; other < allowance; other++)
		if (other->whom == allowance->whom && other->id == allowance->id)
			return setting_refuse(config, err, key,
				"%s %s and %s %s are the same %s: write one section", section,
				other->name, section, allowance->name,
				allowance->whom == FOR_UID ? "user" : "group");
	return 0;
}

int config_check_allowances(const struct config *config, struct err *err)
{
	if (check_limits(config, "", &config->limits, &config->most, err) < 0)
		return -1;
	for (unsigned i = 0; i < config->allowance_count; i++)
		if (check_allowance(config, &config->allowances[i], err) < 0 ||
			check_same(config, &config->allowances[i], err) < 0)
			return -1;
	return 0;
}

/* ---- printing ------------------------------------------------------------------------------- */

static void print_some(FILE *out, const struct config_allowance *allowance, const char *kind,
	const struct job_limits *some)
{
	for (SETTING_EACH(row, config_limits))
		if (setting_number(some, row) != CONFIG_LIMIT_UNSET)
			fprintf(out, "%s.%s.%s.%s=%" PRIu64 "\n", sections[allowance->whom],
				allowance->name, kind, row->name, setting_number(some, row));
}

void config_print_allowances(const struct config *config, FILE *out)
{
	for (unsigned i = 0; i < config->allowance_count; i++) {
		print_some(out, &config->allowances[i], "limits", &config->allowances[i].limits);
		print_some(out, &config->allowances[i], "most", &config->allowances[i].most);
	}
}
