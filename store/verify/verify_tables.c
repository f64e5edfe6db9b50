/*
 * Checks what the chain does not cover: rows that belong to no record, derived tables, and the
 * schema. Most checks are queries whose rows are problems.
 */
#include <stdio.h>
#include <string.h>

#include "proto/base/container.h"
#include "store/base/chain_columns.h"
#include "store/base/db.h"
#include "store/base/fetch.h"
#include "store/base/schema.h"
#include "store/base/sql.h"
#include "store/base/stmt.h"
#include "store/verify/verify.h"

#define SQL_MAX 4096

/* A text of a run must be found from the text, too. */
#define TEXT_MISSING(column)                                                                          \
	{                                                                                             \
		NULL, "missing",                                                                      \
			"SELECT 'mentions', t.key, 'a text of a run is not found by its words' FROM " \
			"run_texts AS t WHERE t." column " <> 0 AND NOT EXISTS (SELECT 1 FROM "       \
			"mentions AS m JOIN texts USING (text) WHERE m.text = t." column              \
			" AND m.key = t.key)"                                                         \
	}

/*
 * Facet `number` is a copy of the column.  The plus takes the column's affinity away, which the
 * index has not.
 */
#define FACET_MISSING(number, column)                                                            \
	{                                                                                        \
		NULL, "missing",                                                                 \
			"SELECT 'facets', r.key, 'the facet of " column " of a run is missing' " \
			"FROM runs AS r WHERE r." column " IS NOT NULL AND " VERIFY_SETTLED      \
			" AND NOT EXISTS (SELECT 1 FROM facets AS f WHERE f.facet = " #number    \
			" AND f.value = +r." column " AND f.key = r.key)"                        \
	}

struct check {
	int (*look)(struct verify *verify, struct err *err); /* or NULL */
	const char *what;
	const char *sql; /* rows of: table, row, message */
};

/* ---- records and their parts -------------------------------------------------------------- */

static const struct chain_table *root_of(enum chain_kind owner)
{
	const struct chain_table *table = chain_tables;

	while (table->name && !(table->is_root && table->owner == owner))
		table++;
	return table;
}

/* Records without a link. A run in flight has none yet. */
static int find_unlinked(struct verify *verify, struct err *err)
{
	char sql[SQL_MAX];

	for (const struct chain_table *table = chain_tables; table->name; table++) {
		/* cppcheck-suppress invalidPrintfArgType_s ; it counts arguments and not their numbers */
		(void)snprintf(sql, sizeof(sql),
			"SELECT '%1$s', %2$s, 'a record was added that is not in the chain' "
			"FROM %1$s WHERE %3$s AND %2$s NOT IN (SELECT subject FROM chain "
			"WHERE kind = %4$d)",
			table->name, table->by,
			table->owner == CHAIN_RUN ? "outcome IS NOT NULL" : "1", (int)table->owner);
		if (table->is_root && verify_ask(verify, "extra", sql, err) < 0)
			return -1;
	}
	return 0;
}

/* Rows that belong to a record that is missing. */
static int find_orphans(struct verify *verify, struct err *err)
{
	char sql[SQL_MAX];

	for (const struct chain_table *table = chain_tables; table->name; table++) {
		const struct chain_table *root = root_of(table->owner);

		(void)snprintf(sql, sizeof(sql),
			"SELECT '%1$s', t.%2$s, 'a row was added that belongs to no record' "
			"FROM %1$s AS t WHERE NOT EXISTS (SELECT 1 FROM %3$s AS o WHERE "
			"o.%4$s = t.%2$s)",
			table->name, table->by, root->name, root->by);
		if (!table->is_root && verify_ask(verify, "extra", sql, err) < 0)
			return -1;
	}
	return 0;
}

/*
 * Rows that a scan of the table finds and a lookup by key does not: a key that is there twice, or
 * at a wrong place.
 */
static int find_strays(struct verify *verify, const struct chain_table *table, struct err *err)
{
	auto_of(db_finish) sqlite3_stmt *row = NULL;
	int64_t before = 0;
	char sql[SQL_MAX];
	bool begun = false;
	int r;

	(void)snprintf(sql, sizeof(sql), "SELECT %s FROM %s NOT INDEXED", table->by, table->name);
	row = db_prepare(verify->store, sql, err);
	while ((r = stmt_step(verify->store, row, err)) > 0) {
		if (begun && sqlite3_column_int64(row, 0) <= before) {
			struct fill problem = verify_problem(
				verify, "extra", "a row is there twice, or at a wrong place");

			fill_text(&problem, "table", table->name);
			fetch_int(&problem, "row", row, 0);
		}
		before = sqlite3_column_int64(row, 0);
		begun = true;
	}
	return r;
}

static int find_all_strays(struct verify *verify, struct err *err)
{
	for (const struct chain_table *table = chain_tables; table->name; table++)
		if (table->is_root && find_strays(verify, table, err) < 0)
			return -1;
	return 0;
}

/* ---- the tables themselves ---------------------------------------------------------------- */

/* A view or a trigger could give false answers, too. */
static int check_schema(struct verify *verify, struct err *err)
{
	int r = schema_compare(verify->store, err);

	if (r > 0)
		(void)verify_problem(verify, "changed",
			"the tables, indexes and views are not those that ced makes");
	return r < 0 ? -1 : 0;
}

/* ---- the list ----------------------------------------------------------------------------- */

/* Acts and the end of grants use the wall clock, but read it at different moments. */
#define MARGIN_US "60000000"

/* clang-format off */
static const struct check checks[] = {
	{ check_schema, NULL, NULL },
	{ find_unlinked, NULL, NULL },
	{ find_orphans, NULL, NULL },
	{ find_all_strays, NULL, NULL },
	{ blob_refs_check, NULL, NULL },
	{ NULL, "extra",
		"SELECT 'chain', max(link), 'a record has more than one link' FROM chain WHERE "
		"(SELECT count(*) FROM chain WHERE kind = 1) > "
		"(SELECT count(*) FROM runs WHERE outcome IS NOT NULL) "
		"AND kind < 5 GROUP BY kind, subject HAVING count(*) > 1" },
	{ NULL, "extra",
		"SELECT 'chain', link, 'the number of this link is below 1' FROM chain WHERE link < 1" },
	{ NULL, "extra",
		"SELECT 'blobs', blob, 'the number of this blob is below 1' FROM blobs WHERE blob < 1" },
	{ NULL, "extra",
		"SELECT 'blob_data', blob, 'no blob has these bytes' FROM blob_data "
		"WHERE blob NOT IN (SELECT blob FROM blobs)" },
	{ NULL, "missing",
		"SELECT 'runs', r.key, 'half of a run is missing' FROM runs AS r WHERE NOT EXISTS "
		"(SELECT 1 FROM records AS o WHERE o.key = r.key)" },
	/* The chain reads these two by an index, which may have fewer rows than the table. */
	{ NULL, "extra",
		"SELECT 'pruned', t.key, 'no act deleted the contents of this run' FROM pruned AS t "
		"NOT INDEXED WHERE NOT EXISTS (SELECT 1 FROM pruned AS i INDEXED BY pruned_by_act "
		"WHERE i.act = t.act AND i.key = t.key)" },
	{ NULL, "extra",
		"SELECT 'labels', t.key, 'the run of this label does not have the label' FROM labels AS t "
		"INDEXED BY sqlite_autoindex_labels_1 WHERE NOT EXISTS (SELECT 1 FROM labels AS i "
		"INDEXED BY labels_by_key WHERE i.key = t.key AND i.name = t.name AND "
		"i.value = t.value)" },
	{ NULL, "missing",
		"SELECT 'pending', r.key, 'a run that has not ended is not pending' FROM runs AS r "
		"WHERE r.outcome IS NULL AND NOT " VERIFY_PENDING("r.key") },
	{ NULL, "extra",
		"SELECT 'pending', key, 'a run is pending, and the run is missing' FROM pending "
		"WHERE key NOT IN (SELECT key FROM runs)" },
	{ NULL, "extra",
		"SELECT 'pruned', key, 'the contents of a run were deleted, and the run is missing' FROM pruned "
		"WHERE key NOT IN (SELECT key FROM runs)" },
	/* Columns that are compared as bytes or numbers only. */
	{ NULL, "changed",
		"SELECT 'blobs', blob, 'a column has another type than ced writes' FROM blobs WHERE "
		"typeof(sha256) <> 'blob' OR typeof(bytes) <> 'integer' OR typeof(refs) <> 'integer'" },
	{ NULL, "changed",
		"SELECT 'blob_data', blob, 'a column has another type than ced writes' FROM blob_data "
		"WHERE typeof(data) <> 'blob' OR typeof(codec) <> 'integer'" },
	{ NULL, "changed",
		"SELECT 'chain', link, 'a column has another type than ced writes' FROM chain WHERE "
		"typeof(digest) <> 'blob' OR typeof(head) <> 'blob' OR typeof(kind) <> 'integer' OR "
		"typeof(subject) <> 'integer'" },
	{ NULL, "changed",
		"SELECT 'pruned', key, 'a column has another type than ced writes' FROM pruned WHERE "
		"typeof(digests) <> 'blob'" },
	{ NULL, "changed",
		"SELECT 'texts', text, 'a column has another type than ced writes' FROM texts WHERE "
		"typeof(digest) <> 'blob'" },
	FACET_MISSING(1, "outcome"),
	FACET_MISSING(2, "language"),
	FACET_MISSING(3, "uid"),
	FACET_MISSING(4, "agent"),
	FACET_MISSING(5, "task"),
	FACET_MISSING(6, "code_hash"),
	FACET_MISSING(7, "policy"),
	{ NULL, "missing",
		"SELECT 'facets', r.key, 'the facet of a finding is missing' FROM findings AS o JOIN "
		"runs AS r USING (key) WHERE " VERIFY_SETTLED " AND NOT EXISTS (SELECT 1 FROM facets "
		"AS f WHERE f.facet = 8 AND f.value = +o.rule AND f.key = r.key)" },
	{ NULL, "extra",
		"SELECT 'facets', f.key, 'no run has this facet' FROM facets AS f LEFT JOIN runs "
		"AS r ON r.key = f.key WHERE r.key IS NULL OR " VERIFY_PENDING("f.key") " OR CASE "
		"f.facet WHEN 1 THEN r.outcome WHEN 2 THEN r.language WHEN 3 THEN r.uid WHEN 4 THEN "
		"r.agent WHEN 5 THEN r.task WHEN 6 THEN r.code_hash WHEN 7 THEN r.policy WHEN 8 THEN "
		"(SELECT o.rule FROM findings AS o WHERE o.key = f.key AND o.rule = f.value) END "
		"IS NOT f.value" },
	/* A list reads a span of the tree and would end at such a row, although a lookup finds those behind it. */
	{ NULL, "moved",
		"SELECT 'facets', key, 'a facet is there twice, or at a wrong place' FROM (SELECT *, "
		"lag(facet) OVER () AS facet_before, lag(value) OVER () AS value_before, "
		"lag(key) OVER () AS key_before FROM facets NOT INDEXED) WHERE (facet, value, key) <= "
		"(facet_before, value_before, key_before)" },
	TEXT_MISSING("code"),
	TEXT_MISSING("stdout"),
	TEXT_MISSING("stderr"),
	{ NULL, "missing",
		"SELECT 'run_texts', r.key, 'the texts of this run are not listed' FROM runs AS r WHERE "
		VERIFY_SETTLED " AND NOT EXISTS (SELECT 1 FROM run_texts AS t WHERE t.key = r.key) AND NOT "
		"EXISTS (SELECT 1 FROM pruned AS p WHERE p.key = r.key)" },
	{ NULL, "extra",
		"SELECT 'run_texts', t.key, 'these texts are of a run that is missing or not indexed' "
		"FROM run_texts AS t WHERE "
		"NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.key = t.key) OR " VERIFY_PENDING("t.key") },
	{ NULL, "extra",
		"SELECT 'mentions', m.key, 'the index names a text that the run does not have' FROM mentions AS m "
		"LEFT JOIN run_texts AS t ON t.key = m.key WHERE m.text IS NOT t.code AND "
		"m.text IS NOT t.stdout AND m.text IS NOT t.stderr" },
	{ NULL, "extra",
		"SELECT 'texts', text, 'no run has this text' FROM texts WHERE NOT EXISTS "
		"(SELECT 1 FROM mentions AS m WHERE m.text = texts.text)" },
	{ texts_check, NULL, NULL },
	{ NULL, "changed",
		"SELECT 'actions', a.key, 'the run of this id does not have the id' FROM actions AS a "
		"LEFT JOIN runs AS r USING (key) WHERE r.uid IS NOT a.uid OR "
		"r.caller_id IS NOT a.caller_id OR a.content IS NOT r.action" },
	{ NULL, "missing",
		"SELECT 'actions', r.key, 'the name of a run that must not be done twice is missing' "
		"FROM runs AS r NOT INDEXED WHERE r.caller_id IS NOT NULL AND r.method = 'run' AND "
		"r.action IS NOT NULL AND NOT EXISTS (SELECT 1 FROM actions AS a WHERE a.uid = r.uid "
		"AND a.caller_id = r.caller_id AND a.key = r.key)" },
	{ NULL, "missing",
		"SELECT 'runs', r.key, 'a run is not found by the name that its caller gave it' FROM runs "
		"AS r NOT INDEXED WHERE r.caller_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs AS i "
		"INDEXED BY runs_by_caller_id WHERE i.uid = r.uid AND i.caller_id = r.caller_id "
		"AND i.key = r.key)" },
	{ NULL, "missing",
		"SELECT 'runs', r.key, 'a cell is not found by its session' FROM runs AS r NOT INDEXED "
		"WHERE r.session IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs AS i INDEXED BY "
		"runs_by_session WHERE i.session = r.session AND i.key = r.key)" },
	{ NULL, "changed",
		"SELECT 'cached', c.key, 'the run does not have the result that may be reused' "
		"FROM cached AS c LEFT JOIN runs AS r USING (key) WHERE r.ended_us IS NOT c.at_us "
		"OR r.cache_key IS NOT c.cache_key" },
	{ NULL, "missing",
		"SELECT 'chain', c.link, 'a link is not found by what it is about' FROM chain AS c "
		"NOT INDEXED WHERE c.kind > 1 AND NOT EXISTS (SELECT 1 FROM chain AS i INDEXED BY "
		"chain_by_subject WHERE i.kind > 1 AND i.subject = c.subject AND i.kind = c.kind "
		"AND i.link = c.link)" },
	{ NULL, "changed",
		LAST_ACTS "SELECT 'blocks', b.uid, 'no act blocked this user, or not with this reason' "
		"FROM blocks AS b LEFT JOIN last ON last.uid = b.uid WHERE last.act IS NOT b.act "
		"OR last.method IS NOT 'admin.block' OR last.reason IS NOT b.reason" },
	{ NULL, "missing",
		LAST_ACTS "SELECT 'blocks', last.uid, 'an act blocked this user, but it is not blocked' FROM last "
		"WHERE last.method = 'admin.block' AND last.uid NOT IN (SELECT uid FROM blocks)" },
	{ NULL, "extra",
		"SELECT 'parked', p.key, 'a run waits for approval, and is missing or has ended' "
		"FROM parked AS p LEFT JOIN runs AS r USING (key) "
		"WHERE r.key IS NULL OR r.outcome IS NOT NULL" },
	/* A run that waits is started with a mark in the chain, or ends in the transaction that records its end. */
	{ NULL, "missing",
		"SELECT 'parked', c.subject, CASE WHEN r.outcome IS NULL THEN 'a run that waits for "
		"approval was removed' ELSE 'a run that waited for approval was lost: its row was "
		"removed' END FROM (SELECT subject, max(link) AS link FROM chain NOT INDEXED WHERE "
		"kind = 5 GROUP BY subject) AS c JOIN runs AS r ON r.key = c.subject WHERE "
		"(r.outcome IS NULL OR r.outcome = 'lost') AND ifnull(" UNPARKED_LINK("c.subject")
		", 0) < c.link AND NOT EXISTS (SELECT 1 FROM parked AS p WHERE p.key = c.subject)" },
	{ NULL, "extra",
		"SELECT 'parked', p.key, 'a run that was started waits for approval again' FROM parked AS p WHERE "
		UNPARKED_LINK("p.key") " > " PARKED_LINK("p.key") },
	{ NULL, "changed",
		"WITH " DECIDED " SELECT 'parked', p.key, CASE WHEN p.decision IS NULL THEN 'the decision of "
		"an act was removed' ELSE 'no act made this decision' END FROM parked "
		"AS p JOIN runs AS r USING (key) LEFT JOIN decided AS d ON d.run_id = r.run_id AND "
		ACT_LINK("d.act") " > " PARKED_LINK("p.key") " WHERE d.decision IS NOT p.decision OR "
		"d.act IS NOT p.act" },
	{ NULL, "changed",
		"SELECT 'grants', g.act, 'no act gave this approval, or an act gave one that differs' FROM grants AS g "
		"LEFT JOIN acts AS a USING (act) WHERE " GRANT_DIFFERS },
	{ NULL, "extra",
		"SELECT 'grants', g.act, 'this approval was revoked, and is still there' FROM grants AS g WHERE "
		GRANT_WAS_REVOKED("g.act") },
	{ NULL, "missing",
		"SELECT 'grants', a.act, 'an approval that is still valid was removed' FROM acts AS a WHERE "
		"a.method = 'approvals.approve' AND " ACT_RESULT("language") " IS NOT NULL AND "
		ACT_RESULT("until_us") " > (SELECT max(b.at_us) FROM acts AS b) + " MARGIN_US " AND "
		"ifnull(" ACT_RESULT("uses") ", 1 + " GRANT_USED("a.act") ") > " GRANT_USED("a.act")
		" AND NOT " GRANT_WAS_REVOKED("a.act") " AND NOT EXISTS (SELECT 1 FROM grants AS g "
		"WHERE g.act = a.act)" },
};
/* clang-format on */

static int look(struct verify *verify, const struct check *check, struct err *err)
{
	struct err why = ERR_INIT;
	int r = check->look ? check->look(verify, &why)
			    : verify_ask(verify, check->what, check->sql, &why);

	if (r == 0)
		return 0;
	if (why.code != ERR_CORRUPT && why.code != ERR_MEMORY && why.code != ERR_TOO_BIG)
		return err_pass(err, &why);
	(void)verify_problem(verify, "unreadable", "%s", why.text);
	return 0;
}

int verify_tables(struct verify *verify, struct err *err)
{
	int64_t number = verify->from;

	verify->of = COUNT_OF(checks);
	for (; number <= verify->of && number - verify->from < verify->count; number++) {
		if (look(verify, &checks[number - 1], err) < 0)
			return -1;
		verify->checked++;
	}
	verify->next = number <= verify->of ? number : 0;
	return 0;
}
