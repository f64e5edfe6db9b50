/*
 * Plays the cases of clients/conformance with the C client, and prints TAP.
 *
 *	client_conformance FILE.json...
 *
 * `run` goes through ced_run() with what struct ced_job has a field for, `wait` through ced_wait(),
 * everything else through ced_call().  The cases and what comes back are struct value here.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/c/ced.h"
#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/digest.h"
#include "proto/json.h"
#include "proto/schema/pattern.h"
#include "proto/wire/wire.h"

#define CASE_BYTES ((size_t)512 << 20)
#define WRONG_MAX  2000

/* One case that is played. */
struct player {
	struct arena arena;
	struct ced_client *client;
	struct value *saved;
	char wrong[WRONG_MAX]; /* the first thing that is not as it should be */
};

/* One step of it. */
struct step {
	struct player *player;
	const struct value *step;
	struct value *calls;
	struct value *events;
	uint32_t msgid; /* of the run that is streamed */
	bool canceled;
};

struct host_tool {
	struct step *step;
	const struct value *tool;
	size_t count;
};

static void die(const char *what, const char *why)
{
	(void)fprintf(stderr, "%s: %s\n", what, why);
	exit(2);
}

static const char *shown(struct arena *arena, const struct value *value)
{
	struct bytes text = { "(nothing)", 0 };
	struct buf buf;

	if (!value)
		return "(nothing)";
	buf_init(&buf, WRONG_MAX / 3);
	json_write_start(&buf, value, JSON_WRITE_BASE64);
	text.data = arena_copy(arena, buf.bytes ? buf.bytes : "", buf.len);
	buf_done(&buf);
	return text.data;
}

static void say_wrong(struct player *player, const char *what, const struct value *wanted,
	const struct value *got)
{
	if (!player->wrong[0])
		cut_printf(player->wrong, sizeof(player->wrong), "%s: wanted %s, got %s", what,
			shown(&player->arena, wanted), shown(&player->arena, got));
}

/* ---- patterns ------------------------------------------------------------------------------- */

static bool matches(struct arena *arena, const struct value *pattern, const struct value *value);

/* The word of a map with one key that begins with a dollar, or NULL. */
static const char *special(const struct value *pattern)
{
	if (!value_is(pattern, VALUE_MAP) || pattern->map.count != 1)
		return NULL;
	return pattern->map.entries[0].key[0] == '$' ? pattern->map.entries[0].key : NULL;
}

static bool is_type(const char *word, const struct value *value)
{
	const char *type = value_type_word(value);

	if (strcmp(word, "number") == 0)
		return strcmp(type, "int") == 0 || strcmp(type, "real") == 0;
	return strcmp(word, strcmp(type, "str") == 0   ? "string"
			    : strcmp(type, "bin") == 0 ? "bytes"
			    : strcmp(type, "nil") == 0 ? "null"
						       : type) == 0;
}

static bool is_one_type(struct arena *arena, const char *words, const struct value *value)
{
	char *list = arena_strdup(arena, words);
	char *rest = NULL;

	for (char *word = strtok_r(list, "|", &rest); word; word = strtok_r(NULL, "|", &rest)) {
		if (value && is_type(word, value))
			return true;
	}
	return false;
}

static bool is_found(struct arena *arena, const struct value *regex, const struct value *value)
{
	const struct pattern *pattern = NULL;
	uint64_t work = UINT64_C(1) << 30;
	struct err err = ERR_INIT;

	if (!value_is(value, VALUE_TEXT))
		return false;
	if (pattern_compile(arena, regex->text.bytes, regex->text.len, &pattern, &err) < 0)
		die(regex->text.bytes, err.text);
	return pattern_search(pattern, value->text.bytes, value->text.len, &work) == PATTERN_YES;
}

static bool has_text(const struct value *text, const struct value *value)
{
	return value_is(value, VALUE_TEXT) &&
	       memmem(value->text.bytes, value->text.len, text->text.bytes, text->text.len);
}

static struct value *base64_value(struct arena *arena, const char *text)
{
	size_t len = 0;
	char *room = arena_alloc(arena, strlen(text) + 1);

	if (base64_read(text, room, strlen(text) + 1, &len) < 0)
		die(text, "not base64");
	return value_bytes(arena, room, len);
}

static bool same_bytes(struct arena *arena, const char *base64, const struct value *value)
{
	const struct value *bytes = base64_value(arena, base64);

	return (value_is(value, VALUE_TEXT) || value_is(value, VALUE_BYTES)) &&
	       value->text.len == bytes->text.len &&
	       memcmp(value->text.bytes, bytes->text.bytes, bytes->text.len) == 0;
}

static double number_of(const struct value *value)
{
	return value_is(value, VALUE_REAL)   ? value->real
	       : value_is(value, VALUE_UINT) ? (double)value->uinteger
					     : (double)value_as_int(value, 0);
}

static bool each_matches(
	struct arena *arena, const struct value *pattern, const struct value *value)
{
	if (!value_is(value, VALUE_LIST))
		return false;
	for (size_t i = 0; i < value->list.count; i++) {
		if (!matches(arena, pattern, value->list.items[i]))
			return false;
	}
	return true;
}

static bool special_matches(struct arena *arena, const char *word, const struct value *wanted,
	const struct value *value)
{
	if (strcmp(word, "$any") == 0)
		return value != NULL;
	if (strcmp(word, "$absent") == 0)
		return value == NULL;
	if (strcmp(word, "$type") == 0)
		return is_one_type(arena, value_as_text(wanted), value);
	if (strcmp(word, "$matches") == 0)
		return is_found(arena, wanted, value);
	if (strcmp(word, "$contains") == 0)
		return has_text(wanted, value);
	if (strcmp(word, "$bytes") == 0)
		return same_bytes(arena, value_as_text(wanted), value);
	if (strcmp(word, "$min") == 0)
		return value && is_type("number", value) && number_of(value) >= number_of(wanted);
	if (strcmp(word, "$each") == 0)
		return each_matches(arena, wanted, value);
	die(word, "there is no such pattern");
	return false;
}

static bool matches(struct arena *arena, const struct value *pattern, const struct value *value)
{
	const char *word = special(pattern);

	if (word)
		return special_matches(arena, word, pattern->map.entries[0].value, value);
	if (value_is(pattern, VALUE_LIST)) {
		if (!value_is(value, VALUE_LIST) || value->list.count != pattern->list.count)
			return false;
		for (size_t i = 0; i < value->list.count; i++) {
			if (!matches(arena, pattern->list.items[i], value->list.items[i]))
				return false;
		}
		return true;
	}
	if (value_is(pattern, VALUE_MAP)) {
		for (size_t i = 0; i < pattern->map.count; i++) {
			const struct value_entry *entry = &pattern->map.entries[i];

			if (!matches(arena, entry->value,
				    value_get_len(value, entry->key, entry->key_len)))
				return false;
		}
		return value_is(value, VALUE_MAP);
	}
	return value && value_equal(pattern, value);
}

/* The first place where it does not match is named. */
static void expect(struct player *player, const char *what, const struct value *pattern,
	const struct value *value)
{
	if (!pattern || matches(&player->arena, pattern, value))
		return;
	if (value_is(pattern, VALUE_MAP) && value_is(value, VALUE_MAP) && !special(pattern)) {
		for (size_t i = 0; i < pattern->map.count; i++) {
			const char *key = pattern->map.entries[i].key;

			expect(player, arena_printf(&player->arena, "%s/%s", what, key),
				pattern->map.entries[i].value, value_get(value, key));
		}
	}
	say_wrong(player, what, pattern, value);
}

/* ---- params --------------------------------------------------------------------------------- */

/* Params with what earlier steps have saved, and with bytes. */
static struct value *filled(struct player *player, const struct value *params)
{
	struct arena *arena = &player->arena;
	const char *word = special(params);
	struct value *made;

	if (word && strcmp(word, "$saved") == 0)
		return value_get(player->saved, value_as_text(params->map.entries[0].value));
	if (word && strcmp(word, "$bytes") == 0)
		return base64_value(arena, value_as_text(params->map.entries[0].value));
	if (value_is(params, VALUE_LIST)) {
		made = value_list(arena);
		for (size_t i = 0; i < params->list.count; i++)
			(void)value_list_add(arena, made, filled(player, params->list.items[i]));
		return made;
	}
	if (!value_is(params, VALUE_MAP))
		return value_copy(arena, params);
	made = value_map(arena);
	for (size_t i = 0; i < params->map.count; i++)
		(void)value_map_put_len(arena, made, params->map.entries[i].key,
			params->map.entries[i].key_len,
			filled(player, params->map.entries[i].value));
	return made;
}

static struct value *pointed(struct value *value, const char *pointer)
{
	char key[64];

	while (value && *pointer == '/') {
		size_t len = strcspn(++pointer, "/");

		cut_printf(key, sizeof(key), "%.*s", (int)len, pointer);
		value = value_is(value, VALUE_LIST) ? value_at(value, strtoul(key, NULL, 10))
						    : value_get(value, key);
		pointer += len;
	}
	return value;
}

static struct ced_value packed(struct arena *arena, const struct value *value)
{
	struct ced_value made = { NULL, 0 };
	struct err err = ERR_INIT;
	struct buf buf;

	buf_init(&buf, CASE_BYTES);
	if (wire_encode(&buf, value, &err) < 0)
		die("params", err.text);
	made.bytes = arena_copy(arena, buf.bytes, buf.len);
	made.len = buf.len;
	buf_done(&buf);
	return made;
}

static struct value *unpacked(struct arena *arena, struct ced_value value)
{
	struct err err = ERR_INIT;
	struct value *made;

	if (value.len == 0)
		return NULL;
	made = wire_decode_in_place(
		arena, arena_copy(arena, value.bytes, value.len), value.len, NULL, &err);
	if (!made)
		die("an answer", err.text);
	return made;
}

static const char *json_text(struct arena *arena, const struct value *value)
{
	struct bytes text = { NULL, 0 };
	struct err err = ERR_INIT;

	if (!value)
		return NULL;
	if (json_write_text(arena, value, JSON_WRITE_COMPACT, CASE_BYTES, &text, &err) < 0)
		die("JSON", err.text);
	return text.data;
}

/* ---- a job from params ---------------------------------------------------------------------- */

static bool all_are(const struct value *value, enum value_type container, enum value_type type)
{
	if (!value_is(value, container))
		return false;
	if (container == VALUE_LIST) {
		for (size_t i = 0; i < value->list.count; i++) {
			if (!value_is(value->list.items[i], type))
				return false;
		}
		return true;
	}
	for (size_t i = 0; i < value->map.count; i++) {
		if (!value_is(value->map.entries[i].value, type))
			return false;
	}
	return true;
}

static bool take_args(struct arena *arena, const struct value *value, struct ced_job *job)
{
	const char **args;

	if (!all_are(value, VALUE_LIST, VALUE_TEXT))
		return false;
	args = arena_array(arena, const char *, value->list.count + 1);
	for (size_t i = 0; i < value->list.count; i++)
		args[i] = value->list.items[i]->text.bytes;
	job->args = args;
	job->arg_count = value->list.count;
	return true;
}

static bool take_env(struct arena *arena, const struct value *value, struct ced_job *job)
{
	struct ced_pair *env;

	if (!all_are(value, VALUE_MAP, VALUE_TEXT))
		return false;
	env = arena_array(arena, struct ced_pair, value->map.count + 1);
	for (size_t i = 0; i < value->map.count; i++)
		env[i] = (struct ced_pair){ value->map.entries[i].key,
			value->map.entries[i].value->text.bytes };
	job->env = env;
	job->env_count = value->map.count;
	return true;
}

static bool take_limits(struct arena *arena, const struct value *value, struct ced_job *job)
{
	struct ced_limit *limits;

	if (!all_are(value, VALUE_MAP, VALUE_INT))
		return false;
	limits = arena_array(arena, struct ced_limit, value->map.count + 1);
	for (size_t i = 0; i < value->map.count; i++)
		limits[i] = (struct ced_limit){ value->map.entries[i].key,
			value->map.entries[i].value->integer };
	job->limits = limits;
	job->limit_count = value->map.count;
	return true;
}

static bool take_files(struct arena *arena, const struct value *value, struct ced_job *job)
{
	struct ced_file *files;

	if (!all_are(value, VALUE_LIST, VALUE_MAP))
		return false;
	files = arena_array(arena, struct ced_file, value->list.count + 1);
	for (size_t i = 0; i < value->list.count; i++) {
		const struct value *file = value->list.items[i];
		const struct value *data = value_get(file, "data");

		files[i].path = value_as_text(value_get(file, "path"));
		files[i].blob = value_as_text(value_get(file, "blob"));
		files[i].mode = (unsigned)value_as_int(value_get(file, "mode"), 0);
		files[i].data = data ? data->text.bytes : NULL;
		files[i].len = data ? data->text.len : 0;
	}
	job->files = files;
	job->file_count = value->list.count;
	return true;
}

static bool take_stdin(struct arena *arena, const struct value *value, struct ced_job *job)
{
	(void)arena;
	if (!value_is(value, VALUE_TEXT) && !value_is(value, VALUE_BYTES))
		return false;
	job->stdin_bytes = value->text.bytes;
	job->stdin_len = value->text.len;
	return true;
}

static bool take_code(struct arena *arena, const struct value *value, struct ced_job *job)
{
	(void)arena;
	if (!value_is(value, VALUE_TEXT) || value->text.len == 0)
		return false;
	job->code = value->text.bytes;
	job->code_len = value->text.len;
	return true;
}

static bool take_input(struct arena *arena, const struct value *value, struct ced_job *job)
{
	job->input_json = json_text(arena, value);
	return true;
}

static bool take_schema(struct arena *arena, const struct value *value, struct ced_job *job)
{
	job->schema_json = json_text(arena, value);
	return true;
}

#define TAKE_TEXT(name)                                                              \
	static bool take_##name(                                                     \
		struct arena *arena, const struct value *value, struct ced_job *job) \
	{                                                                            \
		(void)arena;                                                         \
		job->name = value_as_text(value);                                    \
		return job->name != NULL;                                            \
	}
#define TAKE_TRUE(name)                                                              \
	static bool take_##name(                                                     \
		struct arena *arena, const struct value *value, struct ced_job *job) \
	{                                                                            \
		(void)arena;                                                         \
		job->name = value_as_bool(value, false);                             \
		return job->name;                                                    \
	}

TAKE_TEXT(language)
TAKE_TEXT(policy)
TAKE_TEXT(session)
TAKE_TEXT(id)
TAKE_TEXT(run_id)
TAKE_TEXT(agent)
TAKE_TEXT(task)
TAKE_TRUE(display)
TAKE_TRUE(detach)

/* What struct ced_job has a field for.  A value that does not fit the field goes into `more`. */
static const struct {
	const char *key;
	bool (*take)(struct arena *arena, const struct value *value, struct ced_job *job);
} fields[] = {
	{ "language", take_language },
	{ "code", take_code },
	{ "args", take_args },
	{ "env", take_env },
	{ "stdin", take_stdin },
	{ "input", take_input },
	{ "files", take_files },
	{ "limits", take_limits },
	{ "schema", take_schema },
	{ "policy", take_policy },
	{ "session", take_session },
	{ "id", take_id },
	{ "run_id", take_run_id },
	{ "agent", take_agent },
	{ "task", take_task },
	{ "display", take_display },
	{ "detach", take_detach },
};

static bool take_field(struct arena *arena, const struct value_entry *entry, struct ced_job *job)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (strcmp(entry->key, fields[i].key) == 0)
			return fields[i].take(arena, entry->value, job);
	}
	return false;
}

static void fill_job(struct arena *arena, const struct value *params, struct ced_job *job)
{
	struct value *more = value_map(arena);

	for (size_t i = 0; i < params->map.count; i++) {
		const struct value_entry *entry = &params->map.entries[i];

		if (!take_field(arena, entry, job))
			(void)value_map_put_len(
				arena, more, entry->key, entry->key_len, entry->value);
	}
	job->more = packed(arena, more);
}

/* ---- tools and events ----------------------------------------------------------------------- */

/* A tool of the case: gives its answers in turn, and notes its calls. */
static int call_tool(void *context, struct ced_value args, struct ced_buffer *result)
{
	struct host_tool *tool = context;
	struct arena *arena = &tool->step->player->arena;
	const struct value *answers = value_get(tool->tool, "answers");
	size_t last = answers->list.count - 1;
	const struct value *answer = value_at(answers, tool->count < last ? tool->count : last);
	const struct value *error = value_get(answer, "error");
	struct value *call = value_map(arena);

	tool->count++;
	(void)value_map_put(arena, call, "tool", value_get(tool->tool, "name"));
	(void)value_map_put(arena, call, "args", unpacked(arena, args));
	(void)value_list_add(arena, tool->step->calls, call);
	if (error) {
		(void)ced_buffer_write(result, error->text.bytes, error->text.len);
		return -1;
	}
	ced_put_value(result, packed(arena, value_get(answer, "result")));
	return 0;
}

static void offer_tools(struct step *step, struct ced_job *job)
{
	const struct value *offered = value_get(step->step, "tools");
	struct arena *arena = &step->player->arena;
	struct ced_tool *tools;

	if (!offered)
		return;
	tools = arena_array(arena, struct ced_tool, offered->list.count);
	for (size_t i = 0; i < offered->list.count; i++) {
		struct host_tool *tool = arena_new(arena, struct host_tool);

		*tool = (struct host_tool){ step, offered->list.items[i], 0 };
		tools[i].name = value_as_text(value_get(tool->tool, "name"));
		tools[i].description = value_as_text(value_get(tool->tool, "about"));
		tools[i].params_json = json_text(arena, value_get(tool->tool, "params"));
		tools[i].result_json = json_text(arena, value_get(tool->tool, "result"));
		tools[i].context = tool;
		tools[i].call = call_tool;
	}
	job->tools = tools;
	job->tool_count = offered->list.count;
}

/* Pieces of one stream that follow one another are one event. */
static bool joins(struct step *step, const struct value *params)
{
	size_t count = step->events->list.count;
	struct arena *arena = &step->player->arena;
	const struct value *piece = value_get(params, "data");
	struct value *last = count ? value_at(step->events, count - 1) : NULL;
	struct value *data = value_get(last, "data");
	char *both;

	if (!last || strcmp(value_as_text(value_get(last, "type")), "output") != 0 ||
		!value_equal(value_get(last, "stream"), value_get(params, "stream")))
		return false;
	both = arena_alloc(arena, data->text.len + piece->text.len);
	memcpy(both, data->text.bytes, data->text.len);
	memcpy(both + data->text.len, piece->text.bytes, piece->text.len);
	*data = *value_blob_borrowed(arena, both, data->text.len + piece->text.len);
	return true;
}

/* An event as the cases name it: a call that waits is "parked", as a run is. */
static void note_event(struct step *step, const char *type, const struct value *params)
{
	struct arena *arena = &step->player->arena;
	struct value *event = value_map(arena);
	bool is_asked = strcmp(type, "call_asked") == 0;

	if (strcmp(type, "output") == 0 && joins(step, params))
		return;
	(void)value_map_put(arena, event, "type", value_text(arena, is_asked ? "parked" : type));
	for (size_t i = 0; i < params->map.count; i++) {
		const char *key = params->map.entries[i].key;
		struct value *item = params->map.entries[i].value;
		struct value *policy = value_map(arena);

		if (is_asked && strcmp(key, "policy") == 0) {
			(void)value_map_put(arena, policy, "name", item);
			item = policy;
		}
		(void)value_map_put(arena, event, key, item);
	}
	(void)value_list_add(arena, step->events, event);
}

static int on_event(void *context, const char *method, struct ced_value raw)
{
	struct step *step = context;
	struct arena *arena = &step->player->arena;
	const struct value *wanted = value_get(step->step, "cancel_when");

	if (strcmp(method, "run.started") == 0)
		step->msgid = (uint32_t)ced_uint(ced_get(raw, "msgid"), 0);
	else if (strcmp(method, "run.call_over") != 0)
		note_event(step, method + strlen("run."), unpacked(arena, raw));
	for (size_t i = 0; wanted && !step->canceled && i < step->events->list.count; i++) {
		if (!matches(arena, wanted, value_at(step->events, i)))
			continue;
		step->canceled = true;
		(void)ced_cancel(step->player->client, step->msgid, NULL);
	}
	return 0;
}

/* ---- playing -------------------------------------------------------------------------------- */

static int play_run(struct step *step, const struct value *params, struct ced_answer *answer,
	struct ced_error *error)
{
	bool streamed = value_get(step->step, "events") || value_get(step->step, "cancel_when");
	struct ced_watch watch = { .context = step, .on_event = streamed ? on_event : NULL };
	struct ced_job job = { 0 };

	fill_job(&step->player->arena, params, &job);
	offer_tools(step, &job);
	job.stream = streamed;
	return ced_run(step->player->client, &job, &watch, answer, error);
}

static int play_call(struct step *step, const struct value *params, struct ced_answer *answer,
	struct ced_error *error)
{
	struct player *player = step->player;
	const char *method = value_as_text(value_get(step->step, "call"));
	const char *run_id = value_as_text(value_get(params, "run_id"));

	if (strcmp(method, "run") == 0)
		return play_run(step, params, answer, error);
	if (strcmp(method, "wait") == 0 && run_id && params->map.count == 1)
		return ced_wait(player->client, run_id, NULL, answer, error);
	return ced_call(
		player->client, method, packed(&player->arena, params), NULL, answer, error);
}

/* An error reaches the caller as a struct and as a whole. */
static void expect_error(
	struct step *step, const struct ced_answer *answer, const struct ced_error *error)
{
	struct player *player = step->player;
	const struct value *wanted = value_get(step->step, "error");
	struct value *got = unpacked(&player->arena, answer->error);

	if (!wanted || error->failure != CED_REFUSED || !got)
		say_wrong(player, "error", wanted, value_text(&player->arena, error->message));
	expect(player, "error", wanted, got);
	expect(player, "word of the error", value_get(got, "code"),
		value_text(&player->arena, error->word));
	expect(player, "pointer of the error", value_get(value_get(got, "data"), "pointer"),
		value_text(&player->arena, error->pointer));
}

static void save(struct step *step, struct value *result)
{
	struct player *player = step->player;
	const struct value *names = value_get(step->step, "save");

	for (size_t i = 0; names && i < names->map.count; i++) {
		const char *name = names->map.entries[i].key;
		struct value *part = pointed(result, value_as_text(names->map.entries[i].value));
		struct value *before = value_get(player->saved, name);

		if (before)
			*before = *part;
		else
			(void)value_map_put(&player->arena, player->saved, name, part);
	}
}

static void play_step(struct player *player, const struct value *described)
{
	static const struct value none = { .type = VALUE_MAP };
	const struct value *params = value_get(described, "params");
	struct step step = { player, described, value_list(&player->arena),
		value_list(&player->arena), 0, false };
	struct ced_answer answer = { 0 };
	struct ced_error error = { 0 };
	struct value *result;

	params = filled(player, params ? params : &none);
	if (play_call(&step, params, &answer, &error) < 0) {
		expect_error(&step, &answer, &error);
	} else {
		result = unpacked(&player->arena, answer.result);
		if (value_get(described, "error"))
			say_wrong(player, "error", value_get(described, "error"), result);
		expect(player, "result", value_get(described, "result"), result);
		save(&step, result);
	}
	expect(player, "events", value_get(described, "events"), step.events);
	expect(player, "calls", value_get(described, "calls"), step.calls);
	ced_answer_done(&answer);
}

/* Prints the line of one case.  Whether it is as it should be. */
static bool play_case(const struct value *described, int number)
{
	const struct value *steps = value_get(described, "steps");
	struct player player = { 0 };
	struct ced_error error;
	size_t i = 0;

	arena_init(&player.arena, CASE_BYTES);
	player.saved = value_map(&player.arena);
	player.client = ced_connect(NULL, 0, &error);
	if (!player.client)
		die("ced_connect", error.message);
	while (i < steps->list.count && !player.wrong[0])
		play_step(&player, steps->list.items[i++]);
	(void)printf("%sok %d - %s\n", player.wrong[0] ? "not " : "", number,
		value_as_text(value_get(described, "name")));
	if (player.wrong[0])
		(void)printf("# step %zu (%s): %s\n", i,
			value_as_text(value_get(value_at(steps, i - 1), "call")), player.wrong);
	ced_close(player.client);
	arena_done(&player.arena);
	return !player.wrong[0];
}

/* The runtimes of the daemon, as `runtimes` says. */
static struct value *find_runtimes(struct arena *arena)
{
	struct ced_answer answer = { 0 };
	struct ced_error error;
	struct ced_client *client = ced_connect(NULL, 0, &error);
	struct value *result;

	if (!client || ced_call_json(client, "runtimes", NULL, NULL, &answer, &error) < 0)
		die("runtimes", error.message);
	result = unpacked(arena, answer.result);
	ced_answer_done(&answer);
	ced_close(client);
	return value_get(result, "runtimes");
}

/* The first runtime that a case needs and the daemon lacks, or NULL. */
static const char *lacks(const struct value *described, const struct value *runtimes)
{
	const struct value *needs = value_get(described, "needs");

	for (size_t i = 0; needs && i < needs->list.count; i++) {
		bool is_there = false;

		for (size_t at = 0; at < runtimes->list.count; at++)
			is_there =
				is_there || value_equal(value_get(value_at(runtimes, at), "name"),
						    needs->list.items[i]);
		if (!is_there)
			return value_as_text(needs->list.items[i]);
	}
	return NULL;
}

static struct value *read_cases(struct arena *arena, const char *path)
{
	struct value *file = NULL;
	struct err err = ERR_INIT;
	auto_free char *text = NULL;
	size_t len = 0;

	if (read_file(path, CASE_BYTES, &text, &len, &err) < 0 ||
		json_parse(arena, text, len, NULL, &file, &err) < 0)
		die(path, err.text);
	return value_get(file, "cases");
}

int main(int argc, char **argv)
{
	struct value *runtimes;
	struct arena arena;
	int number = 0;
	int failed = 0;

	arena_init(&arena, CASE_BYTES);
	runtimes = find_runtimes(&arena);
	for (int i = 1; i < argc; i++) {
		const struct value *cases = read_cases(&arena, argv[i]);

		for (size_t at = 0; at < cases->list.count; at++) {
			const struct value *described = value_at(cases, at);
			const char *lacking = lacks(described, runtimes);

			number++;
			if (lacking)
				(void)printf("ok %d - %s # SKIP this daemon has no runtime %s\n",
					number, value_as_text(value_get(described, "name")),
					lacking);
			else
				failed += !play_case(described, number);
			(void)fflush(stdout);
		}
	}
	(void)printf("1..%d\n", number);
	arena_done(&arena);
	return failed || !number;
}
