/* Finds the runs whose contents are to be removed. */
#include <stdint.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/base/map.h"
#include "store/base/db.h"
#include "store/base/stmt.h"
#include "store/maintenance.h"

#define ROUND_KEYS 512 /* read between two checks of *stop */

/* A walk over runs that could be pruned, which counts what would be free. */
struct walk_over {
	struct store *store;
	const atomic_bool *stop;
	struct store_plan *plan;
	uint64_t enough; /* bytes, and no more is wanted */
	struct map held; /* blob -> how often the runs so far hold it */
};

int store_sizes(struct store *store, struct store_size *ret_size, struct err *err)
{
	int64_t pages = 0;
	int64_t unused = 0;
	int64_t page = 0;

	if (db_number(store, "PRAGMA page_count", 0, &pages, err) < 0 ||
		db_number(store, "PRAGMA freelist_count", 0, &unused, err) < 0 ||
		db_number(store, "PRAGMA page_size", 0, &page, err) < 0)
		return -1;
	ret_size->file_bytes = (uint64_t)(pages * page);
	ret_size->used_bytes = (uint64_t)((pages - unused) * page);
	return 0;
}

/* ---- how much a run's contents are -------------------------------------------------------- */

/*
 * A blob counts when only runs of the plan hold it. `refs` 0: the runs that hold it are not indexed
 * yet.
 */
static int count_blob(struct walk_over *walk, int64_t blob, struct err *err)
{
	uintptr_t holders = (uintptr_t)map_get(&walk->held, &blob, sizeof(blob)) + 1;
	auto_of(stmt_leave) sqlite3_stmt *row =
		stmt_take_for(walk->store, STMT_BLOB_SIZE, blob, err);
	uintptr_t refs;
	int r;

	if (!row)
		return -1;
	if (map_put(&walk->held, &blob, sizeof(blob), (void *)holders, NULL) < 0)
		return err_set(err, ERR_MEMORY, "the store: no memory to plan what may leave");
	r = stmt_step(walk->store, row, err);
	refs = r > 0 ? (uintptr_t)sqlite3_column_int64(row, 0) : 0;
	if (r > 0 && holders == (refs ? refs : 1))
		walk->plan->bytes += (uint64_t)sqlite3_column_int64(row, 1);
	return r < 0 ? -1 : 0;
}

static int count_row(struct walk_over *walk, sqlite3_stmt *row, struct err *err)
{
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		int type = sqlite3_column_type(row, i);

		if (type == SQLITE_INTEGER &&
			count_blob(walk, sqlite3_column_int64(row, i), err) < 0)
			return -1;
		if (type == SQLITE_TEXT || type == SQLITE_BLOB)
			walk->plan->bytes += (uint64_t)sqlite3_column_bytes(row, i);
	}
	return 0;
}

static int count_run(struct walk_over *walk, int64_t key, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row =
		stmt_take_for(walk->store, STMT_RETENTION_CONTENTS, key, err);
	int r;

	if (!row)
		return -1;
	while ((r = stmt_step(walk->store, row, err)) > 0) {
		if (count_row(walk, row, err) < 0)
			return -1;
	}
	return r;
}

/* ---- which ones --------------------------------------------------------------------------- */

struct candidate {
	int64_t key;
	char run_id[RUN_ID_LEN + 1];
};

/* Whether the failure may concern one place in the file only. */
static bool is_of_a_place(const struct err *why)
{
	return why->code == ERR_CORRUPT || why->code == ERR_TOO_BIG ||
	       (why->code == ERR_SYSTEM && !store_is_shut(why));
}

static int pass_over(struct store_plan *plan, int64_t key, const struct err *why, struct err *err)
{
	if (!is_of_a_place(why))
		return err_pass(err, why);
	plan->unreadable.runs++;
	plan->unreadable.row = key;
	plan->unreadable.why = *why;
	return 0;
}

/* Runs that have ended and have contents. Before a failure some may have been read. */
static int read_between(struct store *store, const struct store_plan *plan,
	struct candidate *ret_candidates, unsigned most, unsigned *ret_count, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_with(store, STMT_RETENTION_NEXT,
		SQL_VALUES(sql_int(plan->at), sql_int(plan->to), sql_int(most)), err);
	int r;

	*ret_count = 0;
	while ((r = stmt_step(store, row, err)) > 0) {
		struct candidate *candidate = &ret_candidates[(*ret_count)++];

		candidate->key = sqlite3_column_int64(row, 0);
		cut_printf(candidate->run_id, sizeof(candidate->run_id), "%s",
			(const char *)sqlite3_column_text(row, 1));
	}
	return r;
}

/* The next key in the table `records`: 1, 0, -1. */
static int next_record(
	struct store *store, const struct store_plan *plan, int64_t *ret_key, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_with(
		store, STMT_RECORD_NEXT, SQL_VALUES(sql_int(plan->at), sql_int(plan->to)), err);
	int r;

	r = stmt_step(store, row, err);
	if (r > 0)
		*ret_key = sqlite3_column_int64(row, 0);
	return r;
}

/* The table `runs` cannot be read here. `records` has the same keys, and each run is read alone. */
static int step_over(struct store *store, struct store_plan *plan, struct candidate *ret_candidate,
	unsigned *ret_count, struct err *err)
{
	int64_t key = 0;
	int r;

	while ((r = next_record(store, plan, &key, err)) > 0) {
		const struct store_plan one = { .at = key - 1, .to = key };
		struct err why = ERR_INIT;

		plan->at = key;
		if (read_between(store, &one, ret_candidate, 1, ret_count, &why) < 0 &&
			pass_over(plan, key, &why, err) < 0)
			return -1;
		if (*ret_count)
			return 0;
	}
	return r;
}

/* The next runs, up to the end of the plan. None: there are no more. */
static int read_candidates(struct store *store, struct store_plan *plan,
	struct candidate *ret_candidates, unsigned most, unsigned *ret_count, struct err *err)
{
	struct err why = ERR_INIT;

	if (read_between(store, plan, ret_candidates, most, ret_count, &why) == 0)
		return 0;
	if (!is_of_a_place(&why))
		return err_pass(err, &why);
	/* The next call meets the unreadable run again. */
	return *ret_count ? 0 : step_over(store, plan, ret_candidates, ret_count, err);
}

/* Adds one run to the plan. */
static int plan_run(struct walk_over *walk, const struct candidate *candidate, struct err *err)
{
	struct store_plan *plan = walk->plan;
	struct err why = ERR_INIT;

	plan->at = candidate->key;
	if (count_run(walk, candidate->key, &why) < 0)
		return pass_over(plan, candidate->key, &why, err);
	plan->runs++;
	memcpy(plan->until, candidate->run_id, sizeof(plan->until));
	return 0;
}

static bool has_enough(const struct walk_over *walk)
{
	return walk->enough && walk->plan->bytes >= walk->enough;
}

/* Walks to the end of the plan, or until enough would be free; the plan then ends there. */
static int walk_over_all(struct walk_over *walk, struct err *err)
{
	struct candidate candidates[ROUND_KEYS / 4];
	struct store_plan *plan = walk->plan;
	unsigned count = 1;

	while (count && !has_enough(walk)) {
		if (atomic_load(walk->stop))
			return err_set(err, ERR_CLOSED, "the store: planning was broken off");
		if (read_candidates(walk->store, plan, candidates, ROUND_KEYS / 4, &count, err) < 0)
			return -1;
		for (unsigned i = 0; i < count && !has_enough(walk); i++)
			if (plan_run(walk, &candidates[i], err) < 0)
				return -1;
	}
	plan->to = plan->at;
	plan->at = INT64_MIN;
	return 0;
}

/*
 * The key of the run that has so many newer ones. If `runs` cannot be read, `records` has the same
 * keys.
 */
static int find_behind(struct store *store, uint64_t runs, int64_t *ret_key, struct err *err)
{
	static const char *const tables[] = { "runs", "records" };
	struct err why = ERR_INIT;
	char sql[128];

	for (size_t i = 0; i < COUNT_OF(tables); i++) {
		why = (struct err)ERR_INIT;
		(void)sqlite3_snprintf(sizeof(sql), sql,
			"SELECT key FROM %s ORDER BY key DESC LIMIT 1 OFFSET %llu", tables[i],
			(unsigned long long)runs);
		if (db_number(store, sql, INT64_MIN, ret_key, &why) == 0)
			return 0;
		if (!is_of_a_place(&why))
			break;
	}
	return err_pass(err, &why);
}

/* The key of the newest run that is removed for age or number. */
static int find_end(
	struct store *store, const struct store_keep *keep, int64_t *ret_to, struct err *err)
{
	int64_t by_count = INT64_MIN;

	*ret_to = INT64_MIN;
	if (keep->before_wall_us > 0)
		*ret_to = db_key_at_ms((uint64_t)(keep->before_wall_us / 1000)) - 1;
	if (keep->runs && find_behind(store, keep->runs, &by_count, err) < 0)
		return -1;
	if (by_count > *ret_to)
		*ret_to = by_count;
	return 0;
}

static int plan_walk(struct store *store, const atomic_bool *stop, struct store_plan *plan,
	uint64_t enough, struct err *err)
{
	struct walk_over walk = { .store = store, .stop = stop, .plan = plan, .enough = enough };
	int r;

	map_init(&walk.held);
	plan->at = INT64_MIN;
	r = walk_over_all(&walk, err);
	map_done(&walk.held);
	return r;
}

static int plan_all(struct store *store, const struct store_keep *keep, const atomic_bool *stop,
	struct store_plan *plan, struct err *err)
{
	struct store_size size = { 0, 0 };

	if (store_sizes(store, &size, err) < 0 || find_end(store, keep, &plan->to, err) < 0)
		return -1;
	if (plan_walk(store, stop, plan, 0, err) < 0)
		return -1;
	plan->used_bytes = size.used_bytes;
	if (!keep->bytes || size.used_bytes <= keep->bytes + plan->bytes)
		return 0;
	*plan = (struct store_plan){ .to = INT64_MAX, .used_bytes = size.used_bytes };
	return plan_walk(store, stop, plan, size.used_bytes - keep->bytes, err);
}

int store_plan(struct store *store, const struct store_keep *keep, const atomic_bool *stop,
	struct store_plan *ret_plan, struct err *err)
{
	bool began = false;
	int r;

	*ret_plan = (struct store_plan){ .to = INT64_MIN };
	if (db_begin_snapshot(store, &began, err) < 0)
		return -1;
	r = plan_all(store, keep, stop, ret_plan, err);
	db_end_snapshot(store, began);
	return r;
}

int store_plan_next(struct store *store, struct store_plan *plan, char (*ret_ids)[RUN_ID_LEN + 1],
	unsigned most, unsigned *ret_count, struct err *err)
{
	struct candidate candidates[STORE_PIECE_MAX];

	if (most > STORE_PIECE_MAX)
		most = STORE_PIECE_MAX;
	if (read_candidates(store, plan, candidates, most, ret_count, err) < 0)
		return -1;
	for (unsigned i = 0; i < *ret_count; i++) {
		memcpy(ret_ids[i], candidates[i].run_id, sizeof(*ret_ids));
		plan->at = candidates[i].key;
	}
	return 0;
}
