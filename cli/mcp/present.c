#include "cli/mcp/present.h"

#include <string.h>

#include "cli/base/safe.h"
#include "cli/session/explanation.h"
#include "cli/terminal/output.h"
#include "proto/base/container.h"
#include "proto/json.h"

#define VALUE_BYTES_MAX ((size_t)64 << 10) /* a larger JSON output is read by pages */
#define ITEMS_MAX       32

static const char *word(struct answer *answer, const struct value *map, const char *key)
{
	return output_text(answer->arena, value_get(map, key));
}

static void put_all(struct answer *answer, const struct value *map, const char *const *keys)
{
	for (; *keys; keys++)
		answer_put(answer, *keys, value_get(map, *keys));
}

/* ---- one run ------------------------------------------------------------------------------- */

/* The daemon may read the first and the last message of a short program together. */
static const struct value *worked_us(struct answer *answer, const struct value *metrics)
{
	return value_int(answer->arena, value_as_int(value_get(metrics, "start_us"), 0) +
						value_as_int(value_get(metrics, "exec_us"), 0));
}

/* Of a cell after which its session is not where the model thinks. */
static void say_where_it_stands(struct answer *answer, const struct value *session)
{
	if (word(answer, session, "why")[0])
		answer_say(answer,
			"Its session has ended, and all its variables and files are gone: "
			"open_session opens another one.\n");
	else if (value_as_int(value_get(session, "went_back"), -1) == 0)
		answer_say(answer, "The cell is undone: the session begins anew.\n");
	else if (value_get(session, "went_back"))
		answer_say(answer, "The cell is undone: the session has what it had before it.\n");
}

/* "outcome: exit, exit code 3, 12.3 ms, run 01J..." and what ced says of it. */
static void say_end(struct answer *answer, const struct value *run)
{
	const char *outcome = word(answer, run, "outcome");
	const struct value *metrics = value_get(run, "metrics");

	if (!outcome[0]) {
		if (!value_get(run, "state"))
			answer_put(answer, "state", value_text(answer->arena, "running"));
		answer_say(answer,
			"The run has not ended (state: %s); run %s. wait_run waits for it.\n",
			value_get(run, "state") ? word(answer, run, "state") : "running",
			word(answer, run, "run_id"));
		return;
	}
	answer_say(answer, "outcome: %s", outcome);
	if (value_is(value_get(run, "exit_code"), VALUE_INT))
		answer_say(answer, ", exit code %s", word(answer, run, "exit_code"));
	if (value_is(value_get(run, "signal"), VALUE_TEXT))
		answer_say(answer, ", %s", word(answer, run, "signal"));
	if (value_get(metrics, "exec_us"))
		answer_say(answer, ", %s",
			output_number(answer->arena, "exec_us", worked_us(answer, metrics)));
	answer_say(answer, ", run %s\n", word(answer, run, "run_id"));
	if (strcmp(outcome, "ok") != 0 && word(answer, run, "reason")[0])
		answer_say(answer, "%s\n", word(answer, run, "reason"));
	say_where_it_stands(answer, value_get(run, "session"));
}

static const struct stream {
	const char *name, *tail, *total;
} streams[] = {
	{ "stdout", "stdout_tail", "stdout_bytes" },
	{ "stderr", "stderr_tail", "stderr_bytes" },
};

static void add_stream(struct answer *answer, const struct value *run, const struct stream *stream,
	struct value *cut)
{
	const struct value *front = value_get(run, stream->name);
	int64_t total = value_as_int(value_get(run, stream->total), 0);
	bool is_cut = false;
	const char *text;

	if (!front || value_is(front, VALUE_NIL))
		return;
	text = answer_shorten(answer->arena, front, value_get(run, stream->tail), total, &is_cut);
	fill_text(&answer->facts, stream->name, text);
	answer_put(answer, stream->total, value_get(run, stream->total));
	if (is_cut)
		value_list_add(answer->arena, cut, value_text(answer->arena, stream->name));
	if (total > 0)
		answer_say(answer, "--- %s of the program, %lld bytes ---\n%s\n--- end of %s ---\n",
			stream->name, (long long)total, text, stream->name);
}

static void add_streams(struct answer *answer, const struct value *run)
{
	struct value *cut = value_list(answer->arena);

	for (size_t i = 0; i < COUNT_OF(streams); i++)
		add_stream(answer, run, &streams[i], cut);
	fill_value(&answer->facts, "cut", cut);
	if (value_at(cut, 0))
		answer_say(answer, "get_output reads the rest, a page at a time.\n");
}

/* The JSON document that the program printed, when it is small enough for a model. */
static void add_value(struct answer *answer, const struct value *run)
{
	const struct value *value = value_get(run, "value");
	struct err err = ERR_INIT;
	struct bytes text;

	if (!value)
		return;
	if (json_write_text(
		    answer->arena, value, JSON_WRITE_COMPACT, VALUE_BYTES_MAX, &text, &err) < 0) {
		fill_bool(&answer->facts, "value_left_out", true);
		return;
	}
	answer_put(answer, "value", value);
}

static void say_each(
	struct answer *answer, const struct value *list, const char *title, const char *const *keys)
{
	for (size_t i = 0; value_at(list, i) && i < ITEMS_MAX; i++) {
		answer_say(answer, "%s", title);
		for (const char *const *key = keys; *key; key++) {
			const char *text = word(answer, value_at(list, i), *key);

			if (text[0])
				answer_say(answer, " %s: %s;", *key, text);
		}
		answer_say(answer, "\n");
	}
}

#define KEYS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void add_faults(struct answer *answer, const struct value *run)
{
	const struct value *policy = value_get(run, "policy");

	say_each(answer, value_get(run, "output_errors"),
		"The output breaks its contract:", KEYS("pointer", "message"));
	if (strcmp(word(answer, policy, "decision"), "allow") != 0)
		say_each(answer, value_get(policy, "findings"),
			"The policy found:", KEYS("rule", "line", "severity", "message", "hint"));
	put_all(answer, run,
		KEYS("error", "evidence", "output_errors", "refused_calls", "budget", "policy"));
}

/* ---- what a run shows ---------------------------------------------------------------------- */

/* One display item: its picture, and its plain text. */
static void add_item(struct answer *answer, const struct value *item, struct value *list)
{
	const struct value *data = value_get(item, "data");
	struct fill fact = fill_start(answer->arena);
	struct value *types = value_list(answer->arena);
	bool cut = false;
	const char *plain;
	int64_t len;

	if (!value_is(data, VALUE_MAP))
		return;
	for (size_t i = 0; i < data->map.count; i++) {
		const struct value_entry *entry = &data->map.entries[i];

		value_list_add(answer->arena, types, value_text(answer->arena, entry->key));
		(void)answer_picture(answer, entry->key, entry->value);
	}
	fill_bool(&fact, "main", value_as_bool(value_get(item, "main"), false));
	fill_value(&fact, "types", types);
	if (value_is(value_get(data, "text/plain"), VALUE_TEXT)) {
		len = (int64_t)value_get(data, "text/plain")->text.len;
		plain = answer_shorten(
			answer->arena, value_get(data, "text/plain"), NULL, len, &cut);
		fill_text(&fact, "text", plain);
		answer_say(answer, "--- shown by the program ---\n%s\n--- end ---\n", plain);
	}
	value_list_add(answer->arena, list, fill_done(&fact));
}

static void add_display(struct answer *answer, const struct value *run)
{
	const struct value *display = value_get(run, "display");
	struct value *list = value_list(answer->arena);

	if (!display || value_is(display, VALUE_NIL))
		return;
	for (size_t i = 0; value_at(display, i) && i < ITEMS_MAX; i++)
		add_item(answer, value_at(display, i), list);
	if (value_at(display, ITEMS_MAX))
		answer_say(answer, "It showed more; get_output reads it: stream display:N:TYPE\n");
	fill_value(&answer->facts, "display", list);
}

static void add_artifacts(struct answer *answer, const struct value *run)
{
	const struct value *artifacts = value_get(run, "artifacts");
	struct value *list = value_list(answer->arena);

	for (size_t i = 0; value_at(artifacts, i); i++) {
		const struct value *artifact = value_at(artifacts, i);
		struct fill fact = fill_start(answer->arena);

		fill_text(&fact, "path", word(answer, artifact, "path"));
		fill_shared(&fact, "bytes", value_get(artifact, "bytes"));
		fill_text(&fact, "mime", word(answer, artifact, "mime"));
		value_list_add(answer->arena, list, fill_done(&fact));
		answer_say(answer, "file: %s, %s bytes%s\n", word(answer, artifact, "path"),
			word(answer, artifact, "bytes"),
			answer_picture(answer, value_as_text(value_get(artifact, "mime")),
				value_get(artifact, "data"))
				? ""
				: " (get_output reads it: stream artifact:PATH)");
	}
	fill_value(&answer->facts, "artifacts", list);
	say_each(answer, value_get(run, "artifacts_skipped"),
		"A file was not taken:", KEYS("path", "reason"));
}

/* Of a record: the program, shortened as its output is. */
static void add_request(struct answer *answer, const struct value *run)
{
	const struct value *code = value_get(value_get(run, "request"), "code");
	bool cut = false;

	if (!value_is(code, VALUE_TEXT) && !value_is(code, VALUE_BYTES))
		return;
	fill_text(&answer->facts, "code",
		answer_shorten(answer->arena, code, NULL, (int64_t)code->text.len, &cut));
	answer_say(answer, "--- the program ---\n%s\n--- end of the program ---\n",
		value_as_text(value_get(answer->facts.map, "code")));
}

PRESENT(run)
{
	const struct value *ok = value_get(result, "ok");

	(void)params;
	answer->failed = value_is(ok, VALUE_BOOL) && !ok->boolean;
	put_all(answer, result,
		KEYS("run_id", "state", "outcome", "ok", "ran", "reason", "exit_code", "signal",
			"language", "received_us", "session", "metrics", "attempt", "code_hash",
			"truncated", "cached", "cached_from"));
	say_end(answer, result);
	add_request(answer, result);
	add_streams(answer, result);
	add_value(answer, result);
	add_display(answer, result);
	add_artifacts(answer, result);
	add_faults(answer, result);
}

/* ---- the others ---------------------------------------------------------------------------- */

PRESENT(check)
{
	const struct value *policy = value_get(result, "policy");

	(void)params;
	put_all(answer, result,
		KEYS("would", "contract", "contract_errors", "code_hash", "policy"));
	answer_say(answer, "would: %s\n", word(answer, result, "would"));
	say_each(answer, value_get(result, "contract_errors"),
		"The request is wrong:", KEYS("pointer", "message"));
	say_each(answer, value_get(policy, "findings"),
		"The policy found:", KEYS("rule", "line", "severity", "message", "hint"));
}

PRESENT(cancel)
{
	(void)result;
	answer_put(answer, "run_id", value_get(params, "run_id"));
	answer_say(answer, "The run %s is being cancelled.\n", word(answer, params, "run_id"));
}

static void add_page_data(struct answer *answer, const struct value *data)
{
	struct value *base64;

	if (!value_is(data, VALUE_BYTES)) {
		answer_put(answer, "text", data);
		answer_say(answer, "--- of the program ---\n%s\n--- end ---\n",
			value_as_text(value_get(answer->facts.map, "text")));
		return;
	}
	base64 = answer_base64(answer->arena, data->text.bytes, data->text.len);
	fill_value(&answer->facts, "base64", base64);
	answer_say(answer, "These bytes are not text. In base64:\n%s\n",
		base64 ? base64->text.bytes : "");
}

PRESENT(output)
{
	const struct value *data = value_get(result, "data");
	int64_t offset = value_as_int(value_get(result, "offset"), 0);
	int64_t len = value_is(data, VALUE_TEXT) || value_is(data, VALUE_BYTES)
			      ? (int64_t)data->text.len
			      : 0;

	put_all(answer, params, KEYS("run_id", "stream"));
	put_all(answer, result, KEYS("offset", "total", "eof"));
	fill_int(&answer->facts, "next_offset", offset + len);
	answer_say(answer, "%s, bytes %lld to %lld of %s%s\n", word(answer, params, "stream"),
		(long long)offset, (long long)offset + len, word(answer, result, "total"),
		value_as_bool(value_get(result, "eof"), false) ? ", the end" : "");
	add_page_data(answer, data);
}

static const struct {
	const char *key, *title;
} parts[EXPLAIN_PARTS] = {
	[EXPLAIN_HAPPENED] = { "happened", "What happened" },
	[EXPLAIN_KNOWN] = { "known", "How that is known" },
	[EXPLAIN_CHANGE] = { "change", "What to change" },
};

static void add_explained(
	struct answer *answer, const struct explanation *explanation, enum explain_part part)
{
	struct value *list = value_list(answer->arena);

	for (size_t i = 0; i < explanation->counts[part]; i++) {
		const char *sentence = explanation->sentences[part][i];

		value_list_add(answer->arena, list, value_text(answer->arena, sentence));
		answer_say(answer, "%s: %s\n", parts[part].title, sentence);
	}
	fill_value(&answer->facts, parts[part].key, list);
}

PRESENT(explain)
{
	struct cli cli = { .json = false };
	struct explanation explanation;

	(void)params;
	arena_init(&cli.arena, (size_t)64 << 20);
	put_all(answer, result, KEYS("run_id", "outcome", "state"));
	answer_say(answer, "run %s: %s\n", word(answer, result, "run_id"),
		value_is(value_get(result, "outcome"), VALUE_TEXT) ? word(answer, result, "outcome")
								   : word(answer, result, "state"));
	if (explain(&cli, result, &explanation) < 0)
		answer->arena->failed = true;
	else
		for (enum explain_part part = 0; part < EXPLAIN_PARTS; part++)
			add_explained(answer, &explanation, part);
	arena_done(&cli.arena);
}

/* A list of maps: a line of text for each, and the same keys as facts. */
static void add_list(struct answer *answer, const struct value *result, const char *name,
	const char *const *keys)
{
	const struct value *from = value_get(result, name);
	struct value *list = value_list(answer->arena);

	for (size_t i = 0; value_at(from, i); i++) {
		struct answer item;

		answer_init(&item, answer->arena);
		put_all(&item, value_at(from, i), keys);
		value_list_add(answer->arena, list, fill_done(&item.facts));
		for (const char *const *key = keys; *key; key++) {
			const char *text = word(answer, value_at(from, i), *key);

			if (text[0])
				answer_say(answer, "%s%s: %s", key == keys ? "" : "; ", *key, text);
		}
		answer_say(answer, "\n");
		answer_done(&item);
	}
	if (!value_at(from, 0))
		answer_say(answer, "There are no %s.\n", name);
	fill_value(&answer->facts, name, list);
}

PRESENT(runs)
{
	(void)params;
	add_list(answer, result, "runs",
		KEYS("run_id", "state", "outcome", "language", "reason", "received_us", "exec_us",
			"stdout_bytes", "stderr_bytes", "task", "agent", "session"));
	answer_put(answer, "more", value_get(result, "more"));
	if (value_as_bool(value_get(result, "more"), false))
		answer_say(answer, "There are older ones: give the last run_id as `before`.\n");
}

PRESENT(runtimes)
{
	(void)params;
	add_list(answer, result, "runtimes",
		KEYS("name", "version", "language", "kind", "preload", "tools", "packages",
			"limits", "trouble"));
}

PRESENT(session)
{
	(void)params;
	put_all(answer, result,
		KEYS("session", "language", "limits", "idle_ms", "age_ms", "expires_us",
			"not_kept"));
	answer_say(answer,
		"Session %s is open. Give it as `session` to run_code; variables and files stay from "
		"cell to cell. close_session ends it.\n",
		word(answer, result, "session"));
}

PRESENT(sessions)
{
	(void)params;
	add_list(answer, result, "sessions",
		KEYS("session", "language", "cells", "busy", "waiting", "memory_bytes",
			"expires_us", "state", "kept"));
}

PRESENT(rolled_back)
{
	put_all(answer, params, KEYS("session"));
	put_all(answer, result, KEYS("state", "kept"));
	answer_say(answer, "The session has the variables and files that it had after cell %s.\n",
		word(answer, result, "state"));
}

PRESENT(closed)
{
	const char *cells = word(answer, result, "cells");

	(void)params;
	put_all(answer, result, KEYS("session", "cells"));
	answer_say(answer, "Session %s is closed after %s cell%s.\n",
		word(answer, result, "session"), cells, strcmp(cells, "1") == 0 ? "" : "s");
}
