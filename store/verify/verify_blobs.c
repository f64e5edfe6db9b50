/*
 * Compares the bytes of each blob with its digest, and `blobs.refs` with the records that hold it.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/base/buf.h"
#include "store/base/blob.h"
#include "store/base/chain_columns.h"
#include "store/base/db.h"
#include "store/base/stmt.h"
#include "store/verify/verify.h"

#define BLOB_ROOM ((size_t)320 << 20) /* for one, unpressed */
#define WINDOW    ((size_t)1 << 22)   /* blobs that are counted in one go through the records */
#define SQL_MAX   4096

static bool is_as_named(struct verify *verify, sqlite3_stmt *row, int64_t blob)
{
	const struct blob_row content = { row, 2, blob };
	const void *named = sqlite3_column_blob(row, 1);
	bool has_name = named && sqlite3_column_bytes(row, 1) == DIGEST_LEN;
	uint8_t name[DIGEST_LEN];
	uint8_t digest[DIGEST_LEN];
	struct bytes bytes = { NULL, 0 };
	struct arena arena;
	bool same = false;

	if (!has_name || sqlite3_column_type(row, 4) == SQLITE_NULL)
		return false;
	memcpy(name, named, DIGEST_LEN);
	arena_init(&arena, BLOB_ROOM);
	if (blob_unpack(verify->store, &content, &arena, &bytes, NULL) == 0) {
		digest_of(bytes.data, bytes.len, digest);
		same = memcmp(digest, name, DIGEST_LEN) == 0;
	}
	arena_done(&arena);
	return same;
}

static void check(struct verify *verify, sqlite3_stmt *row, int64_t blob)
{
	bool gone = sqlite3_column_type(row, 4) == SQLITE_NULL;
	struct fill problem;

	if (is_as_named(verify, row, blob))
		return;
	problem = verify_problem(verify, gone ? "missing" : "changed", "the bytes of blob %lld %s",
		(long long)blob,
		gone ? "were removed" : "are not those that were recorded under its digest");
	fill_text(&problem, "table", gone ? "blob_data" : "blobs");
	fill_int(&problem, "row", blob);
}

static int last_blob(struct verify *verify, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_take(verify->store, STMT_BLOB_LAST, err);
	int r = stmt_step(verify->store, row, err);

	if (r > 0)
		verify->of = sqlite3_column_int64(row, 0);
	return r < 0 ? -1 : 0;
}

int verify_blobs(struct verify *verify, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_with(verify->store, STMT_BLOB_WALK,
		SQL_VALUES(sql_int(verify->from), sql_int(verify->count)), err);
	int64_t blob = 0;
	int r;

	if (last_blob(verify, err) < 0)
		return -1;
	while ((r = stmt_step(verify->store, row, err)) > 0) {
		blob = sqlite3_column_int64(row, 0);
		check(verify, row, blob);
		verify->checked++;
	}
	verify->next = blob && blob < verify->of ? blob + 1 : 0;
	return r;
}

/* ---- references ------------------------------------------------------------------------------- */

struct counted {
	int64_t blob;
	int64_t refs; /* as it stands there */
	uint32_t held;
};

/* The blobs in order, with their counts. */
struct counting {
	struct verify *verify;
	struct counted *blobs;
	size_t count;
};

static struct counted *find(const struct counting *counting, int64_t blob)
{
	size_t low = 0;
	size_t high = counting->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (counting->blobs[middle].blob < blob)
			low = middle + 1;
		else
			high = middle;
	}
	return low < counting->count && counting->blobs[low].blob == blob ? &counting->blobs[low]
									  : NULL;
}

static int read_window(struct counting *counting, int64_t above, struct err *err)
{
	struct store *store = counting->verify->store;
	auto_of(db_finish) sqlite3_stmt *row = db_prepare(
		store, "SELECT blob, refs FROM blobs WHERE blob > ? ORDER BY blob LIMIT ?", err);
	int r = 0;

	counting->count = 0;
	if (!row)
		return -1;
	(void)sqlite3_bind_int64(row, 1, above);
	(void)sqlite3_bind_int64(row, 2, (sqlite3_int64)WINDOW);
	while (counting->count < WINDOW && (r = stmt_step(store, row, err)) > 0)
		counting->blobs[counting->count++] = (struct counted){ sqlite3_column_int64(row, 0),
			sqlite3_column_int64(row, 1), 0 };
	return r < 0 ? -1 : 0;
}

static int write_question(const struct chain_table *table, struct buf *sql)
{
	const char *between = "SELECT ";

	for (const struct chain_column *row = chain_columns; row->table; row++) {
		if (row->cover != COLUMN_CONTENT || strcmp(row->table, table->name) != 0)
			continue;
		if (buf_printf(sql, "%s\"%s\"", between, row->column) < 0)
			return -1;
		between = ", ";
	}
	if (!sql->len)
		return 0;
	return buf_printf(sql,
		" FROM %s AS t WHERE NOT EXISTS (SELECT 1 FROM pending WHERE key = t.\"%s\")",
		table->name, table->by);
}

static void count_row(const struct counting *counting, sqlite3_stmt *row)
{
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		struct counted *counted;

		if (sqlite3_column_type(row, i) != SQLITE_INTEGER)
			continue;
		counted = find(counting, sqlite3_column_int64(row, i));
		if (counted)
			counted->held++;
	}
}

static int count_table(
	const struct counting *counting, const struct chain_table *table, struct err *err)
{
	struct store *store = counting->verify->store;
	auto_of(db_finish) sqlite3_stmt *row = NULL;
	struct buf sql;
	int r = SQLITE_OK;

	buf_init(&sql, SQL_MAX);
	if (write_question(table, &sql) < 0)
		r = SQLITE_NOMEM;
	else if (sql.len)
		r = sqlite3_prepare_v2(store->db, sql.bytes, (int)sql.len, &row, NULL);
	buf_done(&sql);
	if (r != SQLITE_OK)
		return db_failed(store, r, err);
	while (row && (r = stmt_step(store, row, err)) > 0)
		count_row(counting, row);
	return r < 0 ? -1 : 0;
}

static void compare(const struct counting *counting)
{
	for (size_t i = 0; i < counting->count; i++) {
		const struct counted *counted = &counting->blobs[i];
		struct fill problem;

		if (counted->refs == counted->held)
			continue;
		problem = verify_problem(counting->verify, "changed",
			"%u runs hold blob %lld, and the store counts %lld", counted->held,
			(long long)counted->blob, (long long)counted->refs);
		fill_text(&problem, "table", "blobs");
		fill_int(&problem, "row", counted->blob);
	}
}

static int count_window(struct counting *counting, struct err *err)
{
	for (const struct chain_table *table = chain_tables; table->name; table++) {
		if (table->owner == CHAIN_RUN && count_table(counting, table, err) < 0)
			return -1;
	}
	compare(counting);
	return 0;
}

int blob_refs_check(struct verify *verify, struct err *err)
{
	struct counting counting = { verify, malloc(WINDOW * sizeof(*counting.blobs)), 0 };
	int64_t above = INT64_MIN;
	int r = 0;

	if (!counting.blobs)
		return err_set(err, ERR_MEMORY, "the store: no memory to count blobs");
	do {
		r = read_window(&counting, above, err);
		if (r == 0 && counting.count) {
			above = counting.blobs[counting.count - 1].blob;
			r = count_window(&counting, err);
		}
	} while (r == 0 && counting.count == WINDOW);
	free(counting.blobs);
	return r;
}
