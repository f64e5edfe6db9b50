/* Takes contents of old runs away and keeps their digests. */
#include "store/prune.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "proto/base/container.h"
#include "store/acts.h"
#include "store/canon.h"
#include "store/content.h"
#include "store/db.h"
#include "store/evidence.h"
#include "store/record.h"
#include "store/settle.h"
#include "store/texts.h"

#define SQL_MAX   4096
#define LEFT_MAX  ((size_t)64 << 20)
#define PLACE_LEN 6 /* table, row, tag */
#define ENTRY_LEN (PLACE_LEN + CANON_CONTENT_LEN)

static void put_number(uint8_t *bytes, uint64_t number, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		bytes[i] = (uint8_t)(number >> (8 * i));
}

/* ---- reading what was left ---------------------------------------------------------------- */

void pruned_init(struct pruned *pruned)
{
	*pruned = (struct pruned){ NULL, 0, 0 };
}

int pruned_read(struct store *store, int64_t key, struct pruned *ret_pruned, struct err *err)
{
	sqlite3_stmt *row = stmt_take_for(store, STMT_PRUNED_READ, key, err);
	int r;

	pruned_init(ret_pruned);
	if (!row)
		return -1;
	r = stmt_step(store, row, err);
	if (r <= 0)
		return r;
	store->left.len = 0;
	r = buf_append(
		&store->left, sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0));
	(void)sqlite3_reset(row);
	if (r < 0)
		return err_set(err, ERR_MEMORY, "the store: no memory for what was left of a run");
	ret_pruned->bytes = (uint8_t *)store->left.bytes;
	ret_pruned->len = store->left.len;
	return 0;
}

static void make_place(uint8_t place[PLACE_LEN], const struct canon_cell *cell)
{
	place[0] = cell->table->number;
	put_number(place + 1, cell->number, 4);
	place[5] = cell->column->tag;
}

const uint8_t *pruned_next(struct pruned *pruned, const struct canon_cell *cell)
{
	const uint8_t *entry = pruned->bytes + pruned->at;
	uint8_t place[PLACE_LEN];

	if (pruned->len - pruned->at < ENTRY_LEN)
		return NULL;
	make_place(place, cell);
	if (memcmp(entry, place, PLACE_LEN) != 0)
		return NULL;
	pruned->at += ENTRY_LEN;
	return entry + PLACE_LEN;
}

/* ---- taking away -------------------------------------------------------------------------- */

/* One run that is losing its contents. */
struct taking {
	struct store *store;
	int64_t key;
	struct buf *left;
	uint64_t bytes; /* that are free now, as store_plan() counts them */
};

/* One holder less; the blob goes with its last one. */
static int release_blob(struct taking *taking, int64_t blob, struct err *err)
{
	static const enum stmt_name steps[] = { STMT_BLOB_UNREF, STMT_BLOB_UNHELD, STMT_BLOB_DELETE,
		STMT_BLOB_DATA_DELETE };

	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		struct store *store = taking->store;
		sqlite3_stmt *stmt = stmt_take(store, steps[i], err);
		struct binding binding;
		int r;

		if (!stmt)
			return -1;
		binding = bind_to(stmt);
		bind_int(&binding, blob);
		r = stmt_step(store, stmt, err);
		if (r > 0 && steps[i] == STMT_BLOB_UNHELD)
			taking->bytes += (uint64_t)sqlite3_column_int64(stmt, 0);
		(void)sqlite3_reset(stmt);
		if (r < 0)
			return -1;
		if (steps[i] == STMT_BLOB_UNHELD && r == 0)
			return 0;
	}
	return 0;
}

static int leave_digest(struct taking *taking, const struct canon_cell *cell, struct err *err)
{
	uint8_t entry[ENTRY_LEN];
	uint64_t len = 0;
	int r = content_digest(taking->store, cell->row, cell->at, &len,
		entry + PLACE_LEN + sizeof(uint64_t), err);

	if (r > 0)
		return err_set(err, ERR_CORRUPT, "the store: a blob of %s.%s is missing",
			cell->table->name, cell->column->column);
	if (r < 0)
		return -1;
	make_place(entry, cell);
	put_number(entry + PLACE_LEN, len, sizeof(uint64_t));
	if (buf_append(taking->left, entry, sizeof(entry)) < 0)
		return err_set(err, ERR_MEMORY, "the store: no memory to prune a run");
	if (sqlite3_column_type(cell->row, cell->at) != SQLITE_INTEGER) {
		taking->bytes += (uint64_t)sqlite3_column_bytes(cell->row, cell->at);
		return 0;
	}
	return release_blob(taking, sqlite3_column_int64(cell->row, cell->at), err);
}

static int leave_row(struct taking *taking, const struct evidence_table *table, uint32_t number,
	const struct canon_table *form, struct err *err)
{
	for (unsigned i = 0; i < form->count; i++) {
		const struct canon_cell cell = { table, number, form->columns[i], form->stmt,
			(int)i };

		if (cell.column->form != EVIDENCE_CONTENT ||
			sqlite3_column_type(cell.row, cell.at) == SQLITE_NULL)
			continue;
		if (leave_digest(taking, &cell, err) < 0)
			return -1;
	}
	return 0;
}

static int empty_columns(struct taking *taking, const struct evidence_table *table,
	const struct canon_table *form, struct err *err)
{
	const char *between = "SET";
	struct buf sql;
	int r;

	buf_init(&sql, SQL_MAX);
	r = buf_printf(&sql, "UPDATE %s ", table->name);
	for (unsigned i = 0; i < form->count; i++) {
		if (form->columns[i]->form != EVIDENCE_CONTENT)
			continue;
		r |= buf_printf(&sql, "%s \"%s\" = NULL", between, form->columns[i]->column);
		between = ",";
	}
	r |= buf_printf(&sql, " WHERE \"%s\" = %lld", table->by, (long long)taking->key);
	r |= buf_append_byte(&sql, 0);
	if (r < 0)
		(void)err_set(err, ERR_MEMORY, "the store: no memory to prune a run");
	else if (between[0] == ',')
		r = db_exec(taking->store, sql.bytes, err);
	buf_done(&sql);
	return r;
}

static int take_table(struct taking *taking, const struct evidence_table *table, struct err *err)
{
	struct canon_table *form = canon_rows(taking->store, table, taking->key, err);
	uint32_t number = 0;
	int r;

	if (!form)
		return -1;
	while ((r = stmt_step(taking->store, form->stmt, err)) > 0) {
		if (leave_row(taking, table, number++, form, err) < 0) {
			(void)sqlite3_reset(form->stmt);
			return -1;
		}
	}
	return r < 0 ? -1 : empty_columns(taking, table, form, err);
}

static int insert_left(const struct taking *taking, int64_t act, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(taking->store, STMT_PRUNED_INSERT, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_int(&binding, taking->key);
	bind_int(&binding, act);
	bind_blob(&binding, taking->left->bytes, taking->left->len);
	return bind_run(taking->store, &binding, err);
}

/* After settle_all() what is still pending has not ended, or cannot be read. */
static int is_pending(struct taking *taking, struct err *err)
{
	sqlite3_stmt *row = stmt_take_for(taking->store, STMT_PENDING_HAS, taking->key, err);
	int r;

	if (!row)
		return -1;
	r = stmt_step(taking->store, row, err);
	(void)sqlite3_reset(row);
	return r;
}

static int prune_run(struct taking *taking, int64_t act, struct err *err)
{
	int r = is_pending(taking, err);

	if (r > 0)
		return err_set(
			err, ERR_INVALID, "the store: a run that is to be pruned has not settled");
	if (r < 0)
		return -1;
	if (texts_forget(taking->store, taking->key, err) < 0)
		return -1;
	taking->left->len = 0;
	for (const struct evidence_table *table = evidence_tables; table->name; table++) {
		if (table->owner == CHAIN_RUN && take_table(taking, table, err) < 0)
			return -1;
	}
	return insert_left(taking, act, err);
}

/* On a disk that is nearly full only what is to leave: what stays would need room first. */
static int settle_named(
	struct store *store, const char *const *run_ids, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		int64_t key = 0;
		int r = record_find(store, run_ids[i], &key, err);

		if (r < 0 || (r == 0 && settle_to_leave(store, key, err) < 0))
			return -1;
	}
	return 0;
}

/* Counts of blobs are right only for runs that have settled; for others STMT_BLOB_UNHELD looks. */
static int settle_all(
	struct store *store, const char *const *run_ids, size_t count, struct err *err)
{
	unsigned settled = 0;

	if (!room_is_calm(store))
		return settle_named(store, run_ids, count, err);
	if (settle_runs(store, UINT_MAX, SIZE_MAX, &settled, err) < 0)
		return -1;
	settle_count(store, settled);
	return 0;
}

static int prune_runs(struct taking *taking, const char *const *run_ids, size_t count, int64_t act,
	struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		int r = record_find(taking->store, run_ids[i], &taking->key, err);

		if (r > 0)
			return err_set(
				err, ERR_MISSING, "the store: there is no run %s", run_ids[i]);
		if (r < 0 || prune_run(taking, act, err) < 0)
			return -1;
	}
	return 0;
}

/* A result that is not whole any more is not told again. */
static int forget_cached(struct store *store, int64_t act, struct err *err)
{
	store->cached_count = -1;
	return stmt_run_for(store, STMT_CACHED_PRUNED, act, err);
}

int store_prune(struct store *store, const struct store_act *act, const char *const *run_ids,
	size_t count, uint64_t *ret_bytes, struct err *err)
{
	struct buf left;
	struct taking taking = { store, 0, &left, 0 };
	int64_t number = 0;
	int r;

	assert(store->writing);
	buf_init(&left, LEFT_MAX);
	r = settle_all(store, run_ids, count, err);
	if (r == 0)
		r = act_insert(store, act, &number, err);
	if (r == 0)
		r = prune_runs(&taking, run_ids, count, number, err);
	if (r == 0)
		r = forget_cached(store, number, err);
	if (r == 0)
		r = chain_add(store, CHAIN_ACT, number, err);
	buf_done(&left);
	blob_shelf_clear(&store->shelf); /* blobs that it knows may be gone */
	if (r == 0)
		*ret_bytes = taking.bytes;
	else
		store->failed = true;
	return r;
}
