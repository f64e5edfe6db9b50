#include <string.h>

#include "proto/json.h"
#include "proto/method/absent.h"
#include "proto/method/method.h"
#include "tests/arena.h"
#include "tests/check.h"

static const struct value *parse(struct arena *arena, const char *json)
{
	struct value *value = NULL;

	return json_parse(arena, json, strlen(json), NULL, &value, NULL) == 0 ? value : NULL;
}

static const char *left(struct arena *arena, enum method_id id, const char *json)
{
	const struct value *value = method_without_absent(arena, id, parse(arena, json));
	struct bytes text = { NULL, 0 };

	if (!value || json_write_text(arena, value, JSON_WRITE_BASE64, 1 << 16, &text, NULL) < 0)
		return NULL;
	return text.data;
}

TEST(an_optional_key_that_is_null_is_as_if_it_were_not_there)
{
	struct arena arena;

	arena_init(&arena, 4 << 20);
	CHECK_STR(left(&arena, METHOD_RUN,
			  "{\"language\":\"python\",\"stdin\":null,\"code\":\"1\",\"policy\":null,"
			  "\"limits\":{\"pids\":null,\"wall_ms\":50},\"cache\":null,"
			  "\"files\":[{\"path\":\"a\",\"data\":\"1\",\"blob\":null,\"mode\":null},"
			  "{\"path\":\"b\",\"data\":\"\"}]}"),
		"{\"language\":\"python\",\"code\":\"1\",\"limits\":{\"wall_ms\":50},"
		"\"files\":[{\"path\":\"a\",\"data\":\"1\"},{\"path\":\"b\",\"data\":\"\"}]}");
	CHECK_STR(left(&arena, METHOD_RUNS_LIST, "{\"agent\":null,\"limit\":null}"), "{}");
	arena_done(&arena);
}

TEST(null_stays_where_it_says_something_or_is_wrong)
{
	static const char *const same[] = {
		"{\"input\":null}",                  /* a JSON document */
		"{\"language\":null,\"code\":null}", /* required */
		"{\"nothing\":null}",                /* not a known key */
		"{\"env\":{\"A\":null}}",            /* the caller's own names */
		"{\"args\":[null]}",
		"[null]",
		"null",
	};
	struct arena arena;

	arena_init(&arena, 4 << 20);
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		CHECK_STR(left(&arena, METHOD_RUN, same[i]), same[i]);
	arena_done(&arena);
}

TEST(what_holds_no_null_is_not_copied)
{
	const struct value *params;
	struct arena arena;

	arena_init(&arena, 4 << 20);
	params = parse(&arena, "{\"language\":\"x\",\"code\":\"1\",\"limits\":{\"pids\":1},"
			       "\"files\":[{\"path\":\"a\"}]}");
	CHECK(method_without_absent(&arena, METHOD_RUN, params) == params);
	arena_done(&arena);
}
