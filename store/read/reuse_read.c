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
	struct binding binding = bind_start(store, name, err);
	sqlite3_stmt *row = binding.stmt;
	int r;

	bind_int(&binding, uid);
	bind_text(&binding, caller_id);
	r = stmt_step(store, row, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	*ret_action = (struct store_action){ .ended = sqlite3_column_type(row, 2) != SQLITE_NULL };
	ret_action->is_known = sqlite3_column_bytes(row, 0) == DIGEST_LEN;
	if (ret_action->is_known)
		memcpy(ret_action->content, sqlite3_column_blob(row, 0), DIGEST_LEN);
	copy_text(ret_action->run_id, sizeof(ret_action->run_id), row, 1);
	(void)sqlite3_reset(row);
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
	struct binding binding = bind_start(store, STMT_NAMED_FIND, err);
	sqlite3_stmt *row = binding.stmt;
	int r;

	bind_int(&binding, uid);
	bind_text(&binding, caller_id);
	r = stmt_step(store, row, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	copy_text(ret_run_id, RUN_ID_LEN + 1, row, 0);
	(void)sqlite3_reset(row);
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
	struct binding binding = bind_start(store, STMT_RUN_ID, err);
	sqlite3_stmt *row = binding.stmt;
	int r;

	bind_int(&binding, db_key_of(run_id));
	r = stmt_step(store, row, err);
	(void)sqlite3_reset(row);
	return r < 0 ? -1 : r == 0;
}

int store_find_cached(struct store *store, const uint8_t *cache_key, int64_t since_wall_us,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err)
{
	struct binding binding = bind_start(store, STMT_CACHED_FIND, err);
	sqlite3_stmt *row = binding.stmt;
	int r;

	bind_blob(&binding, cache_key, DIGEST_LEN);
	bind_int(&binding, since_wall_us);
	r = stmt_step(store, row, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	copy_text(ret_run_id, RUN_ID_LEN + 1, row, 0);
	(void)sqlite3_reset(row);
	return 0;
}
