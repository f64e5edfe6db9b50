#include "daemon/request/recorded_calls.h"

#include <stdlib.h>
#include <string.h>

struct recorded_calls {
	const struct value *rows; /* NULL: none */
	size_t count, first;      /* all rows before `first` were given */
	bool *given;
};

struct recorded_calls *recorded_calls_new(const struct value *record)
{
	struct recorded_calls *calls = calloc(1, sizeof(*calls));
	const struct value *rows = value_get(record, "tool_calls");

	if (!calls)
		return NULL;
	calls->rows = rows;
	calls->count = value_is(rows, VALUE_LIST) ? rows->list.count : 0;
	calls->given = calloc(calls->count + 1, sizeof(*calls->given));
	if (calls->given)
		return calls;
	free(calls);
	return NULL;
}

void recorded_calls_free(struct recorded_calls *calls)
{
	if (!calls)
		return;
	free(calls->given);
	free(calls);
}

/* What was no JSON is in the row as text or not at all, and equals no arguments. */
static bool is_of(const struct value *row, const char *tool, const struct value *args)
{
	const char *name = value_as_text(value_get(row, "tool"));
	const struct value *own = value_get(row, "args");

	return name && own && strcmp(name, tool) == 0 && value_equal(own, args);
}

const struct value *recorded_calls_take(
	struct recorded_calls *calls, const char *tool, const struct value *args)
{
	while (calls->first < calls->count && calls->given[calls->first])
		calls->first++;
	for (size_t i = calls->first; i < calls->count; i++) {
		const struct value *row = value_at(calls->rows, i);

		if (calls->given[i] || !is_of(row, tool, args))
			continue;
		calls->given[i] = true;
		return row;
	}
	return NULL;
}
