#include "store/walk.h"

#include <string.h>

#include "proto/base/container.h"
#include "store/db.h"
#include "store/record.h"
#include "store/settle.h"

#define SQL_CEILING 4096
#define RUNNING     "running" /* the word for runs without an outcome */

/* Parameters have the same number in every statement. */
enum param {
	PARAM_LOW = 1,
	PARAM_HIGH,
	PARAM_UID,
	PARAM_UID_FILTER,
	PARAM_OUTCOME,
	PARAM_LANGUAGE,
	PARAM_AGENT,
	PARAM_TASK,
	PARAM_CODE_HASH,
	PARAM_LABEL_KEY,
	PARAM_LABEL_VALUE,
	PARAM_COUNT,
};

/*
 * What a filter may ask, in the order of how few runs each is likely to let through.  Those with a
 * facet can lead the walk.
 */
static const struct {
	enum param param;
	enum facet facet;
	const char *sql;
} questions[] = {
	{ PARAM_CODE_HASH, FACET_CODE_HASH, " AND r.code_hash = ?9" },
	{ PARAM_TASK, FACET_TASK, " AND r.task = ?8" },
	{ PARAM_AGENT, FACET_AGENT, " AND r.agent = ?7" },
	{ PARAM_OUTCOME, FACET_OUTCOME, " AND r.outcome = ?5" },
	{ PARAM_UID_FILTER, FACET_UID, " AND r.uid = ?4" },
	{ PARAM_UID, FACET_UID, " AND r.uid = ?3" },
	{ PARAM_LANGUAGE, FACET_LANGUAGE, " AND r.language = ?6" },
	{ PARAM_LABEL_VALUE, FACET_NONE,
		" AND r.key IN (SELECT key FROM labels WHERE name = ?10 AND value = ?11)" },
	{ PARAM_LABEL_KEY, FACET_NONE, " AND r.key IN (SELECT key FROM labels WHERE name = ?10)" },
};

static bool asks(const struct store_filter *filter, enum param param)
{
	switch (param) {
	case PARAM_UID:
		return !filter->all_callers;
	case PARAM_UID_FILTER:
		return filter->has_uid_filter;
	case PARAM_OUTCOME:
		return filter->outcome && strcmp(filter->outcome, RUNNING) != 0;
	case PARAM_LANGUAGE:
		return filter->language != NULL;
	case PARAM_AGENT:
		return filter->agent != NULL;
	case PARAM_TASK:
		return filter->task != NULL;
	case PARAM_CODE_HASH:
		return filter->code_hash != NULL;
	case PARAM_LABEL_KEY:
		return filter->label_key && !filter->label_value;
	case PARAM_LABEL_VALUE:
		return filter->label_key && filter->label_value;
	case PARAM_LOW:
	case PARAM_HIGH:
	case PARAM_COUNT:
		break;
	}
	return false;
}

static bool asks_for_running(const struct store_filter *filter)
{
	return filter->outcome && strcmp(filter->outcome, RUNNING) == 0;
}

static int put_questions(struct buf *sql, const struct store_filter *filter)
{
	if (asks_for_running(filter) && buf_append_text(sql, " AND r.outcome IS NULL") < 0)
		return -1;
	for (size_t i = 0; i < COUNT_OF(questions); i++) {
		if (asks(filter, questions[i].param) && buf_append_text(sql, questions[i].sql) < 0)
			return -1;
	}
	return 0;
}

/* The question that leads, or -1. */
static int leader(const struct store_filter *filter)
{
	for (size_t i = 0; i < COUNT_OF(questions); i++) {
		if (questions[i].facet != FACET_NONE && asks(filter, questions[i].param))
			return (int)i;
	}
	return -1;
}

/* ---- values ------------------------------------------------------------------------------- */

static int64_t at_most(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The keys from *ret_low up to, not including, *ret_high. */
static int key_span(struct store *store, const struct store_filter *filter, int64_t *ret_low,
	int64_t *ret_high, struct err *err)
{
	int64_t low = filter->since_wall_us > 0
			      ? db_key_at_ms((uint64_t)filter->since_wall_us / 1000)
			      : 0;
	int64_t high = INT64_MAX;

	if (filter->until_wall_us > 0)
		high = db_key_at_ms((uint64_t)filter->until_wall_us / 1000);
	if (filter->before_run_id) {
		int64_t before = db_key_of(filter->before_run_id);

		if (before < 0)
			return err_set(err, ERR_INVALID, "a page starts before a run's whole id");
		if (record_find(store, filter->before_run_id, &before, err) < 0)
			return -1;
		high = at_most(high, before);
	}
	*ret_low = low;
	*ret_high = high;
	return 0;
}

static void bind_word(sqlite3_stmt *stmt, enum param param, const char *text)
{
	if (text)
		(void)sqlite3_bind_text(stmt, (int)param, text, -1, SQLITE_STATIC);
}

/* A statement without the parameter refuses the value, which is as well. */
static void bind_filter(sqlite3_stmt *stmt, const struct store_filter *filter)
{
	struct binding binding = bind_to(stmt);

	(void)sqlite3_bind_int64(stmt, PARAM_UID, filter->uid);
	(void)sqlite3_bind_int64(stmt, PARAM_UID_FILTER, filter->uid_filter);
	bind_word(stmt, PARAM_OUTCOME, filter->outcome);
	bind_word(stmt, PARAM_LANGUAGE, filter->language);
	bind_word(stmt, PARAM_AGENT, filter->agent);
	bind_word(stmt, PARAM_TASK, filter->task);
	bind_word(stmt, PARAM_LABEL_KEY, filter->label_key);
	bind_word(stmt, PARAM_LABEL_VALUE, filter->label_value);
	binding.index = PARAM_CODE_HASH - 1;
	bind_hash(&binding, filter->code_hash);
}

/* ---- the walk ----------------------------------------------------------------------------- */

static int prepare(struct walk *walk, const struct buf *sql, sqlite3_stmt **ret_stmt,
	const struct store_filter *filter, struct err *err)
{
	int64_t low = 0;
	int64_t high = 0;
	int r;

	if (key_span(walk->store, filter, &low, &high, err) < 0)
		return -1;
	r = sqlite3_prepare_v2(walk->store->db, sql->bytes, (int)sql->len, ret_stmt, NULL);
	if (r != SQLITE_OK)
		return db_failed(walk->store, r, err);
	(void)sqlite3_bind_int64(*ret_stmt, PARAM_LOW, low);
	(void)sqlite3_bind_int64(*ret_stmt, PARAM_HIGH, high);
	bind_filter(*ret_stmt, filter);
	return 0;
}

/* Where rows come from: tables with a first condition, and what the run's key is called there. */
struct origin {
	const char *from;
	const char *key;
};

static int write_sql(struct buf *sql, const char *columns, const struct origin *origin,
	const struct store_filter *filter)
{
	if (buf_printf(sql, "SELECT %s, %s FROM %s AND %s >= ?1 AND %s < ?2", origin->key, columns,
		    origin->from, origin->key, origin->key) < 0)
		return -1;
	if (put_questions(sql, filter) < 0)
		return -1;
	return buf_printf(sql, " ORDER BY %s DESC", origin->key);
}

static int add_source(struct walk *walk, const char *columns, const struct origin *origin,
	const struct store_filter *filter, struct err *err)
{
	__attribute__((cleanup(buf_done))) struct buf sql;
	struct walk_source *source = &walk->sources[walk->sources[0].stmt ? 1 : 0];

	buf_init(&sql, SQL_CEILING);
	if (write_sql(&sql, columns, origin, filter) < 0)
		return err_set(err, ERR_MEMORY, "the store: no memory for a question");
	return prepare(walk, &sql, &source->stmt, filter, err);
}

static int add_sources(
	struct walk *walk, const struct store_filter *filter, const char *columns, struct err *err)
{
	static const struct origin pending = {
		"pending AS p CROSS JOIN runs AS r ON r.key = p.key WHERE 1", "p.key"
	};
	static const struct origin all = { "runs AS r WHERE 1", "r.key" };
	int lead = leader(filter);
	char from[128];

	if (asks_for_running(filter))
		return add_source(walk, columns, &pending, filter, err);
	if (lead < 0)
		return add_source(walk, columns, &all, filter, err);
	(void)sqlite3_snprintf(sizeof(from), from,
		"facets AS f CROSS JOIN runs AS r ON r.key = f.key WHERE f.facet = %d AND f.value = ?%d",
		(int)questions[lead].facet, (int)questions[lead].param);
	if (add_source(walk, columns, &(struct origin){ from, "f.key" }, filter, err) < 0)
		return -1;
	return add_source(walk, columns, &pending, filter, err);
}

static int advance(struct walk *walk, struct walk_source *source, struct err *err)
{
	int r = source->stmt ? stmt_step(walk->store, source->stmt, err) : 0;

	source->on_row = r > 0;
	if (r > 0)
		source->key = sqlite3_column_int64(source->stmt, 0);
	return r < 0 ? -1 : 0;
}

int walk_open(struct walk *walk, struct store *store, const struct store_filter *filter,
	const char *columns, struct err *err)
{
	*walk = (struct walk){ .store = store };
	if (db_look(store, &walk->began, err) < 0)
		return -1;
	walk->opened = true;
	if (add_sources(walk, filter, columns, err) < 0)
		return -1;
	for (size_t i = 0; i < COUNT_OF(walk->sources); i++) {
		if (advance(walk, &walk->sources[i], err) < 0)
			return -1;
	}
	return 0;
}

int walk_next(struct walk *walk, sqlite3_stmt **ret_row, struct err *err)
{
	struct walk_source *first = &walk->sources[0];
	struct walk_source *second = &walk->sources[1];

	if (walk->last && advance(walk, walk->last, err) < 0)
		return -1;
	walk->last = NULL;
	if (!first->on_row && !second->on_row)
		return 0;
	walk->last =
		!second->on_row || (first->on_row && first->key > second->key) ? first : second;
	*ret_row = walk->last->stmt;
	return 1;
}

void walk_close(struct walk *walk)
{
	for (size_t i = 0; i < COUNT_OF(walk->sources); i++) {
		(void)sqlite3_finalize(walk->sources[i].stmt);
		walk->sources[i].stmt = NULL;
	}
	if (walk->opened)
		db_looked(walk->store, &walk->began);
	walk->opened = false;
}
