#include "cli/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/base/container.h"

struct unit {
	const char *name;
	double factor;
};

static const struct unit byte_units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", 1024 },
	{ "KiB", 1024 },
	{ "KB", 1024 },
	{ "M", 1024.0 * 1024 },
	{ "MiB", 1024.0 * 1024 },
	{ "MB", 1024.0 * 1024 },
	{ "G", 1024.0 * 1024 * 1024 },
	{ "GiB", 1024.0 * 1024 * 1024 },
	{ "GB", 1024.0 * 1024 * 1024 },
};

static const struct unit time_units[] = {
	{ "ms", 1 },
	{ "s", 1000 },
	{ "m", 60.0 * 1000 },
	{ "min", 60.0 * 1000 },
	{ "h", 3600.0 * 1000 },
	{ "d", 86400.0 * 1000 },
};

/* Only digits and one dot, so that strtod() sees no sign, exponent, "nan" or hexadecimal. */
static size_t number_len(const char *text)
{
	size_t len = strspn(text, "0123456789");

	if (len > 0 && text[len] == '.')
		len += 1 + strspn(text + len + 1, "0123456789");
	return len;
}

static int units_parse(
	const char *text, const struct unit *units, size_t unit_count, uint64_t *ret_number)
{
	size_t len = number_len(text);
	double number = strtod(text, NULL);

	if (len == 0)
		return -1;
	for (size_t i = 0; i < unit_count; i++) {
		if (strcasecmp(text + len, units[i].name) != 0)
			continue;
		number = round(number * units[i].factor);
		if (!(number < 9e18))
			return -1;
		*ret_number = (uint64_t)number;
		return 0;
	}
	return -1;
}

int units_parse_bytes(const char *text, uint64_t *ret_bytes, struct err *err)
{
	if (units_parse(text, byte_units, COUNT_OF(byte_units), ret_bytes) < 0)
		return err_set(
			err, ERR_INVALID, "\"%s\" is not a size such as 4096, 512K or 64M", text);
	return 0;
}

int units_parse_ms(const char *text, uint64_t *ret_ms, struct err *err)
{
	size_t len = number_len(text);

	if (len > strspn(text, "0.") && text[len] == '\0')
		return err_set(err, ERR_INVALID, "\"%s\" has no unit: write %sms, %ss or %sm", text,
			text, text, text);
	if (units_parse(text, time_units, COUNT_OF(time_units), ret_ms) < 0)
		return err_set(err, ERR_INVALID,
			"\"%s\" is not a length of time such as 500ms, 2s or 5m", text);
	return 0;
}

int units_parse_count(const char *text, uint64_t *ret_count, struct err *err)
{
	size_t len = strspn(text, "0123456789");

	if (len == 0 || text[len] != '\0' || len > 18)
		return err_set(err, ERR_INVALID, "\"%s\" is not a whole number", text);
	*ret_count = strtoull(text, NULL, 10);
	return 0;
}

void units_print_bytes(char ret_text[UNITS_TEXT_MAX], int64_t bytes)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double number = (double)bytes;
	size_t unit = 0;

	while (number >= 1024 && unit + 1 < COUNT_OF(names)) {
		number /= 1024;
		unit++;
	}
	cut_printf(ret_text, UNITS_TEXT_MAX, "%.*f %s",
		unit > 0 && number < 100 && fmod(number, 1) >= 0.05, number, names[unit]);
}

/* Three figures are enough: 1.24, 12.4, 124 milliseconds. */
static int decimals(int64_t us)
{
	if (us < 9995)
		return 2;
	return us < 99950 ? 1 : 0;
}

void units_print_us(char ret_text[UNITS_TEXT_MAX], int64_t us)
{
	int64_t seconds = us / 1000000;

	if (us < 1000)
		cut_printf(ret_text, UNITS_TEXT_MAX, "%" PRId64 " us", us);
	else if (us < 1000000)
		cut_printf(ret_text, UNITS_TEXT_MAX, "%.*f ms", decimals(us), (double)us / 1e3);
	else if (seconds < 60)
		cut_printf(ret_text, UNITS_TEXT_MAX, "%.2f s", (double)us / 1e6);
	else if (seconds < 3600)
		cut_printf(ret_text, UNITS_TEXT_MAX, "%" PRId64 " min %02" PRId64 " s",
			seconds / 60, seconds % 60);
	else if (seconds < 86400)
		cut_printf(ret_text, UNITS_TEXT_MAX, "%" PRId64 " h %02" PRId64 " min",
			seconds / 3600, seconds / 60 % 60);
	else
		cut_printf(ret_text, UNITS_TEXT_MAX, "%" PRId64 " d %02" PRId64 " h",
			seconds / 86400, seconds / 3600 % 24);
}

void units_print_count(char ret_text[UNITS_TEXT_MAX], int64_t count)
{
	char digits[UNITS_TEXT_MAX];
	size_t filled = 0;
	size_t len;

	cut_printf(digits, sizeof(digits), "%" PRId64, count);
	len = strlen(digits);
	for (size_t i = 0; i < len && filled + 2 < UNITS_TEXT_MAX; i++) {
		ret_text[filled++] = digits[i];
		if ((len - i) % 3 == 1 && i + 1 < len && digits[i] != '-')
			ret_text[filled++] = ',';
	}
	ret_text[filled] = '\0';
}
