#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "proto/job/job.h"
#include "proto/json.h"
#include "proto/method/method.h"
#include "tests/arena.h"
#include "tests/check.h"

#define RUN_ID "01ARZ3NDEKTSV4RRFFQ69G5FAV"
#define HASH   "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static struct job_result plain_result(void)
{
	struct job_result result = { .run_id = RUN_ID,
		.outcome = OUTCOME_OK,
		.ran = RAN_YES,
		.reason = "it ended with exit code 0",
		.has_exit_code = true };

	return result;
}

/* A result with every member set. */
static struct job_result full_result(struct arena *arena)
{
	static struct policy_finding finding = { "python.import.denied", "deny", 3, 1,
		"import socket", "socket is not allowed", "use files" };
	static struct job_artifact artifact = { "out.csv", { "a,b\n", 4 }, 0644, HASH, false };
	static struct job_skipped skipped = { "big", "too_large" };
	static struct job_output_error error = { "/a", "/properties/a/type", "must be integer" };
	static struct job_step steps[] = { { "read", "contract", 12, true, NULL },
		{ "limit.output", "execute", 900, false, "stdout" } };
	struct job_result result = plain_result();

	result.signal = SIGKILL;
	result.out = (struct job_stream){ { "ab", 2 }, { "yz", 2 }, 0, 100, true };
	result.value = value_nil(arena);
	result.error = value_map(arena);
	result.evidence = value_map(arena);
	result.output_errors = &error;
	result.output_error_count = 1;
	result.has_verdict = true;
	result.verdict = (struct policy_verdict){ POLICY_DENY, "standard", HASH, &finding, 1 };
	result.artifacts = &artifact;
	result.artifact_count = 1;
	result.skipped = &skipped;
	result.skipped_count = 1;
	result.metrics.warm = true;
	result.metrics.total_us = 640;
	result.limits.wall_ms = 5000;
	result.enforced_by = value_map(arena);
	result.runtime = value_map(arena);
	result.steps = steps;
	result.step_count = 2;
	memcpy(result.code_hash, HASH, sizeof(result.code_hash));
	memcpy(result.input_hash, HASH, sizeof(result.input_hash));
	return result;
}

static const char *text_at(const struct value *map, const char *key)
{
	const char *text = value_as_text(value_get(map, key));

	return text ? text : "(none)";
}

/* A stream is borrowed, so its bytes do not end with a NUL. */
static bool is_text(const struct value *map, const char *key, const char *hoped)
{
	const struct value *text = value_get(map, key);

	return value_is(text, VALUE_TEXT) && text->text.len == strlen(hoped) &&
	       memcmp(text->text.bytes, hoped, text->text.len) == 0;
}

static void check_contract(struct arena *arena, const struct value *value)
{
	struct schema_report report;
	struct err err = ERR_INIT;

	CHECK_EQ_INT(schema_check(arena, method_result(METHOD_RUN), value, &report, &err), 0);
	for (size_t i = 0; i < report.count; i++)
		printf("# %s: %s\n", report.errors[i].pointer, report.errors[i].message);
	CHECK_EQ_INT(report.count, 0);
}

TEST(a_result_satisfies_its_own_contract)
{
	WITH_ARENA(arena);
	struct job_result plain = plain_result(), full = full_result(arena);

	check_contract(arena, job_result_to_value(arena, &plain));
	check_contract(arena, job_result_to_value(arena, &full));
}

TEST(every_outcome_satisfies_the_contract)
{
	WITH_ARENA(arena);
	struct job_result result = plain_result();

	for (unsigned i = OUTCOME_OK; i < OUTCOME_COUNT; i++) {
		result.outcome = (enum outcome)i;
		check_contract(arena, job_result_to_value(arena, &result));
	}
}

TEST(only_the_outcome_ok_is_ok)
{
	WITH_ARENA(arena);
	struct job_result result = plain_result();

	CHECK(value_as_bool(value_get(job_result_to_value(arena, &result), "ok"), false));
	result.outcome = OUTCOME_EXIT;
	CHECK(!value_as_bool(value_get(job_result_to_value(arena, &result), "ok"), true));
}

TEST(what_is_not_known_has_no_key)
{
	WITH_ARENA(arena);
	struct job_result result = plain_result();
	struct value *value;

	result.has_exit_code = false;
	value = job_result_to_value(arena, &result);
	CHECK(!value_get(value, "exit_code"));
	CHECK(!value_get(value, "signal"));
	CHECK(!value_get(value, "value"));
	CHECK(!value_get(value, "error"));
	CHECK(!value_get(value, "evidence"));
	CHECK(!value_get(value, "output_errors"));
	CHECK(!value_get(value, "policy"));
	CHECK(!value_get(value, "trace"));
	CHECK(!value_get(value, "code_hash"));
	CHECK(!value_get(value, "stdout_tail"));
	CHECK(is_text(value, "stdout", ""));
}

TEST(an_output_of_null_is_a_value)
{
	WITH_ARENA(arena);
	struct job_result result = full_result(arena);

	CHECK(value_is(value_get(job_result_to_value(arena, &result), "value"), VALUE_NIL));
}

TEST(signals_are_named)
{
	WITH_ARENA(arena);
	struct job_result result = plain_result();

	result.signal = SIGSEGV;
	CHECK_STR(text_at(job_result_to_value(arena, &result), "signal"), "SIGSEGV");
	result.signal = 40;
	CHECK_STR(text_at(job_result_to_value(arena, &result), "signal"), "SIG40");
}

TEST(a_truncated_stream_has_head_and_tail_and_its_whole_length)
{
	WITH_ARENA(arena);
	struct job_result result = full_result(arena);
	struct value *value = job_result_to_value(arena, &result);

	CHECK(is_text(value, "stdout", "ab"));
	CHECK(is_text(value, "stdout_tail", "yz"));
	CHECK_EQ_INT(value_as_int(value_get(value, "stdout_bytes"), 0), 100);
	CHECK_EQ_INT(value_get(value, "truncated")->list.count, 1);
	CHECK_STR(value_as_text(value_at(value_get(value, "truncated"), 0)), "stdout");
}

TEST(a_stream_that_was_killed_has_a_head_only)
{
	WITH_ARENA(arena);
	struct job_result result = plain_result();
	struct value *value;

	result.errout = (struct job_stream){ .head = { "abc", 3 }, .total = 3, .truncated = true };
	value = job_result_to_value(arena, &result);
	CHECK(is_text(value, "stderr", "abc"));
	CHECK(!value_get(value, "stderr_tail"));
	CHECK_STR(value_as_text(value_at(value_get(value, "truncated"), 0)), "stderr");
}

TEST(a_cut_never_splits_a_character_of_a_text)
{
	WITH_ARENA(arena);
	struct job_result result = plain_result();
	struct value *value;

	result.out = (struct job_stream){ { "a\xe2\x82", 3 },
		{ "\xac"
		  "b",
			2 },
		0, 100, true };
	value = job_result_to_value(arena, &result);
	CHECK(is_text(value, "stdout", "a"));
	CHECK(is_text(value, "stdout_tail", "b"));
}

TEST(what_is_not_utf_8_comes_as_bytes_and_whole)
{
	WITH_ARENA(arena);
	struct job_result result = plain_result();
	const struct value *text;

	result.out = (struct job_stream){ .head = { "a\xff"
						    "b\xe2",
						  4 },
		.truncated = true };
	result.errout = (struct job_stream){ .head = { "a\xe2", 2 } };
	text = value_get(job_result_to_value(arena, &result), "stdout");
	CHECK(value_is(text, VALUE_BYTES));
	CHECK_EQ_INT(text->text.len, 4);
	text = value_get(job_result_to_value(arena, &result), "stderr");
	CHECK(value_is(text, VALUE_BYTES));
	CHECK_EQ_INT(text->text.len, 2);
}

TEST(limits_come_with_who_holds_them)
{
	WITH_ARENA(arena);
	struct job_result result = full_result(arena);
	const struct value *limits = value_get(job_result_to_value(arena, &result), "limits");

	CHECK_EQ_INT(value_as_int(value_get(limits, "wall_ms"), 0), 5000);
	CHECK_EQ_INT(value_as_int(value_get(limits, "open_files"), -1), 0);
	CHECK(value_is(value_get(limits, "enforced_by"), VALUE_MAP));
}

static const char *mime(struct arena *arena, const char *path, const char *data)
{
	struct job_artifact artifact = { path, { data, strlen(data) }, 0644, HASH, false };
	struct job_result result = plain_result();

	result.artifacts = &artifact;
	result.artifact_count = 1;
	return text_at(
		value_at(value_get(job_result_to_value(arena, &result), "artifacts"), 0), "mime");
}

TEST(artifacts_have_a_kind_by_their_name)
{
	WITH_ARENA(arena);

	CHECK_STR(mime(arena, "a/plot.PNG", "\x89PNG"), "image/png");
	CHECK_STR(mime(arena, "a.json", "{}"), "application/json");
	CHECK_STR(mime(arena, "notes", "hello"), "text/plain");
	CHECK_STR(mime(arena, "notes.d/x", "\xff"), "application/octet-stream");
}

TEST(findings_have_hints_only_when_there_are_some)
{
	WITH_ARENA(arena);
	struct policy_finding finding = { "r", "observe", 1, 2, "t", "m", NULL };
	struct policy_verdict verdict = { POLICY_OBSERVE, "p", HASH, &finding, 1 };
	const struct value *value = policy_verdict_to_value(arena, &verdict);
	const struct value *first = value_at(value_get(value, "findings"), 0);

	CHECK_STR(text_at(value, "decision"), "observe");
	CHECK_STR(text_at(first, "rule"), "r");
	CHECK_EQ_INT(value_as_int(value_get(first, "column"), 0), 2);
	CHECK(!value_get(first, "hint"));
}

TEST(a_full_arena_gives_null)
{
	WITH_ARENA(texts);
	struct job_result result = full_result(texts);
	unsigned given = 0;

	for (size_t ceiling = 0; ceiling < 20000; ceiling += 100) {
		struct arena arena;

		arena_init(&arena, ceiling);
		given += job_result_to_value(&arena, &result) != NULL;
		arena_done(&arena);
	}
	CHECK(given > 0 && given < 200);
}

TEST(a_result_that_was_told_can_be_read_again)
{
	WITH_ARENA(arena);
	struct job_result result = full_result(arena), again;
	struct value *told, *told_again;
	struct err err = ERR_INIT;

	result.outcome = OUTCOME_OUTPUT_INVALID;
	told = job_result_to_value(arena, &result);
	CHECK_EQ_INT(job_result_from_value(arena, told, &again, &err), 0);
	CHECK_STR(again.run_id, "");
	CHECK(again.step_count == 0);
	memcpy(again.run_id, result.run_id, sizeof(again.run_id));
	memcpy(again.code_hash, result.code_hash, sizeof(again.code_hash));
	memcpy(again.input_hash, result.input_hash, sizeof(again.input_hash));
	again.metrics = result.metrics;
	again.steps = result.steps;
	again.step_count = result.step_count;
	told_again = job_result_to_value(arena, &again);
	for (size_t i = 0; i < told->map.count; i++)
		CHECK(value_equal(value_get(told_again, told->map.entries[i].key),
			told->map.entries[i].value));
	CHECK_EQ_INT(told_again->map.count, told->map.count);
}

TEST(signals_without_a_name_are_read_by_their_number)
{
	WITH_ARENA(arena);
	struct job_result result = plain_result(), again;
	struct err err = ERR_INIT;

	for (int number = 1; number <= 64; number++) {
		result.signal = number;
		CHECK_EQ_INT(job_result_from_value(
				     arena, job_result_to_value(arena, &result), &again, &err),
			0);
		CHECK_EQ_INT(again.signal, number);
	}
}

TEST(what_has_not_ended_is_no_result)
{
	WITH_ARENA(arena);
	struct job_result again;
	struct err err = ERR_INIT;

	CHECK_EQ_INT(job_result_from_value(arena, value_map(arena), &again, &err), -1);
	CHECK_EQ_INT(err.code, ERR_INVALID);
}

TEST(an_id_is_used_up_by_what_may_have_run_and_by_what_is_no_program)
{
	struct job_result result = plain_result();

	CHECK(job_result_is_spent(&result));
	result.ran = RAN_UNKNOWN;
	CHECK(job_result_is_spent(&result));
	result.ran = RAN_NO;
	CHECK(!job_result_is_spent(&result));
	result.outcome = OUTCOME_SYNTAX_ERROR;
	CHECK(job_result_is_spent(&result));
}
