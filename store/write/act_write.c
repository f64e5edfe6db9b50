#include "store/write/act_write.h"

#include <assert.h>

#include "proto/base/clock.h"
#include "store/base/db.h"
#include "store/base/record.h"
#include "store/base/stmt.h"
#include "store/store.h"
#include "store/write/chain_write.h"
#include "store/write/writer.h"

/* ---- what follows from an act --------------------------------------------------------------- */

static int put_block(
	struct store *store, const struct store_act *act, int64_t number, struct err *err)
{
	if (act->block == STORE_LET_IN)
		return stmt_run_for(store, STMT_BLOCK_DELETE, act->block_uid, err);
	return stmt_run(store, STMT_BLOCK_INSERT,
		SQL_VALUES(sql_int(act->block_uid), sql_int(number), sql_text(act->reason)), err);
}

/* Deletes approvals that are used up or expired. */
static int clear_grants(struct store *store, struct err *err)
{
	return stmt_run_for(store, STMT_GRANTS_OVER, clock_wall_us(), err);
}

static int put_grant(
	struct store *store, const struct store_grant *grant, int64_t act, struct err *err)
{
	if (clear_grants(store, err) < 0)
		return -1;
	return stmt_run(store, STMT_GRANT_INSERT,
		SQL_VALUES(sql_int(act), sql_int(grant->uid), sql_text(grant->subject),
			sql_text(grant->code_hash), sql_text(grant->language),
			sql_text(grant->policy), sql_int(grant->until_wall_us),
			grant->uses < 0 ? sql_text(NULL) : sql_int(grant->uses)),
		err);
}

static int decide(
	struct store *store, const struct store_decision *decision, int64_t act, struct err *err)
{
	int64_t key = 0;

	if (record_find(store, decision->run_id, &key, err) != 0)
		return -1;
	if (stmt_run(store, STMT_PARKED_DECIDE,
		    SQL_VALUES(sql_int(key), sql_text(decision->word), sql_int(act)), err) < 0)
		return -1;
	/* There is one decision for each run, and another one came first. */
	if (sqlite3_changes(store->db) != 1)
		return err_set(err, ERR_EXISTS, "the store: run %s waits for no decision",
			decision->run_id);
	return decision->grant ? put_grant(store, decision->grant, act, err) : 0;
}

static int put_decision(
	struct store *store, const struct store_decision *decision, int64_t act, struct err *err)
{
	if (decision->revoked)
		return stmt_run_for(store, STMT_GRANT_DELETE, decision->revoked, err);
	return decide(store, decision, act, err);
}

/* ---- acts ------------------------------------------------------------------------------------ */

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
		return put_decision(store, act->decision, number, err);
	return act->block == STORE_LET_BE ? 0 : put_block(store, act, number, err);
}

/* ---- runs that wait for approval, and uses of approvals -------------------------------------- */

static int put_parked_row(struct store *store, const char *run_id,
	const struct store_parking *parking, struct err *err)
{
	int64_t key = 0;

	if (record_find(store, run_id, &key, err) != 0)
		return -1;
	if (stmt_run(store, STMT_PARKED_INSERT,
		    SQL_VALUES(sql_int(key), sql_int(parking->since_wall_us),
			    sql_int(parking->until_wall_us), sql_text(parking->verdict)),
		    err) < 0)
		return -1;
	return chain_add(store, CHAIN_PARKED, key, err);
}

int store_put_parked(struct store *store, const struct store_run *run,
	const struct store_parking *parking, struct err *err)
{
	struct store_run reported = *run;

	reported.is_reported = true; /* so that its link covers the request that is approved */
	if (store_put_begun(store, &reported, err) < 0)
		return -1;
	return put_parked_row(store, run->run_id, parking, err) < 0 ? writer_failed(store) : 0;
}

int parked_forget(struct store *store, int64_t key, struct err *err)
{
	return stmt_run_for(store, STMT_PARKED_DELETE, key, err);
}

/* A link says that the row was deleted, since the run has not ended yet. */
static int unpark(struct store *store, const char *run_id, struct err *err)
{
	int64_t key = 0;
	int found = record_find(store, run_id, &key, err);

	if (found != 0)
		return found;
	if (parked_forget(store, key, err) < 0)
		return -1;
	return sqlite3_changes(store->db) ? chain_add(store, CHAIN_UNPARKED, key, err) : 0;
}

int store_put_unparked(struct store *store, const char *run_id, struct err *err)
{
	assert(store->writer->in_transaction);
	return unpark(store, run_id, err) < 0 ? writer_failed(store) : 0;
}

int store_put_use(struct store *store, int64_t grant, struct err *err)
{
	assert(store->writer->in_transaction);
	if (stmt_run_for(store, STMT_GRANT_USE, grant, err) < 0 ||
		chain_add(store, CHAIN_USE, grant, err) < 0)
		return writer_failed(store);
	return 0;
}
