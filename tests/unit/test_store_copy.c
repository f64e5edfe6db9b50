/* Copies of a store: readers leave no trace in them and trust nothing in them. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "store/answers.h"
#include "store/base/db.h"
#include "store/write/writer.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

#define RUNS 40
#if defined(__SANITIZE_ADDRESS__)
#define VARIANTS 30 /* each takes four times as long there */
#else
#define VARIANTS 120
#endif

/* A folder with a copy of a store in it. */
struct copy {
	char folder[64];
	struct store *store;
	struct arena arena;
	struct err err;
};

static const char *const files[] = { "ced.db", "ced.db-wal" };

static void path_in(const char *folder, const char *name, char ret_path[160])
{
	(void)snprintf(ret_path, 160, "%s/%s", folder, name);
}

static int copy_file(const char *from, const char *to, long damage)
{
	FILE *in = fopen(from, "rb");
	FILE *out = fopen(to, "wb");
	char block[4096];
	size_t got;
	long at = 0;

	while (in && out && (got = fread(block, 1, sizeof(block), in)) > 0) {
		if (damage >= at && damage < at + (long)got)
			block[damage - at] = (char)(block[damage - at] ^ (1 + damage % 255));
		at += (long)got;
		(void)fwrite(block, 1, got, out);
	}
	if (in)
		(void)fclose(in);
	return in && out && fclose(out) == 0 ? 0 : -1;
}

/* `damage`: the position of a changed byte in the database; -1: none. */
static void copy_init(struct copy *copy, const struct shop *shop, long damage)
{
	*copy = (struct copy){ .folder = "/tmp/ced-copy-XXXXXX" };
	arena_init(&copy->arena, (size_t)256 << 20);
	if (!mkdtemp(copy->folder))
		copy->folder[0] = '\0';
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		char from[160];
		char to[160];

		path_in(shop->folder, files[i], from);
		path_in(copy->folder, files[i], to);
		(void)copy_file(from, to, i == 0 ? damage : -1);
	}
}

static void copy_done(struct copy *copy)
{
	char path[160];

	store_close(copy->store);
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		path_in(copy->folder, files[i], path);
		(void)unlink(path);
	}
	(void)rmdir(copy->folder);
	arena_done(&copy->arena);
}

#define auto_copy __attribute__((cleanup(copy_done)))

static void stock(struct shop *shop)
{
	static struct policy_finding finding = { "python.import.denied", "observe", 1, 1,
		"import os", "no", NULL };

	shop_init(shop);
	CHECK(shop->store);
	shop->sample.result.verdict.findings = &finding;
	for (unsigned i = 0; i < RUNS; i++) {
		shop->sample.result.verdict.finding_count = i % 2;
		sample_next(&shop->sample);
		CHECK_EQ_INT(sample_write(shop->store, &shop->sample, &shop->err), 0);
	}
}

static struct value *ask(struct copy *copy, enum method_id method, const struct value *params)
{
	const struct store_question question = {
		.method = method, .params = params, .all_callers = true
	};
	struct store_answer answer;

	if (store_answer(copy->store, &question, &copy->arena, &answer, &copy->err) < 0)
		return NULL;
	return answer.value;
}

static struct value *with(struct copy *copy, const char *key, const char *text)
{
	struct value *params = value_map(&copy->arena);

	(void)value_map_put(&copy->arena, params, key, value_text(&copy->arena, text));
	return params;
}

static size_t count_runs(struct copy *copy, const struct value *params)
{
	const struct value *page = ask(copy, METHOD_RUNS_LIST, params);

	return page ? value_get(page, "runs")->list.count : 0;
}

static int count_files(const char *folder)
{
	DIR *dir = opendir(folder);
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		(void)closedir(dir);
	return count;
}

TEST(a_copy_answers_everything_and_is_left_as_it_was)
{
	auto_shop struct shop shop;
	auto_copy struct copy copy;
	struct stat before;
	struct stat after;
	char path[160];
	int entries;

	stock(&shop);
	copy_init(&copy, &shop, -1);
	path_in(copy.folder, "ced.db", path);
	CHECK_EQ_INT(stat(path, &before), 0);
	entries = count_files(copy.folder);
	copy.store = store_open_copy(path, &copy.err);
	CHECK_STR(copy.store ? "" : copy.err.text, "");
	CHECK_EQ_INT(count_runs(&copy, value_map(&copy.arena)), RUNS);
	CHECK_EQ_INT(count_runs(&copy, with(&copy, "rule", "python.import.denied")), RUNS / 2);
	CHECK_EQ_INT(count_runs(&copy, with(&copy, "text", "print")), RUNS);
	CHECK(ask(&copy, METHOD_RUNS_GET, with(&copy, "run_id", "last")));
	CHECK(ask(&copy, METHOD_RUNS_OUTPUT, with(&copy, "run_id", "last")));
	CHECK(ask(&copy, METHOD_STATS, value_map(&copy.arena)));
	CHECK(ask(&copy, METHOD_ADMIN_ACTS, value_map(&copy.arena)));
	CHECK(!ask(&copy, METHOD_RUNS_GET, with(&copy, "run_id", "nothing")));
	CHECK_EQ_INT(count_files(copy.folder), entries);
	store_close(copy.store);
	copy.store = NULL;
	CHECK_EQ_INT(stat(path, &after), 0);
	CHECK_EQ_INT(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
	CHECK_EQ_INT(after.st_size, before.st_size);
	CHECK_EQ_INT(count_files(copy.folder), entries);
	copy.store = store_open_copy(copy.folder, &copy.err);
	CHECK(copy.store);
	CHECK_EQ_INT(count_runs(&copy, value_map(&copy.arena)), RUNS);
}

/* SQLite would create a log beside a database that has none. */
TEST(a_backup_is_read_without_a_file_beside_it)
{
	auto_shop struct shop shop;
	auto_copy struct copy copy;
	char odd[200];
	char path[160];
	sqlite3 *db = NULL;
	int entries;

	stock(&shop);
	copy_init(&copy, &shop, -1);
	path_in(copy.folder, "ced.db", path);
	CHECK_EQ_INT(sqlite3_open(path, &db), SQLITE_OK);
	/* The last connection that closes moves the log into the database. */
	CHECK_EQ_INT(sqlite3_exec(db, "SELECT count(*) FROM runs", NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(db);
	(void)snprintf(odd, sizeof(odd), "%s/a %%2F?#\xc3\xa9.db", copy.folder);
	CHECK_EQ_INT(rename(path, odd), 0);
	entries = count_files(copy.folder);
	copy.store = store_open_copy(odd, &copy.err);
	CHECK_STR(copy.store ? "" : copy.err.text, "");
	CHECK_EQ_INT(count_runs(&copy, value_map(&copy.arena)), RUNS);
	CHECK_EQ_INT(count_files(copy.folder), entries);
	store_close(copy.store);
	copy.store = NULL;
	CHECK_EQ_INT(count_files(copy.folder), entries);
	(void)unlink(odd);
}

TEST(a_store_that_a_daemon_writes_to_is_not_read_as_a_copy)
{
	auto_shop struct shop shop;
	struct err err = ERR_INIT;

	stock(&shop);
	CHECK(!store_open_copy(shop.folder, &err));
	CHECK_EQ_INT(err.code, ERR_BUSY);
}

TEST(what_is_no_store_is_refused)
{
	static const char *const paths[] = { "/nowhere/ced.db", "/dev/null", "/etc/passwd", "/etc",
		"" };

	for (size_t i = 0; i < COUNT_OF(paths); i++) {
		struct err err = ERR_INIT;

		CHECK(!store_open_copy(paths[i], &err));
		CHECK(err.text[0]);
	}
}

/* A person may have looked into a copy with a tool that made SQLite collect statistics. */
TEST(a_copy_with_statistics_of_sqlite_is_read)
{
	auto_shop struct shop shop;
	auto_copy struct copy copy;
	const struct store_filter filter = { .all_callers = true, .limit = 10 };
	const struct store_span tables = { .part = STORE_PART_TABLES, .from = 1, .count = 1000 };
	struct value *page = NULL;
	char path[160];
	sqlite3 *db = NULL;

	stock(&shop);
	copy_init(&copy, &shop, -1);
	path_in(copy.folder, "ced.db", path);
	CHECK_EQ_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_EQ_INT(sqlite3_exec(db, "ANALYZE", NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(db);
	copy.store = store_open_copy(path, &copy.err);
	CHECK(copy.store);
	CHECK(check_ok());
	CHECK_EQ_INT(store_list(copy.store, &filter, &shop.arena, &page, &copy.err), 0);
	CHECK(value_at(value_get(page, "runs"), 0));
	CHECK_EQ_INT(store_verify(copy.store, &tables, &shop.arena, &page, &copy.err), 0);
	CHECK_EQ_INT(value_as_int(value_get(page, "found"), -1), 0);
}

/* Foreign tables under our names: a view, a trigger or an odd column is refused. */
TEST(tables_that_are_not_ours_are_refused)
{
	static const char endless[] =
		"DROP TABLE labels; CREATE VIEW labels AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL "
		"SELECT x + 1 FROM r) SELECT 'env' AS name, x AS value, x AS key FROM r";
	static const char *const changes[] = {
		endless,
		"CREATE TRIGGER t AFTER INSERT ON acts BEGIN DELETE FROM runs; END",
		"CREATE TABLE more (x)",
		"ALTER TABLE runs ADD COLUMN x GENERATED ALWAYS AS (zeroblob(100000000))",
		"DROP TABLE facets; CREATE VIRTUAL TABLE facets USING fts5(facet, value, key)",
		"CREATE INDEX i ON runs (uid) WHERE length(zeroblob(1000000000)) > uid",
		"DROP TABLE words",
		"ANALYZE; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE "
		"sqlite_stat1(tbl,idx,stat AS (zeroblob(100000000)))' WHERE name = 'sqlite_stat1'",
		"ANALYZE; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET name = 'sqlite_stat3', "
		"tbl_name = 'sqlite_stat3' WHERE name = 'sqlite_stat1'",
		"PRAGMA application_id = 1",
		"PRAGMA user_version = 1",
		"PRAGMA user_version = 1000",
	};

	for (size_t i = 0; i < COUNT_OF(changes); i++) {
		auto_shop struct shop shop;
		auto_copy struct copy copy;
		char path[160];
		sqlite3 *db = NULL;

		stock(&shop);
		copy_init(&copy, &shop, -1);
		path_in(copy.folder, "ced.db", path);
		CHECK_EQ_INT(sqlite3_open(path, &db), SQLITE_OK);
		CHECK_EQ_INT(sqlite3_exec(db, changes[i], NULL, NULL, NULL), SQLITE_OK);
		(void)sqlite3_close(db);
		copy.store = store_open_copy(path, &copy.err);
		if (copy.store)
			(void)printf("# %s\n", changes[i]);
		CHECK(!copy.store);
	}
}

/* Whatever byte is changed, each query gives an answer or an error. */
TEST(a_damaged_copy_harms_nobody)
{
	auto_shop struct shop shop;
	struct stat st;
	char path[160];

	stock(&shop);
	shop_reopen(&shop);
	store_close(shop.store);
	shop.store = NULL;
	path_in(shop.folder, "ced.db", path);
	CHECK_EQ_INT(stat(path, &st), 0);
	for (int i = 0; i < VARIANTS; i++) {
		auto_copy struct copy copy;

		copy_init(&copy, &shop, (long)((long long)i * 7919 * 13 % st.st_size));
		copy.store = store_open_copy(copy.folder, &copy.err);
		if (!copy.store)
			continue;
		(void)count_runs(&copy, value_map(&copy.arena));
		(void)count_runs(&copy, with(&copy, "text", "print"));
		(void)count_runs(&copy, with(&copy, "agent", "nobody"));
		(void)ask(&copy, METHOD_RUNS_GET, with(&copy, "run_id", "last"));
		(void)ask(&copy, METHOD_RUNS_OUTPUT, with(&copy, "run_id", "last~7"));
		(void)ask(&copy, METHOD_STATS, value_map(&copy.arena));
	}
}

/* ---- odd values in any column ------------------------------------------------------------- */

static const char *const odd_values[] = { "NULL", "-1", "9223372036854775807",
	"'\x1b[31m' || char(27, 0, 8238) || 'x'", "zeroblob(70)", "x'ff00fe28b52ffd'", "1e300",
	"replace(hex(zeroblob(500)), '0', '[')" };

static void ask_everything(struct copy *copy)
{
	(void)count_runs(copy, value_map(&copy->arena));
	(void)count_runs(copy, with(copy, "text", "print"));
	(void)count_runs(copy, with(copy, "rule", "python.import.denied"));
	(void)ask(copy, METHOD_RUNS_GET, with(copy, "run_id", "last"));
	(void)ask(copy, METHOD_RUNS_OUTPUT, with(copy, "run_id", "last"));
	(void)ask(copy, METHOD_STATS, with(copy, "by", "agent"));
	(void)ask(copy, METHOD_ADMIN_ACTS, value_map(&copy->arena));
	(void)ask(copy, METHOD_AUDIT_EXPORT, value_map(&copy->arena));
}

/* Every row of one column gets the value, as far as the table's constraints allow. */
static void try_value(
	const struct shop *shop, const char *table, const char *column, const char *value)
{
	auto_copy struct copy copy;
	char path[160];
	char sql[512];
	sqlite3 *db = NULL;

	copy_init(&copy, shop, -1);
	path_in(copy.folder, "ced.db", path);
	(void)snprintf(
		sql, sizeof(sql), "UPDATE OR IGNORE \"%s\" SET \"%s\" = %s", table, column, value);
	CHECK_EQ_INT(sqlite3_open(path, &db), SQLITE_OK);
	(void)sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
	(void)sqlite3_exec(db, sql, NULL, NULL, NULL);
	(void)sqlite3_close(db);
	copy.store = store_open_copy(copy.folder, &copy.err);
	if (copy.store)
		ask_everything(&copy);
}

TEST(odd_values_in_any_column_of_a_copy_harm_nobody)
{
	auto_shop struct shop shop;
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	char path[160];
	int tried = 0;

	stock(&shop);
	shop.store->writer->index.goes_on = true;
	while (store_tidy(shop.store, &shop.err) > 0)
		;
	store_close(shop.store);
	shop.store = NULL;
	path_in(shop.folder, "ced.db-wal", path);
	CHECK_EQ_INT(truncate(path, 0), 0); /* the database contains all of it */
	path_in(shop.folder, "ced.db", path);
	CHECK_EQ_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, "unix-none"), SQLITE_OK);
	CHECK_EQ_INT(
		sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	CHECK_EQ_INT(
		sqlite3_prepare_v2(db,
			"SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c "
			"WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'",
			-1, &stmt, NULL),
		SQLITE_OK);
	for (size_t column = 0; sqlite3_step(stmt) == SQLITE_ROW; column++) {
		for (size_t i = 0; i < 3; i++, tried++) /* a different three for each */
			try_value(&shop, (const char *)sqlite3_column_text(stmt, 0),
				(const char *)sqlite3_column_text(stmt, 1),
				odd_values[(column + 3 * i) % COUNT_OF(odd_values)]);
		CHECK(check_ok());
	}
	(void)sqlite3_finalize(stmt);
	(void)sqlite3_close(db);
	CHECK(tried > 300);
	(void)printf("# %d changes\n", tried);
}
