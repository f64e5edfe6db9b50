#include "daemon/settings/config_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/base/container.h"
#include "proto/base/err.h"

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
bool config_number_lacks_unit(const char *name, const char *text)
{
	return strcmp(name, "keep_bytes") == 0 && text[strspn(text, "0")] &&
	       !text[strspn(text, "0123456789")];
}

int config_number_read(const char *name, const char *text, uint64_t *ret_number)
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
	if (!*end && !config_number_lacks_unit(name, text))
		factor = measures[kind].base;
	if (!factor || __builtin_mul_overflow(number, factor, &number) ||
		number % measures[kind].base)
		return -1;
	*ret_number = number / measures[kind].base;
	return 0;
}

const char *config_number_form(const char *name)
{
	return measures[measure_of(name)].form;
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
