/* The numbers of the configuration: which may stand where, how they are written, and their bounds. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/settings/config_parts.h"
#include "proto/base/container.h"

/* ---- the tables ------------------------------------------------------------------------------ */

#define TABLE(rows)                  \
	{                            \
		rows, COUNT_OF(rows) \
	}

#define ROW(name, otherwise, lowest, highest, meaning) \
	{ #name, offsetof(struct config, name), otherwise, lowest, highest, meaning },
static const struct number_rule general[] = { CONFIG_NUMBERS(ROW) };
#undef ROW

#define ROW(name, otherwise, ceiling, lowest, highest, meaning) \
	{ #name, offsetof(struct job_limits, name), otherwise, lowest, highest, meaning },
static const struct number_rule limits[] = { CONFIG_LIMITS(ROW) };
#undef ROW

#define ROW(name, otherwise, ceiling, lowest, highest, meaning) \
	{ #name, offsetof(struct job_limits, name), ceiling, lowest, highest, meaning },
static const struct number_rule most[] = { CONFIG_LIMITS(ROW) };
#undef ROW

#define ROW(name, uid, agent, task, highest, meaning) \
	{ #name, offsetof(struct budget_limits, name), 0, 0, highest, meaning },
static const struct number_rule spending[] = { CONFIG_BUDGETS(ROW) };
#undef ROW

const struct number_table config_general = TABLE(general);
const struct number_table config_limits = TABLE(limits);
const struct number_table config_most = TABLE(most);
const struct number_table config_spending = TABLE(spending);

/* Sections with numbers of their own; everywhere else stand general ones. */
static const struct {
	const char *section;
	const struct number_table *table;
} sections[] = {
	{ "limits", &config_limits },
	{ "most", &config_most },
	{ "budget_uid", &config_spending },
	{ "budget_agent", &config_spending },
	{ "budget_task", &config_spending },
	{ "alert", &config_alert_numbers },
};

static const struct number_table *table_of(const char *section)
{
	for (size_t i = 0; i < COUNT_OF(sections); i++)
		if (!strcmp(sections[i].section, section))
			return sections[i].table;
	return &config_general;
}

static const struct number_rule *find_rule(const struct number_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->rules[i].name, name))
			return &table->rules[i];
	return NULL;
}

#define LIMIT_OPTION(name, otherwise, ceiling, lowest, highest, meaning) \
	CFG_INT_CB(#name, 0, CFGF_NODEFAULT, config_on_number),
cfg_opt_t config_limit_options[] = { CONFIG_LIMITS(LIMIT_OPTION) CFG_END() };

#define BUDGET_OPTION(name, uid, agent, task, highest, meaning) \
	CFG_INT_CB(#name, 0, CFGF_NODEFAULT, config_on_number),
cfg_opt_t config_budget_options[] = { CONFIG_BUDGETS(BUDGET_OPTION) CFG_END() };

/* ---- how they are written -------------------------------------------------------------------- */

static const struct {
	const char *suffix;
	uint64_t factor;
	bool is_time; /* in milliseconds */
} units[] = {
	{ "ms", 1, true },
	{ "s", 1000, true },
	{ "min", 60000, true },
	{ "h", 3600000, true },
	{ "kb", UINT64_C(1) << 10, false },
	{ "mb", UINT64_C(1) << 20, false },
	{ "gb", UINT64_C(1) << 30, false },
};

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text);
	size_t end_len = strlen(end);

	return len > end_len && !strcmp(text + len - end_len, end);
}

int config_read_number(const char *name, const char *text, uint64_t *ret_number)
{
	bool is_time = ends_with(name, "_ms");
	uint64_t factor = 1;
	char *end = NULL;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	*ret_number = strtoull(text, &end, 10);
	if (errno)
		return -1;
	if (*end) {
		factor = 0;
		for (size_t i = 0; i < COUNT_OF(units); i++)
			if (!strcmp(units[i].suffix, end) && units[i].is_time == is_time)
				factor = units[i].factor;
	}
	return !factor || __builtin_mul_overflow(*ret_number, factor, ret_number) ? -1 : 0;
}

int config_on_number(cfg_t *section, cfg_opt_t *option, const char *text, void *ret)
{
	const struct number_rule *rule = find_rule(table_of(cfg_name(section)), option->name);
	uint64_t number = 0;

	if (!rule || config_read_number(rule->name, text, &number) < 0) {
		cfg_error(section, "%s: \"%s\" is not a number (%s)", option->name, text,
			ends_with(option->name, "_ms") ? "or a time such as 5s"
						       : "or a size such as 64mb");
		return -1;
	}
	if (number < rule->lowest || number > rule->highest) {
		cfg_error(section, "%s: %" PRIu64 " is outside %" PRIu64 " to %" PRIu64, rule->name,
			number, rule->lowest, rule->highest);
		return -1;
	}
	*(long *)ret = (long)number;
	return 0;
}

/* ---- sets of them ---------------------------------------------------------------------------- */

uint64_t config_number(const void *set, const struct number_rule *rule)
{
	return *(const uint64_t *)(const void *)((const char *)set + rule->offset);
}

static void put_number(void *set, const struct number_rule *rule, uint64_t number)
{
	*(uint64_t *)(void *)((char *)set + rule->offset) = number;
}

void config_default_numbers(void *set, const struct number_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		put_number(set, &table->rules[i], table->rules[i].otherwise);
}

unsigned config_take_numbers(void *set, cfg_t *section, const struct number_table *table)
{
	unsigned written = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct number_rule *rule = &table->rules[i];

		if (!cfg_size(section, rule->name))
			continue;
		put_number(set, rule, (uint64_t)cfg_getint(section, rule->name));
		written++;
	}
	return written;
}

int config_check_limits(
	const struct job_limits *some, const struct job_limits *most_of_them, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		uint64_t limit = config_number(some, &limits[i]);

		if (limit != CONFIG_LIMIT_UNSET && limit > config_number(most_of_them, &most[i]))
			return err_set(err, ERR_INVALID, "limits.%s is above most.%s",
				limits[i].name, most[i].name);
	}
	return 0;
}
