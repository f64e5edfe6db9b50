/*
 * Compares the facets with the columns of runs that they copy.
 *
 * Looking up each facet would take longer than all other checks. So both sets are read once, the
 * facets in the store and those that there should be, and a keyed hash of each row is added to a
 * sum. The key is random and new each time, so an attacker cannot prepare two different sets with
 * the same sum. The facets must also be in order, since a lookup does not find rows that are out
 * of order.
 *
 * Only if the sums differ, queries find the wrong rows.
 */
#include <string.h>

#include "proto/base/buf.h"
#include "proto/base/container.h"
#include "proto/digest.h"
#include "store/base/db.h"
#include "store/base/stmt.h"
#include "store/verify/verify.h"

#define ROW_MAX ((size_t)513 << 20) /* SQLite's own ceiling is below */

/*
 * A facet of a run, as bytes that no other has: where it would stand in the tree, then the value.
 */
struct row {
	struct {
		int64_t facet, type, key;
	} head;
	struct buf bytes;
};

struct heap {
	uint64_t sums[2];
};

struct comparing {
	struct store *store;
	uint8_t key[DIGEST_QUICK_LEN];
	struct heap there, wanted;
	struct row row, last;
	bool is_odd; /* not in order, or of a kind that is not compared here */
};

/* ---- one row ------------------------------------------------------------------------------- */

static int read_row(
	struct comparing *comparing, int64_t facet, int64_t key, sqlite3_stmt *stmt, int column)
{
	struct row *row = &comparing->row;
	int type = sqlite3_column_type(stmt, column);
	int64_t number = 0;
	const void *value = &number;
	size_t len = sizeof(number);

	if (type == SQLITE_INTEGER) {
		number = sqlite3_column_int64(stmt, column);
	} else {
		value = sqlite3_column_blob(stmt, column);
		len = (size_t)sqlite3_column_bytes(stmt, column);
	}
	comparing->is_odd |= type == SQLITE_FLOAT || type == SQLITE_NULL;
	row->head.facet = facet;
	row->head.type = type;
	row->head.key = key;
	row->bytes.len = 0;
	if (buf_append(&row->bytes, &row->head, sizeof(row->head)) < 0)
		return -1;
	return len ? buf_append(&row->bytes, value, len) : 0;
}

static void add_row(struct comparing *comparing, struct heap *heap)
{
	const struct row *row = &comparing->row;
	uint64_t sums[2];

	digest_quick(comparing->key, row->bytes.bytes, row->bytes.len, sums);
	heap->sums[0] += sums[0];
	heap->sums[1] += sums[1];
}

/* As SQLite sorts: numbers, texts, bytes, which is also the order of the types' own numbers. */
static int compare_values(const struct row *a, const struct row *b)
{
	const char *left = a->bytes.bytes + sizeof(a->head);
	const char *right = b->bytes.bytes + sizeof(b->head);
	size_t left_len = a->bytes.len - sizeof(a->head);
	size_t right_len = b->bytes.len - sizeof(b->head);
	int64_t numbers[2];
	int order;

	if (a->head.type != b->head.type)
		return a->head.type < b->head.type ? -1 : 1;
	if (a->head.type == SQLITE_INTEGER) {
		memcpy(&numbers[0], left, sizeof(numbers[0]));
		memcpy(&numbers[1], right, sizeof(numbers[1]));
		return (numbers[0] > numbers[1]) - (numbers[0] < numbers[1]);
	}
	order = memcmp(left, right, left_len < right_len ? left_len : right_len);
	return order ? order : (left_len > right_len) - (left_len < right_len);
}

static bool comes_after(const struct row *row, const struct row *last)
{
	int order;

	if (!last->bytes.len)
		return true;
	if (row->head.facet != last->head.facet)
		return row->head.facet > last->head.facet;
	order = compare_values(row, last);
	return order ? order > 0 : row->head.key > last->head.key;
}

/* ---- the heaps ----------------------------------------------------------------------------- */

static int take_facet(struct comparing *comparing, sqlite3_stmt *stmt)
{
	struct row last;

	comparing->is_odd |= sqlite3_column_type(stmt, 0) != SQLITE_INTEGER ||
			     sqlite3_column_type(stmt, 2) != SQLITE_INTEGER;
	if (read_row(comparing, sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 2), stmt,
		    1) < 0)
		return -1;
	add_row(comparing, &comparing->there);
	comparing->is_odd |= !comes_after(&comparing->row, &comparing->last);
	last = comparing->last;
	comparing->last = comparing->row;
	comparing->row = last;
	return 0;
}

/*
 * A run has a facet for each column that says something: 1, 2, 3 ... in the order of the columns.
 */
static int take_run(struct comparing *comparing, sqlite3_stmt *stmt)
{
	for (int facet = 1; facet < sqlite3_column_count(stmt); facet++) {
		if (sqlite3_column_type(stmt, facet) == SQLITE_NULL)
			continue;
		if (read_row(comparing, facet, sqlite3_column_int64(stmt, 0), stmt, facet) < 0)
			return -1;
		add_row(comparing, &comparing->wanted);
	}
	return 0;
}

static int take_rule(struct comparing *comparing, sqlite3_stmt *stmt)
{
	if (read_row(comparing, 8, sqlite3_column_int64(stmt, 0), stmt, 1) < 0)
		return -1;
	add_row(comparing, &comparing->wanted);
	return 0;
}

/* clang-format off */
static const struct {
	const char *sql;
	int (*take)(struct comparing *comparing, sqlite3_stmt *stmt);
} heaps[] = {
	{ "SELECT facet, value, key FROM facets ORDER BY facet, value, key", take_facet },
	{ "SELECT r.key, r.outcome, r.language, r.uid, r.agent, r.task, r.code_hash, r.policy "
	  "FROM runs AS r WHERE " VERIFY_SETTLED, take_run },
	{ "SELECT DISTINCT r.key, o.rule FROM findings AS o JOIN runs AS r USING (key) WHERE "
	  VERIFY_SETTLED, take_rule },
};
/* clang-format on */

static int take_heap(struct comparing *comparing, size_t heap, struct err *err)
{
	struct store *store = comparing->store;
	auto_of(db_finish) sqlite3_stmt *row = NULL;
	int r = sqlite3_prepare_v2(store->db, heaps[heap].sql, -1, &row, NULL);

	comparing->is_odd |= r == SQLITE_ERROR; /* a table has gone: the questions tell which */
	if (r != SQLITE_OK && r != SQLITE_ERROR)
		return db_failed(store, r, err);
	while (!comparing->is_odd && (r = stmt_step(store, row, err)) > 0)
		if (heaps[heap].take(comparing, row) < 0) {
			r = err_set(err, ERR_MEMORY, "the store: no memory to compare facets");
			break;
		}
	return r < 0 ? -1 : 0;
}

/* 1: they are those that there should be; 0: perhaps not. */
static int are_right(struct verify *verify, struct err *err)
{
	struct comparing comparing = { .store = verify->store };
	int r = 0;

	digest_quick_key(comparing.key);
	buf_init(&comparing.row.bytes, ROW_MAX);
	buf_init(&comparing.last.bytes, ROW_MAX);
	for (size_t i = 0; r == 0 && i < COUNT_OF(heaps); i++)
		r = take_heap(&comparing, i, err);
	buf_done(&comparing.row.bytes);
	buf_done(&comparing.last.bytes);
	if (r < 0)
		return -1;
	return !comparing.is_odd &&
	       memcmp(&comparing.there, &comparing.wanted, sizeof(comparing.there)) == 0;
}

/* ---- wrong rows ---------------------------------------------------------------------------- */

/*
 * Facet `number` is a copy of the column.  The plus takes the column's affinity away, which the
 * index has not.
 */
#define MISSING(number, column)                                                                  \
	{                                                                                        \
		"missing",                                                                       \
			"SELECT 'facets', r.key, 'the facet of " column " of a run is missing' " \
			"FROM runs AS r WHERE r." column " IS NOT NULL AND " VERIFY_SETTLED      \
			" AND NOT EXISTS (SELECT 1 FROM facets AS f WHERE f.facet = " #number    \
			" AND f.value = +r." column " AND f.key = r.key)"                        \
	}

/* clang-format off */
static const struct {
	const char *what;
	const char *sql;
} questions[] = {
	MISSING(1, "outcome"),
	MISSING(2, "language"),
	MISSING(3, "uid"),
	MISSING(4, "agent"),
	MISSING(5, "task"),
	MISSING(6, "code_hash"),
	MISSING(7, "policy"),
	{ "missing",
		"SELECT 'facets', r.key, 'the facet of a finding is missing' FROM findings AS o JOIN "
		"runs AS r USING (key) WHERE " VERIFY_SETTLED " AND NOT EXISTS (SELECT 1 FROM facets "
		"AS f WHERE f.facet = 8 AND f.value = +o.rule AND f.key = r.key)" },
	{ "extra",
		"SELECT 'facets', f.key, 'a facet that no run has' FROM facets AS f LEFT JOIN runs "
		"AS r ON r.key = f.key WHERE r.key IS NULL OR " VERIFY_PENDING("f.key") " OR CASE "
		"f.facet WHEN 1 THEN r.outcome WHEN 2 THEN r.language WHEN 3 THEN r.uid WHEN 4 THEN "
		"r.agent WHEN 5 THEN r.task WHEN 6 THEN r.code_hash WHEN 7 THEN r.policy WHEN 8 THEN "
		"(SELECT o.rule FROM findings AS o WHERE o.key = f.key AND o.rule = f.value) END "
		"IS NOT f.value" },
};
/* clang-format on */

int facets_check(struct verify *verify, struct err *err)
{
	int r = are_right(verify, err);

	for (size_t i = 0; r == 0 && i < COUNT_OF(questions); i++)
		r = verify_ask(verify, questions[i].what, questions[i].sql, err);
	return r < 0 ? -1 : 0;
}
