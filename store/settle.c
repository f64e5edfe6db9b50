#include "store/settle.h"

#include "store/db.h"
#include "store/texts.h"

/* Columns of STMT_SETTLE_NEXT from 1 on, in the order of enum facet. */
#define FACET_LAST FACET_POLICY

static int put_facet(
	struct store *store, sqlite3_value *value, unsigned facet, int64_t key, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_FACET_INSERT, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_int(&binding, facet);
	binding.code = sqlite3_bind_value(stmt, ++binding.index, value);
	bind_int(&binding, key);
	return bind_run(store, &binding, err);
}

static int put_facets(struct store *store, sqlite3_stmt *run, int64_t key, struct err *err)
{
	for (unsigned facet = 1; facet <= FACET_LAST; facet++) {
		if (sqlite3_column_type(run, (int)facet) == SQLITE_NULL)
			continue;
		if (put_facet(store, sqlite3_column_value(run, (int)facet), facet, key, err) < 0)
			return -1;
	}
	return 0;
}

/* Those that the row of STMT_SETTLE_BLOBS names. */
static int count_row(struct store *store, sqlite3_stmt *row, struct err *err)
{
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		if (sqlite3_column_type(row, i) != SQLITE_INTEGER)
			continue;
		if (stmt_run_for(store, STMT_BLOB_REF, sqlite3_column_int64(row, i), err) < 0)
			return -1;
	}
	return 0;
}

static int count_blobs(struct store *store, int64_t key, struct err *err)
{
	sqlite3_stmt *row = stmt_take_for(store, STMT_SETTLE_BLOBS, key, err);
	int r;

	if (!row)
		return -1;
	while ((r = stmt_step(store, row, err)) > 0) {
		if (count_row(store, row, err) < 0) {
			(void)sqlite3_reset(row);
			return -1;
		}
	}
	return r;
}

/* The first ended run behind *key: 1 settled, 0 there is none, -1. */
static int settle_next(struct store *store, int64_t *key, size_t *bytes, struct err *err)
{
	sqlite3_stmt *run = stmt_take_for(store, STMT_SETTLE_NEXT, *key, err);
	size_t read = 0;
	int r;

	if (!run)
		return -1;
	r = stmt_step(store, run, err);
	if (r <= 0)
		return r;

	*key = sqlite3_column_int64(run, 0);
	r = put_facets(store, run, *key, err);
	(void)sqlite3_reset(run);
	if (r < 0 || stmt_run_for(store, STMT_RULES_INSERT, *key, err) < 0 ||
		texts_add(store, *key, &read, err) < 0 || count_blobs(store, *key, err) < 0 ||
		stmt_run_for(store, STMT_PENDING_DELETE, *key, err) < 0)
		return -1;
	*bytes += read;
	return 1;
}

int settle_runs(struct store *store, unsigned most, size_t bytes_max, unsigned *ret_settled,
	struct err *err)
{
	int64_t key = INT64_MIN;
	unsigned settled = 0;
	size_t bytes = 0;
	int r = 1;

	while (settled < most && bytes <= bytes_max &&
		(r = settle_next(store, &key, &bytes, err)) > 0)
		settled++;
	if (r < 0)
		return -1;
	*ret_settled = settled;
	return 0;
}

void settle_count(struct store *store, unsigned settled)
{
	store->unsettled -= settled < store->unsettled ? settled : store->unsettled;
}
