#include <stdio.h>
#include <string.h>

#include "cli/commands/ocsf.h"
#include "proto/json.h"
#include "tests/check.h"

static struct arena arena;

static struct value *event_of(const char *json)
{
	struct value *record = NULL;

	if (json_parse(&arena, json, strlen(json), NULL, &record, NULL) != 0)
		return NULL;
	return ocsf_event(&arena, record);
}

static const struct value *at(const struct value *map, const char *path)
{
	char word[64];

	while (map && *path) {
		size_t len = strcspn(path, ".");

		(void)snprintf(word, sizeof(word), "%.*s", (int)len, path);
		map = value_is(map, VALUE_LIST) ? value_at(map, (size_t)(word[0] - '0'))
						: value_get(map, word);
		path += path[len] ? len + 1 : len;
	}
	return map;
}

#define RUN                                                                                             \
	"{\"run_id\": \"01A\", \"outcome\": \"%s\", \"ok\": %s, \"reason\": \"so\","                    \
	" \"caller\": {\"uid\": 1000, \"gid\": 7, \"pid\": 42}, \"received_us\": 5000000,"              \
	" \"ended_us\": 6500000, \"code_hash\": \"sha256:00ff\", \"metrics\": {\"total_us\": 1500000}," \
	" \"policy\": {\"name\": \"standard\", \"digest\": \"sha256:11\", \"findings\": []},"           \
	" \"request\": {\"language\": \"python\", \"entrypoint\": \"main.py\", \"agent\": \"planner\"}}"

static struct value *event_with(const char *outcome, const char *ok)
{
	char json[1024];

	(void)snprintf(json, sizeof(json), RUN, outcome, ok);
	return event_of(json);
}

TEST(a_run_is_the_launch_of_a_process)
{
	struct value *event;

	arena_init(&arena, 1 << 20);
	event = event_with("ok", "true");
	CHECK(event);
	CHECK_EQ_INT(value_as_int(at(event, "class_uid"), 0), 1007);
	CHECK_EQ_INT(value_as_int(at(event, "type_uid"), 0), 100701);
	CHECK_EQ_INT(value_as_int(at(event, "time"), 0), 5000);
	CHECK_EQ_INT(value_as_int(at(event, "end_time"), 0), 6500);
	CHECK_EQ_INT(value_as_int(at(event, "duration"), 0), 1500);
	CHECK_EQ_INT(value_as_int(at(event, "severity_id"), 0), 1);
	CHECK_EQ_INT(value_as_int(at(event, "status_id"), 0), 1);
	CHECK_EQ_INT(value_as_int(at(event, "action_id"), 0), 1);
	CHECK_STR(value_as_text(at(event, "metadata.uid")), "01A");
	CHECK_STR(value_as_text(at(event, "actor.user.uid")), "1000");
	CHECK_EQ_INT(value_as_int(at(event, "actor.process.pid"), 0), 42);
	CHECK_STR(value_as_text(at(event, "actor.app_name")), "planner");
	CHECK_STR(value_as_text(at(event, "process.file.hashes.0.value")), "00ff");
	CHECK_STR(value_as_text(at(event, "policy.uid")), "sha256:11");
	CHECK_STR(value_as_text(at(event, "unmapped.language")), "python");
	arena_done(&arena);
}

TEST(what_was_denied_is_blocked_and_graver)
{
	struct value *event;

	arena_init(&arena, 1 << 20);
	event = event_with("policy_denied", "false");
	CHECK_EQ_INT(value_as_int(at(event, "severity_id"), 0), 3);
	CHECK_EQ_INT(value_as_int(at(event, "status_id"), 0), 2);
	CHECK_EQ_INT(value_as_int(at(event, "disposition_id"), 0), 2);
	CHECK_STR(value_as_text(at(event, "status_code")), "policy_denied");
	event = event_with("lost", "false");
	CHECK_EQ_INT(value_as_int(at(event, "severity_id"), 0), 4);
	CHECK_EQ_INT(value_as_int(at(event, "action_id"), 0), 1);
	arena_done(&arena);
}

TEST(a_run_that_goes_on_has_no_end_yet)
{
	struct value *event;

	arena_init(&arena, 1 << 20);
	event = event_of(
		"{\"run_id\": \"01A\", \"outcome\": null, \"ok\": null, \"received_us\": 1,"
		" \"request\": {}}");
	CHECK(event);
	CHECK_EQ_INT(value_as_int(at(event, "status_id"), -1), 0);
	CHECK(value_get(event, "end_time") == NULL);
	arena_done(&arena);
}
