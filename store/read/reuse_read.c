/* Finds what need not run again: actions that were done, and results that may be reused. */
#include <string.h>

#include "proto/digest.h"
#include "store/base/db.h"
#include "store/base/stmt.h"

static void copy_text(char *to, size_t size, sqlite3_stmt *row, int column)
{
	(void)sqlite3_snprintf((int)size, to, "%s", sqlite3_column_text(row, column));
}

static int find_action(struct store *store, enum stmt_name name, uint32_t uid,
	const char *caller_id, struct store_action *ret_action, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row =
		stmt_with(store, name, SQL_VALUES(sql_int(uid), sql_text(caller_id)), err);
	int r;

	r = stmt_step(store, row, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	*ret_action = (struct store_action){ .ended = sqlite3_column_type(row, 2) != SQLITE_NULL };
	ret_action->is_known = sqlite3_column_bytes(row, 0) == DIGEST_LEN;
	if (ret_action->is_known)
		memcpy(ret_action->content, sqlite3_column_blob(row, 0), DIGEST_LEN);
	copy_text(ret_action->run_id, sizeof(ret_action->run_id), row, 1);
	return 0;
}

int store_find_action(struct store *store, uint32_t uid, const char *caller_id,
	struct store_action *ret_action, struct err *err)
{
	int r = find_action(store, STMT_ACTION_FIND, uid, caller_id, ret_action, err);

	/* If somebody has removed the row, the run itself still says so. */
	return r > 0 ? find_action(store, STMT_ACTION_DONE, uid, caller_id, ret_action, err) : r;
}

static int find_newest(struct store *store, uint32_t uid, const char *caller_id,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_with(
		store, STMT_NAMED_FIND, SQL_VALUES(sql_int(uid), sql_text(caller_id)), err);
	int r;

	r = stmt_step(store, row, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	copy_text(ret_run_id, RUN_ID_LEN + 1, row, 0);
	return 0;
}

int store_find_named(struct store *store, uint32_t uid, const char *caller_id,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err)
{
	struct store_action action;
	int found = store_find_action(store, uid, caller_id, &action, err);

	if (found > 0)
		return find_newest(store, uid, caller_id, ret_run_id, err);
	if (found == 0)
		memcpy(ret_run_id, action.run_id, sizeof(action.run_id));
	return found;
}

int store_find_place(struct store *store, const char *run_id, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row =
		stmt_with(store, STMT_RUN_ID, SQL_VALUES(sql_int(db_key_of(run_id))), err);
	int r;

	r = stmt_step(store, row, err);
	return r < 0 ? -1 : r == 0;
}

int store_find_cached(struct store *store, const uint8_t *cache_key, int64_t since_wall_us,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_with(store, STMT_CACHED_FIND,
		SQL_VALUES(sql_blob(cache_key, DIGEST_LEN), sql_int(since_wall_us)), err);
	int r;

	r = stmt_step(store, row, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	copy_text(ret_run_id, RUN_ID_LEN + 1, row, 0);
	return 0;
}
