/* Lists acts of administrators and approvers, and the users that are blocked. */
#include "proto/json.h"
#include "store/base/db.h"
#include "store/base/fetch.h"
#include "store/base/stmt.h"

#define ACTS_MOST 1000U

#define ACT_COLUMNS 6 /* of STMT_ACTS_READ, before params and result */

/* Parses JSON; nil when it is not JSON any more. */
static void fetch_json(struct fill *fill, const char *key, sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	size_t len = (size_t)sqlite3_column_bytes(row, column);
	struct value *value = NULL;

	if (!text || json_parse(fill->arena, text, len, NULL, &value, NULL) != 0)
		value = value_nil(fill->arena);
	fill_value(fill, key, value);
}

static struct value *act_to_value(struct arena *arena, sqlite3_stmt *row)
{
	struct fill fill = fill_start(arena);

	fetch_columns(&fill, row, 0, ACT_COLUMNS);
	fetch_json(&fill, "params", row, ACT_COLUMNS);
	fetch_json(&fill, "result", row, ACT_COLUMNS + 1);
	return fill_done(&fill);
}

int store_acts(struct store *store, int64_t before, uint32_t limit, struct arena *arena,
	struct value **ret_page, struct err *err)
{
	uint32_t most = limit < ACTS_MOST ? limit : ACTS_MOST;
	auto_of(stmt_leave) sqlite3_stmt *stmt = stmt_with(store, STMT_ACTS_READ,
		SQL_VALUES(sql_int(before > 0 ? before : INT64_MAX), sql_int((int64_t)most + 1)),
		err);
	struct value *acts = value_list(arena);
	struct fill fill = fill_start(arena);
	uint32_t count = 0;
	int r;

	for (; (r = stmt_step(store, stmt, err)) > 0; count++) {
		if (count == most)
			break;
		value_list_add(arena, acts, act_to_value(arena, stmt));
	}
	if (r < 0)
		return -1;
	fill_value(&fill, "acts", acts);
	fill_bool(&fill, "more", r > 0);
	*ret_page = fill_done(&fill);
	return *ret_page ? 0 : err_set(err, ERR_MEMORY, "the store: no memory for a list of acts");
}

int store_each_block(struct store *store,
	int (*visit)(void *context, uint32_t uid, const char *reason), void *context,
	struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *stmt = stmt_take(store, STMT_BLOCKS_READ, err);
	int answer = 0;
	int r = 0;

	if (!stmt)
		return -1;
	while (answer == 0 && (r = stmt_step(store, stmt, err)) > 0)
		answer = visit(context, (uint32_t)sqlite3_column_int64(stmt, 0),
			(const char *)sqlite3_column_text(stmt, 1));
	if (answer != 0)
		return err_set(err, ERR_MEMORY, "the store: no memory for users that are blocked");
	return r;
}
