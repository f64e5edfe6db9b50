/*
 * Stores of every earlier schema.  tests/unit/store_samples/schema-N.sql has the rows that a ced
 * of that time wrote.  The migrations of that time create the tables, and today's ced opens the
 * store.
 */
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "proto/base/container.h"
#include "proto/base/embedded.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

#define APPLICATION_ID 0x63656431
#define CHAIN_SCHEMA   5 /* the first with a chain */
#define RUNS           5 /* in each sample; the last one was in progress */

extern const struct embedded store_migrations[];
extern const struct embedded store_samples[];

/* ---- an old store --------------------------------------------------------------------------- */

static int run_sql(sqlite3 *db, const char *sql)
{
	int r = sqlite3_exec(db, sql, NULL, NULL, NULL);

	if (r != SQLITE_OK)
		printf("# %s\n", sqlite3_errmsg(db));
	return r;
}

static int write_old(sqlite3 *db, unsigned schema, const struct embedded *sample)
{
	char mark[128];

	for (unsigned i = 0; i < schema; i++) {
		if (run_sql(db, (const char *)store_migrations[i].bytes) != SQLITE_OK)
			return -1;
	}
	(void)snprintf(mark, sizeof(mark), "PRAGMA application_id = %d; PRAGMA user_version = %u",
		APPLICATION_ID, schema);
	return run_sql(db, (const char *)sample->bytes) == SQLITE_OK &&
			       run_sql(db, mark) == SQLITE_OK
		       ? 0
		       : -1;
}

/*
 * The first form of `runs` had two more columns, for which the sample has no values.  So its rows
 * go through a table without these columns, whose name hides the real one.
 */
static int write_oldest(sqlite3 *db, const struct embedded *sample)
{
	static const char after[] = "\tcollect_us INTEGER,\n";
	const char *sql = (const char *)store_migrations[0].bytes;
	const char *at = strstr(sql, after) + strlen(after);
	sqlite3_stmt *names = NULL;
	char text[8192];
	int r;

	(void)snprintf(text, sizeof(text), "%.*s\trecord_us INTEGER,\n\tpids_peak INTEGER,\n%s",
		(int)(at - sql), sql, at);
	if (run_sql(db, text) != SQLITE_OK ||
		run_sql(db, "CREATE TEMP TABLE runs AS SELECT * FROM main.runs; "
			    "ALTER TABLE temp.runs DROP COLUMN record_us; "
			    "ALTER TABLE temp.runs DROP COLUMN pids_peak") != SQLITE_OK ||
		run_sql(db, (const char *)sample->bytes) != SQLITE_OK)
		return -1;
	r = sqlite3_prepare_v2(db,
		"SELECT printf('INSERT INTO main.runs (%s) SELECT %s FROM temp.runs', "
		"group_concat(name), group_concat(name)) FROM pragma_table_info('runs', 'temp')",
		-1, &names, NULL);
	if (r == SQLITE_OK && sqlite3_step(names) == SQLITE_ROW)
		(void)snprintf(text, sizeof(text), "%s", sqlite3_column_text(names, 0));
	(void)sqlite3_finalize(names);
	(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
		"; DROP TABLE temp.runs; PRAGMA application_id = %d; PRAGMA user_version = 1",
		APPLICATION_ID);
	return run_sql(db, text) == SQLITE_OK ? 0 : -1;
}

/* Replaces the new store's empty database.  Schema 0 is the first form of schema 1. */
static void put_old(struct shop *shop, unsigned schema, const struct embedded *sample)
{
	static const char *const files[] = { "ced.db", "ced.db-wal", "ced.db-shm" };
	sqlite3 *db = NULL;
	char path[128];

	store_close(shop->store);
	shop->store = NULL;
	for (size_t i = COUNT_OF(files); i-- > 0;) {
		(void)snprintf(path, sizeof(path), "%s/%s", shop->folder, files[i]);
		(void)remove(path);
	}
	CHECK_EQ_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_EQ_INT(schema ? write_old(db, schema, sample) : write_oldest(db, sample), 0);
	CHECK_EQ_INT(sqlite3_close(db), SQLITE_OK);
	shop->store = store_open(shop->folder, STORE_WRITE, &shop->err);
	CHECK_STR(shop->err.text, "");
}

/* ---- looking -------------------------------------------------------------------------------- */

static int64_t problems_of(struct shop *shop)
{
	const struct store_span all = { .part = STORE_PART_COUNT };
	struct value *report = NULL;
	const struct value *problems;

	if (store_verify(shop->store, &all, &shop->arena, &report, &shop->err) < 0)
		return -1;
	problems = value_get(report, "problems");
	for (size_t i = 0; value_at(problems, i); i++)
		printf("# %s\n", value_as_text(value_get(value_at(problems, i), "message")));
	return value_as_int(value_get(report, "found"), -1);
}

static const struct value *runs_of(struct shop *shop)
{
	const struct store_filter all = { .all_callers = true, .limit = 100 };
	struct value *page = NULL;

	if (store_list(shop->store, &all, &shop->arena, &page, &shop->err) < 0)
		return NULL;
	return value_get(page, "runs");
}

static void check_run(struct shop *shop, const char *run_id, bool is_newest)
{
	struct value *record = NULL;
	uint32_t uid = 0;
	const char *outcome;
	const struct value *code;

	CHECK_EQ_INT(
		store_get(shop->store, run_id, 1000, &shop->arena, &record, &uid, &shop->err), 0);
	outcome = value_as_text(value_get(record, "outcome"));
	code = value_get(value_get(record, "request"), "code");
	CHECK_STR(outcome, is_newest ? "lost" : "ok");
	CHECK(code && code->text.len == 9 && memcmp(code->text.bytes, "print(1)\n", 9) == 0);
	CHECK_EQ_INT(uid, 1000);
}

static int64_t begin_acts(struct shop *shop)
{
	struct value *page = NULL;
	const struct value *acts;
	int64_t count = 0;

	if (store_acts(shop->store, 0, 100, &shop->arena, &page, &shop->err) < 0)
		return -1;
	acts = value_get(page, "acts");
	for (size_t i = 0; value_at(acts, i); i++)
		count += strcmp(value_as_text(value_get(value_at(acts, i), "method")),
				 "audit.begin") == 0;
	return count;
}

static void check_old(unsigned schema, const struct embedded *sample)
{
	auto_shop struct shop shop;
	const struct value *runs;

	shop_init(&shop);
	put_old(&shop, schema, sample);
	CHECK(shop.store != NULL);
	runs = runs_of(&shop);
	CHECK(value_is(runs, VALUE_LIST));
	CHECK_EQ_INT(runs->list.count, RUNS);
	for (size_t i = 0; i < RUNS; i++)
		check_run(&shop, value_as_text(value_get(value_at(runs, i), "run_id")), i == 0);
	CHECK_EQ_INT(problems_of(&shop), 0);
	CHECK_EQ_INT(begin_acts(&shop), schema < CHAIN_SCHEMA);
	/* The store takes new runs, also after another start. */
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	shop_reopen(&shop);
	CHECK_EQ_INT(problems_of(&shop), 0);
	CHECK_EQ_INT(begin_acts(&shop), schema < CHAIN_SCHEMA);
}

TEST(a_store_of_every_earlier_schema_comes_up_whole_and_verifies)
{
	unsigned count = 0;

	for (const struct embedded *sample = store_samples; sample->name; sample++) {
		unsigned schema = 0;

		CHECK_EQ_INT(sscanf(sample->name, "schema-%u.sql", &schema), 1);
		check_old(schema, sample);
		printf("# schema %u: %s\n", schema, check_ok() ? "good" : "not good");
		CHECK(check_ok());
		count++;
	}
	CHECK(count >= CHAIN_SCHEMA);
}

/* From then on the chain protects the older records. */
TEST(an_older_record_that_is_changed_after_the_chain_began_is_found)
{
	auto_shop struct shop shop;
	sqlite3 *db = NULL;
	char path[128];

	shop_init(&shop);
	put_old(&shop, 1, &store_samples[0]);
	CHECK(shop.store != NULL);
	(void)snprintf(path, sizeof(path), "%s/ced.db", shop.folder);
	CHECK_EQ_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_EQ_INT(run_sql(db, "UPDATE runs SET uid = 7 WHERE key = (SELECT min(key) FROM runs)"),
		SQLITE_OK);
	CHECK_EQ_INT(sqlite3_close(db), SQLITE_OK);
	CHECK(problems_of(&shop) > 0);
}

TEST(a_store_with_columns_of_the_very_first_form_comes_up_whole_and_verifies)
{
	check_old(0, &store_samples[0]);
}
