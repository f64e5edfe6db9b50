/* Any text: accepted text can be written, compact and pretty, and reads back as an equal value. */

#include <stdlib.h>

#include "proto/json.h"
#include "tests/fuzz/fuzz.h"

#define ARENA_BYTES (64U << 20)
#define TEXT_MAX    (64U << 20)

static void check_round_trip(struct arena *arena, const struct value *value, unsigned style)
{
	struct err err = ERR_INIT;
	struct value *again = NULL;
	struct bytes text;

	if (json_write_text(arena, value, style, TEXT_MAX, &text, &err) < 0) {
		if (err.code != ERR_MEMORY)
			abort();
		return;
	}
	if (json_parse(arena, text.data, text.len, NULL, &again, &err) < 0) {
		/*
		 * Written again, reals may grow by ".0" and escapes by five bytes, past a size
		 * limit.
		 */
		if (err.code == ERR_INVALID)
			abort();
		return;
	}
	if (!value_equal(value, again))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct arena arena;
	struct err err = ERR_INIT;
	struct value *value = NULL;

	arena_init(&arena, ARENA_BYTES);
	if (json_parse(&arena, (const char *)data, len, NULL, &value, &err) == 0) {
		check_round_trip(&arena, value, JSON_WRITE_COMPACT);
		check_round_trip(&arena, value, JSON_WRITE_PRETTY);
	} else if (err.code == ERR_NONE || !err.text[0]) {
		abort();
	}
	arena_done(&arena);
	return 0;
}
