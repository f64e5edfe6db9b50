#include "cli/mcp/tools.h"

#include <string.h>

#include "cli/base/times.h"
#include "cli/mcp/present.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/embedded.h"
#include "proto/base/nearest.h"
#include "proto/digest.h"
#include "proto/json.h"

#define TOOLSET_BYTES ((size_t)16 << 20)
#define OUTPUT_LENGTH 8192
#define RUNS_LIMIT    20

extern const struct embedded mcp_tools[];

static void replace(struct value *map, const char *key, struct value *value)
{
	for (size_t i = 0; i < map->map.count; i++) {
		if (strcmp(map->map.entries[i].key, key) == 0)
			map->map.entries[i].value = value;
	}
}

static void put_default(struct arena *arena, struct value *params, const char *key, int64_t number)
{
	if (!value_get(params, key))
		value_map_put(arena, params, key, value_int(arena, number));
}

/* ---- arguments become params --------------------------------------------------------------- */

/* {path, base64} becomes {path, data}: JSON has no bytes. */
static int prepare_file(
	struct arena *arena, const struct value *file, struct value **ret_file, struct err *err)
{
	const struct value *base64 = value_get(file, "base64");
	struct value *made = value_map(arena);
	size_t len = 0;
	char *room;

	if (!base64)
		return 0;
	if (value_get(file, "data"))
		return err_set(err, ERR_INVALID, "/files: %s has data and base64: give one of them",
			value_as_text(value_get(file, "path")));
	room = arena_alloc(arena, base64->text.len + 1);
	if (!room || base64_read(base64->text.bytes, room, base64->text.len + 1, &len) < 0)
		return err_set(err, ERR_INVALID, "/files: %s is not base64",
			value_as_text(value_get(file, "path")));
	for (size_t i = 0; i < file->map.count; i++) {
		const struct value_entry *entry = &file->map.entries[i];

		if (entry->value != base64)
			value_map_put(arena, made, entry->key, entry->value);
	}
	value_map_put(arena, made, "data", value_bytes(arena, room, len));
	*ret_file = made;
	return 0;
}

static int prepare_files(struct arena *arena, struct value *params, struct err *err)
{
	const struct value *files = value_get(params, "files");
	struct value *made = value_list(arena);

	for (size_t i = 0; value_at(files, i); i++) {
		struct value *file = value_at(files, i);

		if (prepare_file(arena, file, &file, err) < 0)
			return -1;
		value_list_add(arena, made, file);
	}
	if (files)
		replace(params, "files", made);
	return 0;
}

/* Python, unless a session has its own. */
static void put_language(struct arena *arena, struct value *params)
{
	if (!value_get(params, "language") && !value_get(params, "session"))
		value_map_put(arena, params, "language", value_text(arena, "python"));
}

static int prepare_check(struct arena *arena, struct value *params, struct err *err)
{
	put_language(arena, params);
	return prepare_files(arena, params, err);
}

static int prepare_open(struct arena *arena, struct value *params, struct err *err)
{
	(void)err;
	put_language(arena, params);
	return 0;
}

static int prepare_run(struct arena *arena, struct value *params, struct err *err)
{
	put_language(arena, params);
	value_map_put(arena, params, "stream", value_bool(arena, true));
	value_map_put(arena, params, "announce", value_bool(arena, true));
	return prepare_files(arena, params, err);
}

/* Without a length, a page is one that a model can read. */
static int prepare_output(struct arena *arena, struct value *params, struct err *err)
{
	(void)err;
	put_default(arena, params, "length", OUTPUT_LENGTH);
	return 0;
}

static int prepare_time(struct arena *arena, struct value *params, const char *key, struct err *err)
{
	const char *text = value_as_text(value_get(params, key));
	int64_t at_us = 0;

	if (!text)
		return 0;
	if (times_parse(text, clock_wall_us(), &at_us, err) < 0)
		return err_wrap(err, "/%s", key);
	replace(params, key, value_int(arena, at_us));
	return 0;
}

static int prepare_search(struct arena *arena, struct value *params, struct err *err)
{
	put_default(arena, params, "limit", RUNS_LIMIT);
	if (prepare_time(arena, params, "since", err) < 0)
		return -1;
	return prepare_time(arena, params, "until", err);
}

// clang-format off
static const struct tool tools[] = {
	{ "run_code",         "run",              TOOL_RUNS,  prepare_run,    present_run },
	{ "check_code",       "check",            TOOL_ASKS,  prepare_check,  present_check },
	{ "wait_run",         "wait",             TOOL_WAITS, NULL,           present_run },
	{ "cancel_run",       "cancel",           TOOL_ASKS,  NULL,           present_cancel },
	{ "get_run",          "runs.get",         TOOL_ASKS,  NULL,           present_run },
	{ "get_output",       "runs.output",      TOOL_ASKS,  prepare_output, present_output },
	{ "explain_run",      "runs.get",         TOOL_ASKS,  NULL,           present_explain },
	{ "search_runs",      "runs.list",        TOOL_ASKS,  prepare_search, present_runs },
	{ "list_runtimes",    "runtimes",         TOOL_ASKS,  NULL,           present_runtimes },
	{ "open_session",     "session.open",     TOOL_ASKS,  prepare_open,   present_session },
	{ "list_sessions",    "session.list",     TOOL_ASKS,  NULL,           present_sessions },
	{ "rollback_session", "session.rollback", TOOL_ASKS,  NULL,           present_rolled_back },
	{ "close_session",    "session.close",    TOOL_ASKS,  NULL,           present_closed },
};
// clang-format on

/* What the command line fixed goes where the method takes it. */
static const struct {
	const char *method;
	bool in_session; /* with a session, too */
	const char *key;
} default_keys[] = {
	{ "run", false, "policy" },
	{ "run", false, "agent" },
	{ "run", true, "labels" },
	{ "check", false, "policy" },
	{ "session.open", true, "policy" },
	{ "session.open", true, "agent" },
	{ "session.open", true, "labels" },
};

static void put_defaults(const struct toolset *set, const struct tool *tool, struct arena *arena,
	struct value *params)
{
	bool in_session = value_get(params, "session");

	for (size_t i = 0; i < COUNT_OF(default_keys); i++) {
		const char *key = default_keys[i].key;
		const struct value *value = value_get(set->defaults, key);

		if (value && strcmp(default_keys[i].method, tool->method) == 0 &&
			(default_keys[i].in_session || !in_session) && !value_get(params, key))
			value_map_put(arena, params, key, value_copy(arena, value));
	}
}

int toolset_params(const struct toolset *set, const struct tool *tool,
	const struct value *arguments, struct arena *arena, struct value **ret_params,
	struct err *err)
{
	struct value *params = value_map(arena);
	struct schema_report report;

	if (schema_check(arena, set->inputs[tool - tools], arguments, &report, err) < 0)
		return -1;
	if (report.count > 0)
		return err_set(err, ERR_INVALID, "%s: %s",
			report.errors[0].pointer[0] ? report.errors[0].pointer : "the arguments",
			report.errors[0].message);
	for (size_t i = 0; i < arguments->map.count; i++) {
		const struct value_entry *entry = &arguments->map.entries[i];

		value_map_put(arena, params, entry->key, entry->value);
	}
	put_defaults(set, tool, arena, params);
	if (tool->prepare && tool->prepare(arena, params, err) < 0)
		return -1;
	if (!value_ok(arena))
		return err_set(err, ERR_MEMORY, "no memory for the request");
	*ret_params = params;
	return 0;
}

/* ---- the table and its files --------------------------------------------------------------- */

static const struct embedded *find_file(const char *name)
{
	for (const struct embedded *file = mcp_tools; file->name; file++) {
		if (strncmp(file->name, name, strlen(name)) == 0 &&
			strcmp(file->name + strlen(name), ".json") == 0)
			return file;
	}
	return NULL;
}

static int read_tool(struct toolset *set, size_t index, struct err *err)
{
	const struct embedded *file = find_file(tools[index].name);
	struct schema_mistake mistake = { .message = "" };
	struct value *listed = NULL;

	if (!file)
		return err_set(err, ERR_MISSING, "tool %s has no file", tools[index].name);
	if (json_parse(&set->arena, (const char *)file->bytes, file->len, NULL, &listed, err) < 0)
		return err_wrap(err, "tool %s", tools[index].name);
	if (schema_compile(&set->arena, value_get(listed, "inputSchema"), SCHEMA_JSON,
		    &set->inputs[index], &mistake, err) != 0)
		return err_set(err, ERR_INVALID, "tool %s%s: %s", tools[index].name,
			mistake.pointer ? mistake.pointer : "", mistake.message);
	return value_list_add(&set->arena, set->listed, listed);
}

int toolset_init(struct toolset *set, const struct value *defaults, struct err *err)
{
	_Static_assert(COUNT_OF(tools) <= TOOLS_MAX, "toolset.inputs has room for all");
	*set = (struct toolset){ .defaults = defaults };
	arena_init(&set->arena, TOOLSET_BYTES);
	set->listed = value_list(&set->arena);
	for (size_t i = 0; i < COUNT_OF(tools); i++) {
		if (read_tool(set, i, err) < 0)
			return -1;
	}
	return 0;
}

void toolset_done(struct toolset *set)
{
	arena_done(&set->arena);
}

const struct tool *toolset_find(const char *name, struct err *err)
{
	struct nearest nearest = NEAREST_OF(name);

	for (size_t i = 0; i < COUNT_OF(tools); i++) {
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
		nearest_offer(&nearest, tools[i].name);
	}
	(void)err_set(err, ERR_MISSING, "there is no tool %.64s%s", name, nearest_hint(&nearest));
	return NULL;
}
