#include "store/read/run_walk.h"

#include <string.h>

#include "proto/base/buf.h"
#include "proto/base/container.h"
#include "store/base/db.h"
#include "store/base/facet.h"
#include "store/base/record.h"
#include "store/base/stmt.h"

#define SQL_CEILING 4096
#define PROBE_MOST \
	1000 /* each condition is counted up to so many runs, to find the one that matches fewest */
#define RUNNING "running" /* the outcome for which a filter asks to get runs that have not ended */

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
	PARAM_POLICY,
	PARAM_RULE,
	PARAM_SESSION,
	PARAM_COUNT,
};

/* Runs in the order of an index; a `complete` index has unsettled runs, too. */
#define OF_FACET(number, param) "facets", "f.facet = " #number " AND f.value = ?" #param, false
#define OF_LABEL                "labels", "f.name = ?10 AND f.value = ?11", true
#define OF_SESSION              "runs", "f.session = ?14", true
#define OF_NOTHING              NULL, NULL, false

/*
 * The conditions of a filter, ordered by how few runs each is likely to match. One with an index
 * can lead the walk. The numbers of facets are those of facet.h.
 */
/* clang-format off */
static const struct question {
	enum param param;
	const char *sql;
	const char *index;
	const char *place; /* in the index */
	bool complete;
} questions[] = {
	{ PARAM_CODE_HASH,   " AND r.code_hash = ?9",  OF_FACET(6, 9) },
	{ PARAM_SESSION,     " AND r.session = ?14",   OF_SESSION },
	{ PARAM_TASK,        " AND r.task = ?8",       OF_FACET(5, 8) },
	{ PARAM_RULE,
		" AND r.key IN (SELECT key FROM findings WHERE findings.key = r.key AND rule = ?13)",
		OF_FACET(8, 13) },
	{ PARAM_LABEL_VALUE,
		" AND r.key IN (SELECT key FROM labels WHERE name = ?10 AND value = ?11 AND "
		"labels.key = r.key)", OF_LABEL },
	{ PARAM_AGENT,       " AND r.agent = ?7",      OF_FACET(4, 7) },
	{ PARAM_OUTCOME,     " AND r.outcome = ?5",    OF_FACET(1, 5) },
	{ PARAM_UID_FILTER,  " AND r.uid = ?4",        OF_FACET(3, 4) },
	{ PARAM_UID,         " AND r.uid = ?3",        OF_FACET(3, 3) },
	{ PARAM_POLICY,      " AND r.policy = ?12",    OF_FACET(7, 12) },
	{ PARAM_LANGUAGE,    " AND r.language = ?6",   OF_FACET(2, 6) },
	{ PARAM_LABEL_KEY,   " AND r.key IN (SELECT key FROM labels WHERE name = ?10)", OF_NOTHING },
};
/* clang-format on */

_Static_assert(FACET_CODE_HASH == 6 && FACET_TASK == 5 && FACET_RULE == 8 && FACET_AGENT == 4 &&
		       FACET_OUTCOME == 1 && FACET_UID == 3 && FACET_POLICY == 7 &&
		       FACET_LANGUAGE == 2,
	"the table has the facets' numbers");

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
	case PARAM_POLICY:
		return filter->policy != NULL;
	case PARAM_RULE:
		return filter->rule != NULL;
	case PARAM_SESSION:
		return filter->session != NULL;
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

/* A statement that does not have the parameter ignores the value. */
static void bind_filter(sqlite3_stmt *stmt, const struct store_filter *filter)
{
	const struct sql_value code_hash = sql_hash(filter->code_hash);

	(void)sqlite3_bind_int64(stmt, PARAM_UID, filter->uid);
	(void)sqlite3_bind_int64(stmt, PARAM_UID_FILTER, filter->uid_filter);
	bind_word(stmt, PARAM_OUTCOME, filter->outcome);
	bind_word(stmt, PARAM_LANGUAGE, filter->language);
	bind_word(stmt, PARAM_AGENT, filter->agent);
	bind_word(stmt, PARAM_TASK, filter->task);
	bind_word(stmt, PARAM_LABEL_KEY, filter->label_key);
	bind_word(stmt, PARAM_LABEL_VALUE, filter->label_value);
	bind_word(stmt, PARAM_POLICY, filter->policy);
	bind_word(stmt, PARAM_RULE, filter->rule);
	bind_word(stmt, PARAM_SESSION, filter->session);
	(void)stmt_bind(stmt, PARAM_CODE_HASH, &code_hash);
}

/* ---- which question leads ----------------------------------------------------------------- */

static int prepare(struct walk *walk, const struct buf *sql, const struct store_filter *filter,
	sqlite3_stmt **ret_stmt, struct err *err)
{
	int r = sqlite3_prepare_v2(walk->store->db, sql->bytes, (int)sql->len, ret_stmt, NULL);

	if (r != SQLITE_OK)
		return db_failed(walk->store, r, err);
	(void)sqlite3_bind_int64(*ret_stmt, PARAM_LOW, walk->low);
	(void)sqlite3_bind_int64(*ret_stmt, PARAM_HIGH, walk->high);
	bind_filter(*ret_stmt, filter);
	return 0;
}

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "the store: no memory for a question");
}

/* How many runs of the span the index has for this condition, counted up to PROBE_MOST. */
static int probe(struct walk *walk, const struct question *question,
	const struct store_filter *filter, int64_t *ret_count, struct err *err)
{
	__attribute__((cleanup(buf_done))) struct buf sql;
	auto_of(db_finish) sqlite3_stmt *stmt = NULL;
	int r;

	buf_init(&sql, SQL_CEILING);
	if (buf_printf(&sql,
		    "SELECT count(*) FROM (SELECT 1 FROM %s AS f WHERE %s AND f.key >= ?1 AND "
		    "f.key < ?2 LIMIT %d)",
		    question->index, question->place, PROBE_MOST) < 0)
		return no_memory(err);
	if (prepare(walk, &sql, filter, &stmt, err) < 0)
		return -1;
	r = stmt_step(walk->store, stmt, err);
	if (r > 0)
		*ret_count = sqlite3_column_int64(stmt, 0);
	return r < 0 ? -1 : 0;
}

/* Whether more than one condition can lead. */
static bool has_choice(const struct walk *walk, const struct store_filter *filter)
{
	unsigned count = walk->searching && search_can_lead(&walk->search);

	for (size_t i = 0; i < COUNT_OF(questions); i++)
		count += questions[i].index && asks(filter, questions[i].param);
	return count > 1;
}

/*
 * The condition that leads; NULL: the words, if they can, or else the order of time. Words lead
 * unless another condition matches few runs, since their number of matches is unknown.
 */
static int choose_lead(struct walk *walk, const struct store_filter *filter,
	const struct question **ret_lead, struct err *err)
{
	bool chooses = has_choice(walk, filter);
	bool has_words = walk->searching && search_can_lead(&walk->search);
	int64_t least = has_words ? PROBE_MOST : INT64_MAX;

	*ret_lead = NULL;
	for (size_t i = 0; i < COUNT_OF(questions); i++) {
		int64_t count = 0;

		if (!questions[i].index || !asks(filter, questions[i].param))
			continue;
		if (chooses && probe(walk, &questions[i], filter, &count, err) < 0)
			return -1;
		if (count >= least)
			continue;
		least = count;
		*ret_lead = &questions[i];
	}
	return 0;
}

/* ---- the walk ----------------------------------------------------------------------------- */

/* The tables to read, and the name of the key there. */
struct origin {
	const char *from;
	const char *key;
};

static const struct origin all = { "runs AS r WHERE 1", "r.key" };
static const struct origin pending = { "pending AS p CROSS JOIN runs AS r ON r.key = p.key WHERE 1",
	"p.key" };

static int write_sql(struct buf *sql, const char *columns, const struct origin *origin,
	enum walk_way way, const struct store_filter *filter)
{
	bool one = way == WALK_WORDS || way == WALK_UNSETTLED;

	if (buf_printf(sql, "SELECT %s, %s FROM %s", origin->key, columns, origin->from) < 0)
		return -1;
	if (buf_printf(sql, one ? " AND %s = ?1" : " AND %s >= ?1 AND %s < ?2", origin->key,
		    origin->key) < 0)
		return -1;
	if (put_questions(sql, filter) < 0)
		return -1;
	return one ? 0 : buf_printf(sql, " ORDER BY %s DESC", origin->key);
}

static int open_source(struct walk *walk, struct walk_source *source, const struct origin *origin,
	enum walk_way way, struct err *err)
{
	__attribute__((cleanup(buf_done))) struct buf sql;

	buf_init(&sql, SQL_CEILING);
	source->way = way;
	if (write_sql(&sql, walk->columns, origin, way, walk->filter) < 0)
		return no_memory(err);
	return prepare(walk, &sql, walk->filter, &source->stmt, err);
}

static int add_source(
	struct walk *walk, const struct origin *origin, enum walk_way way, struct err *err)
{
	return open_source(walk, &walk->sources[walk->source_count++], origin, way, err);
}

/* The unsettled runs, unless the first source has them already. */
static int add_unsettled(struct walk *walk, bool complete, struct err *err)
{
	if (walk->searching)
		return add_source(walk, &all, WALK_UNSETTLED, err);
	return complete ? 0 : add_source(walk, &pending, WALK_ROWS, err);
}

static int add_sources(struct walk *walk, struct err *err)
{
	enum walk_way way = walk->searching ? WALK_TESTED : WALK_ROWS;
	const struct question *lead = NULL;
	char from[160];

	if (asks_for_running(walk->filter))
		return add_unsettled(walk, false, err);
	if (choose_lead(walk, walk->filter, &lead, err) < 0)
		return -1;
	(void)sqlite3_snprintf(sizeof(from), from,
		"%s AS f CROSS JOIN runs AS r ON r.key = f.key WHERE %s", lead ? lead->index : "",
		lead ? lead->place : "");
	if (!lead && walk->searching && search_can_lead(&walk->search))
		way = WALK_WORDS;
	walk->may_turn = walk->searching && !search_can_lead(&walk->search);
	if (add_source(walk, lead ? &(struct origin){ from, "f.key" } : &all, way, err) < 0)
		return -1;
	return add_unsettled(walk, !lead || lead->complete, err);
}

/* The row of one key: 1, or 0 when it does not match the other conditions. */
static int step_to(struct walk *walk, struct walk_source *source, int64_t key, struct err *err)
{
	(void)sqlite3_reset(source->stmt);
	(void)sqlite3_bind_int64(source->stmt, PARAM_LOW, key);
	return stmt_step(walk->store, source->stmt, err);
}

/* The next key of a source that gets its keys from the search: 1, 0, -1. */
static int next_key(
	struct walk *walk, const struct walk_source *source, int64_t *ret_key, struct err *err)
{
	if (source->way == WALK_UNSETTLED)
		return search_next_unsettled(&walk->search, walk->low, walk->high, ret_key);
	return search_next(&walk->search, walk->words_high, ret_key, err);
}

static int advance_by_key(struct walk *walk, struct walk_source *source, struct err *err)
{
	int64_t key = 0;
	int r;

	while ((r = next_key(walk, source, &key, err)) > 0) {
		if (key < walk->low)
			return 0;
		r = step_to(walk, source, key, err);
		if (r != 0)
			return r;
	}
	return r;
}

/* No match was near, and now the words can lead: the search continues from here. */
static int turn(struct walk *walk, struct walk_source *source, int64_t key, struct err *err)
{
	(void)sqlite3_finalize(source->stmt);
	source->stmt = NULL;
	walk->may_turn = false;
	walk->words_high = key;
	if (open_source(walk, source, &all, WALK_WORDS, err) < 0)
		return -1;
	return advance_by_key(walk, source, err);
}

static int advance_by_row(struct walk *walk, struct walk_source *source, struct err *err)
{
	int r;

	while ((r = stmt_step(walk->store, source->stmt, err)) > 0) {
		int64_t key = sqlite3_column_int64(source->stmt, 0);
		int holds = 1;

		if (source->way == WALK_TESTED)
			holds = search_holds(&walk->search, key, err);
		if (holds != 0)
			return holds;
		if (walk->may_turn && search_can_lead(&walk->search))
			return turn(walk, source, key, err);
	}
	return r;
}

static int advance(struct walk *walk, struct walk_source *source, struct err *err)
{
	bool by_key = source->way == WALK_WORDS || source->way == WALK_UNSETTLED;
	int r = by_key ? advance_by_key(walk, source, err) : advance_by_row(walk, source, err);

	source->on_row = r > 0;
	if (r > 0)
		source->key = sqlite3_column_int64(source->stmt, 0);
	return r < 0 ? -1 : 0;
}

int walk_open(struct walk *walk, struct store *store, const struct store_filter *filter,
	const char *columns, struct err *err)
{
	*walk = (struct walk){ .store = store, .filter = filter, .columns = columns };
	if (db_begin_snapshot(store, &walk->began, err) < 0)
		return -1;
	walk->opened = true;
	if (key_span(store, filter, &walk->low, &walk->high, err) < 0)
		return -1;
	walk->words_high = walk->high;
	walk->searching = filter->text != NULL;
	if (walk->searching && search_open(&walk->search, store, filter->text, err) < 0)
		return -1;
	if (add_sources(walk, err) < 0)
		return -1;
	for (size_t i = 0; i < walk->source_count; i++) {
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
	if (walk->searching)
		search_done(&walk->search);
	if (walk->opened)
		db_end_snapshot(walk->store, walk->began);
	walk->searching = false;
	walk->opened = false;
}
