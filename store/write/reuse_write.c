#include "store/write/reuse_write.h"

#include "proto/digest.h"
#include "store/base/stmt.h"
#include "store/write/writer.h"

#define TRIM_PART 16 /* this part of a full cache is removed at once */

static int put_action(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	return stmt_run(store, STMT_ACTION_PUT,
		SQL_VALUES(sql_int(run->uid), sql_text(run->caller_id),
			sql_blob(run->action, DIGEST_LEN), sql_int(key)),
		err);
}

static int delete_action(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	return stmt_run(
		store, STMT_ACTION_DELETE, SQL_VALUES(sql_int(run->uid), sql_int(key)), err);
}

static int put_cached(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	return stmt_run(store, STMT_CACHED_PUT,
		SQL_VALUES(sql_blob(run->cache_key, DIGEST_LEN), sql_int(key),
			sql_int(run->ended_wall_us)),
		err);
}

static int trim_cached(struct store *store, int64_t count, struct err *err)
{
	store->writer->cached_count -= count;
	return stmt_run_for(store, STMT_CACHED_TRIM, count, err);
}

static int count_cached(struct store *store, struct err *err)
{
	return db_number(
		store, "SELECT count(*) FROM cached", 0, &store->writer->cached_count, err);
}

/*
 * Removes the oldest results when there are too many.  `cached_count` may be too high, because an
 * entry can replace another one, so they are counted before any is removed.
 */
static int limit_cached(struct store *store, int64_t most, struct err *err)
{
	if (store->writer->cached_count >= 0 && store->writer->cached_count <= most)
		return 0;
	if (count_cached(store, err) < 0)
		return -1;
	if (store->writer->cached_count <= most)
		return 0;
	return trim_cached(store, store->writer->cached_count - most + most / TRIM_PART, err);
}

const uint8_t *reuse_action(const struct store_run *run)
{
	return job_result_is_spent(run->result) ? run->action : NULL;
}

const uint8_t *reuse_cache_key(const struct store_run *run)
{
	return outcome_is_fact(run->result->outcome) ? run->cache_key : NULL;
}

/* The row of the run was written before; only the action is added. */
static int note_action(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	return stmt_run(
		store, STMT_RUN_ACTION, SQL_VALUES(sql_int(key), sql_digest(run->action)), err);
}

int reuse_begun(struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	if (!run->action)
		return 0;
	if (run->is_begun && note_action(store, key, run, err) < 0)
		return -1;
	return put_action(store, key, run, err);
}

int reuse_ended(struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	int r = 0;

	if (reuse_action(run))
		r = put_action(store, key, run, err);
	else if (run->action || !run->spec) /* a request that could not be read may have one too */
		r = delete_action(store, key, run, err);
	if (r < 0 || !reuse_cache_key(run))
		return r;
	if (put_cached(store, key, run, err) < 0)
		return -1;
	if (store->writer->cached_count >= 0)
		store->writer->cached_count++; /* at most: it may have replaced another one */
	return limit_cached(store, (int64_t)run->cache_entries, err);
}
