#include "store/repeats.h"

#include <string.h>

#include "proto/digest.h"
#include "store/db.h"

#define TRIM_PART 16 /* so many of a full cache leave together */

/* ---- writing ------------------------------------------------------------------------------ */

static int put_action(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_ACTION_PUT, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_int(&binding, run->uid);
	bind_text(&binding, run->caller_id);
	bind_blob(&binding, run->action, DIGEST_LEN);
	bind_int(&binding, key);
	return bind_run(store, &binding, err);
}

static int take_action_back(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_ACTION_DELETE, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_int(&binding, run->uid);
	bind_text(&binding, run->caller_id);
	bind_int(&binding, key);
	return bind_run(store, &binding, err);
}

static int put_cached(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_CACHED_PUT, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_blob(&binding, run->cache_key, DIGEST_LEN);
	bind_int(&binding, key);
	bind_int(&binding, run->ended_wall_us);
	return bind_run(store, &binding, err);
}

static int trim_cached(struct store *store, int64_t count, struct err *err)
{
	store->cached_count -= count;
	return stmt_run_for(store, STMT_CACHED_TRIM, count, err);
}

static int count_cached(struct store *store, struct err *err)
{
	return db_number(store, "SELECT count(*) FROM cached", 0, &store->cached_count, err);
}

/*
 * The oldest leave when there are more than may be, some at a time.  What is kept count of may be too
 * much, since an entry can take another's place: so they are counted before any leave.
 */
static int keep_few(struct store *store, int64_t most, struct err *err)
{
	if (store->cached_count >= 0 && store->cached_count <= most)
		return 0;
	if (count_cached(store, err) < 0)
		return -1;
	if (store->cached_count <= most)
		return 0;
	return trim_cached(store, store->cached_count - most + most / TRIM_PART, err);
}

const uint8_t *repeats_action(const struct store_run *run)
{
	return job_result_is_spent(run->result) ? run->action : NULL;
}

const uint8_t *repeats_cache_key(const struct store_run *run)
{
	return outcome_is_fact(run->result->outcome) ? run->cache_key : NULL;
}

/* Its row has begun before; that it holds a name is new. */
static int note_action(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_RUN_ACTION, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_int(&binding, key);
	bind_digest(&binding, run->action);
	return bind_run(store, &binding, err);
}

int repeats_begun(struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	if (!run->action)
		return 0;
	if (run->is_begun && note_action(store, key, run, err) < 0)
		return -1;
	return put_action(store, key, run, err);
}

int repeats_ended(struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	int r = 0;

	if (repeats_action(run))
		r = put_action(store, key, run, err);
	else if (run->action)
		r = take_action_back(store, key, run, err);
	if (r < 0 || !repeats_cache_key(run))
		return r;
	if (put_cached(store, key, run, err) < 0)
		return -1;
	if (store->cached_count >= 0)
		store->cached_count++; /* at most: it may have taken another's place */
	return keep_few(store, (int64_t)run->cache_entries, err);
}

/* ---- reading ------------------------------------------------------------------------------ */

static void copy_text(char *to, size_t size, sqlite3_stmt *row, int column)
{
	(void)sqlite3_snprintf((int)size, to, "%s", sqlite3_column_text(row, column));
}

static int find_action(struct store *store, enum stmt_name name, uint32_t uid,
	const char *caller_id, struct store_action *ret_action, struct err *err)
{
	sqlite3_stmt *row = stmt_take(store, name, err);
	struct binding binding;
	int r;

	if (!row)
		return -1;
	binding = bind_to(row);
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

	/* Somebody may have taken its row out: the run says the same. */
	return r > 0 ? find_action(store, STMT_ACTION_DONE, uid, caller_id, ret_action, err) : r;
}

static int find_newest(struct store *store, uint32_t uid, const char *caller_id,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err)
{
	sqlite3_stmt *row = stmt_take(store, STMT_NAMED_FIND, err);
	struct binding binding;
	int r;

	if (!row)
		return -1;
	binding = bind_to(row);
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
	sqlite3_stmt *row = stmt_take(store, STMT_RUN_ID, err);
	struct binding binding;
	int r;

	if (!row)
		return -1;
	binding = bind_to(row);
	bind_int(&binding, db_key_of(run_id));
	r = stmt_step(store, row, err);
	(void)sqlite3_reset(row);
	return r < 0 ? -1 : r == 0;
}

int store_find_cached(struct store *store, const uint8_t *cache_key, int64_t since_wall_us,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err)
{
	sqlite3_stmt *row = stmt_take(store, STMT_CACHED_FIND, err);
	struct binding binding;
	int r;

	if (!row)
		return -1;
	binding = bind_to(row);
	bind_blob(&binding, cache_key, DIGEST_LEN);
	bind_int(&binding, since_wall_us);
	r = stmt_step(store, row, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	copy_text(ret_run_id, RUN_ID_LEN + 1, row, 0);
	(void)sqlite3_reset(row);
	return 0;
}
