#include "store/canon.h"

#include <assert.h>
#include <string.h>

#include "store/content.h"
#include "store/db.h"
#include "store/evidence.h"
#include "store/prune.h"

#define RECORD_WORDS "ced record 1\n"
#define SQL_MAX      4096

enum canon_type {
	CANON_INTEGER = 1,
	CANON_OTHER = 2,
	CANON_TEXT = 3,
	CANON_BYTES = 4,
	CANON_CONTENT = 5,
	CANON_NO_BLOB = 6, /* a content whose blob has gone: fits no digest that was ever made */
};

/* A form being made. */
struct making {
	struct store *store;
	struct buf *form;
	enum chain_kind kind;
	int64_t subject;
	struct pruned pruned; /* what is known of the contents that were taken away */
	bool is_new;
	bool there; /* a row of the root table was */
};

/* ---- the tables -------------------------------------------------------------------------- */

static void find_columns(struct canon_table *form, const char *table)
{
	form->count = 0;
	form->is_early = false;
	for (const struct evidence *row = evidence; row->table; row++) {
		if (!row->tag || strcmp(row->table, table) != 0)
			continue;
		assert(form->count < EVIDENCE_COLUMNS_MAX);
		form->columns[form->count++] = row;
		form->is_early |= row->early;
	}
}

static int write_text(
	const struct canon_table *form, const struct evidence_table *table, struct buf *sql)
{
	for (unsigned i = 0; i < form->count; i++) {
		if (buf_printf(sql, "%s\"%s\"", i ? ", " : "SELECT ", form->columns[i]->column) < 0)
			return -1;
	}
	return buf_printf(sql, " FROM %s WHERE \"%s\" = ?1 ORDER BY %s", table->name, table->by,
		table->order);
}

static struct canon_table *form_of(
	struct store *store, const struct evidence_table *table, struct err *err)
{
	struct canon_table *form = &store->forms[table - evidence_tables];
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

struct canon_table *canon_rows(
	struct store *store, const struct evidence_table *table, int64_t subject, struct err *err)
{
	struct canon_table *form = form_of(store, table, err);
	int r;

	if (!form)
		return NULL;
	r = sqlite3_bind_int64(form->stmt, 1, subject);
	if (r == SQLITE_OK)
		return form;
	(void)db_failed(store, r, err);
	return NULL;
}

void canon_close(struct store *store)
{
	for (unsigned i = 0; i < EVIDENCE_TABLES_MAX; i++) {
		(void)sqlite3_finalize(store->forms[i].stmt);
		store->forms[i].stmt = NULL;
	}
}

/* ---- values ------------------------------------------------------------------------------- */

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "the store: no memory for a digest");
}

/* Numbers in the order of their bytes, whatever the machine's is. */
static void put_u64(uint8_t *bytes, uint64_t number)
{
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> (8 * i));
}

static int add(
	struct making *making, const struct canon_cell *cell, enum canon_type type, uint64_t number)
{
	uint8_t head[10] = { cell->column->tag, (uint8_t)type };

	put_u64(head + 2, number);
	return buf_append(making->form, head, sizeof(head));
}

static int add_plain(struct making *making, const struct canon_cell *cell)
{
	static const enum canon_type types[] = {
		[SQLITE_TEXT] = CANON_TEXT,
		[SQLITE_BLOB] = CANON_BYTES,
		[SQLITE_FLOAT] = CANON_OTHER,
	};
	int type = sqlite3_column_type(cell->row, cell->at);
	const void *bytes;
	size_t len;

	if (type == SQLITE_INTEGER)
		return add(making, cell, CANON_INTEGER,
			(uint64_t)sqlite3_column_int64(cell->row, cell->at));
	bytes = sqlite3_column_blob(cell->row, cell->at);
	len = (size_t)sqlite3_column_bytes(cell->row, cell->at);
	if (add(making, cell, types[type], len) < 0)
		return -1;
	return bytes ? buf_append(making->form, bytes, len) : 0;
}

static int add_content(struct making *making, const struct canon_cell *cell, struct err *err)
{
	uint8_t digest[DIGEST_LEN];
	uint64_t len = 0;
	bool is_text = strcmp(cell->table->name, "findings") == 0;
	int r = !making->is_new && content_is_odd(cell->row, cell->at, is_text)
			? 1
			: content_digest(making->store, cell->row, cell->at, &len, digest, err);

	if (r < 0)
		return -1;
	if (r > 0) {
		uint64_t blob = (uint64_t)sqlite3_column_int64(cell->row, cell->at);

		return add(making, cell, CANON_NO_BLOB, blob) < 0 ? no_memory(err) : 0;
	}
	if (add(making, cell, CANON_CONTENT, len) < 0 ||
		buf_append(making->form, digest, sizeof(digest)) < 0)
		return no_memory(err);
	return 0;
}

/* A content that is NULL: there never was one, or it was taken away and left its digest. */
static int add_pruned(struct making *making, const struct canon_cell *cell, const uint8_t *left)
{
	const uint8_t head[2] = { cell->column->tag, CANON_CONTENT };

	if (!left)
		return 0;
	if (buf_append(making->form, head, sizeof(head)) < 0)
		return -1;
	return buf_append(making->form, left, CANON_CONTENT_LEN);
}

/* ---- rows --------------------------------------------------------------------------------- */

static int add_value(struct making *making, const struct canon_cell *cell, struct err *err)
{
	bool is_content = cell->column->form == EVIDENCE_CONTENT;
	const uint8_t *left = is_content ? pruned_next(&making->pruned, cell) : NULL;

	if (making->kind == CHAIN_RUN_BEGUN && !cell->column->early)
		return 0;
	if (sqlite3_column_type(cell->row, cell->at) == SQLITE_NULL)
		return add_pruned(making, cell, left) < 0 ? no_memory(err) : 0;
	if (is_content)
		return add_content(making, cell, err);
	return add_plain(making, cell) < 0 ? no_memory(err) : 0;
}

static int add_row(struct making *making, const struct evidence_table *table, uint32_t number,
	const struct canon_table *form, struct err *err)
{
	const uint8_t head[2] = { 0, table->number };

	if (buf_append(making->form, head, sizeof(head)) < 0)
		return no_memory(err);
	for (unsigned i = 0; i < form->count; i++) {
		const struct canon_cell cell = { table, number, form->columns[i], form->stmt,
			(int)i };

		if (add_value(making, &cell, err) < 0)
			return -1;
	}
	return 0;
}

static int add_rows(struct making *making, const struct evidence_table *table,
	const struct canon_table *form, struct err *err)
{
	uint32_t number = 0;
	int r;

	while ((r = stmt_step(making->store, form->stmt, err)) > 0) {
		making->there |= table->is_root;
		if (add_row(making, table, number++, form, err) < 0) {
			(void)sqlite3_reset(form->stmt);
			return -1;
		}
	}
	return r;
}

static int add_table(struct making *making, const struct evidence_table *table, struct err *err)
{
	struct canon_table *form = canon_rows(making->store, table, making->subject, err);

	if (!form)
		return -1;
	/* What comes later may come in any number of rows. */
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

	put_u64(head, (uint64_t)making->kind);
	put_u64(head + 8, (uint64_t)making->subject);
	making->form->len = 0;
	if (buf_append_text(making->form, RECORD_WORDS) < 0 ||
		buf_append(making->form, head, sizeof(head)) < 0)
		return no_memory(err);
	if (!making->is_new && owner_of(making->kind) == CHAIN_RUN &&
		pruned_read(making->store, making->subject, &making->pruned, err) < 0)
		return -1;
	for (const struct evidence_table *table = evidence_tables; table->name; table++) {
		if (table->owner == owner_of(making->kind) && add_table(making, table, err) < 0)
			return -1;
	}
	/* What was left of contents that no row has a place for. */
	if (making->kind == CHAIN_RUN && making->pruned.at != making->pruned.len)
		return buf_append_byte(making->form, CANON_NO_BLOB) < 0 ? no_memory(err) : 0;
	return 0;
}

int canon_digest(struct store *store, enum chain_kind kind, int64_t subject, bool is_new,
	uint8_t ret_digest[DIGEST_LEN], struct err *err)
{
	struct making making = { .store = store,
		.form = &store->form,
		.kind = kind,
		.subject = subject,
		.is_new = is_new };

	pruned_init(&making.pruned);
	if (make(&making, err) < 0)
		return -1;
	if (!making.there && !chain_is_mark(kind))
		return 1;
	digest_of(making.form->bytes, making.form->len, ret_digest);
	return 0;
}
