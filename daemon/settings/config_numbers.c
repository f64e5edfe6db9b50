/* The numbers of the configuration: their tables, how they are written, and their ranges. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/settings/config_parts.h"

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

const struct number_rule *number_rule_named(const struct number_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->rules[i].name, name))
			return &table->rules[i];
	return NULL;
}

/* ---- how they are written -------------------------------------------------------------------- */

enum measure {
	MEASURE_COUNT,
	MEASURE_TIME, /* with factors in milliseconds */
	MEASURE_SIZE,
};

#define DAY_MS UINT64_C(86400000)

/* The end of a setting's name gives its measure and its unit. */
static const struct {
	const char *end;
	enum measure measure;
	uint64_t base;
	const char *form;
} measures[] = {
	{ "_ms", MEASURE_TIME, 1, "a time, such as 500ms, 10s, 5min, 1h or 2d" },
	{ "_s", MEASURE_TIME, 1000, "a time in whole seconds, such as 10s, 5min, 1h or 2d" },
	{ "_days", MEASURE_TIME, DAY_MS, "whole days, such as 90 or 90d" },
	{ "_bytes", MEASURE_SIZE, 1, "a size, such as 64kb, 16mb or 1gb" },
	{ "", MEASURE_COUNT, 1, "a number without a unit" },
};

static const struct {
	const char *suffix;
	uint64_t factor;
	enum measure measure;
} units[] = {
	{ "d", DAY_MS, MEASURE_TIME },
	{ "h", 3600000, MEASURE_TIME },
	{ "min", 60000, MEASURE_TIME },
	{ "s", 1000, MEASURE_TIME },
	{ "ms", 1, MEASURE_TIME },
	{ "tb", UINT64_C(1) << 40, MEASURE_SIZE },
	{ "gb", UINT64_C(1) << 30, MEASURE_SIZE },
	{ "mb", UINT64_C(1) << 20, MEASURE_SIZE },
	{ "kb", UINT64_C(1) << 10, MEASURE_SIZE },
	{ "gib", UINT64_C(1) << 30, MEASURE_SIZE },
	{ "mib", UINT64_C(1) << 20, MEASURE_SIZE },
	{ "kib", UINT64_C(1) << 10, MEASURE_SIZE },
	{ "g", UINT64_C(1) << 30, MEASURE_SIZE },
	{ "m", UINT64_C(1) << 20, MEASURE_SIZE },
	{ "k", UINT64_C(1) << 10, MEASURE_SIZE },
};

/* Whether a name has this end, or has it before "_per_": "message_bytes", "held_bytes_per_uid". */
static bool has_end(const char *name, const char *end)
{
	size_t len = strlen(end);

	for (const char *at = strstr(name, end); at; at = strstr(at + 1, end))
		if (!at[len] || !strncmp(at + len, "_per_", strlen("_per_")))
			return true;
	return false;
}

static size_t measure_of(const char *name)
{
	size_t last = COUNT_OF(measures) - 1;

	for (size_t i = 0; i < last; i++)
		if (has_end(name, measures[i].end))
			return i;
	return last;
}

/* Data past keep_bytes is deleted for good, so a unit is required: 10 must not mean 10 bytes. */
static bool lacks_unit(const char *name, const char *text)
{
	return strcmp(name, "keep_bytes") == 0 && text[strspn(text, "0")] &&
	       !text[strspn(text, "0123456789")];
}

int config_read_number(const char *name, const char *text, uint64_t *ret_number)
{
	size_t kind = measure_of(name);
	uint64_t factor = 0;
	uint64_t number;
	char *end = NULL;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno)
		return -1;
	for (size_t i = 0; *end && i < COUNT_OF(units) && !factor; i++)
		if (!strcasecmp(units[i].suffix, end) && units[i].measure == measures[kind].measure)
			factor = units[i].factor;
	if (!*end && !lacks_unit(name, text))
		factor = measures[kind].base;
	if (!factor || __builtin_mul_overflow(number, factor, &number) ||
		number % measures[kind].base)
		return -1;
	*ret_number = number / measures[kind].base;
	return 0;
}

void config_number_text(char *text, size_t size, const char *name, uint64_t number)
{
	size_t kind = measure_of(name);

	for (size_t i = 0; number && i < COUNT_OF(units); i++)
		if (units[i].measure == measures[kind].measure &&
			units[i].factor >= measures[kind].base &&
			number * measures[kind].base % units[i].factor == 0) {
			cut_printf(text, size, "%" PRIu64 "%s",
				number * measures[kind].base / units[i].factor, units[i].suffix);
			return;
		}
	cut_printf(text, size, "%" PRIu64, number);
}

/* Whether this is a number that no setting accepts: negative, or with too many digits. */
static bool is_out_of_reach(const char *text, uint64_t *ret_number)
{
	const char *digits = text + (*text == '-');

	*ret_number = UINT64_MAX;
	return *digits && digits[strspn(digits, "0123456789")] == '\0';
}

int config_read_item(struct config_item *item, const struct number_rule *rule, struct err *err)
{
	const char *form = measures[measure_of(rule->name)].form;
	char lowest[32];
	char highest[32];

	if (item->shape != CONFIG_IS_VALUE)
		return config_fault(err, item, "%s is written as %s = NUMBER; it is %s", item->name,
			item->name, form);
	if (lacks_unit(rule->name, item->values->text))
		return config_fault(err, item, "%s = %s has no unit: write %skb, %smb or %sgb",
			item->name, item->values->text, item->values->text, item->values->text,
			item->values->text);
	if (config_read_number(rule->name, item->values->text, &item->number) < 0 &&
		!is_out_of_reach(item->values->text, &item->number))
		return config_fault(err, item, "%s = %s is not a number that it can be: write %s",
			item->name, item->values->text, form);
	if (item->number >= rule->lowest && item->number <= rule->highest)
		return 0;
	config_number_text(lowest, sizeof(lowest), rule->name, rule->lowest);
	config_number_text(highest, sizeof(highest), rule->name, rule->highest);
	return config_fault(err, item, "%s = %s is outside %s to %s (%s)", item->name,
		item->values->text, lowest, highest, rule->meaning);
}

/* ---- structs of numbers --------------------------------------------------------------------- */

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

unsigned config_take_numbers(
	void *set, const struct config_item *section, const struct number_table *table)
{
	unsigned written = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct config_item *item = config_find(section, table->rules[i].name);

		if (!item)
			continue;
		put_number(set, &table->rules[i], item->number);
		written++;
	}
	return written;
}

int config_check_limits(const struct config *config, const char *prefix,
	const struct job_limits *some, const struct job_limits *most_of_them, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		uint64_t limit = config_number(some, &limits[i]);
		uint64_t highest = config_number(most_of_them, &most[i]);
		char key[CONFIG_KEY_MAX];
		char low[32];
		char high[32];

		if (limit == CONFIG_LIMIT_UNSET || limit <= highest)
			continue;
		config_number_text(low, sizeof(low), limits[i].name, limit);
		config_number_text(high, sizeof(high), limits[i].name, highest);
		cut_printf(key, sizeof(key), "%slimits.%s", prefix, limits[i].name);
		return config_refuse(config, err, key,
			"%s = %s is above %smost.%s = %s: lower it, or raise most.%s", key, low,
			prefix, most[i].name, high, most[i].name);
	}
	return 0;
}
