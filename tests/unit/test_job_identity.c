#include <string.h>

#include "proto/base/container.h"
#include "proto/job/job_identity.h"
#include "proto/json.h"
#include "proto/method/method.h"
#include "tests/arena.h"
#include "tests/check.h"
#include "tests/job_bounds.h"

#define PLAIN "\"language\":\"python\",\"code\":\"x\""

static const struct job_bounds bounds = {
	BOUNDS_OF_LIMITS,
	.code_bytes = 1000,
	.input_bytes = 1000,
	.files_bytes = 1000,
	.schema_bytes = 1000,
};

struct identity {
	uint8_t action[DIGEST_LEN];
	uint8_t result[DIGEST_LEN];
};

static struct identity identity_with(const char *json, const struct job_bounds *in_force,
	const struct job_circumstances *circumstances)
{
	WITH_ARENA(arena);
	char code_hash[HASH_TEXT_LEN + 1], input_hash[HASH_TEXT_LEN + 1];
	const struct job_hashes hashes = { code_hash, input_hash };
	struct identity identity = { { 0 }, { 0 } };
	struct job_refusal refusal = { 0 };
	struct value *params = NULL;
	struct err err = ERR_INIT;
	struct job_spec spec;

	if (json_parse(arena, json, strlen(json), NULL, &params, &err) < 0 ||
		job_spec_from_value(arena, params, in_force, &spec, &refusal, &err) != 0) {
		check_failed(__FILE__, __LINE__, json);
		return identity;
	}
	job_code_hash(&spec, code_hash);
	job_input_hash(&spec, input_hash);
	job_action_digest(&spec, &hashes, identity.action);
	job_cache_key(&spec, &hashes, circumstances, identity.result);
	return identity;
}

static const struct job_circumstances here = { 1000, "sha256:a", "sha256:b", NULL };

static struct identity identity_of(const char *json)
{
	return identity_with(json, &bounds, &here);
}

static unsigned same_in(const struct identity *a, const struct identity *b)
{
	return (memcmp(a->action, b->action, DIGEST_LEN) ? 0U : JOB_SAME_ACTION) |
	       (memcmp(a->result, b->result, DIGEST_LEN) ? 0U : JOB_SAME_RESULT);
}

/* For each key of `run`, a value that differs from its default. */
static const struct {
	const char *key, *json;
} others[] = {
	{ "language", "{\"language\":\"bash\",\"code\":\"x\",\"entrypoint\":\"main.py\"}" },
	{ "code", "{\"language\":\"python\",\"code\":\"y\"}" },
	{ "entrypoint", "{" PLAIN ",\"entrypoint\":\"a.py\"}" },
	{ "args", "{" PLAIN ",\"args\":[\"\"]}" },
	{ "stdin", "{" PLAIN ",\"stdin\":\"a\"}" },
	{ "input", "{" PLAIN ",\"input\":null}" },
	{ "files", "{" PLAIN ",\"files\":[{\"path\":\"a\",\"data\":\"\"}]}" },
	{ "env", "{" PLAIN ",\"env\":{\"A\":\"\"}}" },
	{ "limits", "{" PLAIN ",\"limits\":{\"pids\":3}}" },
	{ "on_output_limit", "{" PLAIN ",\"on_output_limit\":\"truncate\"}" },
	{ "artifacts", "{" PLAIN ",\"artifacts\":[\"*\"]}" },
	{ "policy", "{" PLAIN ",\"policy\":\"strict\"}" },
	{ "packages", "{" PLAIN ",\"packages\":[\"data\"]}" },
	{ "network", "{" PLAIN ",\"network\":{\"allow\":[\"a.test\"]}}" },
	{ "output", "{" PLAIN ",\"output\":\"json\"}" },
	{ "schema", "{" PLAIN ",\"schema\":{}}" },
	{ "task", "{" PLAIN ",\"task\":\"t\"}" },
	{ "agent", "{" PLAIN ",\"agent\":\"a\"}" },
	{ "labels", "{" PLAIN ",\"labels\":{\"a\":\"b\"}}" },
	{ "trace", "{" PLAIN ",\"trace\":\"off\"}" },
	{ "deterministic", "{" PLAIN ",\"deterministic\":true}" },
	{ "tools", "{" PLAIN ",\"tools\":[{\"name\":\"f\",\"input_schema\":{}}]}" },
	{ "tools_as", "{" PLAIN ",\"tools_as\":\"async\"}" },
	{ "display", "{" PLAIN ",\"display\":true}" },
	{ "id", "{" PLAIN ",\"id\":\"1\"}" },
	{ "cache", "{" PLAIN ",\"cache\":\"use\"}" },
	{ "stream", "{" PLAIN ",\"stream\":true}" },
	{ "secrets", "{" PLAIN ",\"secrets\":[\"abcd\"]}" },
	{ "run_id", "{" PLAIN ",\"run_id\":\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"}" },
	{ "from", "{" PLAIN ",\"from\":3}" },
	{ "atomic", "{" PLAIN ",\"atomic\":true}" },
	{ "session", "{" PLAIN ",\"session\":\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"}" },
	{ "announce", "{" PLAIN ",\"announce\":true}" },
	{ "detach", "{" PLAIN ",\"detach\":true}" },
};

TEST(each_key_of_run_makes_the_difference_that_its_row_says)
{
	struct identity plain = identity_of("{" PLAIN "}");

	for (size_t i = 0; i < COUNT_OF(others); i++) {
		struct identity other = identity_of(others[i].json);
		unsigned differs = ~same_in(&plain, &other) & (JOB_SAME_ACTION | JOB_SAME_RESULT);

		if ((int)differs != job_identity_of(others[i].key))
			check_failed(__FILE__, __LINE__, others[i].key);
	}
}

TEST(every_key_of_run_has_a_row_and_is_tried)
{
	WITH_ARENA(arena);
	size_t len = 0;
	const char *text = method_contract_text("run.json", &len);
	struct value *schema = NULL;
	const struct value *keys;

	CHECK_EQ_INT(json_parse(arena, text, len, NULL, &schema, NULL), 0);
	keys = value_get(schema, "properties");
	CHECK(value_is(keys, VALUE_MAP));
	CHECK_EQ_INT(keys->map.count, COUNT_OF(others));
	for (size_t i = 0; i < keys->map.count; i++)
		if (job_identity_of(keys->map.entries[i].key) < 0)
			check_failed(__FILE__, __LINE__, keys->map.entries[i].key);
}

TEST(how_it_was_written_makes_no_difference)
{
	struct identity plain = identity_of(
		"{" PLAIN ",\"env\":{\"A\":\"1\",\"B\":\"2\"},\"labels\":{\"a\":\"1\",\"b\":\"2\"},"
		"\"limits\":{\"pids\":3,\"inodes\":17},\"files\":[{\"path\":\"a\",\"data\":\"\"},"
		"{\"path\":\"b\",\"data\":\"\",\"mode\":420}]}");
	struct identity other = identity_of(
		"{\"code\":\"x\",\"files\":[{\"mode\":420,\"path\":\"b\",\"data\":\"\"},"
		"{\"path\":\"a\",\"data\":\"\"}],\"env\":{\"B\":\"2\",\"A\":\"1\"},"
		"\"limits\":{\"inodes\":17,\"pids\":3},\"labels\":{\"b\":\"2\",\"a\":\"1\"},"
		"\"language\":\"python\"}");

	CHECK_EQ_INT(same_in(&plain, &other), JOB_SAME_ACTION | JOB_SAME_RESULT);
}

TEST(each_limit_counts_for_both)
{
	static const char *const limits[] = {
#define LIMIT_NAME(name, meaning) #name,
		JOB_LIMITS(LIMIT_NAME)
#undef LIMIT_NAME
	};
	struct identity plain = identity_of("{" PLAIN "}");

	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		char json[256];
		struct identity other;

		cut_printf(json, sizeof(json), "{" PLAIN ",\"limits\":{\"%s\":%u}}", limits[i],
			strcmp(limits[i], "memory_bytes") == 0  ? 1U << 24
			: strcmp(limits[i], "disk_bytes") == 0  ? 1U << 20
			: strcmp(limits[i], "file_bytes") == 0  ? 1U << 20
			: strcmp(limits[i], "cpu_percent") == 0 ? 50U
			: strcmp(limits[i], "call_bytes") == 0  ? 2048U
								: 20U);
		other = identity_of(json);
		if (same_in(&plain, &other) != 0)
			check_failed(__FILE__, __LINE__, limits[i]);
	}
}

TEST(an_action_is_the_same_when_the_host_s_defaults_change_and_a_result_is_not)
{
	struct job_bounds changed = bounds;
	struct identity before = identity_of("{" PLAIN "}"), after;

	changed.standard.wall_ms++;
	after = identity_with("{" PLAIN "}", &changed, &here);
	CHECK_EQ_INT(same_in(&before, &after), JOB_SAME_ACTION);
}

TEST(a_result_belongs_to_its_user_its_runtime_and_its_policy)
{
	static const struct value no_packages = { .type = VALUE_LIST };
	static const struct job_circumstances elsewhere[] = {
		{ 1001, "sha256:a", "sha256:b", NULL },
		{ 1000, "sha256:c", "sha256:b", NULL },
		{ 1000, "sha256:a", "sha256:c", NULL },
		{ 1000, "sha256:asha256:b", "", NULL },
		{ 1000, "sha256:a", "sha256:b", &no_packages },
	};
	struct identity plain = identity_of("{" PLAIN "}");

	for (size_t i = 0; i < COUNT_OF(elsewhere); i++) {
		struct identity other = identity_with("{" PLAIN "}", &bounds, &elsewhere[i]);

		CHECK_EQ_INT(same_in(&plain, &other), JOB_SAME_ACTION);
	}
}
