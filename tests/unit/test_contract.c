/*
 * Checks every key of `run` with every kind of wrong value: one row for each key, one column for
 * each kind, one letter for the answer.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/job/job.h"
#include "proto/json.h"
#include "proto/method/method.h"
#include "tests/arena.h"
#include "tests/check.h"
#include "tests/job_bounds.h"

static const struct job_bounds bounds = {
	BOUNDS_OF_LIMITS,
	.code_bytes = 1000,
	.input_bytes = 1000,
	.files_bytes = 1000,
	.schema_bytes = 1000,
};

/* ---- kinds of values ---------------------------------------------------------------------- */

static struct value *make_nil(struct arena *arena)
{
	return value_nil(arena);
}

static struct value *make_true(struct arena *arena)
{
	return value_bool(arena, true);
}

static struct value *make_7(struct arena *arena)
{
	return value_int(arena, 7);
}

static struct value *make_minus(struct arena *arena)
{
	return value_int(arena, -1);
}

static struct value *make_huge(struct arena *arena)
{
	return value_uint(arena, UINT64_MAX);
}

static struct value *make_real(struct arena *arena)
{
	return value_real(arena, 100.5);
}

static struct value *make_whole_real(struct arena *arena)
{
	return value_real(arena, 100.0);
}

static struct value *make_nan(struct arena *arena)
{
	return value_real(arena, NAN);
}

static struct value *make_word(struct arena *arena)
{
	return value_text(arena, "word");
}

static struct value *make_empty(struct arena *arena)
{
	return value_text(arena, "");
}

static struct value *make_repeated(struct arena *arena, const char *piece, size_t count)
{
	size_t len = strlen(piece);
	char *text = arena_alloc(arena, len * count + 1);

	for (size_t i = 0; text && i < count; i++)
		memcpy(text + i * len, piece, len);
	return value_text_len(arena, text, len * count);
}

/* A text longer than any limit in characters. */
static struct value *make_long(struct arena *arena)
{
	return make_repeated(arena, "x", 300000);
}

/* 128 characters, 512 bytes. */
static struct value *make_wide(struct arena *arena)
{
	return make_repeated(arena, "\xf0\x9f\x90\x8d", 128);
}

static struct value *make_nul(struct arena *arena)
{
	return value_text_len(arena, "a\0b", 3);
}

static struct value *make_control(struct arena *arena)
{
	return value_text(arena, "a\x1b[2Jb");
}

/* Contains a character that reverses the direction of the text after it. */
static struct value *make_turned(struct arena *arena)
{
	return value_text(arena, "a\xe2\x80\xae"
				 "b");
}

static struct value *make_bytes(struct arena *arena)
{
	return value_bytes(arena, "\xff\xfe", 2);
}

static struct value *make_list(struct arena *arena)
{
	struct value *list = value_list(arena);

	(void)value_list_add(arena, list, value_int(arena, 1));
	return list;
}

static struct value *make_map(struct arena *arena)
{
	struct value *map = value_map(arena);

	(void)value_map_put(arena, map, "surprise", value_int(arena, 1));
	return map;
}

static struct value *make_up(struct arena *arena)
{
	return value_text(arena, "../a");
}

static struct value *(*const kinds[])(struct arena *arena) = { make_nil, make_true, make_7,
	make_minus, make_huge, make_real, make_whole_real, make_nan, make_word, make_empty,
	make_long, make_wide, make_nul, make_control, make_turned, make_bytes, make_list, make_map,
	make_up };

/* ---- the answer to each key and kind ------------------------------------------------------ */

/* The letters of a row.  '?' is a refusal at a place below the row's own. */
static const struct {
	char letter;
	const char *reason;
} letters[] = {
	{ '.', "" }, /* accepted */
	{ 't', "type" },
	{ 'v', "value" },
	{ 'r', "range" },
	{ 'l', "too_long" },
	{ 's', "too_short" },
	{ 'p', "path" },
	{ 'n', "nul" },
	{ 'u', "unknown_key" },
	{ 'm', "missing" },
	{ 'S', "schema" },
	{ 'c', "conflict" },
	{ 'd', "duplicate" },
};

/*
 * "" in a template stands for the value.  `where` is the place that a refusal names.  A refusal
 * may also name a place below it ("…/"), since the first item of a list may be wrong.
 */
/* clang-format off */
static const struct {
	const char *template;
	const char *where;
	const char *answers; /* nil true 7 -1 huge 100.5 100.0 nan | word empty long wide | nul control turned bytes | list map ../ */
} fields[] = {
	/*                                                                                n t 7 - h r w n | w e l w | n c t b | l m . */
	{ "{\"language\":@,\"code\":\"x\"}",                           "/language",        "tttttttt" ".vvv" "vvvt" "ttv" },
	{ "{\"language\":\"python\",\"code\":@}",                      "/code",            "tttttttt" "..l." "...." "tt." },
	{ "{@@,\"entrypoint\":@}",                                     "/entrypoint",      "tttttttt" ".slp" "pppt" "ttp" },
	{ "{@@,\"args\":@}",                                           "/args",            "tttttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"args\":[@]}",                                         "/args/0",          "tttttttt" "..l." "n..t" "tt." },
	{ "{@@,\"stdin\":@}",                                          "/stdin",           "tttttttt" "..l." "...." "tt." },
	{ "{@@,\"input\":@}",                                          "/input",           ".......v" "..l." "...v" "..." },
	{ "{@@,\"files\":@}",                                          "/files",           "tttttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"files\":[@]}",                                        "/files/0",         "tttttttt" "tttt" "tttt" "tut" },
	{ "{@@,\"files\":[{\"path\":@,\"data\":\"\"}]}",               "/files/0/path",    "tttttttt" ".slp" "pppt" "ttp" },
	{ "{@@,\"files\":[{\"path\":\"a\",\"data\":@}]}",              "/files/0/data",    "tttttttt" "..l." "...." "tt." },
	{ "{@@,\"files\":[{\"path\":\"a\",\"blob\":@}]}",              "/files/0/blob",    "tttttttt" "vvvv" "vvvt" "ttv" },
	{ "{@@,\"files\":[{\"path\":\"a\",\"data\":\"\",\"mode\":@}]}", "/files/0/mode",   "tt.rrttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"files\":[{\"path\":\"a\",\"data\":\"\",\"x\":@}]}",   "/files/0/x",       "uuuuuuuu" "uuuu" "uuuu" "uuu" },
	{ "{@@,\"env\":@}",                                            "/env",             "tttttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"env\":{\"A\":@}}",                                    "/env/A",           "tttttttt" "..?." "n..t" "tt." },
	{ "{@@,\"env\":{\"A B\":@}}",                                  "/env/A B",         "tttttttt" "vvvv" "vvvt" "ttv" },
	{ "{@@,\"limits\":@}",                                         "/limits",          "tttttttt" "tttt" "tttt" "tut" },
	{ "{@@,\"limits\":{\"x\":@}}",                                 "/limits/x",        "uuuuuuuu" "uuuu" "uuuu" "uuu" },
	{ "{@@,\"on_output_limit\":@}",                                "/on_output_limit", "vvvvvvvv" "vvvv" "vvvv" "vvv" },
	{ "{@@,\"secrets\":@}",                                        "/secrets",         "tttttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"secrets\":[@]}",                                      "/secrets/0",       "tttttttt" ".sl." "s.st" "tt." },
	{ "{@@,\"artifacts\":@}",                                      "/artifacts",       "tttttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"artifacts\":[@]}",                                    "/artifacts/0",     "tttttttt" ".slp" "pppt" "ttp" },
	{ "{@@,\"policy\":@}",                                         "/policy",          "tttttttt" ".vvv" "vvvt" "ttv" },
	{ "{@@,\"network\":@}",                                        "/network",         "tttttttt" "vvvv" "vvvt" "tuv" },
	{ "{@@,\"network\":{\"allow\":@}}",                        "/network/allow",   "tttttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"network\":{\"allow\":[@]}}",                      "/network/allow/0", "tttttttt" ".slv" "vvvt" "tuv" },
	{ "{@@,\"output\":@}",                                         "/output",          "vvvvvvvv" "vvvv" "vvvv" "vvv" },
	{ "{@@,\"schema\":@}",                                         "/schema",          "t.tttttt" "tttt" "tttt" "t.t" },
	{ "{@@,\"id\":@}",                                             "/id",              "tttttttt" ".sl." "vvvt" "tt." },
	{ "{@@,\"task\":@}",                                           "/task",            "tttttttt" ".sl." "vvvt" "tt." },
	{ "{@@,\"agent\":@}",                                          "/agent",           "tttttttt" ".sl." "vvvt" "tt." },
	{ "{@@,\"labels\":@}",                                         "/labels",          "tttttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"labels\":{\"a\":@}}",                                 "/labels/a",        "tttttttt" "..l." "vvvt" "tt." },
	{ "{@@,\"labels\":{\"\":@}}",                                  "/labels/",         "tttttttt" "llll" "lllt" "ttl" },
	{ "{@@,\"labels\":{\"a\\u202eb\":@}}",                         "/labels/a\xe2\x80\xae" "b", "tttttttt" "vvlv" "vvvt" "ttv" },
	{ "{@@,\"packages\":@}",                                       "/packages",        "tttttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"packages\":[@]}",                                     "/packages/0",      "tttttttt" ".vvv" "vvvt" "ttv" },
	{ "{@@,\"cache\":@}",                                          "/cache",           "vvvvvvvv" "vvvv" "vvvv" "vvv" },
	{ "{@@,\"trace\":@}",                                          "/trace",           "vvvvvvvv" "vvvv" "vvvv" "vvv" },
	{ "{@@,\"deterministic\":@}",                                  "/deterministic",   "t.tttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"tools\":@}",                                          "/tools",           "tttttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"tools\":[@]}",                                        "/tools/0",         "tttttttt" "tttt" "tttt" "tut" },
	{ "{@@,\"tools\":[{\"name\":@,\"input_schema\":{}}]}",         "/tools/0/name",    "tttttttt" ".vvv" "vvvt" "ttv" },
	{ "{@@,\"tools\":[{\"name\":\"f\",\"input_schema\":@}]}",    "/tools/0/input_schema", "t.tttttt" "tttt" "tttt" "t.t" },
	{ "{@@,\"tools\":[{\"name\":\"f\",\"input_schema\":{},\"calls\":@}]}", "/tools/0/calls", "tt.rrttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"tools_as\":@}",                                       "/tools_as",        "vvvvvvvv" "vvvv" "vvvv" "vvv" },
	{ "{@@,\"display\":@}",                                        "/display",         "t.tttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"stream\":@}",                                         "/stream",          "t.tttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"run_id\":@}",                                         "/run_id",         "tttttttt" "vvvv" "vvvt" "ttv" },
	{ "{@@,\"session\":@}",                                         "/session",         "tttttttt" "vvvv" "vvvt" "ttv" },
	{ "{@@,\"atomic\":@}",                                         "/atomic",         "t.tttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"from\":@}",                                           "/from",            "tt.rrttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"announce\":@}",                                       "/announce",       "t.tttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"detach\":@}",                                         "/detach",          "t.tttttt" "tttt" "tttt" "ttt" },
	{ "{@@,\"surprise\":@}",                                       "/surprise",        "uuuuuuuu" "uuuu" "uuuu" "uuu" },
};
/* clang-format on */

#define PLAIN "\"language\":\"python\",\"code\":\"x\""

/* Reads the template with a unique text in the place of the value. */
static struct value *params_of(struct arena *arena, const char *template)
{
	struct value *params = NULL;
	char json[512] = "";
	size_t len = 0;

	for (const char *at = template; *at; at++) {
		const char *piece = "\"@\"";

		if (at[0] == '@' && at[1] == '@') {
			piece = PLAIN;
			at++;
		} else if (at[0] != '@') {
			json[len++] = *at;
			continue;
		}
		memcpy(json + len, piece, strlen(piece));
		len += strlen(piece);
	}
	(void)json_parse(arena, json, len, NULL, &params, NULL);
	return params;
}

/* Replaces the "@" with the value. */
static bool put_value(struct value *in, struct value *value)
{
	for (size_t i = 0; value_is(in, VALUE_MAP) && i < in->map.count; i++) {
		struct value **held = &in->map.entries[i].value;

		if (value_is(*held, VALUE_TEXT) && strcmp((*held)->text.bytes, "@") == 0)
			*held = value;
		else if (!put_value(*held, value))
			continue;
		return true;
	}
	for (size_t i = 0; value_is(in, VALUE_LIST) && i < in->list.count; i++) {
		struct value **held = &in->list.items[i];

		if (value_is(*held, VALUE_TEXT) && strcmp((*held)->text.bytes, "@") == 0)
			*held = value;
		else if (!put_value(*held, value))
			continue;
		return true;
	}
	return false;
}

static char letter_of(const struct job_refusal *refusal, const char *where)
{
	if (strncmp(refusal->pointer, where, strlen(where)) != 0)
		return '?';
	for (size_t i = 0; i < COUNT_OF(letters); i++)
		if (strcmp(letters[i].reason, refusal->reason) == 0)
			return letters[i].letter;
	return '!';
}

/* Both ways to check agree on whether there is a refusal, and on the first one. */
static char judge(size_t field, size_t kind)
{
	WITH_ARENA(arena);
	struct value *params = params_of(arena, fields[field].template);
	struct job_refusals all = { .count = 0 };
	struct job_refusal refusal = { "", "", "" };
	struct err err = ERR_INIT;
	struct job_spec spec;
	int answer;

	if (!params || !put_value(params, kinds[kind](arena)))
		return '#';
	answer = job_spec_from_value(arena, params, &bounds, &spec, &refusal, &err);
	if (answer < 0 || job_spec_refusals(arena, params, &bounds, &all, &err) < 0)
		return '-';
	if ((answer > 0) != (all.count > 0))
		return '%';
	if (answer && strcmp(all.items[0].message, refusal.message) != 0)
		return '=';
	return answer ? letter_of(&refusal, fields[field].where) : '.';
}

TEST(every_key_answers_every_kind_of_value_as_its_row_says)
{
	for (size_t field = 0; field < COUNT_OF(fields); field++) {
		char said[COUNT_OF(kinds) + 1] = "";

		for (size_t kind = 0; kind < COUNT_OF(kinds); kind++)
			said[kind] = judge(field, kind);
		if (strcmp(said, fields[field].answers) == 0)
			continue;
		printf("# %s says %s, hoped for %s\n", fields[field].template, said,
			fields[field].answers);
		check_failed(__FILE__, __LINE__, fields[field].where);
	}
}

TEST(every_key_of_run_is_in_the_table)
{
	WITH_ARENA(arena);
	size_t len = 0;
	const char *text = method_contract_text("run.json", &len);
	struct value *schema = NULL;
	const struct value *keys;

	CHECK_EQ_INT(json_parse(arena, text, len, NULL, &schema, NULL), 0);
	keys = value_get(schema, "properties");
	for (size_t i = 0; i < keys->map.count; i++) {
		bool found = false;

		for (size_t k = 0; k < COUNT_OF(fields); k++)
			found = found || strcmp(fields[k].where + 1, keys->map.entries[i].key) == 0;
		if (!found)
			check_failed(__FILE__, __LINE__, keys->map.entries[i].key);
	}
}

/* ---- limits, one by one ------------------------------------------------------------------- */

TEST(every_limit_has_a_lowest_and_a_highest_number_and_knows_no_other_kind)
{
	static const struct {
		const char *name;
		uint64_t lowest, most;
	} limits[] = {
		{ "wall_ms", 10, 60000 },
		{ "cpu_ms", 10, 60000 },
		{ "cpu_percent", 5, 400 },
		{ "memory_bytes", 16U << 20, 1U << 30 },
		{ "disk_bytes", 64U << 10, 1U << 29 },
		{ "file_bytes", 64U << 10, 1U << 29 },
		{ "inodes", 16, 65536 },
		{ "pids", 1, 256 },
		{ "stdout_bytes", 0, 1U << 24 },
		{ "stderr_bytes", 0, 1U << 24 },
		{ "display_bytes", 0, 1U << 26 },
		{ "artifact_bytes", 0, 1U << 26 },
		{ "artifact_count", 0, 256 },
		{ "open_files", 16, 1024 },
		{ "calls", 0, 4096 },
		{ "calls_at_once", 1, 32 },
		{ "call_bytes", 1024, 1U << 22 },
		{ "call_ms", 10, 600000 },
		{ "calls_ms", 10, 1800000 },
	};
#define COUNT_LIMIT(name, meaning) +1
	CHECK_EQ_INT(COUNT_OF(limits), 0 JOB_LIMITS(COUNT_LIMIT));
#undef COUNT_LIMIT
	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		const struct {
			const char *before, *behind;
			const char *reason;
		} tries[] = {
			{ "", "", "" },
			{ "", ".5", "type" },
			{ "", ".0", "type" },
			{ "\"", "\"", "type" },
			{ "[", "]", "type" },
			{ "-", "", "range" },
			{ "", "9999999", "range" },
		};

		for (size_t k = 0; k < COUNT_OF(tries); k++) {
			WITH_ARENA(arena);
			struct job_refusal refusal = { "", "", "" };
			struct value *params = NULL;
			struct job_spec spec;
			char json[256], pointer[64];

			cut_printf(json, sizeof(json), "{" PLAIN ",\"limits\":{\"%s\":%s%llu%s}}",
				limits[i].name, tries[k].before, (unsigned long long)limits[i].most,
				tries[k].behind);
			cut_printf(pointer, sizeof(pointer), "/limits/%s", limits[i].name);
			CHECK_EQ_INT(json_parse(arena, json, strlen(json), NULL, &params, NULL), 0);
			(void)job_spec_from_value(arena, params, &bounds, &spec, &refusal, NULL);
			CHECK_STR(refusal.reason, tries[k].reason);
			CHECK_STR(refusal.pointer, tries[k].reason[0] ? pointer : "");
		}
	}
}

/* ---- paths -------------------------------------------------------------------------------- */

/* The template with `text` in place of the "@". */
static const char *filled(struct arena *arena, const char *template, const char *text)
{
	const char *at = strchr(template, '@');

	return arena_printf(arena, "%.*s%s%s", (int)(at - template), template, text, at + 1);
}

static const char *judged(struct arena *arena, const char *json)
{
	struct job_refusal refusal = { "", "", "" };
	struct value *params = NULL;
	struct err err = ERR_INIT;
	struct job_spec spec;

	if (json_parse(arena, json, strlen(json), NULL, &params, &err) < 0)
		return arena_strdup(arena, err.text);
	if (job_spec_from_value(arena, params, &bounds, &spec, &refusal, &err) <= 0)
		return "";
	return arena_printf(arena, "%s %s", refusal.pointer, refusal.reason);
}

TEST(no_trick_with_paths_gets_through_at_any_of_the_three_places)
{
	static const char *const tricks[] = { "/", "/etc/passwd", "//a", "..", "../a", "a/..",
		"a/../b", "a/../../b", ".", "./a", "a/.", "a/./b", "a//b", "a/", "\\u0000",
		"a\\u0000b", "a/\\u0000", "a\\nb", "a\\rb", "a\\tb", "\\u001b[1m", "a\\u007fb",
		"a\\u0085b", "a\\u202eb", "a\\u200bb", "a\\u2028b", "\\ufeffa", "a/\\u2066b",
		"a\\u3164b", "a\\ufe00" };
	static const char *const places[][2] = {
		{ "{" PLAIN ",\"entrypoint\":\"@\"}", "/entrypoint path" },
		{ "{" PLAIN ",\"files\":[{\"path\":\"@\",\"data\":\"\"}]}", "/files/0/path path" },
		{ "{" PLAIN ",\"artifacts\":[\"@\"]}", "/artifacts/0 path" },
	};

	for (size_t place = 0; place < COUNT_OF(places); place++)
		for (size_t i = 0; i < COUNT_OF(tricks); i++) {
			WITH_ARENA(arena);
			const char *json = filled(arena, places[place][0], tricks[i]);

			CHECK_STR(judged(arena, json), places[place][1]);
		}
}

TEST(what_stands_in_another_s_way_is_found_wherever_it_stands)
{
	static const struct {
		const char *files, *answer;
	} tries[] = {
		{ "[{\"path\":\"a\",\"data\":\"\"},{\"path\":\"a\",\"data\":\"\"}]",
			"/files/1/path duplicate" },
		{ "[{\"path\":\"a/b\",\"data\":\"\"},{\"path\":\"a\",\"data\":\"\"}]",
			"/files/1/path duplicate" },
		{ "[{\"path\":\"a\",\"data\":\"\"},{\"path\":\"a/b/c\",\"data\":\"\"}]",
			"/files/1/path duplicate" },
		{ "[{\"path\":\"a.b\",\"data\":\"\"},{\"path\":\"a\",\"data\":\"\"},{\"path\":\"a/b\",\"data\":\"\"}]",
			"/files/2/path duplicate" },
		{ "[{\"path\":\"a!\",\"data\":\"\"},{\"path\":\"a/b\",\"data\":\"\"},{\"path\":\"a\",\"data\":\"\"}]",
			"/files/2/path duplicate" },
		{ "[{\"path\":\"main.py\",\"data\":\"\"}]", "/files/0/path duplicate" },
		{ "[{\"path\":\"main.py/a\",\"data\":\"\"}]", "/files/0/path duplicate" },
		{ "[{\"path\":\"a\",\"data\":\"\"},{\"path\":\"ab\",\"data\":\"\"},{\"path\":\"a-b/c\",\"data\":\"\"}]",
			"" },
		{ "[{\"path\":\"A\",\"data\":\"\"},{\"path\":\"a\",\"data\":\"\"}]", "" },
		/* the NFC and NFD forms are two names, as on the disk */
		{ "[{\"path\":\"\\u00e9\",\"data\":\"\"},{\"path\":\"e\\u0301\",\"data\":\"\"}]",
			"" },
	};

	for (size_t i = 0; i < COUNT_OF(tries); i++) {
		WITH_ARENA(arena);

		CHECK_STR(judged(arena,
				  arena_printf(arena, "{" PLAIN ",\"files\":%s}", tries[i].files)),
			tries[i].answer);
	}
}

TEST(names_are_counted_in_bytes_where_the_system_counts_them_so)
{
	static const struct {
		const char *template;
		const char *piece;
		size_t most; /* so many pieces are accepted, and no more */
		const char *answer;
	} tries[] = {
		{ "{" PLAIN ",\"entrypoint\":\"@\"}", "x", 255, "/entrypoint too_long" },
		{ "{" PLAIN ",\"entrypoint\":\"@\"}", "\xc3\xa9", 127, "/entrypoint path" },
		{ "{" PLAIN ",\"files\":[{\"path\":\"a@\",\"data\":\"\"}]}", "/b", 511,
			"/files/0/path too_long" },
		{ "{" PLAIN ",\"files\":[{\"path\":\"\xc3\xa9@\",\"data\":\"\"}]}", "/\xc3\xa9",
			340, "/files/0/path too_long" },
		{ "{" PLAIN ",\"files\":[{\"path\":\"@\",\"data\":\"\"}]}", "\xf0\x9f\x90\x8d", 63,
			"/files/0/path path" },
		{ "{" PLAIN ",\"artifacts\":[\"@\"]}", "x", 255, "/artifacts/0 path" },
		{ "{" PLAIN ",\"artifacts\":[\"a@\"]}", "/\xc3\xa9", 85, "/artifacts/0 too_long" },
		{ "{" PLAIN ",\"id\":\"@\"}", "x", 128, "/id too_long" },
		{ "{" PLAIN ",\"id\":\"@\"}", "\xf0\x9f\x90\x8d", 128, "/id too_long" },
		{ "{" PLAIN ",\"task\":\"@\"}", "\xf0\x9f\x90\x8d", 128, "/task too_long" },
		{ "{" PLAIN ",\"agent\":\"@\"}", "\xf0\x9f\x90\x8d", 128, "/agent too_long" },
		{ "{" PLAIN ",\"labels\":{\"a\":\"@\"}}", "\xf0\x9f\x90\x8d", 128,
			"/labels/a too_long" },
		{ "{\"language\":\"python\",\"code\":\"@\"}", "\xf0\x9f\x90\x8d", 250,
			"/code too_long" },
	};

	for (size_t i = 0; i < COUNT_OF(tries); i++)
		for (size_t more = 0; more < 2; more++) {
			WITH_ARENA(arena);
			const struct value *piece =
				make_repeated(arena, tries[i].piece, tries[i].most + more);
			const char *json = filled(arena, tries[i].template, piece->text.bytes);

			CHECK_STR(judged(arena, json), more ? tries[i].answer : "");
		}
}

/* ---- all at once -------------------------------------------------------------------------- */

TEST(all_that_is_wrong_is_told_at_once)
{
	static const char *const hoped[] = { "/surprise unknown_key", "/limits/pids type",
		"/stream type", "/id value", "/code too_long", "/entrypoint path", "/args/1 nul",
		"/args/3 nul", "/input conflict", "/files/0/path path", "/files/2/path duplicate",
		"/env/A B value", "/artifacts/1 path", "/output conflict", "/labels/a value" };
	WITH_ARENA(arena);
	struct job_refusals all = { .count = 0 };
	struct value *params = NULL;
	struct err err = ERR_INIT;
	const char *json = arena_printf(arena,
		"{\"surprise\":1,\"language\":\"python\",\"id\":\"\\u001b\",\"code\":\"%s\","
		"\"entrypoint\":\"a/b\",\"args\":[\"\",\"\\u0000\",\"\",\"\\u0000\"],\"stdin\":\"\",\"input\":1,"
		"\"files\":[{\"path\":\"../x\",\"data\":\"\"},{\"path\":\"a\",\"data\":\"\"},{\"path\":\"a\",\"data\":\"\"}],"
		"\"env\":{\"A B\":\"\"},\"limits\":{\"pids\":\"3\"},\"artifacts\":[\"*\",\"/\"],\"output\":\"text\","
		"\"schema\":{},\"labels\":{\"a\":\"\\u202e\"},\"stream\":1}",
		make_repeated(arena, "x", 1001)->text.bytes);

	CHECK_EQ_INT(json_parse(arena, json, strlen(json), NULL, &params, &err), 0);
	CHECK_EQ_INT(job_spec_refusals(arena, params, &bounds, &all, &err), 0);
	for (size_t i = 0; i < all.count && i < COUNT_OF(hoped); i++) {
		bool found = false;

		for (size_t k = 0; k < COUNT_OF(hoped); k++)
			found = found || strcmp(arena_printf(arena, "%s %s", all.items[i].pointer,
							all.items[i].reason),
						 hoped[k]) == 0;
		if (!found)
			check_failed(__FILE__, __LINE__, all.items[i].message);
	}
	CHECK_EQ_INT(all.count, COUNT_OF(hoped));
	CHECK(!all.more);
}

TEST(what_is_wrong_a_thousand_times_is_told_64_times)
{
	WITH_ARENA(arena);
	struct job_refusals all = { .count = 0 };
	struct value *params = value_map(arena), *args = value_list(arena);
	struct err err = ERR_INIT;

	(void)value_map_put(arena, params, "language", value_text(arena, "python"));
	(void)value_map_put(arena, params, "code", value_text(arena, ""));
	for (int i = 0; i < 1000; i++)
		(void)value_list_add(arena, args, value_text_len(arena, "\0", 1));
	(void)value_map_put(arena, params, "args", args);
	CHECK_EQ_INT(job_spec_refusals(arena, params, &bounds, &all, &err), 0);
	CHECK_EQ_INT(all.count, JOB_REFUSALS_MAX);
	CHECK(all.more);
}

TEST(without_the_required_keys_the_rest_is_looked_at_all_the_same)
{
	WITH_ARENA(arena);
	struct job_refusals all = { .count = 0 };
	struct value *params = value_map(arena);
	struct err err = ERR_INIT;

	(void)value_map_put(arena, params, "entrypoint", value_text(arena, ".."));
	CHECK_EQ_INT(job_spec_refusals(arena, params, &bounds, &all, &err), 0);
	CHECK_EQ_INT(all.count, 3);
	CHECK_STR(all.items[2].pointer, "/entrypoint");
}
