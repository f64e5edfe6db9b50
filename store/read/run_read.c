/* Reads one run: its record as a map, and pages of its streams and files. */
#include <stdlib.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/digest.h"
#include "proto/job/call_room.h"
#include "proto/json.h"
#include "store/base/content.h"
#include "store/base/db.h"
#include "store/base/fetch.h"
#include "store/base/record.h"
#include "store/base/stmt.h"

#define JSON_NODES_MAX ((size_t)1 << 23)
#define CALLS_ROOM_MAX \
	(CALL_ROOM_MAX + ((uint64_t)8 << 20)) /* with the errors of calls that had none */

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "the store: no memory for an answer");
}

/* ---- pieces ------------------------------------------------------------------------------- */

/*
 * Stored JSON, as a value.  A text that cannot be parsed any more is returned as a text, so that
 * one bad key never hides a record.
 */
static int parse_within(struct arena *arena, struct bytes text, size_t depth,
	struct value **ret_value, struct err *err)
{
	const struct json_bounds bounds = { RECORD_JSON_BYTES_MAX, depth, JSON_NODES_MAX };
	struct err why = ERR_INIT;

	*ret_value = NULL;
	if (!text.data)
		return 0;
	if (json_parse(arena, text.data, text.len, &bounds, ret_value, &why) == 0)
		return 0;
	if (why.code == ERR_MEMORY)
		return no_memory(err);
	*ret_value = value_blob_borrowed(arena, text.data, text.len);
	return *ret_value ? 0 : no_memory(err);
}

static int parse(struct arena *arena, struct bytes text, struct value **ret_value, struct err *err)
{
	return parse_within(arena, text, JSON_DEPTH_MAX, ret_value, err);
}

static int read_json(struct store *store, sqlite3_stmt *row, int column, struct arena *arena,
	struct value **ret_value, struct err *err)
{
	struct bytes text = { NULL, 0 };

	if (content_read(store, row, column, arena, &text, err) < 0)
		return -1;
	return parse(arena, text, ret_value, err);
}

/* {"base64": …} is how JSON holds an argument that is not text; only there it means that. */
static struct value *back_to_bytes(struct arena *arena, struct value *value)
{
	const char *text = value_as_text(value_get(value, "base64"));
	size_t size = text ? strlen(text) : 0;
	char *room = text ? arena_alloc(arena, size + 1) : NULL;
	size_t len = 0;

	if (!room || base64_read(text, room, size, &len) < 0)
		return value;
	return value_blob_borrowed(arena, room, len);
}

static void restore_bytes(struct arena *arena, struct value *request)
{
	static const char *const keys[] = { "args", "env", "labels" };

	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		struct value *held = value_get(request, keys[i]);

		for (size_t k = 0; value_is(held, VALUE_LIST) && k < held->list.count; k++)
			held->list.items[k] = back_to_bytes(arena, held->list.items[k]);
		for (size_t k = 0; value_is(held, VALUE_MAP) && k < held->map.count; k++)
			held->map.entries[k].value =
				back_to_bytes(arena, held->map.entries[k].value);
	}
}

/* Names of files may be any bytes. */
static void restore_paths(struct arena *arena, struct value *skipped)
{
	for (size_t i = 0; value_is(skipped, VALUE_LIST) && i < skipped->list.count; i++) {
		struct value *item = skipped->list.items[i];

		for (size_t k = 0; value_is(item, VALUE_MAP) && k < item->map.count; k++)
			item->map.entries[k].value =
				back_to_bytes(arena, item->map.entries[k].value);
	}
}

/* The entries of a stored map beside those that are there already. */
static void merge(struct fill *fill, const char *key, struct value *value)
{
	if (!value)
		return;
	if (!value_is(value, VALUE_MAP)) {
		fill_value(fill, key, value);
		return;
	}
	for (size_t i = 0; i < value->map.count; i++) {
		const struct value_entry *entry = &value->map.entries[i];

		if (!value_get_len(fill->map, entry->key, entry->key_len) && !fill->failed)
			fill->failed = value_map_put_len(fill->arena, fill->map, entry->key,
					       entry->key_len, entry->value) < 0;
	}
}

/* ---- the request -------------------------------------------------------------------------- */

/* Columns of STMT_RUN_READ. */
enum run_column {
	RUN_ID = 1,
	RUN_CALLER_ID,
	RUN_METHOD,
	RUN_UID,
	RUN_AGENT = RUN_UID + 3,
	RUN_TASK,
	RUN_LANGUAGE,
	RUN_POLICY,
	RUN_ENTRYPOINT,
	RUN_RECEIVED,
	RUN_ENDED,
	RUN_OUTCOME,
	RUN_RAN,
	RUN_REASON,
	RUN_CODE_HASH,
	RUN_INPUT_HASH,
	RUN_STDOUT_BYTES,
	RUN_STDERR_BYTES,
	RUN_METRICS,
	/* as many as struct job_metrics has, then */
	RUN_CACHED_FROM = RUN_METRICS + RECORD_METRICS_COUNT + 1,
	RUN_CALLER_EXE,
	RUN_CALLER_NAME,
	RUN_SESSION, /* the last column says whether it waits for approval */
};

/* One answer being made. */
struct getting {
	struct store *store;
	struct arena *arena;
	int64_t key;
	uint64_t stream_bytes;
	int64_t item;        /* of the display, that is being read */
	uint64_t calls_room; /* of the contents of calls so far */
	sqlite3_stmt *run;
	sqlite3_stmt *record;
};

static int put_content(struct getting *getting, struct fill *fill, const char *key, int column,
	uint64_t most, struct err *err)
{
	struct bytes bytes = { NULL, 0 };

	if (content_read(getting->store, getting->record, column, getting->arena, &bytes, err) < 0)
		return -1;
	if (bytes.data)
		fill_value(fill, key, record_part(getting->arena, bytes, most));
	return 0;
}

static int put_file(
	struct getting *getting, struct value *files, sqlite3_stmt *row, struct err *err)
{
	struct fill file = fill_start(getting->arena);
	struct bytes data = { NULL, 0 };

	fetch_text(&file, "path", row, 0);
	fetch_int(&file, "mode", row, 1);
	if (content_read(getting->store, row, 2, getting->arena, &data, err) < 0)
		return -1;
	fill_uint(&file, "bytes", data.len);
	fill_value(&file, "data", record_part(getting->arena, data, getting->stream_bytes));
	return value_list_add(getting->arena, files, fill_done(&file)) < 0 ? no_memory(err) : 0;
}

/* A list made of the rows that `name` finds for the key; NULL in *ret_list when there are none. */
static int read_rows(struct getting *getting, enum stmt_name name,
	int (*put)(struct getting *, struct value *, sqlite3_stmt *, struct err *),
	struct value **ret_list, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row =
		stmt_take_for(getting->store, name, getting->key, err);
	struct value *list = value_list(getting->arena);
	int r;

	if (!row)
		return -1;
	if (!list)
		return no_memory(err);
	while ((r = stmt_step(getting->store, row, err)) > 0) {
		if (put(getting, list, row, err) < 0)
			return -1;
	}
	*ret_list = list;
	return r;
}

static int put_request(struct getting *getting, struct fill *fill, struct err *err)
{
	struct fill request = fill_start(getting->arena);
	struct value *files = NULL;
	struct value *rest = NULL;

	fetch_text(&request, "language", getting->run, RUN_LANGUAGE);
	if (put_content(getting, &request, "code", RECORD_CODE, UINT64_MAX, err) < 0)
		return -1;
	fetch_text(&request, "entrypoint", getting->run, RUN_ENTRYPOINT);
	if (put_content(getting, &request, "stdin", RECORD_STDIN, getting->stream_bytes, err) < 0)
		return -1;
	if (read_rows(getting, STMT_INPUTS_READ, put_file, &files, err) < 0)
		return -1;
	if (files && files->list.count)
		fill_value(&request, "files", files);
	fetch_text(&request, "id", getting->run, RUN_CALLER_ID);
	fetch_text(&request, "policy", getting->run, RUN_POLICY);
	fetch_text(&request, "task", getting->run, RUN_TASK);
	fetch_text(&request, "agent", getting->run, RUN_AGENT);
	if (sqlite3_column_type(getting->run, RUN_SESSION) != SQLITE_NULL)
		fetch_text(&request, "session", getting->run, RUN_SESSION);
	if (read_json(getting->store, getting->record, RECORD_REQUEST, getting->arena, &rest, err) <
		0)
		return -1;
	restore_bytes(getting->arena, rest);
	merge(&request, "rest", rest);
	fill_value(fill, "request", fill_done(&request));

	if (read_json(getting->store, getting->record, RECORD_REFUSED, getting->arena, &rest, err) <
		0)
		return -1;
	if (rest)
		fill_value(fill, "refused_params", rest);
	return 0;
}

/* ---- the result --------------------------------------------------------------------------- */

static int put_artifact(
	struct getting *getting, struct value *artifacts, sqlite3_stmt *row, struct err *err)
{
	struct fill artifact = fill_start(getting->arena);
	struct bytes data = { NULL, 0 };

	fetch_text(&artifact, "path", row, 0);
	fetch_int(&artifact, "bytes", row, 3);
	fetch_hash(&artifact, "sha256", row, 4);
	fetch_text(&artifact, "mime", row, 2);
	fetch_int(&artifact, "mode", row, 1);
	if (content_read(getting->store, row, 5, getting->arena, &data, err) < 0)
		return -1;
	fill_value(&artifact, "data", record_part(getting->arena, data, getting->stream_bytes));
	if (data.len > getting->stream_bytes)
		fill_bool(&artifact, "truncated", true);
	return value_list_add(getting->arena, artifacts, fill_done(&artifact)) < 0 ? no_memory(err)
										   : 0;
}

/* Content that is longer than `stream_bytes` is cut; of a JSON value that leaves a text. */
static int put_display_content(struct getting *getting, struct value *item, sqlite3_stmt *row,
	const char *type, struct err *err)
{
	struct arena *arena = getting->arena;
	struct bytes data = { NULL, 0 };
	struct value *content = NULL;

	value_map_put(arena, value_get(item, "bytes"), type,
		value_int(arena, sqlite3_column_int64(row, 4)));
	if (content_read(getting->store, row, 5, arena, &data, err) < 0)
		return -1;
	if (!data.data) /* it was deleted */
		return 0;
	if (data.len > getting->stream_bytes)
		value_list_add(arena, value_get(item, "cut"), value_text(arena, type));
	else if (sqlite3_column_int(row, 3) == RECORD_FORM_JSON &&
		 parse(arena, data, &content, err) < 0)
		return -1;
	if (!content && sqlite3_column_int(row, 3) == RECORD_FORM_BYTES)
		content = value_bytes(arena, data.data,
			data.len < getting->stream_bytes ? data.len
							 : (size_t)getting->stream_bytes);
	if (!content)
		content = record_part(arena, data, getting->stream_bytes);
	return value_map_put(arena, value_get(item, "data"), type, content) < 0 ? no_memory(err)
										: 0;
}

static struct value *start_display_item(struct arena *arena, bool is_main)
{
	struct value *item = value_map(arena);

	value_map_put(arena, item, "main", value_bool(arena, is_main));
	value_map_put(arena, item, "data", value_map(arena));
	value_map_put(arena, item, "bytes", value_map(arena));
	value_map_put(arena, item, "cut", value_list(arena));
	return item;
}

/* Rows with the same `item` make one item of the list. */
static int put_display(
	struct getting *getting, struct value *display, sqlite3_stmt *row, struct err *err)
{
	size_t count = display->list.count;
	struct value *item = count ? display->list.items[count - 1] : NULL;
	const char *type = (const char *)sqlite3_column_text(row, 2);

	if (getting->item != sqlite3_column_int64(row, 0)) {
		getting->item = sqlite3_column_int64(row, 0);
		item = start_display_item(getting->arena, sqlite3_column_int(row, 1) != 0);
		if (value_list_add(getting->arena, display, item) < 0)
			return no_memory(err);
	}
	if (!type || !item)
		return 0;
	return put_display_content(getting, item, row, type, err);
}

/* A run that was asked to display has a list, even if it is empty. */
static int put_displays(struct getting *getting, struct fill *fill, struct err *err)
{
	const struct value *request = value_get(fill->map, "request");
	struct value *display = NULL;

	getting->item = 0;
	if (read_rows(getting, STMT_DISPLAYS_READ, put_display, &display, err) < 0)
		return -1;
	if (display->list.count || value_as_bool(value_get(request, "display"), false))
		fill_value(fill, "display", display);
	return 0;
}

static struct value *metrics_of(struct getting *getting)
{
	struct fill metrics = fill_start(getting->arena);

	fetch_columns(&metrics, getting->run, RUN_METRICS, RECORD_METRICS_COUNT);
	fetch_bool(&metrics, "warm", getting->run, RUN_METRICS + RECORD_METRICS_COUNT);
	return fill_done(&metrics);
}

static int put_streams(struct getting *getting, struct fill *fill, struct err *err)
{
	static const struct {
		const char *key;
		int column;
		bool always;
	} streams[] = {
		{ "stdout", RECORD_STDOUT, true },
		{ "stdout_tail", RECORD_STDOUT_TAIL, false },
		{ "stderr", RECORD_STDERR, true },
		{ "stderr_tail", RECORD_STDERR_TAIL, false },
	};

	for (size_t i = 0; i < COUNT_OF(streams); i++) {
		struct bytes bytes = { NULL, 0 };

		if (content_read(getting->store, getting->record, streams[i].column, getting->arena,
			    &bytes, err) < 0)
			return -1;
		if (bytes.data || streams[i].always)
			fill_value(fill, streams[i].key,
				record_part(getting->arena, bytes, getting->stream_bytes));
	}
	fetch_int(fill, "stdout_bytes", getting->run, RUN_STDOUT_BYTES);
	fetch_int(fill, "stderr_bytes", getting->run, RUN_STDERR_BYTES);
	return 0;
}

/* A run that was lost has no result of its own; what every result has is empty then. */
static void put_what_is_always_there(struct fill *fill)
{
	static const char *const lists[] = { "truncated", "artifacts_skipped" };

	for (size_t i = 0; i < COUNT_OF(lists); i++)
		if (!value_get(fill->map, lists[i]))
			fill_value(fill, lists[i], value_list(fill->arena));
	if (!value_get(fill->map, "limits"))
		fill_value(fill, "limits", value_map(fill->arena));
}

static int put_result(struct getting *getting, struct fill *fill, struct err *err)
{
	struct value *artifacts = NULL;
	struct value *setting = NULL;
	struct value *trace = NULL;
	struct value *more = NULL;

	fetch_text(fill, "reason", getting->run, RUN_REASON);
	fetch_text(fill, "ran", getting->run, RUN_RAN);
	fetch_hash(fill, "code_hash", getting->run, RUN_CODE_HASH);
	fetch_hash(fill, "input_hash", getting->run, RUN_INPUT_HASH);
	if (put_streams(getting, fill, err) < 0)
		return -1;
	if (read_rows(getting, STMT_ARTIFACTS_READ, put_artifact, &artifacts, err) < 0)
		return -1;
	fill_value(fill, "artifacts", artifacts);
	if (put_displays(getting, fill, err) < 0)
		return -1;
	fill_value(fill, "metrics", metrics_of(getting));
	fetch_cached(fill, getting->run, RUN_CACHED_FROM);

	if (read_json(getting->store, getting->record, RECORD_SETTING, getting->arena, &setting,
		    err) < 0 ||
		read_json(getting->store, getting->record, RECORD_MORE, getting->arena, &more,
			err) < 0 ||
		read_json(getting->store, getting->record, RECORD_TRACE, getting->arena, &trace,
			err) < 0)
		return -1;
	merge(fill, "setting", setting);
	restore_paths(getting->arena, value_get(more, "artifacts_skipped"));
	merge(fill, "more", more);
	put_what_is_always_there(fill);
	if (trace)
		fill_value(fill, "trace", trace);
	return 0;
}

/* ---- calls of tools ------------------------------------------------------------------------ */

/* Columns of STMT_CALLS_READ. */
enum call_column {
	CALL_NUMBER,
	CALL_TOOL,
	CALL_EFFECTS,
	CALL_BEGAN,
	CALL_ARGS,
	CALL_VERDICT,
	CALL_CODE,
	CALL_RESULT,
	CALL_TOOK,
	CALL_RULE,
	CALL_APPROVAL,
};

/*
 * Contents past the caller's limit are left out, since a part of a JSON document is none.  So are
 * those past what a run may store, which a record of an older daemon can have.
 */
static int put_call_json(struct getting *getting, struct fill *call, const char *key,
	sqlite3_stmt *row, enum call_column column, struct err *err)
{
	struct bytes text = { NULL, 0 };
	struct value *value = NULL;

	if (getting->calls_room <= CALLS_ROOM_MAX &&
		content_read(getting->store, row, (int)column, getting->arena, &text, err) < 0)
		return -1;
	getting->calls_room += text.data ? call_room_of(text) : 0;
	if (text.len > getting->stream_bytes || getting->calls_room > CALLS_ROOM_MAX) {
		if (!value_get(call->map, "truncated"))
			fill_bool(call, "truncated", true);
		return 0;
	}
	if (parse_within(getting->arena, text, CALL_DEPTH_MAX, &value, err) < 0)
		return -1;
	if (value)
		fill_value(call, key, value);
	return 0;
}

/* The rule of the policy, if it has one, and the approver's answer, if somebody was asked. */
static int put_call_policy(
	struct getting *getting, struct fill *call, sqlite3_stmt *row, struct err *err)
{
	const char *approval = (const char *)sqlite3_column_text(row, CALL_APPROVAL);
	struct bytes text = { NULL, 0 };
	struct value *value = NULL;

	if (sqlite3_column_type(row, CALL_RULE) != SQLITE_NULL)
		fetch_text(call, "rule", row, CALL_RULE);
	if (!approval)
		return 0;
	text.len = strlen(approval);
	text.data = arena_copy(getting->arena, approval, text.len);
	if (!text.data)
		return no_memory(err);
	if (parse(getting->arena, text, &value, err) < 0)
		return -1;
	fill_value(call, "approval", value);
	return 0;
}

static int put_call(
	struct getting *getting, struct value *calls, sqlite3_stmt *row, struct err *err)
{
	struct fill call = fill_start(getting->arena);
	bool failed = sqlite3_column_type(row, CALL_CODE) != SQLITE_NULL;

	fetch_int(&call, "call", row, CALL_NUMBER);
	fetch_text(&call, "tool", row, CALL_TOOL);
	fetch_bool(&call, "effects", row, CALL_EFFECTS);
	fetch_int(&call, "began_us", row, CALL_BEGAN);
	if (put_call_json(getting, &call, "args", row, CALL_ARGS, err) < 0)
		return -1;
	fetch_text(&call, "verdict", row, CALL_VERDICT);
	if (failed)
		fetch_text(&call, "code", row, CALL_CODE);
	if (put_call_json(getting, &call, failed ? "error" : "result", row, CALL_RESULT, err) < 0)
		return -1;
	fetch_int(&call, "took_us", row, CALL_TOOK);
	if (put_call_policy(getting, &call, row, err) < 0)
		return -1;
	return value_list_add(getting->arena, calls, fill_done(&call)) < 0 ? no_memory(err) : 0;
}

static int put_calls(struct getting *getting, struct fill *fill, struct err *err)
{
	struct value *calls = NULL;

	if (read_rows(getting, STMT_CALLS_READ, put_call, &calls, err) < 0)
		return -1;
	if (value_at(calls, 0))
		fill_value(fill, "tool_calls", calls);
	return 0;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static struct value *caller_of(struct getting *getting)
{
	struct fill caller = fill_start(getting->arena);

	fetch_columns(&caller, getting->run, RUN_UID, 3); /* uid, gid, pid */
	fetch_text(&caller, "exe", getting->run, RUN_CALLER_EXE);
	fetch_text(&caller, "name", getting->run, RUN_CALLER_NAME);
	return fill_done(&caller);
}

/* Contents that retention took away are NULL, and the record says by which act. */
static int put_pruned(struct getting *getting, struct fill *fill, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row =
		stmt_take_for(getting->store, STMT_PRUNED_ACT, getting->key, err);
	struct fill pruned = fill_start(getting->arena);
	int r;

	r = stmt_step(getting->store, row, err);
	if (r > 0) {
		fetch_int(&pruned, "act", row, 0);
		fill_value(fill, "pruned", fill_done(&pruned));
	}
	return r < 0 ? -1 : 0;
}

static int assemble(struct getting *getting, struct value **ret_record, struct err *err)
{
	struct fill fill = fill_start(getting->arena);

	fetch_text(&fill, "run_id", getting->run, RUN_ID);
	fetch_outcome(&fill, getting->run, RUN_OUTCOME, sqlite3_column_count(getting->run) - 1);
	fetch_text(&fill, "method", getting->run, RUN_METHOD);
	fill_value(&fill, "caller", caller_of(getting));
	fetch_int(&fill, "received_us", getting->run, RUN_RECEIVED);
	fetch_int(&fill, "ended_us", getting->run, RUN_ENDED);
	if (put_request(getting, &fill, err) < 0)
		return -1;
	if (sqlite3_column_type(getting->run, RUN_OUTCOME) != SQLITE_NULL &&
		put_result(getting, &fill, err) < 0)
		return -1;
	if (put_calls(getting, &fill, err) < 0 || put_pruned(getting, &fill, err) < 0)
		return -1;
	*ret_record = fill_done(&fill);
	return *ret_record ? 0 : no_memory(err);
}

static int get(struct getting *getting, const char *run_id, struct value **ret_record,
	uint32_t *ret_uid, struct err *err)
{
	int r = record_find(getting->store, run_id, &getting->key, err);

	if (r == 0)
		r = record_row(getting->store, STMT_RUN_READ, getting->key, &getting->run, err);
	if (r != 0)
		return r;
	r = record_row(getting->store, STMT_RECORD_READ, getting->key, &getting->record, err);
	if (r > 0)
		r = err_set(err, ERR_CORRUPT, "the store: half of run %s is missing", run_id);
	if (r == 0)
		r = assemble(getting, ret_record, err);
	if (r == 0)
		*ret_uid = (uint32_t)sqlite3_column_int64(getting->run, RUN_UID);
	(void)sqlite3_reset(getting->run);
	if (getting->record)
		(void)sqlite3_reset(getting->record);
	return r;
}

/* NOLINTNEXTLINE(readability-function-size): a question has this many sides */
int store_get(struct store *store, const char *run_id, uint64_t stream_bytes, struct arena *arena,
	struct value **ret_record, uint32_t *ret_uid, struct err *err)
{
	struct getting getting = { .store = store, .arena = arena, .stream_bytes = stream_bytes };
	bool began = false;
	int r;

	if (db_begin_snapshot(store, &began, err) < 0)
		return -1;
	r = get(&getting, run_id, ret_record, ret_uid, err);
	db_end_snapshot(store, began);
	return r;
}

/* ---- pages of what a run left --------------------------------------------------------------- */

static const struct {
	const char *name;
	int column;
} stream_columns[] = {
	{ "code", RECORD_CODE },
	{ "stdin", RECORD_STDIN },
	{ "stdout", RECORD_STDOUT },
	{ "stdout_tail", RECORD_STDOUT_TAIL },
	{ "stderr", RECORD_STDERR },
	{ "stderr_tail", RECORD_STDERR_TAIL },
};

static const struct {
	const char *prefix;
	enum stmt_name stmt;
} stream_files[] = {
	{ "artifact:", STMT_ARTIFACT_READ },
	{ "file:", STMT_INPUT_READ },
};

/* A run, and where what it left is to be laid. */
struct looking {
	struct store *store;
	int64_t key;
	struct arena *arena;
};

/* 0 with the bytes, 1 when the run has no such row, -1. */
static int read_row(const struct looking *looking, enum stmt_name name,
	const struct sql_value *values, struct bytes *ret_bytes, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_with(looking->store, name, values, err);
	int r;

	r = stmt_step(looking->store, row, err);
	if (r > 0 && content_read(looking->store, row, 0, looking->arena, ret_bytes, err) < 0)
		r = -1;
	return r < 0 ? -1 : !r;
}

static int read_named(const struct looking *looking, enum stmt_name name, const char *path,
	struct bytes *ret_bytes, struct err *err)
{
	return read_row(looking, name,
		SQL_VALUES(sql_int(looking->key), sql_words(path, strlen(path))), ret_bytes, err);
}

static int read_column(
	const struct looking *looking, int column, struct bytes *ret_bytes, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = NULL;
	int r = record_row(looking->store, STMT_RECORD_READ, looking->key, &row, err);

	if (r == 0)
		r = content_read(looking->store, row, column, looking->arena, ret_bytes, err);
	return r;
}

/* "NUMBER:TYPE", where items count from 1. */
static int read_display(
	const struct looking *looking, const char *name, struct bytes *ret_bytes, struct err *err)
{
	char *end = NULL;
	long item = strtol(name, &end, 10);

	if (end == name || *end != ':')
		return 1;
	return read_row(looking, STMT_DISPLAY_READ,
		SQL_VALUES(
			sql_int(looking->key), sql_int(item), sql_words(end + 1, strlen(end + 1))),
		ret_bytes, err);
}

static int read_stream(
	const struct looking *looking, const char *stream, struct bytes *ret_bytes, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(stream_columns); i++) {
		if (strcmp(stream_columns[i].name, stream) == 0)
			return read_column(looking, stream_columns[i].column, ret_bytes, err);
	}
	if (strncmp(stream, "display:", 8) == 0)
		return read_display(looking, stream + 8, ret_bytes, err);
	for (size_t i = 0; i < COUNT_OF(stream_files); i++) {
		size_t len = strlen(stream_files[i].prefix);

		if (strncmp(stream_files[i].prefix, stream, len) == 0)
			return read_named(
				looking, stream_files[i].stmt, stream + len, ret_bytes, err);
	}
	return 1;
}

/* The output of a run is stored when it ends, so a run in progress may still get some. */
static int may_grow(const struct looking *looking, const char *stream, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *run = NULL;
	int r;

	if (!strcmp(stream, "code") || !strcmp(stream, "stdin") || !strncmp(stream, "file:", 5))
		return 0;
	if (record_row(looking->store, STMT_RUN_READ, looking->key, &run, err) != 0)
		return -1;
	r = sqlite3_column_type(run, RUN_OUTCOME) == SQLITE_NULL;
	return r;
}

static struct value *page_of(
	struct arena *arena, struct bytes stream, uint64_t offset, uint64_t len, bool may_grow_on)
{
	struct fill page = fill_start(arena);
	struct bytes rest = { "", 0 };
	struct value *part;

	if (offset < stream.len)
		rest = (struct bytes){ stream.data + offset, stream.len - (size_t)offset };
	part = record_part(arena, rest, len);
	fill_value(&page, "data", part);
	fill_uint(&page, "offset", offset);
	fill_uint(&page, "total", stream.len);
	fill_bool(&page, "eof", part && part->text.len == rest.len && !may_grow_on);
	return fill_done(&page);
}

/* NOLINTNEXTLINE(readability-function-size): a question has this many sides */
int store_output(struct store *store, const char *run_id, const char *stream, uint64_t offset,
	uint64_t len, struct arena *arena, struct value **ret_page, struct err *err)
{
	struct bytes bytes = { NULL, 0 };
	struct value *page;
	bool began = false;
	struct looking looking = { store, 0, arena };
	int grows = 0;
	int r;

	if (db_begin_snapshot(store, &began, err) < 0)
		return -1;
	r = record_find(store, run_id, &looking.key, err);
	if (r == 0)
		r = read_stream(&looking, stream, &bytes, err);
	if (r == 0 && (grows = may_grow(&looking, stream, err)) < 0)
		r = -1;
	db_end_snapshot(store, began);
	if (r != 0)
		return r;
	page = page_of(arena, bytes, offset, len, grows > 0);
	if (!page)
		return err_set(err, ERR_MEMORY, "the store: no memory for an answer");
	*ret_page = page;
	return 0;
}
