/* Writes calls of tools: store_put_call(). */
#include "store/write/call_write.h"

#include <assert.h>

#include "store/base/content.h"
#include "store/base/record.h"
#include "store/base/stmt.h"
#include "store/write/writer.h"

static int insert_call(
	struct store *store, int64_t key, const struct store_call *call, struct err *err)
{
	struct sql_value args;

	if (content_value(store, call->args, CONTENT_OWN_MAX, NULL, &args, err) < 0)
		return -1;
	return stmt_run(store, STMT_CALL_INSERT,
		SQL_VALUES(sql_int(key), sql_int(call->number), sql_text(call->tool),
			sql_int(call->effects), sql_int(call->began_wall_us), args,
			sql_text(call->rule)),
		err);
}

static int end_call(
	struct store *store, int64_t key, const struct store_call *call, struct err *err)
{
	struct sql_value result;

	if (content_value(store, call->result, CONTENT_OWN_MAX, NULL, &result, err) < 0)
		return -1;
	return stmt_run(store, STMT_CALL_END,
		SQL_VALUES(sql_int(key), sql_int(call->number), sql_text(call->verdict),
			sql_text(call->code), result, sql_int(call->took_us),
			sql_text(call->approval)),
		err);
}

static int put_call(struct store *store, const struct store_call *call, struct err *err)
{
	int64_t key = 0;
	int r = record_find(store, call->run_id, &key, err);

	if (r > 0)
		return err_set(err, ERR_MISSING, "the store: run %s has no row", call->run_id);
	if (r < 0 || (call->is_new && insert_call(store, key, call, err) < 0))
		return -1;
	return call->is_over ? end_call(store, key, call, err) : 0;
}

int store_put_call(struct store *store, const struct store_call *call, struct err *err)
{
	assert(store->writer->in_transaction);

	if (store->writer->failed)
		return err_set(err, ERR_INVALID, "the store: a record of this batch failed");
	return put_call(store, call, err) < 0 ? writer_failed(store) : 0;
}

int calls_check(struct store *store, int64_t key, uint32_t count, struct err *err)
{
	int64_t there = 0;

	if (!count)
		return 0;
	if (stmt_number(store, STMT_CALLS_COUNT, SQL_VALUES(sql_int(key)), &there, err) < 0)
		return -1;
	if (there == count)
		return 0;
	return err_set(err, ERR_MISSING,
		"the store: %u calls of tools were made, and %lld are recorded", count,
		(long long)there);
}
