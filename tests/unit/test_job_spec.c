#include <math.h>
#include <string.h>

#include "proto/job/job.h"
#include "proto/json.h"
#include "proto/schema/schema.h"
#include "tests/arena.h"
#include "tests/check.h"
#include "tests/fault.h"
#include "tests/job_bounds.h"

/*
 * tests/cases/job/ has the cases of one request each; here are the tests that a case cannot
 * express.
 */

static const struct job_bounds bounds = {
	BOUNDS_OF_LIMITS,
	.code_bytes = 1U << 18,
	.input_bytes = 1U << 24,
	.files_bytes = 1U << 24,
	.schema_bytes = 1U << 16,
};

/* {language: python, code: x} and the keys that a test adds. */
static struct value *request(struct arena *arena)
{
	struct value *params = value_map(arena);

	(void)value_map_put(arena, params, "language", value_text(arena, "python"));
	(void)value_map_put(arena, params, "code", value_text(arena, "x"));
	return params;
}

static struct value *request_with(struct arena *arena, const char *key, struct value *value)
{
	struct value *params = request(arena);

	(void)value_map_put(arena, params, key, value);
	return params;
}

/* "POINTER REASON", or "" if it was accepted. */
static const char *judged(struct arena *arena, const struct value *params, struct job_spec *spec)
{
	struct job_refusal refusal = { "", "", "" };
	struct err err = ERR_INIT;
	int answer = job_spec_from_value(arena, params, &bounds, spec, &refusal, &err);

	if (answer < 0)
		return err_word(err.code);
	return answer ? arena_printf(arena, "%s %s", refusal.pointer, refusal.reason) : "";
}

TEST(large_parts_are_pointed_at_and_not_copied)
{
	WITH_ARENA(arena);
	struct value *params = request_with(arena, "stdin", value_bytes(arena, "\xff\0", 2));
	struct value *file = value_map(arena), *files = value_list(arena);
	struct job_spec spec;

	CHECK_EQ_INT(value_map_put(arena, file, "path", value_text(arena, "a")), 0);
	CHECK_EQ_INT(value_map_put(arena, file, "data", value_bytes(arena, "\xff", 1)), 0);
	CHECK_EQ_INT(value_list_add(arena, files, file), 0);
	CHECK_EQ_INT(value_map_put(arena, params, "files", files), 0);
	CHECK_STR(judged(arena, params, &spec), "");
	CHECK(spec.code.data == value_get(params, "code")->text.bytes);
	CHECK(spec.input.data == value_get(params, "stdin")->text.bytes);
	CHECK(spec.files[0].data.data == value_get(file, "data")->text.bytes);
	CHECK_EQ_INT(spec.input.len, 2);
}

TEST(code_and_files_may_be_bytes)
{
	WITH_ARENA(arena);
	struct value *params = value_map(arena), *said;
	struct job_spec spec;

	CHECK_EQ_INT(value_map_put(arena, params, "language", value_text(arena, "bash")), 0);
	CHECK_EQ_INT(value_map_put(arena, params, "code", value_bytes(arena, "\xff\xfe", 2)), 0);
	CHECK_STR(judged(arena, params, &spec), "");
	said = job_spec_to_value(arena, &spec);
	CHECK(value_is(value_get(said, "code"), VALUE_BYTES));
}

TEST(names_and_args_may_not_be_bytes)
{
	WITH_ARENA(arena);
	struct value *args = value_list(arena);
	struct job_spec spec;

	CHECK_EQ_INT(value_list_add(arena, args, value_bytes(arena, "a", 1)), 0);
	CHECK_STR(judged(arena, request_with(arena, "args", args), &spec), "/args/0 type");
	CHECK_STR(judged(arena, request_with(arena, "id", value_bytes(arena, "a", 1)), &spec),
		"/id type");
}

TEST(input_has_no_bytes_and_no_nan)
{
	WITH_ARENA(arena);
	struct job_spec spec;

	CHECK_STR(judged(arena, request_with(arena, "input", value_bytes(arena, "a", 1)), &spec),
		"/input value");
	CHECK_STR(
		judged(arena, request_with(arena, "input", value_real(arena, (double)NAN)), &spec),
		"/input value");
}

TEST(a_limit_that_is_not_finite_is_no_number)
{
	WITH_ARENA(arena);
	struct value *limits = value_map(arena);
	struct job_spec spec;

	CHECK_EQ_INT(value_map_put(arena, limits, "pids", value_real(arena, (double)INFINITY)), 0);
	CHECK_STR(judged(arena, request_with(arena, "limits", limits), &spec), "/limits/pids type");
}

TEST(a_schema_has_no_bytes)
{
	WITH_ARENA(arena);
	struct value *schema = value_map(arena);
	struct job_spec spec;

	CHECK_EQ_INT(value_map_put(arena, schema, "const", value_bytes(arena, "a", 1)), 0);
	CHECK_STR(judged(arena, request_with(arena, "schema", schema), &spec), "/schema schema");
}

TEST(a_schema_comes_compiled)
{
	WITH_ARENA(arena);
	struct value *schema = value_map(arena);
	struct schema_report report;
	struct err err = ERR_INIT;
	struct job_spec spec;

	CHECK_EQ_INT(value_map_put(arena, schema, "type", value_text(arena, "null")), 0);
	CHECK_STR(judged(arena, request_with(arena, "schema", schema), &spec), "");
	CHECK_EQ_INT(spec.output, OUTPUT_JSON);
	CHECK(spec.schema == schema);
	CHECK_EQ_INT(schema_check(arena, spec.output_schema, value_nil(arena), &report, &err), 0);
	CHECK_EQ_INT(report.count, 0);
}

static struct value *texts_of(struct arena *arena, size_t count, size_t len)
{
	struct value *list = value_list(arena);
	char text[1024];

	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < count; i++)
		(void)value_list_add(arena, list, value_text_len(arena, text, len));
	return list;
}

TEST(args_have_ceilings)
{
	WITH_ARENA(arena);
	struct job_spec spec;

	CHECK_STR(judged(arena, request_with(arena, "args", texts_of(arena, 1024, 1)), &spec), "");
	CHECK_STR(judged(arena, request_with(arena, "args", texts_of(arena, 1025, 1)), &spec),
		"/args too_long");
	CHECK_STR(judged(arena, request_with(arena, "args", texts_of(arena, 300, 1000)), &spec),
		"/args/261 too_long");
}

TEST(env_has_ceilings)
{
	WITH_ARENA(arena);
	struct value *few = value_map(arena), *many = value_map(arena);
	static char text[300000];
	struct job_spec spec;

	memset(text, 'x', sizeof(text) - 1);
	CHECK_EQ_INT(value_map_put(arena, few, "A", value_text(arena, text)), 0);
	CHECK_STR(judged(arena, request_with(arena, "env", few), &spec), "/env too_long");
	for (int i = 0; i < 257; i++)
		CHECK_EQ_INT(value_map_put(arena, many, arena_printf(arena, "A%d", i),
				     value_text(arena, "")),
			0);
	CHECK_STR(judged(arena, request_with(arena, "env", many), &spec), "/env too_long");
}

TEST(many_files_are_compared_quickly)
{
	WITH_ARENA(arena);
	struct value *files = value_list(arena);
	struct job_spec spec;

	for (int i = 0; i < 1024; i++) {
		struct value *file = value_map(arena);
		char *path = arena_printf(arena, "d%d/f%d", i % 7, (i * 37) % 1024);

		CHECK_EQ_INT(value_map_put(arena, file, "path", value_text(arena, path)), 0);
		CHECK_EQ_INT(value_map_put(arena, file, "data", value_text(arena, "")), 0);
		CHECK_EQ_INT(value_list_add(arena, files, file), 0);
	}
	CHECK_STR(judged(arena, request_with(arena, "files", files), &spec), "");
	CHECK_EQ_INT(spec.file_count, 1024);
	for (size_t i = 1; i < spec.file_count; i++)
		CHECK(strcmp(spec.files[i - 1].path, spec.files[i].path) < 0);
}

TEST(the_order_of_files_and_env_does_not_change_the_hash)
{
	WITH_ARENA(arena);
	static const char *const texts[] = {
		"{\"language\":\"python\",\"code\":\"\",\"env\":{\"A\":\"1\",\"B\":\"2\"},"
		"\"files\":[{\"path\":\"a\",\"data\":\"1\"},{\"path\":\"b\",\"data\":\"2\"}]}",
		"{\"language\":\"python\",\"code\":\"\",\"env\":{\"B\":\"2\",\"A\":\"1\"},"
		"\"files\":[{\"path\":\"b\",\"data\":\"2\"},{\"path\":\"a\",\"data\":\"1\"}]}",
	};
	char hashes[2][HASH_TEXT_LEN + 1];
	struct err err = ERR_INIT;

	for (int i = 0; i < 2; i++) {
		struct value *params = NULL;
		struct job_spec spec;

		CHECK_EQ_INT(json_parse(arena, texts[i], strlen(texts[i]), NULL, &params, &err), 0);
		CHECK_STR(judged(arena, params, &spec), "");
		job_input_hash(&spec, hashes[i]);
	}
	CHECK_STR(hashes[0], hashes[1]);
}

TEST(a_spec_reads_back_from_its_own_value)
{
	WITH_ARENA(arena);
	const char *text =
		"{\"id\":\"i\",\"language\":\"python\",\"code\":\"print()\",\"entrypoint\":\"a.py\","
		"\"args\":[\"1\",\"\"],\"input\":{\"n\":1},\"env\":{\"A\":\"b\"},"
		"\"files\":[{\"path\":\"d/x\",\"data\":\"y\",\"mode\":493}],"
		"\"limits\":{\"pids\":3},\"on_output_limit\":\"truncate\",\"artifacts\":[\"*\"],"
		"\"policy\":\"p\",\"schema\":{\"type\":\"object\"},\"task\":\"t\",\"agent\":\"g\","
		"\"labels\":{\"l\":\"m\"},\"trace\":\"off\",\"stream\":true,\"detach\":true}";
	struct value *params = NULL, *said, *again;
	struct err err = ERR_INIT;
	struct job_spec spec;

	CHECK_EQ_INT(json_parse(arena, text, strlen(text), NULL, &params, &err), 0);
	CHECK_STR(judged(arena, params, &spec), "");
	said = job_spec_to_value(arena, &spec);
	CHECK(said);
	CHECK_STR(judged(arena, said, &spec), "");
	again = job_spec_to_value(arena, &spec);
	CHECK(value_equal(said, again));
	CHECK(value_equal(value_get(said, "stdin"), value_text(arena, "{\"n\":1}")));
	CHECK_EQ_INT(value_as_int(value_get(value_get(said, "limits"), "pids"), 0), 3);
}

TEST(no_memory_is_an_error_and_never_a_refusal)
{
	const char *text = "{\"language\":\"python\",\"code\":\"\",\"input\":[1],\"args\":[\"a\"],"
			   "\"files\":[{\"path\":\"a\",\"data\":\"\"}],\"env\":{\"A\":\"\"},"
			   "\"schema\":{\"pattern\":\"^a\"}}";

	FAULT_LOOP(FAULT_ALLOC) {
		WITH_ARENA(arena);
		struct job_refusal refusal = { "", "", "" };
		struct value *params = NULL;
		struct err err = ERR_INIT;
		struct job_spec spec;
		int answer = json_parse(arena, text, strlen(text), NULL, &params, &err);

		if (answer == 0)
			answer = job_spec_from_value(arena, params, &bounds, &spec, &refusal, &err);
		CHECK(answer == 0 || (answer < 0 && fault_hit()));
	}
}
