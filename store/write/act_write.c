#include "store/write/act_write.h"

#include "store/base/db.h"
#include "store/base/stmt.h"
#include "store/store.h"
#include "store/write/approval_write.h"
#include "store/write/chain_write.h"

static int put_block(
	struct store *store, const struct store_act *act, int64_t number, struct err *err)
{
	bool shut_out = act->block == STORE_SHUT_OUT;
	struct binding binding =
		bind_start(store, shut_out ? STMT_BLOCK_INSERT : STMT_BLOCK_DELETE, err);

	bind_int(&binding, act->block_uid);
	if (shut_out) {
		bind_int(&binding, number);
		bind_text(&binding, act->reason);
	}
	return bind_run(&binding, err);
}

int act_insert(
	struct store *store, const struct store_act *act, int64_t *ret_number, struct err *err)
{
	struct binding binding = bind_start(store, STMT_ACT_INSERT, err);

	bind_int(&binding, act->at_wall_us);
	bind_int(&binding, act->uid);
	bind_int(&binding, act->gid);
	bind_int(&binding, act->pid);
	bind_text(&binding, act->method);
	bind_text(&binding, act->params);
	bind_text(&binding, act->result);
	if (bind_run(&binding, err) < 0)
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
