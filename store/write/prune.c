/*
 * Removes the contents of old runs, for age or for space.  The columns become NULL, and blobs that
 * no other run uses are deleted.  The table `pruned` keeps length and SHA-256 of each content, so
 * that the chain still verifies.
 */
#include <assert.h>
#include <limits.h>

#include "proto/base/container.h"
#include "store/base/canonical.h"
#include "store/base/content.h"
#include "store/base/pruned.h"
#include "store/base/record.h"
#include "store/base/stmt.h"
#include "store/write/act_write.h"
#include "store/write/chain_write.h"
#include "store/write/writer.h"

#define SQL_MAX     4096
#define DIGESTS_MAX ((size_t)64 << 20)

/* One run whose contents are being removed. */
struct pruning {
	struct store *store;
	int64_t key;
	struct buf *digests;
	uint64_t bytes; /* that were freed, as store_plan() counts them */
};

/* One run less holds the blob, which is deleted when no run holds it. */
static int release_blob(struct pruning *pruning, int64_t blob, struct err *err)
{
	static const enum stmt_name steps[] = { STMT_BLOB_UNREF, STMT_BLOB_UNHELD, STMT_BLOB_DELETE,
		STMT_BLOB_DATA_DELETE };

	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		struct store *store = pruning->store;
		auto_of(stmt_leave) sqlite3_stmt *stmt = stmt_take_for(store, steps[i], blob, err);
		int r = stmt_step(store, stmt, err);

		if (r > 0 && steps[i] == STMT_BLOB_UNHELD)
			pruning->bytes += (uint64_t)sqlite3_column_int64(stmt, 0);
		if (r < 0)
			return -1;
		if (steps[i] == STMT_BLOB_UNHELD && r == 0)
			return 0;
	}
	return 0;
}

/* Keeps the digest of the content in column `at` of the row. */
static int keep_digest(struct pruning *pruning, const struct chain_table *table, uint32_t number,
	const struct canonical_table *form, unsigned at, struct err *err)
{
	uint8_t entry[PRUNED_ENTRY_LEN];
	uint64_t len = 0;
	int r = content_digest(pruning->store, form->stmt, (int)at, &len,
		entry + PRUNED_ENTRY_LEN - DIGEST_LEN, err);

	if (r > 0)
		return err_set(err, ERR_CORRUPT, "the store: a blob of %s.%s is missing",
			table->name, form->columns[at]->column);
	if (r < 0)
		return -1;
	pruned_put_entry(entry, table->number, number, form->columns[at]->tag, len);
	if (buf_append(pruning->digests, entry, sizeof(entry)) < 0)
		return err_set(err, ERR_MEMORY, "the store: no memory to prune a run");
	if (sqlite3_column_type(form->stmt, (int)at) != SQLITE_INTEGER) {
		pruning->bytes += (uint64_t)sqlite3_column_bytes(form->stmt, (int)at);
		return 0;
	}
	return release_blob(pruning, sqlite3_column_int64(form->stmt, (int)at), err);
}

static int keep_digests(struct pruning *pruning, const struct chain_table *table, uint32_t number,
	const struct canonical_table *form, struct err *err)
{
	for (unsigned i = 0; i < form->count; i++) {
		if (form->columns[i]->cover != COLUMN_CONTENT ||
			sqlite3_column_type(form->stmt, (int)i) == SQLITE_NULL)
			continue;
		if (keep_digest(pruning, table, number, form, i, err) < 0)
			return -1;
	}
	return 0;
}

static int empty_columns(struct pruning *pruning, const struct chain_table *table,
	const struct canonical_table *form, struct err *err)
{
	const char *between = "SET";
	struct buf sql;
	int r;

	buf_init(&sql, SQL_MAX);
	r = buf_printf(&sql, "UPDATE %s ", table->name);
	for (unsigned i = 0; i < form->count; i++) {
		if (form->columns[i]->cover != COLUMN_CONTENT)
			continue;
		r |= buf_printf(&sql, "%s \"%s\" = NULL", between, form->columns[i]->column);
		between = ",";
	}
	r |= buf_printf(&sql, " WHERE \"%s\" = %lld", table->by, (long long)pruning->key);
	r |= buf_append_byte(&sql, 0);
	if (r < 0)
		(void)err_set(err, ERR_MEMORY, "the store: no memory to prune a run");
	else if (between[0] == ',')
		r = db_exec(pruning->store, sql.bytes, err);
	buf_done(&sql);
	return r;
}

static int prune_table(struct pruning *pruning, const struct chain_table *table, struct err *err)
{
	struct canonical_table *form = canonical_rows(pruning->store, table, pruning->key, err);
	uint32_t number = 0;
	int r;

	if (!form)
		return -1;
	while ((r = stmt_step(pruning->store, form->stmt, err)) > 0) {
		if (keep_digests(pruning, table, number++, form, err) < 0) {
			(void)sqlite3_reset(form->stmt);
			return -1;
		}
	}
	return r < 0 ? -1 : empty_columns(pruning, table, form, err);
}

static int insert_pruned(const struct pruning *pruning, int64_t act, struct err *err)
{
	return stmt_run(pruning->store, STMT_PRUNED_INSERT,
		SQL_VALUES(sql_int(pruning->key), sql_int(act),
			sql_blob(pruning->digests->bytes, pruning->digests->len)),
		err);
}

static int prune_run(struct pruning *pruning, int64_t act, struct err *err)
{
	/* After index_all() a run that is still pending has not ended, or cannot be read. */
	int r = stmt_has_row(pruning->store, STMT_PENDING_HAS, pruning->key, err);

	if (r > 0)
		return err_set(
			err, ERR_INVALID, "the store: a run that is to be pruned has not settled");
	if (r < 0)
		return -1;
	if (word_index_remove(pruning->store, &pruning->store->writer->words, pruning->key, err) <
		0)
		return -1;
	pruning->digests->len = 0;
	for (const struct chain_table *table = chain_tables; table->name; table++) {
		if (table->owner == CHAIN_RUN && prune_table(pruning, table, err) < 0)
			return -1;
	}
	return insert_pruned(pruning, act, err);
}

/*
 * On a disk that is nearly full, only the runs that are pruned: the index of others would need
 * space.
 */
static int index_named(
	struct store *store, const char *const *run_ids, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		int64_t key = 0;
		int r = record_find(store, run_ids[i], &key, err);

		if (r < 0 || (r == 0 && run_index_without_words(
						store, &store->writer->index, key, err) < 0))
			return -1;
	}
	return 0;
}

/* Only indexed runs are counted in `refs` of a blob. */
static int index_all(struct store *store, const char *const *run_ids, size_t count, struct err *err)
{
	struct writer *writer = store->writer;
	unsigned done = 0;

	if (!disk_space_is_ample(&writer->space))
		return index_named(store, run_ids, count, err);
	if (run_index_some(store, &writer->index, UINT_MAX, SIZE_MAX, &done, err) < 0)
		return -1;
	run_index_count(&writer->index, done);
	return 0;
}

static int prune_runs(struct pruning *pruning, const char *const *run_ids, size_t count,
	int64_t act, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		int r = record_find(pruning->store, run_ids[i], &pruning->key, err);

		if (r > 0)
			return err_set(
				err, ERR_MISSING, "the store: there is no run %s", run_ids[i]);
		if (r < 0 || prune_run(pruning, act, err) < 0)
			return -1;
	}
	return 0;
}

/* A result without its contents is not reused. */
static int forget_cached(struct store *store, int64_t act, struct err *err)
{
	store->writer->cached_count = -1;
	return stmt_run_for(store, STMT_CACHED_PRUNED, act, err);
}

int store_prune(struct store *store, const struct store_act *act, const char *const *run_ids,
	size_t count, uint64_t *ret_bytes, struct err *err)
{
	struct buf digests;
	struct pruning pruning = { store, 0, &digests, 0 };
	int64_t number = 0;
	int r;

	assert(store->writer->in_transaction);
	buf_init(&digests, DIGESTS_MAX);
	r = index_all(store, run_ids, count, err);
	if (r == 0)
		r = act_insert(store, act, &number, err);
	if (r == 0)
		r = prune_runs(&pruning, run_ids, count, number, err);
	if (r == 0)
		r = forget_cached(store, number, err);
	if (r == 0)
		r = chain_add(store, CHAIN_ACT, number, err);
	buf_done(&digests);
	if (r == 0)
		*ret_bytes = pruning.bytes;
	else
		(void)writer_failed(store);
	return r;
}
