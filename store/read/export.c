/* Exports all records, oldest first, a page at a time. */
#include <stdlib.h>
#include <string.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/fill.h"
#include "store/base/db.h"
#include "store/base/record.h"
#include "store/base/stmt.h"
#include "store/maintenance.h"

/* The keys of a record that have contents of programs, inputs or outputs. */
static const struct {
	const char *in; /* the map that has the key; NULL: the record itself */
	const char *key;
} contents[] = {
	{ NULL, "reason" }, /* it has the message of an exception */
	{ NULL, "stdout" },
	{ NULL, "stdout_tail" },
	{ NULL, "stderr" },
	{ NULL, "stderr_tail" },
	{ NULL, "value" },
	{ NULL, "error" },
	{ NULL, "evidence" },
	{ NULL, "output_errors" },
	{ NULL, "refused_params" },
	{ NULL, "trace" },
	{ "request", "code" },
	{ "request", "stdin" },
	{ "request", "args" },
	{ "request", "env" },
	{ "request", "schema" },
	{ "request", "tools" },
};

/* The same of the items of a list of files, artifacts, findings or calls. */
static const char *const item_contents[] = { "data", "text", "args", "result", "error" };

static bool is_content(const char *in, const char *key)
{
	for (size_t i = 0; i < COUNT_OF(contents); i++) {
		bool same_place = in && contents[i].in ? strcmp(in, contents[i].in) == 0
						       : in == contents[i].in;

		if (same_place && strcmp(key, contents[i].key) == 0)
			return true;
	}
	return false;
}

static bool is_item_content(const char *key)
{
	for (size_t i = 0; i < COUNT_OF(item_contents); i++)
		if (strcmp(key, item_contents[i]) == 0)
			return true;
	return false;
}

static struct value *make_bare(struct arena *arena, const void *items, size_t index)
{
	const struct value *file = value_at(items, index);
	struct fill fill = fill_start(arena);

	for (size_t i = 0; value_is(file, VALUE_MAP) && i < file->map.count; i++)
		if (!is_item_content(file->map.entries[i].key))
			fill_shared(&fill, file->map.entries[i].key, file->map.entries[i].value);
	return fill_done(&fill);
}

static bool is_inner(const struct value_entry *entry)
{
	return value_is(entry->value, VALUE_MAP) &&
	       (strcmp(entry->key, "request") == 0 || strcmp(entry->key, "policy") == 0);
}

static struct value *without_contents(
	struct arena *arena, const struct value *map, const char *name)
{
	struct fill fill = fill_start(arena);

	for (size_t i = 0; i < map->map.count; i++) {
		const struct value_entry *entry = &map->map.entries[i];

		if (is_content(name, entry->key))
			continue;
		if (!name && is_inner(entry))
			fill_value(&fill, entry->key,
				without_contents(arena, entry->value, entry->key));
		else if (value_is(value_at(entry->value, 0), VALUE_MAP))
			fill_list(&fill, entry->key, entry->value->list.count, entry->value,
				make_bare);
		else
			fill_shared(&fill, entry->key, entry->value);
	}
	return fill_done(&fill);
}

/* ---- which ones --------------------------------------------------------------------------- */

struct span {
	int64_t from, to; /* keys, both included */
};

/* The key of the last run of the page before, also if the store has no such run. */
static int find_after(struct store *store, const char *run_id, int64_t *ret_key, struct err *err)
{
	*ret_key = db_key_of(run_id);
	return stmt_number(store, STMT_EXPORT_AFTER,
		SQL_VALUES(sql_int(*ret_key), sql_text(run_id)), ret_key, err);
}

static int find_span(struct store *store, const struct store_export *what, struct span *ret_span,
	struct err *err)
{
	int64_t after = 0;

	ret_span->from = db_key_at_ms((uint64_t)(what->since_wall_us / 1000));
	ret_span->to = INT64_MAX;
	if (what->until_wall_us)
		ret_span->to = db_key_at_ms((uint64_t)(what->until_wall_us / 1000)) - 1;
	if (!what->after_run_id)
		return 0;
	if (find_after(store, what->after_run_id, &after, err) < 0)
		return -1;
	if (after == INT64_MAX) /* nothing can stand behind it */
		ret_span->to = INT64_MIN;
	else if (after >= ret_span->from)
		ret_span->from = after + 1;
	return 0;
}

static int count_runs(
	struct store *store, const struct span *span, int64_t *ret_count, struct err *err)
{
	char sql[128];

	(void)sqlite3_snprintf(sizeof(sql), sql,
		"SELECT count(*) FROM runs WHERE key BETWEEN %lld AND %lld", (long long)span->from,
		(long long)span->to);
	return db_number(store, sql, 0, ret_count, err);
}

struct page {
	struct store *store;
	const struct store_export *what;
	struct arena *arena;
	struct value *records;
	char (*ids)[RUN_ID_LEN + 1];
	unsigned count;
};

static int read_ids(struct page *page, const struct span *span, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_with(page->store, STMT_EXPORT_IDS,
		SQL_VALUES(sql_int(span->from), sql_int(span->to), sql_int(page->what->limit)),
		err);
	int r;

	while ((r = stmt_step(page->store, row, err)) > 0)
		(void)sqlite3_snprintf(RUN_ID_LEN + 1, page->ids[page->count++], "%s",
			sqlite3_column_text(row, 0));
	return r;
}

/* ---- a page ------------------------------------------------------------------------------- */

/* 1: the page is full. */
static int add_record(struct page *page, const char *run_id, struct err *err)
{
	struct value *record = NULL;
	uint32_t uid = 0;

	if (page->records->list.count && page->arena->used > page->what->page_bytes)
		return 1;
	if (store_get(page->store, run_id, page->what->stream_bytes, page->arena, &record, &uid,
		    err) != 0)
		return -1;
	if (page->what->without_contents)
		record = without_contents(page->arena, record, NULL);
	if (!record || value_list_add(page->arena, page->records, record) < 0)
		return err_set(err, ERR_MEMORY, "the store: no memory for an export");
	return 0;
}

static int read_page(struct page *page, struct value **ret_page, struct err *err)
{
	struct fill fill = fill_start(page->arena);
	struct span span = { 0, 0 };
	int64_t left = 0;
	unsigned done = 0;
	int r = 0;

	if (find_span(page->store, page->what, &span, err) < 0 ||
		(page->what->counts && count_runs(page->store, &span, &left, err) < 0) ||
		read_ids(page, &span, err) < 0)
		return -1;
	while (r == 0 && done < page->count) {
		r = add_record(page, page->ids[done], err);
		done += r == 0;
	}
	if (r < 0)
		return -1;
	fill_value(&fill, "records", page->records);
	fill_bool(&fill, "more", done < page->count || page->count == page->what->limit);
	if (done)
		fill_text(&fill, "next", page->ids[done - 1]);
	if (page->what->counts)
		fill_int(&fill, "left", left);
	*ret_page = fill_done(&fill);
	return *ret_page ? 0 : err_set(err, ERR_MEMORY, "the store: no memory for an export");
}

int store_export(struct store *store, const struct store_export *what, struct arena *arena,
	struct value **ret_page, struct err *err)
{
	auto_free void *ids = calloc(what->limit, RUN_ID_LEN + 1);
	struct page page = { store, what, arena, value_list(arena), ids, 0 };
	bool began = false;
	int r;

	if (!ids || !page.records)
		return err_set(err, ERR_MEMORY, "the store: no memory for an export");
	if (db_begin_snapshot(store, &began, err) < 0)
		return -1;
	r = read_page(&page, ret_page, err);
	db_end_snapshot(store, began);
	return r;
}
