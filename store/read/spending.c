/* The resources that runs have used, for budgets.  Read once, when a daemon starts. */
#include "proto/json.h"
#include "store/base/db.h"
#include "store/base/stmt.h"

/* The columns of STMT_SPENT_READ. */
enum spent_column {
	SPENT_UID,
	SPENT_AGENT,
	SPENT_TASK,
	SPENT_ENDED,
	SPENT_OUTCOME,
	SPENT_CPU,
	SPENT_WALL,
	SPENT_BYTES,
};

static const char *text_at(sqlite3_stmt *row, enum spent_column column)
{
	return (const char *)sqlite3_column_text(row, (int)column);
}

static struct store_spent spent_of(sqlite3_stmt *row)
{
	return (struct store_spent){ (uint32_t)sqlite3_column_int64(row, SPENT_UID),
		text_at(row, SPENT_AGENT), text_at(row, SPENT_TASK),
		sqlite3_column_int64(row, SPENT_ENDED),
		outcome_from_word(text_at(row, SPENT_OUTCOME)),
		sqlite3_column_int64(row, SPENT_CPU), sqlite3_column_int64(row, SPENT_WALL),
		sqlite3_column_int64(row, SPENT_BYTES) };
}

int store_each_spent(struct store *store, int64_t since_wall_us, uint32_t most,
	int (*visit)(void *context, const struct store_spent *spent), void *context,
	struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_with(store, STMT_SPENT_READ,
		SQL_VALUES(sql_int(db_key_at_ms(
				   since_wall_us > 0 ? (uint64_t)since_wall_us / 1000 : 0)),
			sql_int(most)),
		err);
	int answer = 0;
	int r = 0;

	while (answer == 0 && (r = stmt_step(store, row, err)) > 0) {
		struct store_spent spent = spent_of(row);

		answer = visit(context, &spent);
	}
	return answer ? err_set(err, ERR_MEMORY, "the store: no memory for what was spent") : r;
}

int store_each_reset(struct store *store, int64_t since_wall_us, struct arena *arena,
	int (*visit)(void *context, int64_t at_us, uint32_t uid, const struct value *params),
	void *context, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row =
		stmt_with(store, STMT_RESETS_READ, SQL_VALUES(sql_int(since_wall_us)), err);
	int answer = 0;
	int r = 0;

	while (answer == 0 && (r = stmt_step(store, row, err)) > 0) {
		const char *text = (const char *)sqlite3_column_text(row, 2);
		struct value *params = NULL;

		if (text && json_parse(arena, text, (size_t)sqlite3_column_bytes(row, 2), NULL,
				    &params, NULL) == 0)
			answer = visit(context, sqlite3_column_int64(row, 0),
				(uint32_t)sqlite3_column_int64(row, 1), params);
	}
	return answer ? err_set(err, ERR_MEMORY, "the store: no memory for resets") : r;
}
