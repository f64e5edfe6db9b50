/*
 * Verification.  The tests change every column of every table, and remove, double and exchange
 * rows: verification must find each change, and nothing in an untouched store.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "proto/base/container.h"
#include "proto/base/err.h"
#include "proto/base/fdio.h"
#include "store/base/canonical.h"
#include "store/base/chain.h"
#include "store/base/chain_columns.h"
#include "store/base/db.h"
#include "tests/check.h"
#include "tests/unit/store_rich.h"

/* ---- tables and columns -------------------------------------------------------------------- */

#define COLUMNS                                                                                \
	"SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c WHERE " \
	"m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY m.name, c.cid"

static void each_column(struct shop *shop, struct bytes whole,
	void (*visit)(struct shop *shop, struct bytes whole, const char *table, const char *column))
{
	static char names[256][2][64];
	sqlite3 *db = break_in(shop);
	sqlite3_stmt *row = NULL;
	size_t count = 0;

	CHECK_EQ_INT(sqlite3_prepare_v2(db, COLUMNS, -1, &row, NULL), SQLITE_OK);
	while (sqlite3_step(row) == SQLITE_ROW && count < COUNT_OF(names)) {
		for (int i = 0; i < 2; i++)
			(void)snprintf(names[count][i], 64, "%s",
				(const char *)sqlite3_column_text(row, i));
		count++;
	}
	(void)sqlite3_finalize(row);
	(void)sqlite3_close(db);
	printf("# %zu columns\n", count);
	for (size_t i = 0; i < count; i++)
		visit(shop, whole, names[i][0], names[i][1]);
}

/* The columns that the chain does not cover, each with the reason. */
static const struct derived {
	const char *table;
	const char *column; /* "*": all of them */
	bool is_loose;      /* verification does not compare it */
	const char *why;
} derived_columns[] = {
	{ "pruned", "digests", false,
		"each is part of the canonical form of the run, in its content's place" },
	{ "blobs", "blob", false,
		"a name; what it names goes into the form of each record that has it" },
	{ "blobs", "sha256", false, "goes into the form of each record that has the blob" },
	{ "blobs", "bytes", false, "goes into the form of each record that has the blob" },
	{ "blobs", "refs", false, "counted from the records" },
	{ "blob_data", "blob", false, "a name, see blobs" },
	{ "blob_data", "codec", false,
		"how the bytes are kept; they are held against blobs.sha256" },
	{ "blob_data", "data", false, "held against blobs.sha256" },
	{ "pending", "key", false,
		"which runs have not settled; an ended run is in it or has its facets" },
	{ "facets", "facet", false, "copied from the run when it settles" },
	{ "facets", "value", false, "copied from the run when it settles" },
	{ "facets", "key", false, "copied from the run when it settles" },
	{ "blocks", "uid", false, "what is in force of the acts" },
	{ "blocks", "act", false, "what is in force of the acts" },
	{ "blocks", "reason", false, "what is in force of the acts" },
	{ "parked", "decision", false, "what is in force of the acts" },
	{ "parked", "act", false, "what is in force of the acts" },
	{ "grants", "act", false, "what is in force of the acts" },
	{ "grants", "uid", false, "what is in force of the acts" },
	{ "grants", "subject", false, "what is in force of the acts" },
	{ "grants", "code_hash", false, "what is in force of the acts" },
	{ "grants", "language", false, "what is in force of the acts" },
	{ "grants", "policy", false, "what is in force of the acts" },
	{ "grants", "until_us", false, "what is in force of the acts" },
	{ "grants", "uses", false, "what the act gave, less a mark in the chain for each use" },
	{ "texts", "text", false, "a name; which runs have it stands in run_texts" },
	{ "texts", "digest", false, "of contents that runs hold" },
	{ "mentions", "text", false, "the same as run_texts, found by text" },
	{ "mentions", "key", false, "the same as run_texts, found by text" },
	{ "run_texts", "key", false, "which texts a run holds; digests of its contents" },
	{ "run_texts", "code", false, "which texts a run holds; digests of its contents" },
	{ "run_texts", "stdout", false, "which texts a run holds; digests of its contents" },
	{ "run_texts", "stderr", false, "which texts a run holds; digests of its contents" },
	{ "words", "*", true,
		"an index without texts, which SQLite lets nobody change; its tables are these:" },
	{ "words_config", "*", false, "has one row, always the same" },
	{ "words_data", "*", true,
		"the words are compared, not the bytes they stand in; see docs/THREATS.md" },
	{ "words_idx", "*", true, "where a search begins to look; see docs/THREATS.md" },
	{ "actions", "uid", false, "copied from the run" },
	{ "actions", "caller_id", false, "copied from the run" },
	{ "actions", "content", false,
		"copied from the run, unless the run is older than schema 9" },
	{ "actions", "key", false, "names the run" },
	{ "cached", "cache_key", false, "copied from the run" },
	{ "cached", "key", false, "names the run" },
	{ "cached", "at_us", false, "copied from the run" },
	{ "chain", "link", false,
		"the chain itself: each head is over the row and the head before" },
	{ "chain", "kind", false, "see link" },
	{ "chain", "subject", false, "see link" },
	{ "chain", "digest", false, "see link" },
	{ "chain", "head", false, "see link" },
};

static const struct derived *find_derived(const char *table, const char *column)
{
	for (size_t i = 0; i < COUNT_OF(derived_columns); i++) {
		const struct derived *derived = &derived_columns[i];

		if (strcmp(derived->table, table) == 0 &&
			(strcmp(derived->column, column) == 0 || strcmp(derived->column, "*") == 0))
			return derived;
	}
	return NULL;
}

static bool is_evidence(const char *table, const char *column)
{
	for (const struct chain_column *row = chain_columns; row->table; row++)
		if (strcmp(row->table, table) == 0 && strcmp(row->column, column) == 0)
			return true;
	return false;
}

/* The link has it. */
static bool is_subject(const char *table, const char *column)
{
	for (const struct chain_table *row = chain_tables; row->name; row++)
		if (strcmp(row->name, table) == 0 && strcmp(row->by, column) == 0)
			return true;
	return false;
}

static void must_have_one_place(
	struct shop *shop, struct bytes whole, const char *table, const char *column)
{
	int places = is_evidence(table, column) + is_subject(table, column) +
		     (find_derived(table, column) != NULL);

	(void)shop;
	(void)whole;
	if (places != 1)
		printf("# %s.%s stands in %d of: chain_columns.c, the keys of chain_tables, and the "
		       "derived columns of this test\n",
			table, column, places);
	CHECK_EQ_INT(places, 1);
}

TEST(every_column_is_evidence_or_derived_with_a_reason)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	each_column(&shop, (struct bytes){ NULL, 0 }, must_have_one_place);
	for (const struct chain_column *row = chain_columns; row->table; row++)
		CHECK(row->tag != 0);
}

static bool is_there(sqlite3 *db, const char *table, const char *column)
{
	char sql[256];

	(void)snprintf(sql, sizeof(sql),
		"SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s'", table, column);
	return number_of(db, sql) == 1;
}

TEST(no_row_tells_of_a_column_that_is_not_there)
{
	auto_shop struct shop shop;
	sqlite3 *db;

	shop_init(&shop);
	db = break_in(&shop);
	for (const struct chain_column *row = chain_columns; row->table; row++)
		CHECK(strcmp(row->column, "*") == 0 || is_there(db, row->table, row->column));
	for (const struct chain_table *table = chain_tables; table->name; table++)
		CHECK(is_there(db, table->name, table->by));
	(void)sqlite3_close(db);
}

/* ---- an untouched store -------------------------------------------------------------------- */

TEST(nothing_is_found_where_nobody_touched_anything)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK_EQ_INT(verify_all(&shop, true), 0);
	fill(&shop);
	CHECK_EQ_INT(verify_all(&shop, true), 0);
	shop_reopen(&shop);
	CHECK_EQ_INT(verify_all(&shop, true), 0);
}

/* ---- edits --------------------------------------------------------------------------------- */

static unsigned edits;

/* The columns that identify a row of the table, with commas. */
static void key_of(const struct shop *shop, const char *table, char ret_key[256])
{
	sqlite3 *db = break_in(shop);
	sqlite3_stmt *row = NULL;

	ret_key[0] = '\0';
	if (sqlite3_prepare_v2(db,
		    "SELECT group_concat('\"' || name || '\"') FROM pragma_table_info(?) WHERE pk > 0",
		    -1, &row, NULL) == SQLITE_OK) {
		(void)sqlite3_bind_text(row, 1, table, -1, SQLITE_STATIC);
		if (sqlite3_step(row) == SQLITE_ROW)
			(void)snprintf(
				ret_key, 256, "%s", (const char *)sqlite3_column_text(row, 0));
	}
	(void)sqlite3_finalize(row);
	(void)sqlite3_close(db);
}

/* Changes one row to another value of the same kind: the first or the last row that has a value. */
static void write_edit(const struct shop *shop, const char *table, const char *column,
	const char *order, char ret_sql[2048])
{
	char key[256];

	key_of(shop, table, key);
	cut_printf(ret_sql, 2048,
		"UPDATE \"%s\" SET \"%s\" = CASE typeof(\"%s\") WHEN 'integer' THEN \"%s\" + 987654321 "
		"WHEN 'text' THEN \"%s\" || 'x' WHEN 'blob' THEN CAST(\"%s\" || x'00' AS BLOB) "
		"ELSE 7 END WHERE (%s) = (SELECT %s FROM \"%s\" ORDER BY \"%s\" IS NULL, %s %s "
		"LIMIT 1)",
		table, column, column, column, column, column, key, key, table, column,
		strrchr(key, ',') ? strrchr(key, ',') + 1 : key, order);
}

static void edit(struct shop *shop, struct bytes whole, const char *table, const char *column)
{
	static const char *const orders[] = { "ASC", "DESC" };
	char sql[2048];

	const struct derived *derived = find_derived(table, column);

	if (derived && derived->is_loose) {
		printf("# not looked for: %s.%s\n", table, column);
		return;
	}
	for (size_t i = 0; i < COUNT_OF(orders); i++) {
		int64_t found;

		write_edit(shop, table, column, orders[i], sql);
		found = found_after(shop, whole, sql, false);
		if (found != -1 && found <= 0)
			printf("# not found: %s.%s (%s)\n", table, column, orders[i]);
		CHECK(found > 0 || found == -1);
		edits++;
	}
}

TEST(a_change_in_any_column_of_any_table_is_found)
{
	auto_shop struct shop shop;
	struct bytes whole = { NULL, 0 };

	shop_init(&shop);
	fill(&shop);
	shut(&shop, &whole);
	CHECK_EQ_INT(found_after(&shop, whole, "SELECT 1", true), 0);
	each_column(&shop, whole, edit);
	printf("# %u edits, each found\n", edits);
	free((char *)(uintptr_t)whole.data);
}

/* ---- deletions, insertions, exchanges ------------------------------------------------------ */

struct attack {
	const char *name;
	const char *sql;
	const char *words; /* the report must contain these */
};

#define ENDED "(SELECT subject FROM chain WHERE kind = 1 ORDER BY link LIMIT 1 OFFSET 4)"
#define OTHER "(SELECT subject FROM chain WHERE kind = 1 ORDER BY link LIMIT 1 OFFSET 7)"

static const struct attack attacks[] = {
	{ "a run is taken out", "DELETE FROM runs WHERE key = " ENDED, "was removed" },
	{ "a run is taken out everywhere",
		"CREATE TEMP TABLE k AS SELECT " ENDED " AS k; DELETE FROM runs WHERE key IN k; "
		"DELETE FROM records WHERE key IN k; DELETE FROM inputs WHERE key IN k; "
		"DELETE FROM artifacts WHERE key IN k; DELETE FROM findings WHERE key IN k; "
		"DELETE FROM labels WHERE key IN k; DELETE FROM facets WHERE key IN k; "
		"DELETE FROM chain WHERE kind = 1 AND subject IN k",
		"links 5 to 5 are missing" },
	{ "a finding is taken out", "DELETE FROM findings WHERE key = " ENDED, "was changed" },
	{ "an artifact is taken out", "DELETE FROM artifacts WHERE key = " ENDED, "was changed" },
	{ "an input is taken out", "DELETE FROM inputs WHERE key = " ENDED, "was changed" },
	{ "a label is taken out", "DELETE FROM labels WHERE key = " ENDED, "was changed" },
	{ "half of a run is taken out", "DELETE FROM records WHERE key = " ENDED,
		"half of a run is missing" },
	{ "an act is taken out", "DELETE FROM acts WHERE act = 2", "was removed" },
	{ "the first link is taken out", "DELETE FROM chain WHERE link = 1", "links 1 to 1" },
	{ "the bytes of a blob are taken out",
		"DELETE FROM blob_data WHERE blob = (SELECT min(blob) FROM blob_data)",
		"were removed" },
	{ "a blob is taken out", "DELETE FROM blobs WHERE blob = (SELECT min(blob) FROM blobs)",
		"was changed" },
	{ "a block is taken out", "DELETE FROM blocks", "it is not blocked" },
	{ "a facet is taken out", "DELETE FROM facets WHERE facet = 4 AND key = " ENDED,
		"facet of agent" },
	{ "a facet is of no number",
		"UPDATE facets SET facet = 4.5 WHERE facet = 4 AND key = " ENDED,
		"facet of agent" },
	{ "a facet is of another type",
		"UPDATE facets SET value = CAST(value AS BLOB) WHERE facet = 4 AND key = " ENDED,
		"facet of agent" },
	{ "facets are there and are not found, since the tree is not in order",
		"CREATE TEMP TABLE f AS SELECT * FROM facets; PRAGMA writable_schema = ON; "
		"UPDATE sqlite_schema SET sql = replace(sql, 'value, key)', 'value, key DESC)') "
		"WHERE name = 'facets'; PRAGMA writable_schema = RESET; DELETE FROM facets; "
		"INSERT INTO facets SELECT * FROM f; PRAGMA writable_schema = ON; "
		"UPDATE sqlite_schema SET sql = replace(sql, 'key DESC)', 'key)') "
		"WHERE name = 'facets'; PRAGMA writable_schema = RESET",
		"facet of agent" },
	{ "what is pending is forgotten", "DELETE FROM pending", "facet of" },
	{ "a checkpoint is taken out", "DELETE FROM checkpoints WHERE checkpoint = 1",
		"was removed" },
	{ "what was pruned is forgotten", "DELETE FROM pruned", "was changed" },

	{ "a run is put in",
		"CREATE TEMP TABLE n AS SELECT * FROM runs WHERE key = " ENDED "; "
		"UPDATE n SET key = key - 99, run_id = '01ARZ3NDEKTSV4RRFFQ69G5FAV'; "
		"INSERT INTO runs SELECT * FROM n; INSERT INTO records (key) SELECT key FROM n",
		"added that is not in the chain" },
	{ "a finding is put in",
		"INSERT INTO findings (key, number, rule, severity, line, \"column\") SELECT " ENDED
		", 9, 'r', 'deny', 1, 1",
		"was changed" },
	{ "a finding of nobody is put in",
		"INSERT INTO findings (key, number, rule, severity, line, \"column\") "
		"VALUES (5, 9, 'r', 'deny', 1, 1)",
		"belongs to no record" },
	{ "an act is put in",
		"INSERT INTO acts (at_us, uid, gid, pid, method, params, result) VALUES "
		"(1, 0, 0, 1, 'admin.drain', '{}', '{}')",
		"added that is not in the chain" },
	{ "a block is put in", "INSERT INTO blocks (uid, act) VALUES (7, 2)", "no act" },
	{ "a facet is put in", "INSERT INTO facets (facet, value, key) SELECT 4, 'x', " ENDED,
		"no run has this facet" },
	{ "a link is put in",
		"INSERT INTO chain SELECT max(link) + 1, 1, " ENDED ", digest, head FROM chain",
		"more than one link" },
	{ "an index is taken out", "DROP INDEX labels_by_key", "not those that ced makes" },
	{ "bytes are put in", "INSERT INTO blob_data VALUES (9999, 0, x'00')", "no blob has" },
	{ "a view is put in", "CREATE VIEW innocent AS SELECT 1", "not those that ced makes" },
	{ "a trigger is put in",
		"CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM acts; END",
		"not those that ced makes" },
	{ "the steps are told otherwise",
		"DROP VIEW steps; CREATE VIEW steps AS SELECT 1 AS run_id", "not those" },

	{ "a link far away is put in",
		"INSERT INTO chain SELECT 9223372036854775807, 1, " ENDED
		", digest, head FROM chain "
		"WHERE link = 3",
		"are missing" },
	{ "a kind that there is not", "UPDATE chain SET kind = 77 WHERE link = 4",
		"does not follow" },

	{ "two links are exchanged",
		"UPDATE chain SET link = -1 WHERE link = 5; UPDATE chain SET link = 5 WHERE link = 8; "
		"UPDATE chain SET link = 8 WHERE link = -1",
		"link 5 does not follow" },
	{ "two runs are exchanged",
		"CREATE TEMP TABLE k AS SELECT " ENDED " AS a, " OTHER " AS b; "
		"UPDATE records SET key = -1 WHERE key = (SELECT a FROM k); "
		"UPDATE records SET key = (SELECT a FROM k) WHERE key = (SELECT b FROM k); "
		"UPDATE records SET key = (SELECT b FROM k) WHERE key = -1",
		"link 5: the run it is about was changed" },
	{ "the bytes of two blobs are exchanged",
		"CREATE TEMP TABLE m AS SELECT min(blob) AS a, max(blob) AS b FROM blobs; "
		"UPDATE blob_data SET blob = -1 WHERE blob = (SELECT a FROM m); "
		"UPDATE blob_data SET blob = (SELECT a FROM m) WHERE blob = (SELECT b FROM m); "
		"UPDATE blob_data SET blob = (SELECT b FROM m) WHERE blob = -1",
		"are not those that were recorded" },
	{ "contents are taken away without an act",
		"UPDATE records SET code = NULL WHERE key = " ENDED, "was changed" },
	{ "contents come back changed",
		"UPDATE records SET code = 'x' WHERE key = (SELECT key FROM pruned)",
		"was changed" },

	{ "the end of the chain is cut off, with its runs",
		"DELETE FROM runs WHERE key IN (SELECT subject FROM chain WHERE link > 9); "
		"DELETE FROM chain WHERE link > 9",
		"does not reach so far" },
};

static void attack(struct shop *shop, struct bytes whole, const struct attack *attack)
{
	int64_t found = found_after(shop, whole, attack->sql, false);
	bool told = strstr(said, attack->words) != NULL;

	if (found < 1 || !told)
		printf("# %s: %lld problems\n%s\n", attack->name, (long long)found, said);
	CHECK(found >= 1);
	CHECK(told);
}

TEST(what_is_taken_out_put_in_or_exchanged_is_found_and_named)
{
	auto_shop struct shop shop;
	struct bytes whole = { NULL, 0 };

	shop_init(&shop);
	fill(&shop);
	shut(&shop, &whole);
	for (size_t i = 0; i < COUNT_OF(attacks); i++)
		attack(&shop, whole, &attacks[i]);
	printf("# %zu ways, each found\n", COUNT_OF(attacks));
	free((char *)(uintptr_t)whole.data);
}

/* ---- indexes that disagree with their tables ------------------------------------------------- */

/*
 * Makes a change that an index misses: removes the index from the schema and puts it back
 * afterwards.
 */
#define PAST(index, change)                                                                      \
	"PRAGMA writable_schema = ON; CREATE TEMP TABLE s AS SELECT * FROM sqlite_schema WHERE " \
	"name = '" index "'; DELETE FROM sqlite_schema WHERE name = '" index "'; "               \
	"PRAGMA writable_schema = RESET; " change "; PRAGMA writable_schema = ON; "              \
	"INSERT INTO sqlite_schema SELECT * FROM s; PRAGMA writable_schema = RESET"

static const struct attack hidden[] = {
	{ "a label is put in past the index",
		PAST("labels_by_key", "INSERT INTO labels VALUES ('team', 'red', " ENDED ")"),
		"the run of this label does not have the label" },
	{ "an index of somebody's own under a name of SQLite's",
		"CREATE INDEX odd ON runs (outcome); PRAGMA writable_schema = ON; "
		"UPDATE sqlite_schema SET name = 'sqlite_odd', sql = replace(sql, 'odd', "
		"'sqlite_odd') WHERE name = 'odd'; PRAGMA writable_schema = RESET",
		"not those that ced makes" },
};

TEST(what_is_written_past_an_index_is_found)
{
	auto_shop struct shop shop;
	struct bytes whole = { NULL, 0 };

	shop_init(&shop);
	fill(&shop);
	shut(&shop, &whole);
	for (size_t i = 0; i < COUNT_OF(hidden); i++)
		attack(&shop, whole, &hidden[i]);
	free((char *)(uintptr_t)whole.data);
}

/*
 * Deletes a run's contents as retention does, cuts the act that recorded this off the end of the
 * chain, and blames an older act.
 */
TEST(contents_that_no_act_took_away_are_missed)
{
	static const char blame[] =
		"DELETE FROM chain WHERE link = (SELECT max(link) FROM chain); "
		"CREATE TEMP TABLE p AS SELECT * FROM pruned WHERE act = (SELECT max(act) FROM acts); "
		"DELETE FROM pruned WHERE act = (SELECT max(act) FROM acts); "
		"DELETE FROM acts WHERE act = (SELECT max(act) FROM acts); " PAST("pruned_by_act",
			"INSERT INTO pruned SELECT key, (SELECT min(act) FROM pruned), digests FROM p");
	auto_shop struct shop shop;
	struct bytes whole = { NULL, 0 };

	shop_init(&shop);
	fill(&shop);
	CHECK_EQ_INT(prune(&shop, ids[5]), 0);
	shut(&shop, &whole);
	CHECK_EQ_INT(found_after(&shop, whole, "SELECT 1", true), 0);
	CHECK(found_after(&shop, whole, blame, false) > 0);
	CHECK(strstr(said, "no act deleted the contents of this run") != NULL);
	free((char *)(uintptr_t)whole.data);
}

/* One of SQLite's integers, in nine bytes like the keys of runs. */
static void write_number(int64_t key, uint8_t ret_bytes[9])
{
	uint64_t left = (uint64_t)key;

	ret_bytes[8] = (uint8_t)left;
	left >>= 8;
	for (int i = 7; i >= 0; i--, left >>= 7)
		ret_bytes[i] = (uint8_t)(left | 0x80);
}

/* Changes the key of one row in place, inside its page. */
static bool renumber(struct bytes whole, int64_t from, int64_t to)
{
	uint8_t old[9];
	uint8_t new[9];
	char *at;

	write_number(from, old);
	write_number(to, new);
	at = memmem(whole.data, whole.len, old, sizeof(old));
	if (!at)
		return false;
	memcpy(at, new, sizeof(new));
	return !memmem(whole.data, whole.len, old, sizeof(old));
}

/*
 * The run of that link exists twice, the second time with other contents: a list of runs shows
 * both.
 */
static void try_a_double(struct shop *shop, struct bytes whole, unsigned link, long beside)
{
	struct bytes doubled = { NULL, 0 };
	char sql[512];
	int64_t key;
	sqlite3 *db;
	int64_t found;

	put_back(shop, whole);
	db = break_in(shop);
	(void)snprintf(sql, sizeof(sql), "SELECT subject FROM chain WHERE link = %u", link);
	key = number_of(db, sql);
	(void)snprintf(sql, sizeof(sql),
		"CREATE TEMP TABLE n AS SELECT * FROM runs WHERE key = %lld; UPDATE n SET key = "
		"key + (%ld), reason = 'all is well', caller_id = NULL; INSERT INTO runs SELECT * FROM n",
		(long long)key, beside);
	CHECK_EQ_INT(run_sql(db, sql), SQLITE_OK);
	(void)sqlite3_close(db);
	shut(shop, &doubled);
	CHECK(renumber(doubled, key + beside, key));
	found = found_after(shop, doubled, "SELECT 1", false);
	if (found < 1)
		printf("# link %u twice (%+ld): not found\n", link, beside);
	free((char *)(uintptr_t)doubled.data);
	CHECK(found > 0);
}

TEST(a_run_that_stands_twice_is_found)
{
	auto_shop struct shop shop;
	struct bytes whole = { NULL, 0 };

	shop_init(&shop);
	fill(&shop);
	shut(&shop, &whole);
	for (unsigned link = 1; link <= 8; link++) {
		try_a_double(&shop, whole, link, 1 << 30); /* after all others */
		try_a_double(&shop, whole, link, -(1 << 30));
	}
	free((char *)(uintptr_t)whole.data);
}

/* Removes everything after link 9.  Nothing in the store itself shows that. */
static const char cut_off[] =
	"CREATE TEMP TABLE k AS SELECT kind, subject FROM chain WHERE link > 9; "
	"CREATE TEMP TABLE r AS SELECT key FROM runs WHERE key IN (SELECT subject FROM k WHERE "
	"kind IN (1, 2)) OR key IN (SELECT key FROM pruned); "
	"DELETE FROM runs WHERE key IN r; DELETE FROM records WHERE key IN r; "
	"DELETE FROM inputs WHERE key IN r; DELETE FROM artifacts WHERE key IN r; "
	"DELETE FROM displays WHERE key IN r; "
	"DELETE FROM findings WHERE key IN r; DELETE FROM labels WHERE key IN r; "
	"DELETE FROM facets WHERE key IN r; DELETE FROM pending WHERE key IN r; "
	"DELETE FROM acts WHERE act IN (SELECT subject FROM k WHERE kind = 3); "
	"DELETE FROM checkpoints; DELETE FROM blocks; DELETE FROM chain WHERE link > 9";

TEST(a_decision_that_was_taken_back_is_found_and_one_that_was_never_made_is_not)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	fill(&shop);
	CHECK_EQ_INT(put_parked(&shop), 0); /* still undecided */
	CHECK_EQ_INT(verify_all(&shop, true), 0);
	CHECK_EQ_INT(db_exec(shop.store,
			     "UPDATE parked SET decision = NULL, act = NULL WHERE act IS NOT NULL",
			     &shop.err),
		0);
	CHECK_EQ_INT(verify_all(&shop, false), 1);
	CHECK(strstr(said, "the decision of an act was removed"));
}

TEST(a_store_that_was_cut_off_or_rolled_back_is_told_by_the_second_file)
{
	auto_shop struct shop shop;
	struct bytes early = { NULL, 0 };
	struct bytes late = { NULL, 0 };
	char line[STORE_CHECKPOINT_MAX];

	shop_init(&shop);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	shut(&shop, &early);
	shop.store = store_open(shop.folder, STORE_WRITE, &shop.err);
	fill(&shop);
	CHECK_EQ_INT(put_checkpoint(&shop, line), 0);
	shut(&shop, &late);

	CHECK_EQ_INT(found_after(&shop, early, "SELECT 1", true), 0);
	trust.second = (struct bytes){ line, strlen(line) };
	CHECK_EQ_INT(found_after(&shop, late, "SELECT 1", true), 0);
	CHECK_EQ_INT(found_after(&shop, early, "SELECT 1", false), 1);
	CHECK(strstr(said, "does not reach so far: it was rolled back") != NULL);
	(void)found_after(&shop, late, cut_off, false);
	CHECK(strstr(said, "does not reach so far: it was rolled back") != NULL);
	/* A line with a changed byte proves nothing. */
	line[20]++;
	CHECK(found_after(&shop, late, "SELECT 1", false) > 0);
	trust.second = (struct bytes){ NULL, 0 };
	free((char *)(uintptr_t)early.data);
	free((char *)(uintptr_t)late.data);
}

/* ---- an attacker who knows the format ------------------------------------------------------- */

struct forger {
	sqlite3 *db;
	uint8_t head[DIGEST_LEN];
	int64_t changed;            /* the link whose record was changed */
	uint8_t digest[DIGEST_LEN]; /* the new digest of that link's record */
};

/* Reads a link and rewrites it so that it follows from the link before. */
static int forge_link(struct forger *forger, sqlite3_stmt *row)
{
	int64_t link = sqlite3_column_int64(row, 0);
	uint8_t digest[DIGEST_LEN];
	sqlite3_stmt *update = NULL;
	int r;

	memcpy(digest, sqlite3_column_blob(row, 3), DIGEST_LEN);
	if (link == forger->changed)
		memcpy(digest, forger->digest, DIGEST_LEN);
	chain_next(forger->head, link, sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2),
		digest, forger->head);
	(void)sqlite3_prepare_v2(forger->db, "UPDATE chain SET digest = ?, head = ? WHERE link = ?",
		-1, &update, NULL);
	(void)sqlite3_bind_blob(update, 1, digest, DIGEST_LEN, SQLITE_STATIC);
	(void)sqlite3_bind_blob(update, 2, forger->head, DIGEST_LEN, SQLITE_STATIC);
	(void)sqlite3_bind_int64(update, 3, link);
	r = sqlite3_step(update);
	(void)sqlite3_finalize(update);
	return r;
}

static void forge(struct forger *forger)
{
	sqlite3_stmt *row = NULL;

	CHECK_EQ_INT(sqlite3_prepare_v2(forger->db,
			     "SELECT link, kind, subject, digest FROM chain ORDER BY link", -1,
			     &row, NULL),
		SQLITE_OK);
	while (sqlite3_step(row) == SQLITE_ROW)
		CHECK_EQ_INT(forge_link(forger, row), SQLITE_DONE);
	(void)sqlite3_finalize(row);
}

TEST(a_chain_that_was_made_anew_around_a_change_is_told_by_its_checkpoints)
{
	auto_shop struct shop shop;
	struct forger forger = { .changed = 3 };
	char line[STORE_CHECKPOINT_MAX];
	int64_t key;

	shop_init(&shop);
	fill(&shop);
	CHECK_EQ_INT(put_checkpoint(&shop, line), 0);
	forger.db = break_in(&shop);
	key = number_of(forger.db, "SELECT subject FROM chain WHERE link = 3");
	CHECK_EQ_INT(run_sql(forger.db, "UPDATE runs SET agent = 'somebody else' WHERE key = "
					"(SELECT subject FROM chain WHERE link = 3)"),
		SQLITE_OK);
	CHECK_EQ_INT(
		canonical_digest(shop.store, CHAIN_RUN, key, false, forger.digest, &shop.err), 0);
	forge(&forger);
	CHECK_EQ_INT(sqlite3_close(forger.db), SQLITE_OK);
	said[0] = '\0';
	CHECK_EQ_INT(verify_part(&shop, STORE_PART_CHAIN), 0);
	CHECK(verify_part(&shop, STORE_PART_CHECKPOINTS) > 0);
	CHECK(strstr(said, "and the link that is there now is another one") != NULL);
	trust.second = (struct bytes){ line, strlen(line) };
	CHECK(verify_part(&shop, STORE_PART_SECOND) > 0);
	trust.second = (struct bytes){ NULL, 0 };
}
