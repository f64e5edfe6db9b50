#include "store/write/act_write.h"

#include "store/base/db.h"
#include "store/base/stmt.h"
#include "store/store.h"
#include "store/write/approval_write.h"
#include "store/write/chain_write.h"

static int put_block(
	struct store *store, const struct store_act *act, int64_t number, struct err *err)
{
	if (act->block == STORE_LET_IN)
		return stmt_run_for(store, STMT_BLOCK_DELETE, act->block_uid, err);
	return stmt_run(store, STMT_BLOCK_INSERT,
		SQL_VALUES(sql_int(act->block_uid), sql_int(number), sql_text(act->reason)), err);
}

int act_insert(
	struct store *store, const struct store_act *act, int64_t *ret_number, struct err *err)
{
	if (stmt_run(store, STMT_ACT_INSERT,
		    SQL_VALUES(sql_int(act->at_wall_us), sql_int(act->uid), sql_int(act->gid),
			    sql_int(act->pid), sql_text(act->method), sql_text(act->params),
			    sql_text(act->result)),
		    err) < 0)
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
		return approval_put_decision(store, act->decision, number, err);
	return act->block == STORE_LET_BE ? 0 : put_block(store, act, number, err);
}
