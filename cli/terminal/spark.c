#include "cli/terminal/spark.h"

#include "proto/base/container.h"

#define LEVELS    9 /* the first is nothing */
#define BYTES_MAX 3 /* of one bar */

static const char *const unicode[LEVELS] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const ascii[LEVELS] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };

static size_t level_of(int64_t number, int64_t highest)
{
	double part;

	if (number <= 0)
		return 0;
	part = (double)number / (double)highest;
	return 1 + (size_t)(part * (LEVELS - 2) + 0.5);
}

const char *spark_text(
	struct arena *arena, const struct output *out, const int64_t *numbers, size_t count)
{
	const char *const *bars = out->unicode ? unicode : ascii;
	char *text = arena_calloc(arena, count + 1, BYTES_MAX);
	int64_t highest = 0;
	size_t len = 0;

	if (!text)
		return "";
	for (size_t i = 0; i < count; i++) {
		if (numbers[i] > highest)
			highest = numbers[i];
	}
	for (size_t i = 0; i < count; i++) {
		for (const char *bar = bars[level_of(numbers[i], highest)]; *bar; bar++)
			text[len++] = *bar;
	}
	return text;
}

static void join_pairs(int64_t *numbers, size_t count, bool adds)
{
	for (size_t i = 0; i < count; i += 2) {
		int64_t first = numbers[i];
		int64_t second = i + 1 < count ? numbers[i + 1] : 0;

		numbers[i / 2] = adds ? first + second : first > second ? first : second;
	}
}

size_t spark_join(int64_t *numbers, size_t *count, size_t room, bool adds)
{
	size_t each = 1;

	for (; *count > room && *count > 1; *count = (*count + 1) / 2, each *= 2)
		join_pairs(numbers, *count, adds);
	return each;
}
