#include "store/lost.h"

#include "proto/base/clock.h"
#include "store/db.h"

/* The first run in flight behind *key: 1 found, 0, -1. */
static int next(struct store *store, int64_t *key, struct err *err)
{
	sqlite3_stmt *row = stmt_take_for(store, STMT_LOST_NEXT, *key, err);
	int r;

	if (!row)
		return -1;
	r = stmt_step(store, row, err);
	if (r > 0)
		*key = sqlite3_column_int64(row, 0);
	(void)sqlite3_reset(row);
	return r;
}

static int mark(struct store *store, int64_t key, int64_t now_us, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_LOST, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_int(&binding, key);
	bind_int(&binding, now_us);
	if (bind_run(store, &binding, err) < 0)
		return -1;
	return chain_add(store, CHAIN_RUN, key, err);
}

int lost_mark(struct store *store, uint64_t *ret_count, struct err *err)
{
	int64_t now_us = clock_wall_us();
	int64_t key = INT64_MIN;
	uint64_t count = 0;
	int r;

	if (store_begin(store, err) < 0)
		return -1;
	while ((r = next(store, &key, err)) > 0 && (r = mark(store, key, now_us, err)) == 0)
		count++;
	if (r < 0) {
		store_rollback(store);
		return -1;
	}
	*ret_count = count;
	return store_commit(store, STORE_NOW, err);
}
