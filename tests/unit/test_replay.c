#include <stdio.h>
#include <string.h>

#include "daemon/request/replay.h"
#include "proto/json.h"
#include "tests/check.h"

static struct arena arena;

static struct value *parse(const char *json)
{
	struct value *value = NULL;

	if (json_parse(&arena, json, strlen(json), NULL, &value, NULL) != 0)
		check_failed(__FILE__, __LINE__, json);
	return value;
}

#define RECORD                                                                                       \
	"{\"run_id\": \"01A\", \"outcome\": \"ok\", \"exit_code\": 0, \"stdout\": \"a\\nb\\nc\\n\"," \
	" \"stdout_bytes\": 6, \"stderr\": \"\", \"artifacts\": [{\"path\": \"x\", \"bytes\": 1,"    \
	" \"sha256\": \"sha256:1\", \"mime\": \"text/plain\", \"mode\": 420, \"data\": \"1\"}],"     \
	" \"runtime\": {\"version\": \"3.11\", \"kernel\": \"6.1\"}, \"metrics\": {\"exec_us\": 1}," \
	" \"limits\": {\"wall_ms\": 5000, \"enforced_by\": {\"wall_ms\": \"timer\"}},"               \
	" \"policy\": {\"name\": \"standard\", \"digest\": \"sha256:2\", \"findings\": []},"         \
	" \"value\": null}"

static struct value *compare(const char *result)
{
	struct value *value = parse(result);

	return replay_compare(&arena, parse(RECORD), value, value);
}

/* The nth difference as JSON. */
static const char *nth(const struct value *compared, const char *list, size_t index)
{
	const struct value *item = value_at(value_get(compared, list), index);
	struct bytes text = { "none", 4 };

	if (item)
		(void)json_write_text(&arena, item, JSON_WRITE_COMPACT, 4096, &text, NULL);
	return arena_printf(&arena, "%.*s", (int)text.len, text.data);
}

TEST(what_was_asked_becomes_params_without_what_belonged_to_that_request)
{
	const char *why = "";
	struct value *params;
	struct bytes text = { NULL, 0 };

	arena_init(&arena, 1 << 20);
	params = replay_params(&arena,
		parse("{\"request\": {\"language\": \"python\", \"code\": \"1\", \"id\": \"mine\","
		      " \"stdin\": null, \"stream\": true, \"detach\": true, \"args\": [\"a\"],"
		      " \"files\": [{\"path\": \"f\", \"mode\": 420, \"bytes\": 1, \"data\": \"x\"}],"
		      " \"limits\": {\"wall_ms\": 9}, \"task\": null, \"policy\": \"strict\"}}"),
		NULL, &why);
	CHECK(params != NULL && why == NULL);
	CHECK_EQ_INT(json_write_text(&arena, params, JSON_WRITE_COMPACT, 4096, &text, NULL), 0);
	CHECK_STR(arena_printf(&arena, "%.*s", (int)text.len, text.data),
		"{\"language\":\"python\",\"code\":\"1\",\"args\":[\"a\"],"
		"\"files\":[{\"path\":\"f\",\"data\":\"x\",\"mode\":420}],"
		"\"limits\":{\"wall_ms\":9},\"policy\":\"strict\"}");
	arena_done(&arena);
}

TEST(a_cell_becomes_a_cell_of_another_session_without_what_sessions_settle)
{
	static const char cell[] =
		"{\"request\": {\"language\": \"python\", \"code\": \"1\", \"entrypoint\": \"main.py\","
		" \"session\": \"01ARZ3NDEKTSV4RRFFQ69G5FAV\", \"from\": 3, \"atomic\": true,"
		" \"policy\": \"strict\", \"agent\": \"a\", \"env\": {\"A\": \"b\"}, \"packages\": [\"p\"],"
		" \"network\": \"denied\", \"secrets\": 1, \"task\": \"t\","
		" \"limits\": {\"wall_ms\": 9, \"memory_bytes\": 5, \"pids\": 1}}}";
	const char *why = "";
	struct value *params;
	struct bytes text = { NULL, 0 };

	arena_init(&arena, 1 << 20);
	CHECK(replay_params(&arena, parse(cell), NULL, &why) == NULL);
	CHECK(why && strstr(why, "cell of a session"));
	params = replay_params(&arena, parse(cell), "01BX5ZZKBKACTAV9WEVGEMMVRZ", &why);
	CHECK(params != NULL && why == NULL);
	CHECK_EQ_INT(json_write_text(&arena, params, JSON_WRITE_COMPACT, 4096, &text, NULL), 0);
	CHECK_STR(arena_printf(&arena, "%.*s", (int)text.len, text.data),
		"{\"session\":\"01BX5ZZKBKACTAV9WEVGEMMVRZ\",\"language\":\"python\",\"code\":\"1\","
		"\"task\":\"t\",\"limits\":{\"wall_ms\":9}}");
	CHECK(replay_params(&arena, parse("{\"request\": {\"code\": \"1\"}}"),
		      "01BX5ZZKBKACTAV9WEVGEMMVRZ", &why) == NULL);
	CHECK(why && strstr(why, "no cell"));
	arena_done(&arena);
}

TEST(a_record_without_a_program_is_refused_with_a_reason)
{
	const char *why = NULL;

	arena_init(&arena, 1 << 20);
	CHECK(replay_params(&arena, parse("{\"request\": {\"language\": \"python\"}}"), NULL,
		      &why) == NULL);
	CHECK(why && strstr(why, "no program"));
	CHECK(replay_params(&arena, parse("{}"), NULL, &why) == NULL);
	CHECK(replay_params(&arena, parse("{\"request\": {\"code\": null}}"), NULL, &why) == NULL);
	arena_done(&arena);
}

TEST(a_record_says_how_many_secrets_it_wants_again)
{
	arena_init(&arena, 1 << 20);
	CHECK_EQ_INT(replay_secrets(parse("{\"request\": {\"code\": \"1\"}}")), 0);
	CHECK_EQ_INT(replay_secrets(parse("{\"request\": {\"secrets\": 3}}")), 3);
	/* Without `secrets`, replay counts the masks that stand in their places. */
	CHECK_EQ_INT(replay_secrets(parse("{\"masks\": 1, \"error\": {\"frames\":"
					  " [{\"text\": \"a [masked:secret]\"}]}}")),
		1);
	CHECK_EQ_INT(replay_secrets(parse("{\"request\": {\"masks\": 1, \"args\":"
					  " [\"x\", \"[masked:secret]\"]}}")),
		1);
	/* masked by a pattern, which masks the replayed output again */
	CHECK_EQ_INT(replay_secrets(parse("{\"masks\": 1, \"stdout\": \"[masked:github]\"}")), 0);
	/* without `masks`, the program printed this text itself */
	CHECK_EQ_INT(replay_secrets(parse("{\"stdout\": \"[masked:secret]\"}")), 0);
	arena_done(&arena);
}

TEST(what_is_compared_is_what_is_kept_and_what_is_told_is_what_was_written)
{
	struct value *compared;

	arena_init(&arena, 1 << 20);
	compared = replay_compare(&arena, parse("{\"stdout\": \"[masked:secret]\"}"),
		parse("{\"stdout\": \"[masked:secret]\"}"), parse("{\"stdout\": \"hunter2\"}"));
	CHECK(value_as_bool(value_get(compared, "same"), false));
	CHECK_STR(value_as_text(value_get(value_get(compared, "result"), "stdout")), "hunter2");
	compared = replay_compare(&arena, parse("{\"stdout\": \"[masked:secret]\"}"),
		parse("{\"stdout\": \"x [masked:secret]\"}"), parse("{\"stdout\": \"x hunter2\"}"));
	CHECK_STR(nth(compared, "differs", 0),
		"{\"what\":\"stdout\",\"recorded\":\"[masked:secret]\","
		"\"replayed\":\"x [masked:secret]\",\"line\":1}");
	arena_done(&arena);
}

TEST(what_came_out_alike_is_the_same_however_long_it_took)
{
	struct value *compared;

	arena_init(&arena, 1 << 20);
	compared = compare(
		"{\"run_id\": \"01B\", \"outcome\": \"ok\", \"exit_code\": 0,"
		" \"stdout\": \"a\\nb\\nc\\n\", \"stdout_bytes\": 6, \"stderr\": \"\","
		" \"artifacts\": [{\"path\": \"x\", \"sha256\": \"sha256:1\", \"mode\": 420}],"
		" \"metrics\": {\"exec_us\": 99}, \"artifacts_skipped\": [], \"output_errors\": []}");
	CHECK(value_as_bool(value_get(compared, "same"), false));
	CHECK_STR(value_as_text(value_get(compared, "replay_of")), "01A");
	CHECK_EQ_INT(value_get(compared, "differs")->list.count, 0);
	CHECK(value_equal(
		value_get(compared, "fingerprint"), value_get(compared, "recorded_fingerprint")));
	arena_done(&arena);
}

TEST(each_difference_is_named_with_both_sides)
{
	struct value *compared;

	arena_init(&arena, 1 << 20);
	compared = compare("{\"outcome\": \"exception\", \"exit_code\": 1, \"stderr\": \"\","
			   " \"stdout\": \"a\\nB\\nc\\n\", \"stdout_bytes\": 6, \"artifacts\": [],"
			   " \"error\": {\"type\": \"E\", \"message\": \"m\", \"frames\": [1]},"
			   " \"value\": [1.5]}");
	CHECK(!value_as_bool(value_get(compared, "same"), true));
	CHECK_STR(nth(compared, "differs", 0),
		"{\"what\":\"outcome\",\"recorded\":\"ok\",\"replayed\":\"exception\"}");
	CHECK_STR(nth(compared, "differs", 1),
		"{\"what\":\"exit_code\",\"recorded\":0,\"replayed\":1}");
	CHECK_STR(nth(compared, "differs", 2),
		"{\"what\":\"stdout\",\"recorded\":\"b\",\"replayed\":\"B\",\"line\":2}");
	CHECK_STR(nth(compared, "differs", 3),
		"{\"what\":\"value\",\"recorded\":null,\"replayed\":[1.5]}");
	CHECK_STR(nth(compared, "differs", 4),
		"{\"what\":\"error\",\"recorded\":null,\"replayed\":{\"type\":\"E\",\"message\":\"m\"}}");
	CHECK_STR(nth(compared, "differs", 5),
		"{\"what\":\"artifacts\",\"recorded\":[{\"path\":\"x\",\"sha256\":\"sha256:1\","
		"\"mode\":420}],\"replayed\":null}");
	CHECK_STR(nth(compared, "differs", 6), "none");
	CHECK(!value_equal(
		value_get(compared, "fingerprint"), value_get(compared, "recorded_fingerprint")));
	arena_done(&arena);
}

TEST(a_long_line_is_cut_and_not_inside_a_character)
{
	struct value *compared;
	const struct value *shown;
	char json[1024];

	arena_init(&arena, 1 << 20);
	(void)snprintf(json, sizeof(json), "{\"stdout\": \"a\\nb%0200d\"}", 7);
	compared = compare(json);
	shown = value_get(value_at(value_get(compared, "differs"), 2), "replayed");
	CHECK(value_is(shown, VALUE_TEXT));
	CHECK_EQ_INT(shown->text.len, 120);
	strcpy(json, "{\"stdout\": \"");
	for (unsigned i = 0; i < 130; i++)
		strcat(json, "é");
	strcat(json, "\"}");
	compared = compare(json);
	shown = value_get(value_at(value_get(compared, "differs"), 2), "replayed");
	CHECK(value_is(shown, VALUE_TEXT));
	CHECK_EQ_INT(shown->text.len, 120);
	arena_done(&arena);
}

TEST(changed_circumstances_are_listed_and_are_no_difference)
{
	struct value *compared;

	arena_init(&arena, 1 << 20);
	compared = compare(
		"{\"outcome\": \"ok\", \"exit_code\": 0, \"stdout\": \"a\\nb\\nc\\n\","
		" \"stdout_bytes\": 6, \"stderr\": \"\","
		" \"artifacts\": [{\"path\": \"x\", \"sha256\": \"sha256:1\", \"mode\": 420}],"
		" \"runtime\": {\"version\": \"3.12\", \"kernel\": \"6.1\", \"ced\": \"0.1.0\"},"
		" \"limits\": {\"wall_ms\": 5000, \"enforced_by\": {\"wall_ms\": \"rlimit\"}},"
		" \"policy\": {\"name\": \"standard\", \"digest\": \"sha256:3\", \"findings\": []}}");
	CHECK(value_as_bool(value_get(compared, "same"), false));
	CHECK_STR(nth(compared, "circumstances", 0),
		"{\"what\":\"runtime.version\",\"recorded\":\"3.11\",\"replayed\":\"3.12\"}");
	CHECK_STR(nth(compared, "circumstances", 1),
		"{\"what\":\"runtime.ced\",\"recorded\":null,\"replayed\":\"0.1.0\"}");
	CHECK_STR(nth(compared, "circumstances", 2),
		"{\"what\":\"limits.enforced_by.wall_ms\",\"recorded\":\"timer\","
		"\"replayed\":\"rlimit\"}");
	CHECK_STR(nth(compared, "circumstances", 3),
		"{\"what\":\"policy.digest\",\"recorded\":\"sha256:2\",\"replayed\":\"sha256:3\"}");
	CHECK_STR(nth(compared, "circumstances", 4), "none");
	arena_done(&arena);
}
