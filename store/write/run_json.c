#include "store/write/run_json.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/base/utf8.h"
#include "proto/json.h"
#include "store/base/record.h"
#include "store/store.h"

#define MEMORY_MAX ((size_t)256 << 20)

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "the store: no memory for a record");
}

/*
 * The keys of a result that have a column.  All others, also future ones, are written to the column
 * `more`.
 */
enum place {
	PLACE_MORE,
	PLACE_COLUMN,
	PLACE_SETTING,
	PLACE_POLICY
};

static const struct {
	const char *key;
	enum place place;
} result_places[] = {
	{ "run_id", PLACE_COLUMN },
	{ "outcome", PLACE_COLUMN },
	{ "ok", PLACE_COLUMN },
	{ "reason", PLACE_COLUMN },
	{ "ran", PLACE_COLUMN },
	{ "stdout", PLACE_COLUMN },
	{ "stdout_tail", PLACE_COLUMN },
	{ "stdout_bytes", PLACE_COLUMN },
	{ "stderr", PLACE_COLUMN },
	{ "stderr_tail", PLACE_COLUMN },
	{ "stderr_bytes", PLACE_COLUMN },
	{ "metrics", PLACE_COLUMN },
	{ "code_hash", PLACE_COLUMN },
	{ "input_hash", PLACE_COLUMN },
	{ "trace", PLACE_COLUMN },
	{ "artifacts", PLACE_COLUMN },
	{ "display", PLACE_COLUMN },
	{ "cached", PLACE_COLUMN },
	{ "cached_from", PLACE_COLUMN },
	{ "limits", PLACE_SETTING },
	{ "runtime", PLACE_SETTING },
	{ "policy", PLACE_POLICY },
};

/* The keys of a request that have a column. */
static const char *const request_columns[] = { "id", "language", "code", "entrypoint", "stdin",
	"input", "files", "policy", "task", "agent", "session" };

static enum place place_of(const struct value_entry *entry, bool found_something)
{
	for (size_t i = 0; i < COUNT_OF(result_places); i++) {
		if (strcmp(result_places[i].key, entry->key) != 0)
			continue;
		if (result_places[i].place != PLACE_POLICY)
			return result_places[i].place;
		/* A verdict without findings is the same for most runs, like the setting. */
		return found_something ? PLACE_MORE : PLACE_SETTING;
	}
	return PLACE_MORE;
}

static bool is_request_column(const char *key)
{
	for (size_t i = 0; i < COUNT_OF(request_columns); i++) {
		if (strcmp(request_columns[i], key) == 0)
			return true;
	}
	return false;
}

static void move_entry(struct arena *arena, struct value *map, const struct value_entry *entry)
{
	(void)value_map_put_len(arena, map, entry->key, entry->key_len, entry->value);
}

void run_json_init(struct run_json *json)
{
	arena_init(&json->arena, MEMORY_MAX);
	buf_init(&json->text, MEMORY_MAX);
}

void run_json_clear(struct run_json *json)
{
	arena_done(&json->arena);
}

void run_json_done(struct run_json *json)
{
	arena_done(&json->arena);
	buf_done(&json->text);
}

static int to_json(
	struct run_json *json, const struct value *value, struct bytes *ret_text, struct err *err)
{
	return json_write_text(
		&json->arena, value, JSON_WRITE_BASE64, RECORD_JSON_BYTES_MAX, ret_text, err);
}

int run_json_value(
	struct run_json *json, const struct value *value, struct bytes *ret_text, struct err *err)
{
	return to_json(json, value, ret_text, err);
}

int run_json_request(
	struct run_json *json, const struct job_spec *spec, struct bytes *ret_text, struct err *err)
{
	struct value *whole = job_spec_to_value(&json->arena, spec);
	struct value *rest = value_map(&json->arena);

	if (!whole || !rest)
		return no_memory(err);
	for (size_t i = 0; i < whole->map.count; i++) {
		if (!is_request_column(whole->map.entries[i].key))
			move_entry(&json->arena, rest, &whole->map.entries[i]);
	}
	if (spec->secret_count)
		(void)value_map_put(&json->arena, rest, "secrets",
			value_uint(&json->arena, spec->secret_count));
	return json->arena.failed ? no_memory(err) : to_json(json, rest, ret_text, err);
}

/* ---- the policy ---------------------------------------------------------------------------- */

static int put_text(struct buf *buf, const char *before, const char *text)
{
	size_t len = strlen(text);
	const struct value value = { .type = utf8_is_valid(text, len) ? VALUE_TEXT : VALUE_BYTES,
		.text = { .bytes = text, .len = len } };

	if (buf_append_text(buf, before) < 0)
		return -1;
	return json_write(buf, &value, JSON_WRITE_BASE64, NULL);
}

int run_json_begun(
	struct run_json *json, const struct store_run *run, struct bytes *ret_text, struct err *err)
{
	struct buf *text = &json->text;

	*ret_text = (struct bytes){ NULL, 0 };
	if (!run->policy_digest || !run->policy_decision || !run->policy)
		return 0;
	text->len = 0;
	if (put_text(text, "{\"policy\":{\"name\":", run->policy) < 0 ||
		put_text(text, ",\"decision\":", run->policy_decision) < 0 ||
		put_text(text, ",\"digest\":", run->policy_digest) < 0 ||
		buf_append_text(text, "}}") < 0)
		return no_memory(err);
	*ret_text = (struct bytes){ text->bytes, text->len };
	return 0;
}

/* ---- the result --------------------------------------------------------------------------- */

static int distribute(
	struct run_json *json, struct run_columns *columns, bool found_something, struct err *err)
{
	struct arena *arena = &json->arena;
	struct value *setting = value_map(arena);
	struct value *more = value_map(arena);

	if (!setting || !more)
		return no_memory(err);
	for (size_t i = 0; i < columns->whole->map.count; i++) {
		const struct value_entry *entry = &columns->whole->map.entries[i];
		enum place place = place_of(entry, found_something);

		if (place == PLACE_MORE)
			move_entry(arena, more, entry);
		else if (place == PLACE_SETTING)
			move_entry(arena, setting, entry);
	}
	if (arena->failed)
		return no_memory(err);
	if (to_json(json, setting, &columns->setting, err) < 0)
		return -1;
	return to_json(json, more, &columns->more, err);
}

/* The record has them beside the limits in force. */
static int put_asked(struct arena *arena, struct value *whole, const struct value *asked)
{
	struct value *copy;

	if (!value_is(asked, VALUE_MAP) || !asked->map.count)
		return 0;
	copy = arena_new(arena, struct value);
	if (copy)
		*copy = *asked;
	return value_map_put(arena, whole, "limits_asked", copy);
}

int run_json_result(struct run_json *json, const struct job_result *result,
	const struct value *asked, struct run_columns *ret_columns, struct err *err)
{
	const struct value *trace;

	ret_columns->whole = job_result_to_value(&json->arena, result);
	if (!ret_columns->whole || put_asked(&json->arena, ret_columns->whole, asked) < 0)
		return no_memory(err);
	trace = value_get(ret_columns->whole, "trace");
	if (trace && to_json(json, trace, &ret_columns->trace, err) < 0)
		return -1;
	return distribute(json, ret_columns, result->verdict.finding_count > 0, err);
}
