/* Pages of what a run left: its streams, its program, its files. */
#include <string.h>

#include "proto/base/container.h"
#include "proto/base/utf8.h"
#include "proto/fill.h"
#include "store/content.h"
#include "store/db.h"
#include "store/record.h"

/* The longest prefix of at most `most` bytes that does not end inside a character. */
static size_t whole_prefix(struct bytes bytes, size_t most)
{
	size_t whole = utf8_whole_prefix(bytes.data, most);

	return whole > 0 && utf8_is_valid(bytes.data, whole) ? whole : most;
}

struct value *record_part(struct arena *arena, struct bytes bytes, uint64_t most)
{
	size_t len;

	if (bytes.len <= most)
		return value_blob_borrowed(arena, bytes.data, bytes.len);
	len = whole_prefix(bytes, (size_t)most);
	/* A copy, since texts have a NUL behind them. */
	return utf8_is_valid(bytes.data, len) ? value_text_len(arena, bytes.data, len)
					      : value_bytes(arena, bytes.data, len);
}

int record_row(struct store *store, enum stmt_name name, int64_t key, sqlite3_stmt **ret_row,
	struct err *err)
{
	sqlite3_stmt *row = stmt_take_for(store, name, key, err);
	int r;

	if (!row)
		return -1;
	r = stmt_step(store, row, err);
	*ret_row = row;
	return r < 0 ? -1 : !r;
}

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

/* 0 with the bytes, 1 when the run has no such file, -1. */
static int read_named(const struct looking *looking, enum stmt_name name, const char *path,
	struct bytes *ret_bytes, struct err *err)
{
	sqlite3_stmt *row = stmt_take(looking->store, name, err);
	struct binding binding;
	int r;

	if (!row)
		return -1;
	binding = bind_to(row);
	bind_int(&binding, looking->key);
	bind_words(&binding, path, strlen(path));
	r = stmt_step(looking->store, row, err);
	if (r > 0 && content_read(looking->store, row, 0, looking->arena, ret_bytes, err) < 0)
		r = -1;
	(void)sqlite3_reset(row);
	return r < 0 ? -1 : !r;
}

static int read_column(
	const struct looking *looking, int column, struct bytes *ret_bytes, struct err *err)
{
	sqlite3_stmt *row = NULL;
	int r = record_row(looking->store, STMT_RECORD_READ, looking->key, &row, err);

	if (r == 0)
		r = content_read(looking->store, row, column, looking->arena, ret_bytes, err);
	if (row)
		(void)sqlite3_reset(row);
	return r;
}

static int read_stream(
	const struct looking *looking, const char *stream, struct bytes *ret_bytes, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(stream_columns); i++) {
		if (strcmp(stream_columns[i].name, stream) == 0)
			return read_column(looking, stream_columns[i].column, ret_bytes, err);
	}
	for (size_t i = 0; i < COUNT_OF(stream_files); i++) {
		size_t len = strlen(stream_files[i].prefix);

		if (strncmp(stream_files[i].prefix, stream, len) == 0)
			return read_named(
				looking, stream_files[i].stmt, stream + len, ret_bytes, err);
	}
	return 1;
}

static struct value *page_of(
	struct arena *arena, struct bytes stream, uint64_t offset, uint64_t len)
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
	fill_bool(&page, "eof", part && part->text.len == rest.len);
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
	int r;

	if (db_look(store, &began, err) < 0)
		return -1;
	r = record_find(store, run_id, &looking.key, err);
	if (r == 0)
		r = read_stream(&looking, stream, &bytes, err);
	db_looked(store, &began);
	if (r != 0)
		return r;
	page = page_of(arena, bytes, offset, len);
	if (!page)
		return err_set(err, ERR_MEMORY, "the store: no memory for an answer");
	*ret_page = page;
	return 0;
}
