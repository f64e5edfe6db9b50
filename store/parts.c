#include "store/parts.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/base/utf8.h"
#include "proto/json.h"
#include "store/db.h"
#include "store/record.h"

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "the store: no memory for a record");
}

/*
 * Which keys of a result have a place of their own; the others are written together as `more`, also
 * those that are invented after this was written.
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
	{ "cached", PLACE_COLUMN },
	{ "cached_from", PLACE_COLUMN },
	{ "limits", PLACE_SETTING },
	{ "runtime", PLACE_SETTING },
	{ "policy", PLACE_POLICY },
};

/* And of a request. */
static const char *const request_columns[] = { "id", "language", "code", "entrypoint", "stdin",
	"input", "files", "policy", "task", "agent" };

static enum place place_of(const struct value_entry *entry, bool found_something)
{
	for (size_t i = 0; i < COUNT_OF(result_places); i++) {
		if (strcmp(result_places[i].key, entry->key) != 0)
			continue;
		if (result_places[i].place != PLACE_POLICY)
			return result_places[i].place;
		/* A verdict without findings is the same for most runs. */
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

/* The entry under another roof. */
static void move_entry(struct arena *arena, struct value *map, const struct value_entry *entry)
{
	(void)value_map_put_len(arena, map, entry->key, entry->key_len, entry->value);
}

static int to_json(
	struct store *store, const struct value *value, struct bytes *ret_text, struct err *err)
{
	return json_write_text(
		&store->scratch, value, JSON_WRITE_BASE64, RECORD_JSON_BYTES_MAX, ret_text, err);
}

int parts_request(
	struct store *store, const struct job_spec *spec, struct bytes *ret_text, struct err *err)
{
	struct value *whole = job_spec_to_value(&store->scratch, spec);
	struct value *rest = value_map(&store->scratch);

	if (!whole || !rest)
		return no_memory(err);
	for (size_t i = 0; i < whole->map.count; i++) {
		if (!is_request_column(whole->map.entries[i].key))
			move_entry(&store->scratch, rest, &whole->map.entries[i]);
	}
	if (spec->secret_count)
		(void)value_map_put(&store->scratch, rest, "secrets",
			value_uint(&store->scratch, spec->secret_count));
	return store->scratch.failed ? no_memory(err) : to_json(store, rest, ret_text, err);
}

/* ---- the trace ---------------------------------------------------------------------------- */

static int put_text(struct buf *buf, const char *before, const char *text)
{
	size_t len = strlen(text);
	const struct value value = { .type = utf8_is_valid(text, len) ? VALUE_TEXT : VALUE_BYTES,
		.text = { .bytes = text, .len = len } };

	if (buf_append_text(buf, before) < 0)
		return -1;
	return json_write(buf, &value, JSON_WRITE_BASE64, NULL);
}

static int put_step(struct buf *buf, const struct job_step *step)
{
	char middle[64];

	(void)snprintf(middle, sizeof(middle), ",\"t_us\":%lld,\"phase\":", (long long)step->t_us);
	if (put_text(buf, "{\"step\":", step->step ? step->step : "") < 0 ||
		put_text(buf, middle, step->phase ? step->phase : "") < 0 ||
		buf_append_text(buf, step->ok ? ",\"ok\":true" : ",\"ok\":false") < 0)
		return -1;
	if (step->note && put_text(buf, ",\"note\":", step->note) < 0)
		return -1;
	return buf_append_byte(buf, '}');
}

int parts_begun(
	struct store *store, const struct store_run *run, struct bytes *ret_text, struct err *err)
{
	struct buf *text = &store->text;

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

/*
 * The steps as job_result_to_value() would have them.  They are the larger half of a small result,
 * and written straight they cost a third of what building values of them first does.
 */
static int put_trace(struct buf *buf, const struct job_result *result)
{
	for (size_t i = 0; i < result->step_count; i++) {
		if (buf_append_byte(buf, i ? ',' : '[') < 0 || put_step(buf, &result->steps[i]) < 0)
			return -1;
	}
	return buf_append_byte(buf, ']');
}

static int trace_to_json(struct store *store, const struct job_result *result,
	struct bytes *ret_text, struct err *err)
{
	if (!result->step_count)
		return 0;
	store->text.len = 0;
	if (put_trace(&store->text, result) < 0)
		return no_memory(err);
	*ret_text = (struct bytes){ store->text.bytes, store->text.len };
	return 0;
}

/* ---- the result --------------------------------------------------------------------------- */

static int share_out(
	struct store *store, struct parts *parts, bool found_something, struct err *err)
{
	struct arena *arena = &store->scratch;
	struct value *setting = value_map(arena);
	struct value *more = value_map(arena);

	if (!parts->whole || !setting || !more)
		return no_memory(err);
	for (size_t i = 0; i < parts->whole->map.count; i++) {
		const struct value_entry *entry = &parts->whole->map.entries[i];
		enum place place = place_of(entry, found_something);

		if (place == PLACE_MORE)
			move_entry(arena, more, entry);
		else if (place == PLACE_SETTING)
			move_entry(arena, setting, entry);
	}
	if (arena->failed)
		return no_memory(err);
	if (to_json(store, setting, &parts->setting, err) < 0)
		return -1;
	return to_json(store, more, &parts->more, err);
}

/* Beside the limits in force, which the request has. */
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

int parts_result(struct store *store, const struct job_result *result, const struct value *asked,
	struct parts *ret_parts, struct err *err)
{
	struct job_result rest = *result;

	rest.step_count = 0;
	if (trace_to_json(store, result, &ret_parts->trace, err) < 0)
		return -1;
	ret_parts->whole = job_result_to_value(&store->scratch, &rest);
	if (ret_parts->whole && put_asked(&store->scratch, ret_parts->whole, asked) < 0)
		return no_memory(err);
	return share_out(store, ret_parts, result->verdict.finding_count > 0, err);
}
