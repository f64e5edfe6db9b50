#include <math.h>
#include <string.h>
#include <time.h>

#include "proto/base/buf.h"
#include "proto/base/container.h"
#include "proto/json.h"
#include "proto/schema/schema.h"
#include "tests/arena.h"
#include "tests/check.h"
#include "tests/fault.h"

/*
 * tests/cases/schema/ has the cases of one schema and one value; here are the tests that a case
 * cannot express.
 */

static struct value *parsed(struct arena *arena, const char *text)
{
	struct value *value = NULL;
	struct err err = ERR_INIT;

	return json_parse(arena, text, strlen(text), NULL, &value, &err) < 0 ? NULL : value;
}

static const struct schema *compiled(
	struct arena *arena, const char *text, enum schema_dialect dialect)
{
	struct schema_mistake mistake = { .message = NULL };
	const struct schema *schema = NULL;
	struct err err = ERR_INIT;

	if (schema_compile(arena, parsed(arena, text), dialect, &schema, &mistake, &err) != 0)
		return NULL;
	return schema;
}

/* The only error's message, or NULL when there is none. */
static const char *message(struct arena *arena, const char *schema_text, const struct value *value)
{
	const struct schema *schema = compiled(arena, schema_text, SCHEMA_WIRE);
	struct schema_report report = { NULL, 0, false };
	struct err err = ERR_INIT;

	if (!schema || schema_check(arena, schema, value, &report, &err) < 0)
		return "failed";
	return report.count ? report.errors[0].message : NULL;
}

static const char *said(struct arena *arena, const char *schema_text, const char *value_text)
{
	return message(arena, schema_text, parsed(arena, value_text));
}

static const char *mistake_in(struct arena *arena, const char *text)
{
	struct schema_mistake mistake = { .message = NULL };
	const struct schema *schema = NULL;
	struct err err = ERR_INIT;

	if (schema_compile(arena, parsed(arena, text), SCHEMA_JSON, &schema, &mistake, &err) != 1)
		return NULL;
	return mistake.message;
}

TEST(messages_say_what_is_wanted)
{
	WITH_ARENA(arena);

	CHECK_STR(said(arena, "{\"type\":[\"string\",\"null\"]}", "3"),
		"must be null or string, not integer");
	CHECK_STR(said(arena, "{\"enum\":[\"a\",1]}", "3"), "must be one of [\"a\",1]");
	CHECK_STR(said(arena, "{\"const\":true}", "1"), "must be true");
	CHECK_STR(said(arena, "{\"minimum\":3}", "1"), "must be at least 3");
	CHECK_STR(said(arena, "{\"exclusiveMaximum\":0.5}", "0.5"), "must be below 0.5");
	CHECK_STR(said(arena, "{\"maxLength\":1}", "\"ab\""), "must have at most 1 characters");
	CHECK_STR(said(arena, "{\"pattern\":\"^a\"}", "\"b\""), "must match the pattern \"^a\"");
	CHECK_STR(said(arena, "{\"uniqueItems\":true}", "[7,8,7]"), "is the same as item 0");
	CHECK_STR(said(arena, "{\"required\":[\"a\"]}", "{}"), "this key is required");
	CHECK_STR(said(arena, "{\"properties\":{\"b\":{},\"a\":{}},\"additionalProperties\":false}",
			  "{\"c\":1}"),
		"this key is not known here; known are: a, b");
	CHECK_STR(said(arena, "false", "1"), "nothing is allowed here");
}

TEST(messages_never_repeat_the_value)
{
	WITH_ARENA(arena);

	CHECK(!strstr(said(arena, "{\"enum\":[\"a\"]}", "\"secret\""), "secret"));
	CHECK(!strstr(said(arena, "{\"pattern\":\"^a\"}", "\"secret\""), "secret"));
	CHECK(!strstr(said(arena, "{\"type\":\"null\"}", "\"secret\""), "secret"));
}

TEST(a_long_value_of_the_schema_is_not_repeated_either)
{
	WITH_ARENA(arena);
	char text[512] = "{\"enum\":[\"";

	memset(text + strlen(text), 'x', 400); /* plus the quotation marks and brackets */
	(void)strcat(text, "\"]}");
	CHECK_STR(said(arena, text, "1"), "must be one of what the schema says");
}

TEST(mistakes_say_what_a_keyword_wants)
{
	WITH_ARENA(arena);

	CHECK_STR(mistake_in(arena, "{\"anyOf\":[]}"), "must be a list of schemas");
	CHECK_STR(
		mistake_in(arena, "{\"maxLenght\":1}"), "unknown keyword; did you mean maxLength?");
	CHECK_STR(mistake_in(arena, "{\"dependencies\":{}}"),
		"keyword of another draft: in 2020-12 it is dependentRequired and dependentSchemas");
	CHECK_STR(mistake_in(arena, "{\"$schema\":\"http://json-schema.org/draft-07/schema#\","
				    "\"dependentRequired\":{}}"),
		"keyword of another draft: in draft 7 it is dependencies");
	CHECK_STR(mistake_in(arena, "{\"$schema\":\"http://json-schema.org/draft-07/schema\","
				    "\"unevaluatedItems\":false}"),
		"keyword of another draft: draft 7 does not have it");
	CHECK_STR(mistake_in(arena, "{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}"),
		"must be https://json-schema.org/draft/2020-12/schema, "
		"https://json-schema.org/draft/2019-09/schema, http://json-schema.org/draft-07/schema# "
		"or the $id of a description under $defs, not http://json-schema.org/draft-04/schema#");
	CHECK_STR(mistake_in(arena, "{\"items\":{\"$schema\":"
				    "\"https://json-schema.org/draft/2019-09/schema\"}}"),
		"the surrounding schema uses another draft: give this schema its own $id");
	CHECK_STR(mistake_in(arena, "{\"$ref\":\"http://a/b\"}"),
		"http://a/b is not in this schema, and nothing is fetched: put it under $defs with its "
		"$id");
	CHECK_STR(mistake_in(arena, "{\"$ref\":\"#/a\"}"), "the schema has nothing of this name");
	CHECK_STR(mistake_in(arena, "{\"maxItems\":1.5}"), "must be a whole number, 0 or above");
	CHECK_STR(mistake_in(arena, "{\"pattern\":\"(\"}"),
		"is not a regular expression: at byte 1: missing closing parenthesis");
	CHECK_STR(mistake_in(arena, "{\"pattern\":\"a\\\\X\"}"),
		"is not a regular expression: at byte 1: ECMAScript has no \\X");
	CHECK_STR(mistake_in(arena, "{\"properties\":[]}"), "must be an object of schemas");
	CHECK_STR(mistake_in(arena, "{\"prefixItems\":[]}"), "must be a list of schemas");
	CHECK_STR(mistake_in(arena, "{\"uniqueItems\":1}"), "must be true or false");
	CHECK_STR(mistake_in(arena, "[]"), "a schema is an object, true or false");
}

TEST(bytes_are_a_type_of_our_own_contracts)
{
	WITH_ARENA(arena);
	const struct value *bytes = value_bytes(arena, "\xff\xfe\xfd", 3);

	CHECK(!message(arena, "{\"type\":[\"string\",\"bytes\"]}", bytes));
	CHECK_STR(message(arena, "{\"type\":\"string\"}", bytes), "must be string, not bytes");
	CHECK_STR(message(arena, "{\"maxLength\":2}", bytes), "must have at most 2 bytes");
	CHECK(!message(arena, "{\"maxLength\":3,\"minLength\":3}", bytes));
	CHECK(!compiled(arena, "{\"type\":\"bytes\"}", SCHEMA_JSON));
}

/* Code that reads an int with a default would silently use the default for 3.0. */
TEST(a_real_is_no_integer_in_our_own_contracts)
{
	WITH_ARENA(arena);

	CHECK(!said(arena, "{\"type\":\"integer\"}", "3"));
	CHECK(!said(arena, "{\"type\":\"number\"}", "3.0"));
	CHECK_STR(said(arena, "{\"type\":\"integer\"}", "3.0"), "must be integer, not number");
}

TEST(a_number_that_is_not_finite_is_of_no_type)
{
	WITH_ARENA(arena);

	CHECK_STR(message(arena, "{\"type\":\"number\"}", value_real(arena, (double)NAN)),
		"must be number, not not JSON");
	CHECK(message(
		arena, "{\"type\":[\"number\",\"integer\"]}", value_real(arena, (double)INFINITY)));
}

TEST(more_than_64_errors_are_counted_no_further)
{
	WITH_ARENA(arena);
	const struct schema *schema = compiled(arena, "{\"items\":false}", SCHEMA_JSON);
	struct value *list = value_list(arena);
	struct schema_report report;
	struct err err = ERR_INIT;

	for (int i = 0; i < SCHEMA_ERRORS_MAX; i++)
		CHECK_EQ_INT(value_list_add(arena, list, value_nil(arena)), 0);
	CHECK_EQ_INT(schema_check(arena, schema, list, &report, &err), 0);
	CHECK_EQ_INT(report.count, SCHEMA_ERRORS_MAX);
	CHECK(!report.more);
	CHECK_EQ_INT(value_list_add(arena, list, value_nil(arena)), 0);
	CHECK_EQ_INT(schema_check(arena, schema, list, &report, &err), 0);
	CHECK_EQ_INT(report.count, SCHEMA_ERRORS_MAX);
	CHECK(report.more);
}

TEST(a_schema_has_only_so_many_schemas)
{
	WITH_ARENA(arena);
	struct value *schema = value_map(arena), *properties = value_map(arena);
	struct schema_mistake mistake = { .message = NULL };
	const struct schema *ret = NULL;
	struct err err = ERR_INIT;
	char key[16];

	for (int i = 0; i < SCHEMA_NODES_MAX; i++) {
		cut_printf(key, sizeof(key), "k%d", i);
		CHECK_EQ_INT(value_map_put(arena, properties, key, value_bool(arena, true)), 0);
	}
	CHECK_EQ_INT(value_map_put(arena, schema, "properties", properties), 0);
	CHECK_EQ_INT(schema_compile(arena, schema, SCHEMA_JSON, &ret, &mistake, &err), 1);
	CHECK_STR(mistake.message, "the schema has more than 4096 inner schemas");
}

TEST(a_schema_has_only_so_many_patterns)
{
	WITH_ARENA(arena);
	struct value *schema = value_map(arena), *items = value_list(arena);
	struct schema_mistake mistake = { .message = NULL };
	const struct schema *ret = NULL;
	struct err err = ERR_INIT;

	for (int i = 0; i <= SCHEMA_PATTERNS_MAX; i++) {
		struct value *one = value_map(arena);

		CHECK_EQ_INT(value_map_put(arena, one, "pattern", value_text(arena, "a")), 0);
		CHECK_EQ_INT(value_list_add(arena, items, one), 0);
	}
	CHECK_EQ_INT(value_map_put(arena, schema, "prefixItems", items), 0);
	CHECK_EQ_INT(schema_compile(arena, schema, SCHEMA_JSON, &ret, &mistake, &err), 1);
	CHECK_STR(mistake.message, "the schema has more than 256 patterns");
	CHECK_STR(mistake.pointer, "/prefixItems/256/pattern");
}

TEST(patterns_share_one_ceiling_of_memory)
{
	WITH_ARENA(arena);
	struct value *schema = value_map(arena), *items = value_list(arena);
	struct schema_mistake mistake = { .message = NULL };
	const struct schema *ret = NULL;
	struct err err = ERR_INIT;

	for (int i = 0; i < 64; i++) {
		struct value *one = value_map(arena);

		CHECK_EQ_INT(value_map_put(arena, one, "pattern",
				     value_text(arena, "((((abc){10}){10}){4})")),
			0);
		CHECK_EQ_INT(value_list_add(arena, items, one), 0);
	}
	CHECK_EQ_INT(value_map_put(arena, schema, "prefixItems", items), 0);
	CHECK_EQ_INT(schema_compile(arena, schema, SCHEMA_JSON, &ret, &mistake, &err), 1);
	CHECK_STR(mistake.message, "the patterns are too large together");
}

/* Each item alone is cheap; together they would keep the daemon busy. */
TEST(patterns_share_one_budget_of_work)
{
	WITH_ARENA(arena);
	const struct schema *schema =
		compiled(arena, "{\"items\":{\"pattern\":\"^(a|a)*$\"}}", SCHEMA_JSON);
	struct value *list = value_list(arena);
	struct schema_report report;
	struct err err = ERR_INIT;

	for (int i = 0; i < 10000; i++)
		CHECK_EQ_INT(value_list_add(arena, list, value_text(arena, "aaaaaaaaaa!")), 0);
	CHECK_EQ_INT(schema_check(arena, schema, list, &report, &err), 0);
	CHECK(report.count > 0);
	CHECK(report.more);
}

/* ---- what a check costs ---------------------------------------------------------------------- */

#define CHECK_WORK 200000U

static double cpu_ms(void)
{
	struct timespec now = { 0, 0 };

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A text between `head` and `tail`: `item` so many times, where @ is its number. */
static const char *many(
	struct arena *arena, const char *head, size_t count, const char *item, const char *tail)
{
	size_t len = strcspn(item, "@");
	const char *rest = item[len] ? item + len + 1 : "";
	const char *text;
	struct buf buf;

	buf_init(&buf, 16U << 20);
	(void)buf_append_text(&buf, head);
	for (size_t i = 0; i < count; i++) {
		(void)buf_append_text(&buf, i ? "," : "");
		(void)buf_append(&buf, item, len);
		if (item[len])
			(void)buf_printf(&buf, "%zu", i);
		(void)buf_append_text(&buf, rest);
	}
	(void)buf_append_text(&buf, tail);
	text = arena_copy(arena, buf.bytes, buf.len);
	buf_done(&buf);
	return text ? text : "";
}

/* Checks the schema 90,000 times, for a check that needs `root`, too. */
static const char *times_90000(struct arena *arena, const char *schema, const char *root)
{
	const char *head =
		arena_printf(arena, "{%s\"$defs\":{\"a\":%s,\"b\":{\"allOf\":[", root, schema);
	const char *both =
		many(arena, head, 300, "{\"$ref\":\"#/$defs/a\"}", "]},\"c\":{\"allOf\":[");

	return many(arena, both, 300, "{\"$ref\":\"#/$defs/b\"}", "]}},\"$ref\":\"#/$defs/c\"}");
}

/* The work that a check takes out of CHECK_WORK, and its time; 0 if it cannot be checked. */
static uint64_t work_for(
	struct arena *arena, const char *schema_text, const char *value_text, double *ret_ms)
{
	const struct schema *schema = compiled(arena, schema_text, SCHEMA_JSON);
	const struct value *value = parsed(arena, value_text);
	struct schema_report report = { NULL, 0, false };
	struct err err = ERR_INIT;
	uint64_t work = CHECK_WORK;
	double started_ms = cpu_ms();

	if (!schema || !value ||
		schema_check_within(arena, schema, value, &work, &report, &err) < 0)
		return 0;
	*ret_ms = cpu_ms() - started_ms;
	return CHECK_WORK - work;
}

/*
 * Whatever a check does, its work is counted: so it takes a time of the same order as one of plain
 * comparisons, which is measured beside it.
 */
TEST(no_keyword_is_checked_for_nothing)
{
	WITH_ARENA(arena);
	char key[4001] = "", tiny[] = "{\"not\":{\"multipleOf\":1.234567890123457e-300}}";
	const char *keys, *one;

	memset(key, 'k', sizeof(key) - 1);
	keys = many(arena, arena_printf(arena, "{\"%s\":1,", key), 8,
		arena_printf(arena, "\"%s@\":1", key), "}");
	one = arena_printf(arena, "{\"not\":{\"required\":[\"%sx\"]}}", key);
	const struct {
		const char *schema, *root, *value;
	} rows[] = {
		{ many(arena, "{\"anyOf\":[", 3000, "false", ",true]}"), "", "1" },
		{ many(arena, "{\"oneOf\":[", 3000, "false", ",true]}"), "", "1" },
		{ many(arena, "{\"anyOf\":[{\"allOf\":[", 2000, "false", "]},true]}"), "", "1" },
		{ many(arena, "{\"anyOf\":[", 200, "{\"maximum\":1.12345e-300}", ",true]}"), "",
			"1.7e308" },
		{ many(arena, "{\"anyOf\":[", 300, "{\"type\":[\"null\",\"array\"]}", ",true]}"),
			"", "1" },
		{ "{\"not\":{\"not\":{\"not\":false}}}", "", "1" },
		{ tiny, "", "1.734567890123456e308" },
		{ many(arena, "{\"anyOf\":[", 300, "true", "]}"), "\"unevaluatedItems\":false,",
			many(arena, "[", 15000, "0", "]") },
		{ "{\"unevaluatedItems\":true}", "", many(arena, "[", 15000, "0", "]") },
		{ "{\"uniqueItems\":true}", "", arena_printf(arena, "[%s,%s,{}]", keys, "1") },
		{ one, "", keys },
		{ many(arena, "{\"properties\":{", 300, arena_printf(arena, "\"%s@\":true", key),
			  "}}"),
			"", keys },
		{ "{\"not\":{\"pattern\":\"[abcdefgz]\"}}", "",
			arena_printf(arena, "\"%s%s%s\"", key, key, key) },
		{ "{\"not\":{\"pattern\":\"(?<=k{40000})k\"}}", "",
			arena_printf(arena, "\"%s%s%s\"", key, key, key) },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *text = times_90000(arena, rows[i].schema, rows[i].root);
		double ms = 0, plain_ms = 0;

		CHECK_EQ_INT(
			work_for(arena, times_90000(arena, "{\"minimum\":0}", ""), "1", &plain_ms),
			CHECK_WORK);
		CHECK_EQ_INT(work_for(arena, text, rows[i].value, &ms), CHECK_WORK);
		if (ms > 100 * plain_ms)
			CHECK_STR(rows[i].schema, "paid for");
	}
}

TEST(a_dynamic_reference_pays_for_each_name_that_it_compares)
{
	WITH_ARENA(arena);
	const char *tail = "},\"$dynamicAnchor\":\"n\",\"items\":{\"$dynamicRef\":\"#n\"}}";
	const char *few = many(arena, "{\"$defs\":{", 0, "", tail);
	const char *more = many(arena, "{\"$defs\":{\"d\":{\"prefixItems\":[", 100,
		"{\"$anchor\":\"a@\"}", arena_printf(arena, "]}%s", tail));
	double ms;

	CHECK(work_for(arena, few, "[[],[],[]]", &ms) > 0);
	CHECK(work_for(arena, more, "[[],[],[]]", &ms) >=
		work_for(arena, few, "[[],[],[]]", &ms) + 30);
}

/* A hint is no result: where there is no work for it, the error comes without it. */
TEST(hints_take_no_more_work_than_is_left)
{
	WITH_ARENA(arena);
	const char *schema = many(arena, "{\"additionalProperties\":false,\"properties\":{", 3000,
		"\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb@\":true", "}}");
	const char *value = many(arena, "{", 60, "\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb@\":1", "}");
	double ms = 0, plain_ms = 0;

	CHECK(work_for(arena, times_90000(arena, "{\"minimum\":0}", ""), "1", &plain_ms) > 0);
	CHECK(work_for(arena, schema, value, &ms) > 0);
	CHECK(ms < 100 * plain_ms);
}

TEST(a_full_arena_is_an_error_and_never_a_verdict)
{
	WITH_ARENA(texts);
	const struct value *text = parsed(texts, "{\"items\":{\"type\":\"null\",\"minLength\":2}}");
	const struct value *value = parsed(texts, "[\"a\",\"b\"]");

	for (size_t ceiling = 0; ceiling < 8192; ceiling += 64) {
		struct arena arena_itself;
		auto_of(arena_done) struct arena *arena = &arena_itself;
		struct schema_mistake mistake = { .message = NULL };
		const struct schema *schema = NULL;
		struct schema_report report = { NULL, 0, false };
		struct err err = ERR_INIT;
		int answer;

		arena_init(arena, ceiling);
		answer = schema_compile(arena, text, SCHEMA_JSON, &schema, &mistake, &err);
		CHECK(answer == 0 || err.code == ERR_MEMORY);
		if (answer < 0)
			continue;
		answer = schema_check(arena, schema, value, &report, &err);
		CHECK(answer == 0 ? report.count == 4 : err.code == ERR_MEMORY);
	}
}

/* The description of a draft is made for the document that names it. */
TEST(a_full_arena_never_makes_another_draft)
{
	WITH_ARENA(texts);
	const struct value *text = parsed(texts,
		"{\"$schema\":\"urn:mine\",\"minimum\":5,\"type\":\"null\",\"$defs\":{\"mine\":{\"$id\":\"urn:mine\","
		"\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$recursiveAnchor\":true,"
		"\"$vocabulary\":{\"https://json-schema.org/draft/2019-09/vocab/validation\":true}}}}");
	const struct value *value = parsed(texts, "1");
	bool went_well = false;

	for (size_t ceiling = 0; ceiling < 16384; ceiling += 64) {
		struct arena arena_itself;
		auto_of(arena_done) struct arena *arena = &arena_itself;
		struct schema_mistake mistake = { .message = NULL };
		const struct schema *schema = NULL;
		struct schema_report report = { NULL, 0, false };
		struct err err = ERR_INIT;
		int answer;

		arena_init(arena, ceiling);
		answer = schema_compile(arena, text, SCHEMA_JSON, &schema, &mistake, &err);
		CHECK(answer == 0 || (answer < 0 && err.code == ERR_MEMORY));
		if (answer < 0)
			continue;
		answer = schema_check(arena, schema, value, &report, &err);
		CHECK(answer == 0 ? report.count == 2 : err.code == ERR_MEMORY);
		went_well = went_well || answer == 0;
	}
	CHECK(went_well);
}

TEST(no_memory_is_an_error_and_leaves_nothing_behind)
{
	FAULT_LOOP(FAULT_ALLOC) {
		WITH_ARENA(arena);
		struct value *text = parsed(arena,
			"{\"properties\":{\"a\":{\"pattern\":\"^x\"}},\"required\":[\"b\"]}");
		struct schema_mistake mistake = { .message = NULL };
		const struct schema *schema = NULL;
		struct schema_report report = { NULL, 0, false };
		struct err err = ERR_INIT;
		int answer =
			text ? schema_compile(arena, text, SCHEMA_JSON, &schema, &mistake, &err)
			     : -1;

		CHECK(answer == 0 || (answer < 0 && fault_hit()));
		text = parsed(arena, "1");
		if (answer == 0)
			answer = text ? schema_check(arena, schema, text, &report, &err) : -1;
		CHECK(answer == 0 || fault_hit());
	}
}
