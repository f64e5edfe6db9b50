/* What administrators did, and whom they shut out. */
#include "store/acts.h"

#include "proto/json.h"
#include "store/approvals.h"
#include "store/db.h"
#include "store/fetch.h"

#define ACTS_MOST 1000U

/* The columns of STMT_ACTS_READ. */
enum act_column {
	ACT_NUMBER,
	ACT_AT_US,
	ACT_UID,
	ACT_GID,
	ACT_PID,
	ACT_METHOD,
	ACT_PARAMS,
	ACT_RESULT,
};

static int put_block(
	struct store *store, const struct store_act *act, int64_t number, struct err *err)
{
	bool shut_out = act->block == STORE_SHUT_OUT;
	sqlite3_stmt *stmt =
		stmt_take(store, shut_out ? STMT_BLOCK_INSERT : STMT_BLOCK_DELETE, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_int(&binding, act->block_uid);
	if (shut_out) {
		bind_int(&binding, number);
		bind_text(&binding, act->reason);
	}
	return bind_run(store, &binding, err);
}

int act_insert(
	struct store *store, const struct store_act *act, int64_t *ret_number, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_ACT_INSERT, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_int(&binding, act->at_wall_us);
	bind_int(&binding, act->uid);
	bind_int(&binding, act->gid);
	bind_int(&binding, act->pid);
	bind_text(&binding, act->method);
	bind_text(&binding, act->params);
	bind_text(&binding, act->result);
	if (bind_run(store, &binding, err) < 0)
		return -1;
	*ret_number = sqlite3_last_insert_rowid(store->db);
	return 0;
}

int store_put_act(struct store *store, const struct store_act *act, struct err *err)
{
	int64_t number = 0;

	if (act_insert(store, act, &number, err) < 0 ||
		chain_add(store, CHAIN_ACT, number, err) < 0)
		return -1;
	if (act->ret_number)
		*act->ret_number = number;
	if (act->decision)
		return approvals_put_decision(store, act->decision, number, err);
	return act->block == STORE_LET_BE ? 0 : put_block(store, act, number, err);
}

/* What was written as JSON, as a value; nil when it is none any more. */
static void fetch_json(struct fill *fill, const char *key, sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	size_t len = (size_t)sqlite3_column_bytes(row, column);
	struct value *value = NULL;

	if (!text || json_parse(fill->arena, text, len, NULL, &value, NULL) != 0)
		value = value_nil(fill->arena);
	fill_value(fill, key, value);
}

static struct value *describe(struct arena *arena, sqlite3_stmt *row)
{
	struct fill fill = fill_start(arena);

	fetch_int(&fill, "act", row, ACT_NUMBER);
	fetch_int(&fill, "at_us", row, ACT_AT_US);
	fetch_int(&fill, "uid", row, ACT_UID);
	fetch_int(&fill, "gid", row, ACT_GID);
	fetch_int(&fill, "pid", row, ACT_PID);
	fetch_text(&fill, "method", row, ACT_METHOD);
	fetch_json(&fill, "params", row, ACT_PARAMS);
	fetch_json(&fill, "result", row, ACT_RESULT);
	return fill_done(&fill);
}

int store_acts(struct store *store, int64_t before, uint32_t limit, struct arena *arena,
	struct value **ret_page, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_ACTS_READ, err);
	struct value *acts = value_list(arena);
	struct fill fill = fill_start(arena);
	struct binding binding;
	uint32_t count = 0;
	int r;

	if (!stmt)
		return -1;
	if (limit > ACTS_MOST)
		limit = ACTS_MOST;
	binding = bind_to(stmt);
	bind_int(&binding, before > 0 ? before : INT64_MAX);
	bind_int(&binding, (int64_t)limit + 1);
	while ((r = stmt_step(store, stmt, err)) > 0 && count++ < limit)
		value_list_add(arena, acts, describe(arena, stmt));
	(void)sqlite3_reset(stmt);
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
	sqlite3_stmt *stmt = stmt_take(store, STMT_BLOCKS_READ, err);
	int answer = 0;
	int r = 0;

	if (!stmt)
		return -1;
	while (answer == 0 && (r = stmt_step(store, stmt, err)) > 0)
		answer = visit(context, (uint32_t)sqlite3_column_int64(stmt, 0),
			(const char *)sqlite3_column_text(stmt, 1));
	(void)sqlite3_reset(stmt);
	if (answer != 0)
		return err_set(err, ERR_MEMORY, "the store: no memory for who is shut out");
	return r;
}
