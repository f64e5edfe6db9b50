/* A schema, a line of `---`, a value: compiling and checking end, and every error has a message. */

#include <stdlib.h>
#include <string.h>

#include "proto/json.h"
#include "proto/schema/schema.h"
#include "tests/fuzz/fuzz.h"

#define ARENA_BYTES (64U << 20)
#define DIVIDER     "\n---\n"

static const struct json_bounds bounds = { 1U << 20, 64, 1U << 14 };

static void check_value(struct arena *arena, const struct schema *schema, const struct value *value)
{
	struct schema_report report = { NULL, 0, false };
	struct err err = ERR_INIT;

	if (schema_check(arena, schema, value, &report, &err) < 0)
		return;
	if (report.count > SCHEMA_ERRORS_MAX || (report.more && report.count == 0))
		abort();
	for (size_t i = 0; i < report.count; i++) {
		const struct schema_error *error = &report.errors[i];

		if (!error->pointer || !error->schema_pointer || !error->reason || !error->message)
			abort();
	}
}

static void try_schema(struct arena *arena, const struct value *text, const struct value *value)
{
	struct schema_mistake mistake = { .message = NULL };
	const struct schema *schema = NULL;
	struct err err = ERR_INIT;
	int answer = schema_compile(arena, text, SCHEMA_JSON, &schema, &mistake, &err);

	if (answer > 0 && (!mistake.pointer || !mistake.message))
		abort();
	if (answer == 0)
		check_value(arena, schema, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;
	const char *divider = memmem(text, len, DIVIDER, strlen(DIVIDER));
	struct value *schema = NULL, *value = NULL;
	struct err err = ERR_INIT;
	struct arena arena;
	size_t first;

	if (!divider)
		return 0;
	first = (size_t)(divider - text);
	divider += strlen(DIVIDER);
	arena_init(&arena, ARENA_BYTES);
	if (json_parse(&arena, text, first, &bounds, &schema, &err) == 0 &&
		json_parse(&arena, divider, (size_t)(text + len - divider), &bounds, &value,
			&err) == 0)
		try_schema(&arena, schema, value);
	arena_done(&arena);
	return 0;
}
