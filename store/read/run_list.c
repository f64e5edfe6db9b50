/* Lists of runs, and runs by the beginning of their name. */
#include <string.h>

#include "proto/ulid.h"
#include "store/base/db.h"
#include "store/base/fetch.h"
#include "store/read/run_walk.h"

#define LIST_MAX  1000
#define LAST_WORD "last"

#define auto_walk __attribute__((cleanup(walk_close)))

/* ---- lists -------------------------------------------------------------------------------- */

/*
 * The first LIST_FIRST are in the order of the answer, before `state`, `outcome` and `ok`; then
 * LIST_REST.
 */
#define LIST_FIRST 12
#define LIST_REST  6
#define LIST_COLUMNS                                                                                      \
	"r.run_id, r.received_us, r.ended_us, r.method, r.caller_id AS id, r.uid, r.agent, "              \
	"r.task, r.language, r.policy, r.session, r.cell, r.reason, r.code_hash, r.exec_us, r.total_us, " \
	"r.stdout_bytes, r.cached_from, r.outcome, "                                                      \
	"r.outcome IS NULL AND EXISTS (SELECT 1 FROM parked WHERE parked.key = r.key)"

static struct value *list_row(struct arena *arena, sqlite3_stmt *row)
{
	struct fill fill = fill_start(arena);
	int outcome = 1 + LIST_FIRST + LIST_REST; /* column 0 is the key */

	fetch_columns(&fill, row, 1, LIST_FIRST);
	fetch_outcome(&fill, row, outcome, outcome + 1);
	fetch_columns(&fill, row, 1 + LIST_FIRST, LIST_REST);
	return fill_done(&fill);
}

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "the store: no memory for an answer");
}

int store_list(struct store *store, const struct store_filter *filter, struct arena *arena,
	struct value **ret_page, struct err *err)
{
	auto_walk struct walk walk = { .store = store };
	uint32_t limit = filter->limit && filter->limit < LIST_MAX ? filter->limit : LIST_MAX;
	struct fill page = fill_start(arena);
	struct value *runs = value_list(arena);
	sqlite3_stmt *row = NULL;
	uint32_t count = 0;
	int r;

	if (walk_open(&walk, store, filter, LIST_COLUMNS, err) < 0)
		return -1;
	while ((r = walk_next(&walk, &row, err)) > 0 && count < limit) {
		if (value_list_add(arena, runs, list_row(arena, row)) < 0)
			return no_memory(err);
		count++;
	}
	if (r < 0)
		return -1;
	fill_value(&page, "runs", runs);
	fill_bool(&page, "more", r > 0);
	*ret_page = fill_done(&page);
	return *ret_page ? 0 : no_memory(err);
}

/* ---- names -------------------------------------------------------------------------------- */

/* "last" is 0 and "last~3" is 3; -1 for any other word. */
static long back_from_last(const char *name)
{
	const char *digits = name + strlen(LAST_WORD) + 1;
	long back = 0;

	if (strncmp(name, LAST_WORD, strlen(LAST_WORD)) != 0)
		return -1;
	if (name[strlen(LAST_WORD)] == '\0')
		return 0;
	if (digits[-1] != '~' || !*digits || strlen(digits) > 9)
		return -1;
	for (; *digits; digits++) {
		if (*digits < '0' || *digits > '9')
			return -1;
		back = back * 10 + (*digits - '0');
	}
	return back;
}

static int resolve_last(struct store *store, const struct store_filter *filter, long back,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err)
{
	auto_walk struct walk walk = { .store = store };
	sqlite3_stmt *row = NULL;

	if (walk_open(&walk, store, filter, "r.run_id", err) < 0)
		return -1;
	for (long i = 0; i <= back; i++) {
		int r = walk_next(&walk, &row, err);

		if (r <= 0)
			return r < 0 ? -1 : 1;
	}
	(void)sqlite3_snprintf(RUN_ID_LEN + 1, ret_run_id, "%s", sqlite3_column_text(row, 1));
	return 0;
}

/* Names are typed by people, also in small letters; no locale has a say in this. */
static char capital(char c)
{
	static const char small[] = "abcdefghijklmnopqrstuvwxyz";
	static const char large[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *found = strchr(small, c);

	if (!c || !found)
		return c;
	return large[found - small];
}

/* The id in capitals, with `padding` behind the name.  False when no id can begin like that. */
static bool pad(const char *name, char padding, char ret_id[RUN_ID_LEN + 1])
{
	size_t len = strlen(name);

	if (len == 0 || len > RUN_ID_LEN)
		return false;
	memset(ret_id, padding, RUN_ID_LEN);
	ret_id[RUN_ID_LEN] = '\0';
	for (size_t i = 0; i < len; i++)
		ret_id[i] = capital(name[i]);
	return ulid_is_valid(ret_id);
}

static int resolve_prefix(struct store *store, const struct store_filter *filter,
	const char *prefix, char ret_run_id[RUN_ID_LEN + 1], struct err *err)
{
	auto_walk struct walk walk = { .store = store };
	sqlite3_stmt *row = NULL;
	unsigned found = 0;
	int r;

	if (walk_open(&walk, store, filter, "r.run_id", err) < 0)
		return -1;
	while ((r = walk_next(&walk, &row, err)) > 0) {
		const char *run_id = (const char *)sqlite3_column_text(row, 1);

		if (!run_id || strncmp(run_id, prefix, strlen(prefix)) != 0)
			continue;
		if (++found > 1)
			return 2;
		(void)sqlite3_snprintf(RUN_ID_LEN + 1, ret_run_id, "%s", run_id);
	}
	if (r < 0)
		return -1;
	return found ? 0 : 1;
}

/* A prefix is a span of time, apart from what it says about one millisecond. */
static int resolve_span(struct store *store, const struct store_filter *filter, const char *name,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err)
{
	struct store_filter narrowed = *filter;
	char low[RUN_ID_LEN + 1];
	char high[RUN_ID_LEN + 1];

	if (!pad(name, '0', low) || !pad(name, 'Z', high))
		return 1;
	narrowed.since_wall_us = (int64_t)ulid_time_ms(low) * 1000;
	narrowed.until_wall_us = ((int64_t)ulid_time_ms(high) + 1) * 1000;
	low[strlen(name)] = '\0';
	return resolve_prefix(store, &narrowed, low, ret_run_id, err);
}

int store_resolve(struct store *store, const struct store_filter *filter, const char *name,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err)
{
	char run_id[RUN_ID_LEN + 1] = "";
	long back = back_from_last(name);
	int r;

	if (back >= 0)
		r = resolve_last(store, filter, back, run_id, err);
	else
		r = resolve_span(store, filter, name, run_id, err);
	if (r == 0)
		memcpy(ret_run_id, run_id, sizeof(run_id));
	return r;
}
