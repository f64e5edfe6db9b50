#include "store/write/lost_runs.h"

#include "proto/base/clock.h"
#include "store/base/stmt.h"
#include "store/store.h"
#include "store/write/chain_write.h"

static int record_lost(struct store *store, int64_t key, int64_t now_us, struct err *err)
{
	if (stmt_run(store, STMT_LOST, SQL_VALUES(sql_int(key), sql_int(now_us)), err) < 0)
		return -1;
	return chain_add(store, CHAIN_RUN, key, err);
}

int lost_runs_record(struct store *store, uint64_t *ret_count, struct err *err)
{
	int64_t now_us = clock_wall_us();
	int64_t key = INT64_MIN;
	uint64_t count = 0;
	int r;

	if (store_begin(store, err) < 0)
		return -1;
	while ((r = stmt_next_key(store, STMT_LOST_NEXT, &key, err)) > 0 &&
		(r = record_lost(store, key, now_us, err)) == 0)
		count++;
	if (r < 0) {
		store_rollback(store);
		return -1;
	}
	*ret_count = count;
	return store_commit(store, STORE_NOW, err);
}
