/*
 * A schema, a value, and the verdict:
 *
 *	valid
 *	invalid, then one line for each error: #POINTER REASON #SCHEMA_POINTER
 *	refused #POINTER                            the schema itself is not understood
 */

#include <stdio.h>
#include <string.h>

#include "proto/base/buf.h"
#include "proto/json.h"
#include "proto/schema/schema.h"
#include "tests/cases.h"
#include "tests/check.h"

#define ARENA_BYTES (64U << 20)
#define TEXT_MAX    65536

static void say_errors(struct buf *said, const struct schema_report *report)
{
	(void)buf_append_text(said, report->count ? "invalid\n" : "valid\n");
	for (size_t i = 0; i < report->count; i++)
		(void)buf_printf(said, "#%s %s #%s\n", report->errors[i].pointer,
			report->errors[i].reason, report->errors[i].schema_pointer);
}

static void judge(struct arena *arena, const struct test_case *test, struct buf *said)
{
	struct value *text = NULL, *value = NULL;
	struct schema_mistake mistake = { .message = NULL };
	const struct schema *schema = NULL;
	struct schema_report report;
	struct err err = ERR_INIT;
	int answer;

	CHECK_EQ_INT(json_parse(arena, test->part[0], test->part_len[0], NULL, &text, &err), 0);
	answer = schema_compile(arena, text, SCHEMA_JSON, &schema, &mistake, &err);
	CHECK(answer >= 0);
	if (answer) {
		(void)buf_printf(said, "refused #%s\n", mistake.pointer);
		return;
	}
	CHECK_EQ_INT(json_parse(arena, test->part[1], test->part_len[1], NULL, &value, &err), 0);
	CHECK_EQ_INT(schema_check(arena, schema, value, &report, &err), 0);
	say_errors(said, &report);
}

void run_case(const struct test_case *test)
{
	__attribute__((cleanup(arena_done))) struct arena arena;
	__attribute__((cleanup(buf_done))) struct buf said;

	arena_init(&arena, ARENA_BYTES);
	buf_init(&said, TEXT_MAX);
	judge(&arena, test, &said);
	if (!check_ok())
		return;
	(void)buf_append_byte(&said, '\0');
	CHECK_STR(said.bytes, test->part[2]);
}
