/* Lists runs that wait for approval, and approvals that cover runs to come. */
#include <string.h>

#include "proto/base/clock.h"
#include "proto/json.h"
#include "store/base/canonical.h"
#include "store/base/db.h"
#include "store/base/fetch.h"
#include "store/base/record.h"
#include "store/base/stmt.h"

#define LIST_MOST 100U

/* ---- for the start of a daemon --------------------------------------------------------------- */

/* The columns of STMT_PARKED_READ. */
enum parked_column {
	PARKED_RUN_ID,
	PARKED_UID,
	PARKED_GID,
	PARKED_PID,
	PARKED_RECEIVED,
	PARKED_SINCE,
	PARKED_UNTIL,
	PARKED_DECISION,
	PARKED_ACT,
	PARKED_BY,
	PARKED_AT,
	PARKED_REASON,
	PARKED_CALLER_ID,
	PARKED_ACTION,
	PARKED_KEY,
};

static const char *text_at(sqlite3_stmt *row, int column)
{
	return (const char *)sqlite3_column_text(row, column);
}

static struct store_parked parked_of(sqlite3_stmt *row)
{
	return (struct store_parked){
		.run_id = text_at(row, PARKED_RUN_ID),
		.uid = (uint32_t)sqlite3_column_int64(row, PARKED_UID),
		.gid = (uint32_t)sqlite3_column_int64(row, PARKED_GID),
		.pid = (int32_t)sqlite3_column_int64(row, PARKED_PID),
		.received_wall_us = sqlite3_column_int64(row, PARKED_RECEIVED),
		.since_wall_us = sqlite3_column_int64(row, PARKED_SINCE),
		.until_wall_us = sqlite3_column_int64(row, PARKED_UNTIL),
		.decision = text_at(row, PARKED_DECISION),
		.act = sqlite3_column_int64(row, PARKED_ACT),
		.by = (uint32_t)sqlite3_column_int64(row, PARKED_BY),
		.at_wall_us = sqlite3_column_int64(row, PARKED_AT),
		.reason = text_at(row, PARKED_REASON),
		.caller_id = text_at(row, PARKED_CALLER_ID),
		.action = sqlite3_column_bytes(row, PARKED_ACTION) == DIGEST_LEN
				  ? sqlite3_column_blob(row, PARKED_ACTION)
				  : NULL,
	};
}

/*
 * Whether the run's row and request are as they were recorded, and the run was not started since:
 * 1, 0, -1.
 */
static int is_as_recorded(struct store *store, int64_t key, struct err *err)
{
	int64_t parked = 0;
	int64_t unparked = 0;
	int r = chain_find(store, CHAIN_PARKED, key, &parked, NULL, err);

	if (r <= 0 || chain_find(store, CHAIN_UNPARKED, key, &unparked, NULL, err) < 0)
		return r <= 0 ? r : -1;
	if (unparked > parked)
		return 0;
	r = canonical_is_linked(store, CHAIN_PARKED, key, err);
	return r <= 0 ? r : canonical_is_linked(store, CHAIN_RUN_BEGUN, key, err);
}

/* A decision counts only if its act is in the chain. */
static int read_parked(
	struct store *store, sqlite3_stmt *row, struct store_parked *ret, struct err *err)
{
	int as_recorded = is_as_recorded(store, sqlite3_column_int64(row, PARKED_KEY), err);
	int decided = 0;

	*ret = parked_of(row);
	if (as_recorded >= 0 && ret->decision)
		decided = canonical_is_linked(store, CHAIN_ACT, ret->act, err);
	if (as_recorded < 0 || decided < 0)
		return -1;
	ret->is_changed = !as_recorded;
	if (decided == 0)
		ret->decision = NULL;
	return 0;
}

int store_each_parked(struct store *store,
	int (*visit)(void *context, const struct store_parked *parked), void *context,
	struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_take(store, STMT_PARKED_READ, err);
	int answer = 0;
	int r = 0;

	if (!row)
		return -1;
	while (answer == 0 && (r = stmt_step(store, row, err)) > 0) {
		struct store_parked parked;

		r = read_parked(store, row, &parked, err);
		if (r < 0)
			break;
		answer = visit(context, &parked);
	}
	if (answer != 0)
		return err_set(err, ERR_MEMORY, "the store: no memory for runs that wait");
	return r;
}

/* The columns of STMT_GRANTS_READ. */
enum grant_column {
	GRANT_ACT,
	GRANT_UID,
	GRANT_SUBJECT,
	GRANT_CODE_HASH,
	GRANT_LANGUAGE,
	GRANT_POLICY,
	GRANT_UNTIL,
	GRANT_USES,
	GRANT_BY,
	GRANT_COLUMNS = GRANT_BY + 3, /* with at_us and reason */
};

static int64_t uses_of(sqlite3_stmt *row)
{
	return sqlite3_column_type(row, GRANT_USES) == SQLITE_NULL
		       ? -1
		       : sqlite3_column_int64(row, GRANT_USES);
}

int store_each_grant(struct store *store,
	int (*visit)(void *context, const struct store_grant *grant), void *context,
	struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row =
		stmt_take_for(store, STMT_GRANTS_READ, clock_wall_us(), err);
	int answer = 0;
	int r = 0;

	if (!row)
		return -1;
	while (answer == 0 && (r = stmt_step(store, row, err)) > 0) {
		int given = canonical_is_linked(
			store, CHAIN_ACT, sqlite3_column_int64(row, GRANT_ACT), err);
		struct store_grant grant = {
			.act = sqlite3_column_int64(row, GRANT_ACT),
			.uid = (uint32_t)sqlite3_column_int64(row, GRANT_UID),
			.subject = text_at(row, GRANT_SUBJECT),
			.code_hash = text_at(row, GRANT_CODE_HASH),
			.language = text_at(row, GRANT_LANGUAGE),
			.policy = text_at(row, GRANT_POLICY),
			.until_wall_us = sqlite3_column_int64(row, GRANT_UNTIL),
			.uses = uses_of(row),
			.by = (uint32_t)sqlite3_column_int64(row, GRANT_BY),
		};

		if (given < 0) {
			r = -1;
			break;
		}
		if (given)
			answer = visit(context, &grant);
	}
	if (answer != 0)
		return err_set(err, ERR_MEMORY, "the store: no memory for approvals that hold");
	return r;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* The columns of STMT_PARKED_LIST. */
enum list_column {
	LIST_RUN_ID,
	LIST_VERDICT,
	LIST_SINCE,
	LIST_UNTIL,
	LIST_CODE_HASH,
	LIST_INPUT_HASH,
	LIST_KEY,
};

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "the store: no memory for an answer");
}

static struct value *read_verdict(struct arena *arena, sqlite3_stmt *row)
{
	const char *text = text_at(row, LIST_VERDICT);
	struct value *verdict = NULL;

	if (!text || json_parse(arena, text, strlen(text), NULL, &verdict, NULL) < 0)
		return value_nil(arena);
	return verdict;
}

/* A run that waits: its record, and what the policy found. */
static int put_waiting(struct store *store, sqlite3_stmt *row, uint64_t part_bytes,
	struct arena *arena, struct value *list, struct err *err)
{
	struct fill fill = { .arena = arena };
	uint32_t uid = 0;
	int as_recorded = is_as_recorded(store, sqlite3_column_int64(row, LIST_KEY), err);

	if (as_recorded < 0)
		return -1;
	if (store_get(store, text_at(row, LIST_RUN_ID), part_bytes, arena, &fill.map, &uid, err) !=
		0)
		return -1;
	fetch_hash(&fill, "code_hash", row, LIST_CODE_HASH);
	fetch_hash(&fill, "input_hash", row, LIST_INPUT_HASH);
	fetch_int(&fill, "since_us", row, LIST_SINCE);
	fetch_int(&fill, "until_us", row, LIST_UNTIL);
	if (as_recorded)
		fill_value(&fill, "policy", read_verdict(arena, row));
	else
		fill_bool(&fill, "changed", true);
	return value_list_add(arena, list, fill_done(&fill)) < 0 ? no_memory(err) : 0;
}

static int put_all_waiting(struct store *store, const struct store_approvals_filter *filter,
	struct arena *arena, struct fill *page, struct err *err)
{
	uint32_t limit = filter->limit && filter->limit < LIST_MOST ? filter->limit : LIST_MOST;
	auto_of(stmt_leave) sqlite3_stmt *row = NULL;
	struct value *list = value_list(arena);
	int64_t after = 0;
	uint32_t count = 0;
	int r = 0;

	if (filter->after && record_find(store, filter->after, &after, err) < 0)
		return -1;
	row = stmt_with(store, STMT_PARKED_LIST,
		SQL_VALUES(sql_text(filter->run_id), sql_int(after), sql_int((int64_t)limit + 1)),
		err);
	while ((r = stmt_step(store, row, err)) > 0 && count++ < limit) {
		if (put_waiting(store, row, filter->part_bytes, arena, list, err) < 0) {
			r = -1;
			break;
		}
	}
	fill_value(page, "waiting", list);
	fill_bool(page, "more", r > 0);
	return r < 0 ? -1 : 0;
}

static int put_grants(struct store *store, struct arena *arena, struct fill *page, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row =
		stmt_take_for(store, STMT_GRANTS_READ, clock_wall_us(), err);
	struct value *list = value_list(arena);
	int r;

	if (!row)
		return -1;
	while ((r = stmt_step(store, row, err)) > 0) {
		struct fill fill = fill_start(arena);

		fetch_columns(&fill, row, GRANT_ACT, GRANT_SUBJECT - GRANT_ACT);
		fetch_columns(&fill, row, GRANT_CODE_HASH, GRANT_COLUMNS - GRANT_CODE_HASH);
		if (value_list_add(arena, list, fill_done(&fill)) < 0)
			break;
	}
	fill_value(page, "grants", list);
	return r < 0 ? -1 : 0;
}

int store_approvals(struct store *store, const struct store_approvals_filter *filter,
	struct arena *arena, struct value **ret_page, struct err *err)
{
	struct fill page = fill_start(arena);
	bool began = false;
	int r;

	if (db_begin_snapshot(store, &began, err) < 0)
		return -1;
	r = put_all_waiting(store, filter, arena, &page, err);
	if (r == 0)
		r = put_grants(store, arena, &page, err);
	db_end_snapshot(store, began);
	if (r < 0)
		return -1;
	*ret_page = fill_done(&page);
	return *ret_page && value_ok(arena) ? 0 : no_memory(err);
}
