#include "store/verify/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "store/base/chain.h"
#include "store/base/db.h"
#include "store/base/fetch.h"
#include "store/base/stmt.h"

#define LOOK_MS       600000 /* a look may take longer than an answer; at a store without end it would */
#define COUNT_AT_ONCE 20000 /* the log of the store cannot start anew while somebody looks */

static const struct {
	const char *word;
	int (*look)(struct verify *verify, struct err *err);
} parts[STORE_PART_COUNT] = {
	[STORE_PART_CHAIN] = { "chain", verify_chain },
	[STORE_PART_BLOBS] = { "blobs", verify_blobs },
	[STORE_PART_TABLES] = { "tables", verify_tables },
	[STORE_PART_CHECKPOINTS] = { "checkpoints", verify_checkpoints },
	[STORE_PART_SECOND] = { "second", verify_second },
};

enum store_part store_part_of(const char *word)
{
	enum store_part part = STORE_PART_CHAIN;

	while (part < STORE_PART_COUNT && strcmp(parts[part].word, word) != 0)
		part++;
	return part;
}

/* ---- the report --------------------------------------------------------------------------- */

struct fill verify_problem(struct verify *verify, const char *what, const char *format, ...)
{
	struct fill problem = fill_start(verify->arena);
	char message[512];
	va_list args;

	va_start(args, format);
	cut_vprintf(message, sizeof(message), format, args);
	va_end(args);
	fill_text(&problem, "what", what);
	fill_text(&problem, "message", message);
	if (verify->found++ < PROBLEMS_LISTED && problem.map)
		(void)value_list_add(verify->arena, verify->problems, problem.map);
	return problem;
}

static bool put_run_id(struct verify *verify, struct fill *problem, int64_t key)
{
	auto_of(stmt_leave) sqlite3_stmt *row =
		stmt_take_for(verify->store, STMT_RUN_ID, key, NULL);
	bool there = stmt_step(verify->store, row, NULL) > 0;

	if (there)
		fetch_text(problem, "run_id", row, 0);
	return there;
}

void verify_subject(struct verify *verify, struct fill *problem, int64_t kind, int64_t subject)
{
	bool is_run = kind == CHAIN_RUN || kind == CHAIN_RUN_BEGUN || kind == CHAIN_PARKED ||
		      kind == CHAIN_UNPARKED;

	fill_text(problem, "kind", chain_word(kind) ? chain_word(kind) : "unknown");
	if (is_run && put_run_id(verify, problem, subject))
		return;
	fill_int(problem, "subject", subject);
	/* The key of a missing run still has its time. */
	if (is_run)
		fill_int(problem, "began_ms", db_ms_of_key(subject));
}

int verify_ask(struct verify *verify, const char *what, const char *sql, struct err *err)
{
	auto_of(db_finish) sqlite3_stmt *row = NULL;
	struct store *store = verify->store;
	int r = sqlite3_prepare_v2(store->db, sql, -1, &row, NULL);

	if (r == SQLITE_ERROR) { /* a table or an index has gone */
		(void)verify_problem(verify, "unreadable", "%s", sqlite3_errmsg(store->db));
		return 0;
	}
	if (r != SQLITE_OK)
		return db_failed(store, r, err);
	while ((r = stmt_step(store, row, err)) > 0) {
		const char *message = (const char *)sqlite3_column_text(row, 2);
		struct fill problem = verify_problem(verify, what, "%s", message ? message : "");

		fetch_text(&problem, "table", row, 0);
		fetch_int(&problem, "row", row, 1);
	}
	return r;
}

static struct value *report_of(const struct verify *verify, enum store_part part)
{
	struct fill report = fill_start(verify->arena);

	if (part < STORE_PART_COUNT) {
		fill_text(&report, "part", parts[part].word);
		fill_int(&report, "from", verify->from);
		fill_value(&report, "next",
			verify->next ? value_int(verify->arena, verify->next)
				     : value_nil(verify->arena));
		fill_int(&report, "of", verify->of);
	}
	fill_int(&report, "checked", verify->checked);
	fill_int(&report, "found", verify->found);
	fill_value(&report, "problems", verify->problems);
	return fill_done(&report);
}

/* One look, at one moment of the store. */
static int look(struct verify *verify, enum store_part part, struct err *err)
{
	bool began = false;
	int r;

	if (db_begin_snapshot(verify->store, &began, err) < 0)
		return -1;
	if (verify->store->deadline_ms)
		verify->store->deadline_ms = clock_ms() + LOOK_MS;
	verify->next = 0;
	r = parts[part].look(verify, err);
	db_end_snapshot(verify->store, began);
	return r;
}

static int look_at_all(struct verify *verify, struct err *err)
{
	int64_t checked = 0;

	verify->count = COUNT_AT_ONCE;
	for (unsigned part = 0; part < STORE_PART_COUNT; part++) {
		verify->from = 1;
		do {
			verify->checked = 0;
			if (look(verify, (enum store_part)part, err) < 0)
				return -1;
			verify->from = verify->next;
			checked += verify->checked;
		} while (verify->next);
	}
	verify->checked = checked;
	return 0;
}

int store_verify(struct store *store, const struct store_span *span, struct arena *arena,
	struct value **ret_report, struct err *err)
{
	struct verify verify = { .store = store,
		.arena = arena,
		.problems = value_list(arena),
		.trust = span->trust,
		.from = span->from < 1 ? 1 : span->from,
		.count = span->count };
	int r;

	r = span->part < STORE_PART_COUNT ? look(&verify, span->part, err)
					  : look_at_all(&verify, err);
	if (r < 0)
		return -1;
	*ret_report = report_of(&verify, span->part);
	return *ret_report ? 0 : err_set(err, ERR_MEMORY, "the store: no memory for a report");
}
