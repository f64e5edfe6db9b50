/*
 * A method, its params, and what the contract says to them:
 *
 *	refused #POINTER REASON
 *	accepted                  for run and check, JSON may follow: what the spec then says
 */

#include <string.h>

#include "proto/base/buf.h"
#include "proto/json.h"
#include "proto/method/method.h"
#include "tests/cases.h"
#include "tests/check.h"
#include "tests/job_bounds.h"

#define ARENA_BYTES (64U << 20)

static const struct job_bounds bounds = {
	BOUNDS_OF_LIMITS,
	.code_bytes = 1000,
	.input_bytes = 1000,
	.files_bytes = 1000,
	.schema_bytes = 1000,
};

static void check_refusal(const struct job_refusal *refusal, const char *hoped)
{
	__attribute__((cleanup(buf_done))) struct buf said;

	buf_init(&said, 4096);
	(void)buf_printf(&said, "refused #%s %s\n", refusal->pointer, refusal->reason);
	(void)buf_append_byte(&said, '\0');
	CHECK(refusal->message[0]);
	CHECK_STR(said.bytes, hoped);
}

/* Each key that the case names is in the spec with that value. */
static void check_spec(struct arena *arena, const struct job_spec *spec, const char *hoped)
{
	struct value *said = job_spec_to_value(arena, spec), *wanted = NULL;
	struct err err = ERR_INIT;

	CHECK(said);
	if (!*hoped)
		return;
	CHECK_EQ_INT(json_parse(arena, hoped, strlen(hoped), NULL, &wanted, &err), 0);
	for (size_t i = 0; i < wanted->map.count; i++) {
		const struct value_entry *entry = &wanted->map.entries[i];

		CHECK(value_equal(value_get(said, entry->key), entry->value));
	}
}

static void judge(struct arena *arena, const struct method *method, const struct value *params,
	const char *hoped)
{
	bool is_job = method->id == METHOD_RUN || method->id == METHOD_CHECK;
	struct job_refusal refusal = { "", "", "" };
	struct err err = ERR_INIT;
	struct job_spec spec;
	int answer;

	if (is_job)
		answer = job_spec_from_value(arena, params, &bounds, &spec, &refusal, &err);
	else
		answer = method_check_params(arena, method->id, params, &refusal, &err);
	CHECK(answer >= 0);
	if (answer) {
		check_refusal(&refusal, hoped);
		return;
	}
	CHECK(strncmp(hoped, "accepted\n", 9) == 0);
	if (is_job)
		check_spec(arena, &spec, hoped + 9);
}

void run_case(const struct test_case *test)
{
	__attribute__((cleanup(arena_done))) struct arena arena;
	struct value *params = NULL;
	struct err err = ERR_INIT;
	char name[64] = "";

	arena_init(&arena, ARENA_BYTES);
	CHECK(test->part_len[0] > 1 && test->part_len[0] < sizeof(name));
	memcpy(name, test->part[0], test->part_len[0] - 1);
	CHECK(method_find(name));
	CHECK_EQ_INT(json_parse(&arena, test->part[1], test->part_len[1], NULL, &params, &err), 0);
	judge(&arena, method_find(name), params, test->part[2]);
}
