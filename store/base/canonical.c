#include "store/base/canonical.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/buf.h"
#include "store/base/content.h"
#include "store/base/db.h"
#include "store/base/pruned.h"

#define RECORD_WORDS "ced record 1\n"
#define SQL_MAX      4096
#define FORM_MAX     ((size_t)256 << 20)

struct canonical {
	struct canonical_table tables[CHAIN_TABLES_MAX];
	struct buf form;   /* of the record whose digest is being made */
	struct buf pruned; /* lengths and digests of its pruned contents */
};

enum canonical_type {
	CANONICAL_INTEGER = 1,
	CANONICAL_OTHER = 2,
	CANONICAL_TEXT = 3,
	CANONICAL_BYTES = 4,
	CANONICAL_CONTENT = 5,
	CANONICAL_NO_BLOB = 6, /* a content without its blob: no digest was ever made over this */
};

/* One form that is being made. */
struct making {
	struct store *store;
	struct buf *form;
	enum chain_kind kind;
	int64_t subject;
	struct pruned pruned;
	bool is_new;
	bool has_root; /* there was a row of the root table */
};

/* ---- the tables -------------------------------------------------------------------------- */

static void find_columns(struct canonical_table *form, const char *table)
{
	form->count = 0;
	form->is_early = false;
	for (const struct chain_column *row = chain_columns; row->table; row++) {
		if (strcmp(row->table, table) != 0)
			continue;
		assert(form->count < CHAIN_COLUMNS_MAX);
		form->columns[form->count++] = row;
		form->is_early |= row->early;
	}
}

static int write_text(
	const struct canonical_table *form, const struct chain_table *table, struct buf *sql)
{
	for (unsigned i = 0; i < form->count; i++) {
		if (buf_printf(sql, "%s\"%s\"", i ? ", " : "SELECT ", form->columns[i]->column) < 0)
			return -1;
	}
	return buf_printf(sql, " FROM %s WHERE \"%s\" = ?1 ORDER BY %s", table->name, table->by,
		table->order);
}

static struct canonical_table *table_of(
	struct store *store, const struct chain_table *table, struct err *err)
{
	struct canonical_table *form = &store->canonical->tables[table - chain_tables];
	struct buf sql;
	int r = SQLITE_NOMEM;

	if (form->stmt) {
		(void)sqlite3_reset(form->stmt);
		return form;
	}
	find_columns(form, table->name);
	buf_init(&sql, SQL_MAX);
	if (write_text(form, table, &sql) == 0)
		r = sqlite3_prepare_v3(store->db, sql.bytes, (int)sql.len,
			SQLITE_PREPARE_PERSISTENT, &form->stmt, NULL);
	buf_done(&sql);
	if (r == SQLITE_OK)
		return form;
	(void)db_failed(store, r, err);
	return NULL;
}

struct canonical_table *canonical_rows(
	struct store *store, const struct chain_table *table, int64_t subject, struct err *err)
{
	struct canonical_table *form = table_of(store, table, err);
	int r;

	if (!form)
		return NULL;
	r = sqlite3_bind_int64(form->stmt, 1, subject);
	if (r == SQLITE_OK)
		return form;
	(void)db_failed(store, r, err);
	return NULL;
}

struct canonical *canonical_new(void)
{
	struct canonical *canonical = calloc(1, sizeof(*canonical));

	if (canonical) {
		buf_init(&canonical->form, FORM_MAX);
		buf_init(&canonical->pruned, FORM_MAX);
	}
	return canonical;
}

void canonical_free(struct canonical *canonical)
{
	if (!canonical)
		return;
	for (unsigned i = 0; i < CHAIN_TABLES_MAX; i++)
		(void)sqlite3_finalize(canonical->tables[i].stmt);
	buf_done(&canonical->form);
	buf_done(&canonical->pruned);
	free(canonical);
}

/* ---- values ------------------------------------------------------------------------------- */

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "the store: no memory for a digest");
}

/* One value of a record: a column of the row at hand. */
struct cell {
	const struct chain_table *table;
	const struct chain_column *column;
	sqlite3_stmt *row;
	int at;          /* of the column, in the statement */
	uint32_t number; /* of the row, counted from 0 */
};

static int add(
	struct making *making, const struct cell *cell, enum canonical_type type, uint64_t number)
{
	uint8_t head[10] = { cell->column->tag, (uint8_t)type };

	pruned_put_number(head + 2, number, 8);
	return buf_append(making->form, head, sizeof(head));
}

static int add_plain(struct making *making, const struct cell *cell)
{
	static const enum canonical_type types[] = {
		[SQLITE_TEXT] = CANONICAL_TEXT,
		[SQLITE_BLOB] = CANONICAL_BYTES,
		[SQLITE_FLOAT] = CANONICAL_OTHER,
	};
	int type = sqlite3_column_type(cell->row, cell->at);
	const void *bytes;
	size_t len;

	if (type == SQLITE_INTEGER)
		return add(making, cell, CANONICAL_INTEGER,
			(uint64_t)sqlite3_column_int64(cell->row, cell->at));
	bytes = sqlite3_column_blob(cell->row, cell->at);
	len = (size_t)sqlite3_column_bytes(cell->row, cell->at);
	if (add(making, cell, types[type], len) < 0)
		return -1;
	return bytes ? buf_append(making->form, bytes, len) : 0;
}

static int add_content(struct making *making, const struct cell *cell, struct err *err)
{
	uint8_t digest[DIGEST_LEN];
	uint64_t len = 0;
	bool is_text = strcmp(cell->table->name, "findings") == 0;
	int r = !making->is_new && content_has_wrong_type(cell->row, cell->at, is_text)
			? 1
			: content_digest(making->store, cell->row, cell->at, &len, digest, err);

	if (r < 0)
		return -1;
	if (r > 0) {
		uint64_t blob = (uint64_t)sqlite3_column_int64(cell->row, cell->at);

		return add(making, cell, CANONICAL_NO_BLOB, blob) < 0 ? no_memory(err) : 0;
	}
	if (add(making, cell, CANONICAL_CONTENT, len) < 0 ||
		buf_append(making->form, digest, sizeof(digest)) < 0)
		return no_memory(err);
	return 0;
}

/* A content that is NULL was never there, or was pruned and left its digest. */
static int add_pruned(struct making *making, const struct cell *cell, const uint8_t *left)
{
	const uint8_t head[2] = { cell->column->tag, CANONICAL_CONTENT };

	if (!left)
		return 0;
	if (buf_append(making->form, head, sizeof(head)) < 0)
		return -1;
	return buf_append(making->form, left, PRUNED_CONTENT_LEN);
}

/* ---- rows --------------------------------------------------------------------------------- */

static int add_value(struct making *making, const struct cell *cell, struct err *err)
{
	bool is_content = cell->column->cover == COLUMN_CONTENT;
	const uint8_t *left = is_content ? pruned_next(&making->pruned, cell->table->number,
						   cell->number, cell->column->tag)
					 : NULL;

	if (making->kind == CHAIN_RUN_BEGUN && !cell->column->early)
		return 0;
	if (sqlite3_column_type(cell->row, cell->at) == SQLITE_NULL)
		return add_pruned(making, cell, left) < 0 ? no_memory(err) : 0;
	if (is_content)
		return add_content(making, cell, err);
	return add_plain(making, cell) < 0 ? no_memory(err) : 0;
}

static int add_row(struct making *making, const struct chain_table *table, uint32_t number,
	const struct canonical_table *form, struct err *err)
{
	const uint8_t head[2] = { 0, table->number };

	if (buf_append(making->form, head, sizeof(head)) < 0)
		return no_memory(err);
	for (unsigned i = 0; i < form->count; i++) {
		const struct cell cell = { table, form->columns[i], form->stmt, (int)i, number };

		if (add_value(making, &cell, err) < 0)
			return -1;
	}
	return 0;
}

static int add_rows(struct making *making, const struct chain_table *table,
	const struct canonical_table *form, struct err *err)
{
	uint32_t number = 0;
	int r;

	while ((r = stmt_step(making->store, form->stmt, err)) > 0) {
		making->has_root |= table->is_root;
		if (add_row(making, table, number++, form, err) < 0) {
			(void)sqlite3_reset(form->stmt);
			return -1;
		}
	}
	return r;
}

static int add_table(struct making *making, const struct chain_table *table, struct err *err)
{
	struct canonical_table *form = canonical_rows(making->store, table, making->subject, err);

	if (!form)
		return -1;
	/* A table without early columns is filled after the run began. */
	if (making->kind == CHAIN_RUN_BEGUN && !form->is_early)
		return 0;
	return add_rows(making, table, form, err);
}

static enum chain_kind owner_of(enum chain_kind kind)
{
	return kind == CHAIN_RUN_BEGUN ? CHAIN_RUN : kind;
}

static int make(struct making *making, struct err *err)
{
	uint8_t head[16];

	pruned_put_number(head, (uint64_t)making->kind, 8);
	pruned_put_number(head + 8, (uint64_t)making->subject, 8);
	making->form->len = 0;
	if (buf_append_text(making->form, RECORD_WORDS) < 0 ||
		buf_append(making->form, head, sizeof(head)) < 0)
		return no_memory(err);
	if (!making->is_new && owner_of(making->kind) == CHAIN_RUN &&
		pruned_read(making->store, making->subject, &making->store->canonical->pruned,
			&making->pruned, err) < 0)
		return -1;
	for (const struct chain_table *table = chain_tables; table->name; table++) {
		if (table->owner == owner_of(making->kind) && add_table(making, table, err) < 0)
			return -1;
	}
	/* The digest of a pruned content for which there is no row. */
	if (making->kind == CHAIN_RUN && making->pruned.at != making->pruned.len)
		return buf_append_byte(making->form, CANONICAL_NO_BLOB) < 0 ? no_memory(err) : 0;
	return 0;
}

int canonical_digest(struct store *store, enum chain_kind kind, int64_t subject, bool is_new,
	uint8_t ret_digest[DIGEST_LEN], struct err *err)
{
	struct making making = { .store = store,
		.form = &store->canonical->form,
		.kind = kind,
		.subject = subject,
		.is_new = is_new };

	if (make(&making, err) < 0)
		return -1;
	if (!making.has_root && !chain_is_mark(kind))
		return 1;
	digest_of(making.form->bytes, making.form->len, ret_digest);
	return 0;
}

int canonical_is_linked(struct store *store, enum chain_kind kind, int64_t subject, struct err *err)
{
	uint8_t linked[DIGEST_LEN];
	uint8_t digest[DIGEST_LEN];
	int64_t link = 0;
	int r = chain_find(store, kind, subject, &link, linked, err);

	if (r <= 0)
		return r;
	r = canonical_digest(store, kind, subject, false, digest, err);
	if (r < 0)
		return -1;
	return r == 0 && memcmp(digest, linked, DIGEST_LEN) == 0;
}
