#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/redact/encodings.h"
#include "daemon/redact/masked_record.h"
#include "proto/json.h"
#include "tests/check.h"

#define S    "hunter2"
#define MASK "[masked:secret]"
#define BYTES(text)                    \
	{                              \
		text, sizeof(text) - 1 \
	}

static struct arena arena;
static struct redactor redactor;

static struct pattern_book *book(void)
{
	static struct pattern_book *shipped;
	struct err err = ERR_INIT;

	if (!shipped)
		shipped = pattern_book_load(NULL, &err); /* loaded once for the whole process */
	return shipped;
}

static void begin(void)
{
	static const struct bytes secret = BYTES(S);

	arena_done(&arena);
	arena_init(&arena, 16 << 20);
	redactor_init(&redactor, book(), encodings_of(&arena, &secret, 1), &arena);
}

static struct job_spec full_spec(void)
{
	static struct bytes args[] = { BYTES("a"), BYTES(S) };
	static struct job_input_file files[] = { { "dir-" S "/f", BYTES("x" S), 0644 } };
	static struct job_pair env[] = { { S, BYTES(S) }, { S S, BYTES("") } };
	static struct job_pair labels[] = { { "l", BYTES(S) } };
	static const char *globs[] = { "*" S };
	static const char *packages[] = { "set-" S };
	static struct bytes secrets[] = { BYTES(S) };

	return (struct job_spec){ .id = "id " S,
		.language = "python",
		.code = BYTES("print('" S "')"),
		.entrypoint = S ".py",
		.args = args,
		.arg_count = 2,
		.input = BYTES("{\"a\": \"" S "\"}"),
		.has_input = true,
		.files = files,
		.file_count = 1,
		.env = env,
		.env_count = 2,
		.artifact_globs = globs,
		.artifact_glob_count = 1,
		.packages = packages,
		.package_count = 1,
		.has_packages = true,
		.task = S,
		.agent = "agent " S,
		.labels = labels,
		.label_count = 1,
		.secrets = secrets,
		.secret_count = 1 };
}

/* The value as JSON text, in the form that the store keeps. */
static const char *as_text(const struct value *value)
{
	struct bytes text = { "", 0 };

	(void)json_write_text(&arena, value, JSON_WRITE_BASE64, 1 << 20, &text, NULL);
	return text.data;
}

TEST(no_part_of_a_request_keeps_a_secret)
{
	struct job_spec spec = full_spec();
	struct job_spec kept;
	const char *text;

	begin();
	spec.schema = value_text(&arena, "const " S);
	mask_spec(&redactor, &spec, &kept);
	text = as_text(job_spec_to_value(&arena, &kept));
	CHECK(!strstr(text, S));
	CHECK(strstr(text, "\"masks\":16"));
	CHECK(!kept.secrets);
	CHECK_STR(kept.code.data, "print('" MASK "')");
	CHECK_STR(kept.env[0].key, MASK "~0");
	CHECK_STR(kept.env[1].key, MASK "~1");
	CHECK(spec.code.data[7] == 'h'); /* the original is unchanged */
}

static struct job_result full_result(void)
{
	static struct policy_finding findings[] = { { "r", "observe", 1, 1, "eval('hunt", "says " S,
		NULL } };
	static struct job_artifact artifacts[] = { { S ".txt", BYTES(S), 0644, "sha256:1", false },
		{ "b", BYTES("b"), 0644, "sha256:2", false } };
	static struct job_skipped skipped[] = { { "big" S, "too_large " S } };
	static struct job_output_error errors[] = { { "/" S, "/const", "is not " S } };
	static struct job_step steps[] = { { "x", "output", 1, false, S } };

	return (struct job_result){ .outcome = OUTCOME_OK,
		.reason = "it says " S,
		.out = { BYTES("a " S " b hunte"), { NULL, 0 }, 0, 100, true },
		.errout = { BYTES(S), { NULL, 0 }, 0, 7, false },
		.output_errors = errors,
		.output_error_count = 1,
		.has_verdict = true,
		.verdict = { POLICY_OBSERVE, "standard", "sha256:3", findings, 1 },
		.artifacts = artifacts,
		.artifact_count = 2,
		.skipped = skipped,
		.skipped_count = 1,
		.steps = steps,
		.step_count = 1 };
}

TEST(no_part_of_a_result_keeps_a_secret)
{
	struct job_result result = full_result();
	struct job_result kept;
	struct value *map;
	const char *text;

	begin();
	map = value_map(&arena);
	value_map_put(&arena, map, S, value_text(&arena, "s " S));
	result.value = result.error = map;
	mask_result(&redactor, &result, &kept);
	text = as_text(job_result_to_value(&arena, &kept));
	CHECK(!strstr(text, S));
	CHECK(!strstr(text, "hunt"));
	CHECK_EQ_INT(kept.masks, 17);
	CHECK_STR(kept.out.head.data, "a " MASK " b " MASK);
	CHECK_EQ_INT(kept.out.total, 100);
	CHECK(kept.artifacts[0].masked);
	CHECK(!kept.artifacts[1].masked);
	CHECK_STR(kept.artifacts[0].sha256, "sha256:1"); /* of the unmasked bytes */
	CHECK(!strcmp(result.reason, "it says " S));
}

static struct value *parsed(const char *json)
{
	struct value *value = NULL;

	(void)json_parse(&arena, json, strlen(json), NULL, &value, NULL);
	return value;
}

TEST(masks_do_not_hide_where_a_run_connected)
{
	const char *token = "glpat-aaaaaaaaaaaaaaaaaaaaaa";
	static const char *const hosts[] = { S ".test", "glpat-aaaaaaaaaaaaaaaaaaaaaa.test" };
	struct job_spec spec = full_spec();
	struct job_result result = full_result();
	struct job_result kept;
	struct value *rows;

	begin();
	rows = value_list(&arena);
	for (size_t i = 0; i < 2; i++)
		value_list_add(&arena, rows,
			parsed(arena_printf(&arena,
				"{\"host\":\"%s\",\"sni\":\"%s\",\"verdict\":\"" S "\",\"" S
				"\":\"" S "\",\"count\":1}",
				hosts[i], hosts[i])));
	result.connections = rows;
	result.evidence = parsed("{\"limit\":\"" S "\"}");
	mask_result(&redactor, &result, &kept);
	CHECK_STR(as_text(kept.connections),
		"[{\"host\":\"" MASK ".test\",\"sni\":\"" MASK ".test\",\"verdict\":\"" S "\",\"" S
		"\":\"" S "\",\"count\":1},{\"host\":\"glpat-aaaaaaaaaaaaaaaaaaaaaa.test\",\"sni\":"
		"\"glpat-aaaaaaaaaaaaaaaaaaaaaa.test\",\"verdict\":\"" S "\",\"" S "\":\"" S
		"\",\"count\":1}]");
	CHECK_STR(as_text(kept.evidence), "{\"limit\":\"" S "\"}");
	spec.network_asked = parsed("{\"" S "\":[\"glpat-aaaaaaaaaaaaaaaaaaaaaa\",\"" S "\"]}");
	mask_spec(&redactor, &spec, &spec);
	CHECK_STR(as_text(spec.network_asked),
		"{\"" S "\":[\"glpat-aaaaaaaaaaaaaaaaaaaaaa\",\"" MASK "\"]}");
	CHECK(redact_text(&redactor, &token, 0)); /* elsewhere patterns apply */
}

static const char *params_kept(const char *json)
{
	struct value *params = NULL;

	begin();
	redactor.secrets = NULL;
	if (json_parse(&arena, json, strlen(json), NULL, &params, NULL) < 0)
		return "no JSON";
	return as_text(mask_refused_params(&redactor, params));
}

TEST(a_refused_request_is_kept_without_what_it_called_secret)
{
	CHECK_STR(params_kept("{\"code\":\"a hunter2\",\"secrets\":[\"hunter2\"],\"x\":1}"),
		"{\"code\":\"a " MASK "\",\"x\":1}");
	CHECK_STR(params_kept("{\"code\":\"a hunter2\",\"Secret\":\"hunter2\"}"),
		"{\"code\":\"a " MASK "\"}");
	CHECK_STR(params_kept("{\"code\":\"AKIAIOSFODNN7EXAMPLE\"}"),
		"{\"code\":\"[masked:aws-access-key-id]\"}");
}

TEST(where_its_secrets_cannot_be_masked_nothing_is_kept_of_it)
{
	static const char *const odd[] = { "[\"abc\"]", "7", "[[12]]", "{\"a\":true}", "\"x\"" };

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		char json[128];

		(void)snprintf(json, sizeof(json), "{\"code\":\"a abc\",\"secrets\":%s}", odd[i]);
		CHECK_STR(params_kept(json),
			"{\"withheld\":\"secrets that cannot be masked came with it\"}");
	}
	CHECK_STR(params_kept("{\"code\":\"a\",\"secrets\":null}"), "{\"code\":\"a\"}");
}

TEST(when_memory_runs_out_nothing_slips_through)
{
	struct job_spec spec = full_spec();
	struct job_result result = full_result();

	for (size_t room = 0; room < 8192; room += 64) {
		struct job_spec kept;
		struct job_result kept_too;

		begin();
		arena.ceiling = arena.used + room;
		mask_spec(&redactor, &spec, &kept);
		mask_result(&redactor, &result, &kept_too);
		arena.ceiling = 16 << 20;
		CHECK(!strstr(as_text(job_spec_to_value(&arena, &kept)), S));
		CHECK(!strstr(as_text(job_result_to_value(&arena, &kept_too)), S));
	}
}

TEST(how_much_there_is_to_look_through_is_told)
{
	struct job_spec spec = full_spec();
	struct job_result result = full_result();

	CHECK_EQ_INT(masked_spec_cost(&spec), 16 + 16 + 8 + 8 + 7);
	CHECK_EQ_INT(masked_result_cost(&result), 17 + 7 + 7 + 1);
}
