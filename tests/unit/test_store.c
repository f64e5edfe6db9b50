#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "proto/base/container.h"
#include "proto/base/embedded.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

/* ---- queries ------------------------------------------------------------------------------ */

static void path_of(const struct shop *shop, const char *file, char ret_path[128])
{
	(void)snprintf(ret_path, 128, "%s/%s", shop->folder, file);
}

/* Reads a number from the file over another connection. */
static int64_t ask(const struct shop *shop, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;
	char path[128];
	int64_t number = -1;

	path_of(shop, "ced.db", path);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
		sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
		sqlite3_step(stmt) == SQLITE_ROW)
		number = sqlite3_column_int64(stmt, 0);
	(void)sqlite3_finalize(stmt);
	(void)sqlite3_close(db);
	return number;
}

/* Changes the file without the store's knowledge. */
static bool change(const struct shop *shop, const char *sql)
{
	sqlite3 *db = NULL;
	char path[128];
	bool done;

	path_of(shop, "ced.db", path);
	done = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
	       sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
	(void)sqlite3_close(db);
	return done;
}

static int write_begun(struct shop *shop, enum store_durability durability)
{
	struct store_run begun = sample_begun(&shop->sample);

	if (store_begin(shop->store, &shop->err) < 0)
		return -1;
	if (store_put_begun(shop->store, &begun, &shop->err) < 0) {
		store_rollback(shop->store);
		return -1;
	}
	return store_commit(shop->store, durability, &shop->err);
}

static int write_ended(struct shop *shop)
{
	struct store_run ended = sample_ended(&shop->sample);

	if (store_begin(shop->store, &shop->err) < 0)
		return -1;
	if (store_put_ended(shop->store, &ended, &shop->err) < 0) {
		store_rollback(shop->store);
		return -1;
	}
	return store_commit(shop->store, STORE_NOW, &shop->err);
}

static const char *outcome_of(struct shop *shop, const char *run_id)
{
	struct value *record = NULL;
	uint32_t uid = 0;

	if (store_get(shop->store, run_id, 0, &shop->arena, &record, &uid, &shop->err) != 0)
		return "?";
	return value_as_text(value_get(record, "outcome"));
}

/* ---- opening ------------------------------------------------------------------------------ */

extern const struct embedded store_migrations[];

/* The schema that all migrations together produce. */
static int64_t newest(void)
{
	int64_t count = 0;

	while (store_migrations[count].name)
		count++;
	return 9 + count; /* development had the numbers up to 9 */
}

TEST(a_new_store_is_empty_and_knows_its_schema)
{
	auto_shop struct shop shop;
	struct value *status = NULL;

	shop_init(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(store_status(shop.store, &shop.arena, &status, &shop.err), 0);
	CHECK_EQ_INT(value_as_int(value_get(status, "runs"), -1), 0);
	CHECK_EQ_INT(value_as_int(value_get(status, "schema"), -1), newest());
	CHECK(value_as_int(value_get(status, "bytes"), -1) > 0);
	CHECK(value_as_int(value_get(status, "wal_bytes"), -1) >= 8 << 20);
	CHECK_EQ_INT(store_lost_count(shop.store), 0);
	CHECK_EQ_INT(ask(&shop, "PRAGMA application_id"), 0x63656431);
	CHECK_EQ_INT(ask(&shop, "PRAGMA user_version"), newest());
}

TEST(nobody_else_may_read_the_files)
{
	auto_shop struct shop shop;
	static const char *const files[] = { "ced.db", "ced.db-wal", "ced.db-shm", "ced.lock" };
	struct stat st;
	char path[128];

	shop_init(&shop);
	CHECK(shop.store);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		path_of(&shop, files[i], path);
		CHECK_EQ_INT(stat(path, &st), 0);
		CHECK_EQ_INT(st.st_mode & 0777, 0600);
	}
}

TEST(what_was_written_is_there_after_reopening)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	shop_reopen(&shop);
	CHECK(shop.store);
	CHECK_STR(outcome_of(&shop, shop.sample.run_id), "ok");
	CHECK_EQ_INT(store_lost_count(shop.store), 0);
}

TEST(a_second_writer_is_refused_and_told_why)
{
	auto_shop struct shop shop;
	struct err err = ERR_INIT;

	shop_init(&shop);
	CHECK(shop.store);
	CHECK(!store_open(shop.folder, STORE_WRITE, &err));
	CHECK_EQ_INT(err.code, ERR_BUSY);
	CHECK(strstr(err.text, "another ced"));
}

/* Holds the lock of a folder for 300 ms, as a killed daemon does whose threads wait for the disk. */
static pid_t fork_holder(const struct shop *shop, int said)
{
	pid_t pid = fork();

	if (pid == 0) {
		char path[128];
		int fd;

		path_of(shop, "ced.lock", path);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (flock(fd, LOCK_EX) == 0)
			(void)!write(said, "l", 1);
		(void)usleep(300000);
		_exit(0);
	}
	return pid;
}

TEST(a_writer_waits_for_one_that_is_dying)
{
	auto_shop struct shop shop;
	int said[2];
	char byte;
	pid_t pid;

	shop_init(&shop);
	CHECK(shop.store && pipe(said) == 0);
	store_close(shop.store);
	shop.store = NULL;
	pid = fork_holder(&shop, said[1]);
	CHECK(pid > 0 && read(said[0], &byte, 1) == 1);
	shop.store = store_open(shop.folder, STORE_WRITE, &shop.err);
	CHECK(shop.store);
	CHECK(waitpid(pid, NULL, 0) == pid);
	close(said[0]);
	close(said[1]);
}

TEST(the_folder_is_free_again_after_closing)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	for (int i = 0; i < 3; i++) {
		shop_reopen(&shop);
		CHECK(shop.store);
	}
}

TEST(a_reader_of_a_folder_without_a_store_is_told_so)
{
	auto_of(store_close) struct store *store = NULL;
	struct err err = ERR_INIT;

	store = store_open("/tmp", STORE_READ, &err);
	CHECK(!store);
	CHECK_EQ_INT(err.code, ERR_MISSING);
}

TEST(a_folder_that_does_not_exist_is_named)
{
	struct err err = ERR_INIT;

	CHECK(!store_open("/nonexistent/state", STORE_WRITE, &err));
	CHECK_EQ_INT(err.code, ERR_MISSING);
	CHECK(strstr(err.text, "there is no folder /nonexistent/state: type install -d"));
}

TEST(a_folder_behind_a_symbolic_link_is_refused_and_the_link_is_named)
{
	auto_shop struct shop shop;
	char link[96];
	char below[128];

	shop_init(&shop);
	CHECK(shop.store);
	store_close(shop.store);
	(void)snprintf(link, sizeof(link), "%s.link", shop.folder);
	(void)snprintf(below, sizeof(below), "%s/.", link);
	CHECK_EQ_INT(symlink(shop.folder, link), 0);
	for (int i = 0; i < 2; i++) {
		struct err err = ERR_INIT;

		shop.store = store_open(i ? below : link, i ? STORE_READ : STORE_WRITE, &err);
		CHECK(!shop.store);
		CHECK_EQ_INT(err.code, ERR_INVALID);
		CHECK(strstr(err.text, link));
		CHECK(strstr(err.text, "symbolic link"));
		CHECK(strstr(err.text, "set state to /"));
	}
	CHECK_EQ_INT(unlink(link), 0);
	shop_reopen(&shop);
	CHECK(shop.store);
}

TEST(a_store_with_a_newer_schema_is_refused)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	store_close(shop.store);
	shop.store = NULL;
	CHECK(change(&shop, "PRAGMA user_version = 99"));
	shop_reopen(&shop);
	CHECK(!shop.store);
	CHECK_EQ_INT(shop.err.code, ERR_UNSUPPORTED);
	CHECK(strstr(shop.err.text, "99"));
	CHECK(strstr(shop.err.text, "newer ced"));
}

/* Makes the file anew, as a ced of schema 10 left it. */
static bool become_first_schema(const struct shop *shop)
{
	static const char *const files[] = { "ced.db", "ced.db-wal", "ced.db-shm" };
	char path[128];

	for (size_t i = 0; i < COUNT_OF(files); i++) {
		path_of(shop, files[i], path);
		(void)unlink(path);
	}
	path_of(shop, "ced.db", path);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	return change(shop, (const char *)store_migrations[0].bytes) &&
	       change(shop, "PRAGMA application_id = 0x63656431; PRAGMA user_version = 10");
}

TEST(a_store_of_the_first_schema_is_converted)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	store_close(shop.store);
	shop.store = NULL;
	CHECK(become_first_schema(&shop));
	CHECK_EQ_INT(ask(&shop, "SELECT count(rule) FROM run_calls"), -1);
	shop_reopen(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(ask(&shop, "PRAGMA user_version"), newest());
	CHECK_EQ_INT(ask(&shop, "SELECT count(rule) + count(approval) FROM run_calls"), 0);
	CHECK_EQ_INT(write_begun(&shop, STORE_NOW), 0);
	CHECK_EQ_INT(write_ended(&shop), 0);
	CHECK_STR(outcome_of(&shop, shop.sample.run_id), "ok");
}

TEST(a_store_of_a_development_version_is_refused_and_not_touched)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	store_close(shop.store);
	shop.store = NULL;
	CHECK(change(&shop, "PRAGMA user_version = 9"));
	shop_reopen(&shop);
	CHECK(!shop.store);
	CHECK_EQ_INT(shop.err.code, ERR_UNSUPPORTED);
	CHECK(strstr(shop.err.text, "schema 9"));
	CHECK(strstr(shop.err.text, "move ced.db"));
	CHECK_EQ_INT(ask(&shop, "PRAGMA user_version"), 9);
}

TEST(a_database_of_another_program_is_refused_and_not_touched)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	store_close(shop.store);
	shop.store = NULL;
	CHECK(change(&shop, "PRAGMA application_id = 7; CREATE TABLE theirs (x)"));
	shop_reopen(&shop);
	CHECK(!shop.store);
	CHECK_EQ_INT(shop.err.code, ERR_CORRUPT);
	CHECK(strstr(shop.err.text, "not a store of ced"));
	CHECK_EQ_INT(ask(&shop, "SELECT count(*) FROM theirs"), 0);
}

TEST(a_file_that_is_no_database_is_refused)
{
	auto_shop struct shop shop;
	char path[128];
	static char noise[20000];
	int fd;

	shop_init(&shop);
	CHECK(shop.store);
	store_close(shop.store);
	shop.store = NULL;
	path_of(&shop, "ced.db", path);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	memset(noise, 'x', sizeof(noise));
	CHECK(fd >= 0 && write(fd, noise, sizeof(noise)) == (ssize_t)sizeof(noise));
	(void)close(fd);
	shop_reopen(&shop);
	CHECK(!shop.store);
	CHECK_EQ_INT(shop.err.code, ERR_CORRUPT);
}

TEST(a_symbolic_link_in_place_of_the_database_is_refused)
{
	auto_shop struct shop shop;
	char path[128];

	shop_init(&shop);
	CHECK(shop.store);
	store_close(shop.store);
	shop.store = NULL;
	path_of(&shop, "ced.db", path);
	CHECK_EQ_INT(unlink(path), 0);
	CHECK_EQ_INT(symlink("/tmp/elsewhere.db", path), 0);
	shop_reopen(&shop);
	CHECK(!shop.store);
}

/* ---- transactions ------------------------------------------------------------------------- */

TEST(what_is_rolled_back_is_gone)
{
	auto_shop struct shop shop;
	struct store_run ended;

	shop_init(&shop);
	CHECK(shop.store);
	ended = sample_ended(&shop.sample);
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_put_ended(shop.store, &ended, &shop.err), 0);
	store_rollback(shop.store);
	CHECK_STR(outcome_of(&shop, shop.sample.run_id), "?");
	CHECK_EQ_INT(write_ended(&shop), 0);
	CHECK_STR(outcome_of(&shop, shop.sample.run_id), "ok");
}

TEST(rolling_back_without_a_transaction_does_nothing)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	store_rollback(shop.store);
	CHECK_EQ_INT(write_ended(&shop), 0);
	store_rollback(shop.store);
	CHECK_STR(outcome_of(&shop, shop.sample.run_id), "ok");
}

TEST(beginning_a_run_twice_is_refused_and_spoils_its_batch)
{
	auto_shop struct shop shop;
	struct store_run begun;

	shop_init(&shop);
	CHECK(shop.store);
	begun = sample_begun(&shop.sample);
	CHECK_EQ_INT(write_begun(&shop, STORE_SOON), 0);
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_put_begun(shop.store, &begun, &shop.err), -1);
	CHECK_EQ_INT(shop.err.code, ERR_EXISTS);
	CHECK_EQ_INT(store_put_begun(shop.store, &begun, &shop.err), -1);
	CHECK_EQ_INT(store_commit(shop.store, STORE_NOW, &shop.err), -1);
	CHECK_EQ_INT(write_ended(&shop), 0);
}

TEST(an_id_that_is_no_ulid_is_refused)
{
	auto_shop struct shop shop;
	struct store_run ended;

	shop_init(&shop);
	CHECK(shop.store);
	ended = sample_ended(&shop.sample);
	ended.run_id = "not-an-id";
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_put_ended(shop.store, &ended, &shop.err), -1);
	CHECK_EQ_INT(shop.err.code, ERR_INVALID);
	store_rollback(shop.store);
}

TEST(runs_whose_ids_want_the_same_key_are_kept_apart)
{
	auto_shop struct shop shop;
	char ids[5][RUN_ID_LEN + 1];

	shop_init(&shop);
	CHECK(shop.store);
	for (unsigned i = 0; i < 5; i++) {
		/* A run's key depends on the first ten and the last four characters of its id. */
		(void)snprintf(ids[i], sizeof(ids[i]), "01ARZ3NDEK%uSV4RRFFQ69GZZZZ", i);
		memcpy(shop.sample.run_id, ids[i], sizeof(ids[i]));
		shop.sample.result.outcome = (enum outcome)(OUTCOME_OK + i);
		CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	}
	for (unsigned i = 0; i < 5; i++)
		CHECK_STR(outcome_of(&shop, ids[i]), outcome_word((enum outcome)(OUTCOME_OK + i)));
}

TEST(a_reader_sees_commits_and_never_half_of_one)
{
	auto_shop struct shop shop;
	auto_of(store_close) struct store *reader = NULL;
	struct store_run ended;
	struct value *record = NULL;
	uint32_t uid = 0;

	shop_init(&shop);
	CHECK(shop.store);
	reader = store_open(shop.folder, STORE_READ, &shop.err);
	CHECK(reader);
	ended = sample_ended(&shop.sample);
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_put_ended(shop.store, &ended, &shop.err), 0);
	CHECK_EQ_INT(
		store_get(reader, shop.sample.run_id, 0, &shop.arena, &record, &uid, &shop.err), 1);
	CHECK_EQ_INT(store_commit(shop.store, STORE_NOW, &shop.err), 0);
	CHECK_EQ_INT(
		store_get(reader, shop.sample.run_id, 0, &shop.arena, &record, &uid, &shop.err), 0);
	CHECK_EQ_INT(uid, 1000);
}

TEST(a_stranger_who_holds_the_database_makes_the_store_busy_and_not_broken)
{
	auto_shop struct shop shop;
	sqlite3 *db = NULL;
	char path[128];

	shop_init(&shop);
	CHECK(shop.store);
	path_of(&shop, "ced.db", path);
	CHECK_EQ_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	CHECK_EQ_INT(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	CHECK_EQ_INT(write_ended(&shop), -1);
	CHECK_EQ_INT(shop.err.code, ERR_BUSY);
	(void)sqlite3_close(db);
	CHECK_EQ_INT(write_ended(&shop), 0);
}

/* ---- blobs -------------------------------------------------------------------------------- */

static void tidy_all(struct shop *shop)
{
	int r = 1;

	for (int i = 0; i < 1000 && r > 0; i++)
		r = store_tidy(shop->store, &shop->err);
}

TEST(the_same_code_a_thousand_times_is_one_blob)
{
	auto_shop struct shop shop;
	static char code[2000];

	shop_init(&shop);
	CHECK(shop.store);
	memset(code, '#', sizeof(code));
	shop.sample.spec.code = (struct bytes){ code, sizeof(code) };
	job_code_hash(&shop.sample.spec, shop.sample.result.code_hash);
	for (int i = 0; i < 1000; i++) {
		sample_next(&shop.sample);
		CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	}
	tidy_all(&shop);
	CHECK_EQ_INT(ask(&shop, "SELECT count(*) FROM blobs WHERE bytes = 2000"), 1);
	CHECK_EQ_INT(
		ask(&shop, "SELECT count(*) FROM records WHERE typeof(code) = 'integer'"), 1000);
	CHECK_EQ_INT(ask(&shop, "SELECT length(data) < 100 FROM blob_data JOIN blobs USING (blob) "
				"WHERE bytes = 2000"),
		1);
	CHECK_EQ_INT(ask(&shop, "SELECT refs FROM blobs WHERE bytes = 2000"), 1000);
}

TEST(references_count_what_settled_runs_hold)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	for (int i = 0; i < 700; i++) {
		sample_next(&shop.sample);
		CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	}
	tidy_all(&shop);
	CHECK_EQ_INT(ask(&shop, "SELECT count(*) FROM pending"), 0);
	CHECK_EQ_INT(ask(&shop, "SELECT sum(refs) FROM blobs"), 700);
	CHECK_EQ_INT(
		ask(&shop, "SELECT count(*) FROM facets WHERE facet = 1 AND value = 'ok'"), 700);
}

TEST(a_blob_that_was_rolled_back_is_written_again)
{
	auto_shop struct shop shop;
	static char code[4000];
	struct store_run begun;
	struct value *page = NULL;

	shop_init(&shop);
	CHECK(shop.store);
	for (size_t i = 0; i < sizeof(code); i++)
		code[i] = (char)(i * i >> 3);
	shop.sample.spec.code = (struct bytes){ code, sizeof(code) };
	begun = sample_begun(&shop.sample);
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_put_begun(shop.store, &begun, &shop.err), 0);
	store_rollback(shop.store);
	CHECK_EQ_INT(ask(&shop, "SELECT count(*) FROM blobs"), 0);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	CHECK_EQ_INT(store_output(shop.store, shop.sample.run_id, "code", 0, 10000, &shop.arena,
			     &page, &shop.err),
		0);
	CHECK_EQ_INT(value_get(page, "data")->text.len, 4000);
}

TEST(what_a_program_printed_can_be_asked_for_in_sql)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	CHECK_EQ_INT(ask(&shop, "SELECT count(*) FROM steps"), 12);
	CHECK_EQ_INT(ask(&shop, "SELECT t_us FROM steps WHERE step = 'job.done'"), 230);
	CHECK_EQ_INT(ask(&shop, "SELECT count(*) FROM records WHERE stdout = '1' || char(10)"), 1);
	CHECK_EQ_INT(ask(&shop, "SELECT request ->> '$.limits.pids' FROM records"), 64);
}

/* ---- runs in flight ----------------------------------------------------------------------- */

TEST(what_was_in_flight_is_lost_when_the_store_is_opened_again)
{
	auto_shop struct shop shop;
	char lost[2][RUN_ID_LEN + 1];
	struct value *record = NULL;
	uint32_t uid = 0;

	shop_init(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	for (int i = 0; i < 2; i++) {
		sample_next(&shop.sample);
		memcpy(lost[i], shop.sample.run_id, sizeof(lost[i]));
		CHECK_EQ_INT(write_begun(&shop, STORE_SOON), 0);
	}
	CHECK_EQ_INT(
		store_output(shop.store, lost[0], "stdout", 0, 10, &shop.arena, &record, &shop.err),
		0);
	CHECK(!value_as_bool(value_get(record, "eof"), true)); /* it may still write */
	shop_reopen(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(store_lost_count(shop.store), 2);
	CHECK_EQ_INT(
		store_output(shop.store, lost[0], "stdout", 0, 10, &shop.arena, &record, &shop.err),
		0);
	CHECK(value_as_bool(value_get(record, "eof"), false));
	for (int i = 0; i < 2; i++)
		CHECK_STR(outcome_of(&shop, lost[i]), "lost");
	CHECK_EQ_INT(store_get(shop.store, lost[0], 0, &shop.arena, &record, &uid, &shop.err), 0);
	CHECK(value_is(value_get(record, "limits"), VALUE_MAP));
	CHECK(value_is(value_get(record, "truncated"), VALUE_LIST));
	CHECK(value_is(value_get(record, "artifacts_skipped"), VALUE_LIST));
	CHECK_STR(value_as_text(value_get(record, "ran")), "unknown");
	CHECK(value_as_int(value_get(record, "ended_us"), 0) > 0);
	CHECK(value_get(value_get(record, "request"), "code"));
	/* the policy under which it began */
	record = value_get(record, "policy");
	CHECK_STR(value_as_text(value_get(record, "name")), shop.sample.run.policy);
	CHECK_STR(value_as_text(value_get(record, "digest")), shop.sample.result.verdict.digest);
	CHECK_STR(value_as_text(value_get(record, "decision")), "allow");
	shop_reopen(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(store_lost_count(shop.store), 0);
}

TEST(a_run_in_flight_does_not_settle_before_it_ends)
{
	auto_shop struct shop shop;
	char first[RUN_ID_LEN + 1];

	shop_init(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(write_begun(&shop, STORE_NOW), 0);
	memcpy(first, shop.sample.run_id, sizeof(first));
	for (int i = 0; i < 300; i++) {
		sample_next(&shop.sample);
		CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	}
	tidy_all(&shop);
	CHECK_EQ_INT(ask(&shop, "SELECT count(*) FROM pending"), 1);
	memcpy(shop.sample.run_id, first, sizeof(first));
	CHECK_EQ_INT(write_ended(&shop), 0);
	CHECK_STR(outcome_of(&shop, first), "ok");
}

/* ---- the log ------------------------------------------------------------------------------ */

static off_t log_size(const struct shop *shop)
{
	struct stat st;
	char path[128];

	path_of(shop, "ced.db-wal", path);
	return stat(path, &st) == 0 ? st.st_size : -1;
}

TEST(the_log_keeps_its_size_through_thousands_of_runs)
{
	auto_shop struct shop shop;
	off_t size;

	shop_init(&shop);
	CHECK(shop.store);
	size = log_size(&shop);
	CHECK(size >= 8 << 20);
	for (int i = 0; i < 3000; i++) {
		sample_next(&shop.sample);
		CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
		CHECK(store_tidy(shop.store, &shop.err) >= 0);
	}
	CHECK_EQ_INT(log_size(&shop), size);
}

TEST(the_log_is_bounded_without_an_idle_moment)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	for (int i = 0; i < 9000; i++) {
		sample_next(&shop.sample);
		CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	}
	CHECK(log_size(&shop) < 64 << 20);
	CHECK(ask(&shop, "SELECT count(*) FROM pending") <= 4200);
	CHECK_EQ_INT(ask(&shop, "SELECT count(*) FROM runs"), 9000);
}

/* ---- trouble ------------------------------------------------------------------------------ */

/* Runs in a child: a process cannot take back its limit on file sizes. */
static int child_status(void (*body)(struct shop *), struct shop *shop)
{
	int status = -1;
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		body(shop);
		_exit(check_ok() ? 0 : 1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

static void fill_up(struct shop *shop)
{
	struct rlimit limit = { (rlim_t)9 << 20, RLIM_INFINITY };
	static char output[3 << 20];
	int failures = 0;

	/* The child opens the database: a connection must not cross a fork. */
	shop_reopen(shop);
	CHECK(shop->store);
	CHECK_EQ_INT(write_ended(shop), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	CHECK_EQ_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (size_t i = 0; i < sizeof(output); i++)
		output[i] = (char)(random() >> 8);
	for (int i = 0; i < 8; i++) {
		sample_next(&shop->sample);
		output[0]++;
		shop->sample.result.out.head = (struct bytes){ output, sizeof(output) };
		if (write_ended(shop) == 0)
			continue;
		failures++;
		CHECK_EQ_INT(shop->err.code, ERR_FULL);
		CHECK_STR(outcome_of(shop, shop->sample.run_id), "?");
	}
	CHECK(failures > 0);

	limit.rlim_cur = RLIM_INFINITY;
	CHECK_EQ_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
	CHECK_EQ_INT(write_ended(shop), 0);
	CHECK_STR(outcome_of(shop, shop->sample.run_id), "ok");
	store_close(shop->store);
}

TEST(a_full_disk_refuses_records_and_room_heals_it)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	store_close(shop.store);
	shop.store = NULL;
	CHECK_EQ_INT(child_status(fill_up, &shop), 0);
	CHECK_EQ_INT(ask(&shop, "SELECT count(*) = 1 FROM pragma_integrity_check "
				"WHERE integrity_check = 'ok'"),
		1);
}

TEST(a_full_file_system_refuses_records_and_room_heals_it)
{
	auto_shop struct shop shop;
	static char output[3 << 20];
	char ballast[128];
	int fd;

	shop_init(&shop);
	CHECK(shop.store);
	store_close(shop.store);
	shop.store = NULL;
	if (mount("tmpfs", shop.folder, "tmpfs", 0, "size=20m") < 0)
		SKIP("needs the right to mount a small tmpfs");
	shop_reopen(&shop);
	path_of(&shop, "ballast", ballast);
	fd = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (fd >= 0 && write(fd, output, 4096) == 4096)
		;
	(void)close(fd);
	for (size_t i = 0; i < sizeof(output); i++)
		output[i] = (char)(random() >> 8);
	shop.sample.result.out.head = (struct bytes){ output, sizeof(output) };
	/* The log has room for small runs for a while, but not for a large one. */
	for (int i = 0; i < 5 && shop.store && shop.err.code == ERR_NONE; i++) {
		sample_next(&shop.sample);
		output[0]++;
		(void)write_ended(&shop);
	}
	CHECK_EQ_INT(shop.err.code, ERR_FULL);
	CHECK_STR(outcome_of(&shop, shop.sample.run_id), "?");
	CHECK_EQ_INT(unlink(ballast), 0);
	CHECK_EQ_INT(write_ended(&shop), 0);
	CHECK_STR(outcome_of(&shop, shop.sample.run_id), "ok");
	store_close(shop.store);
	shop.store = NULL;
	(void)umount(shop.folder);
}

static void write_without_rights(struct shop *shop)
{
	CHECK_EQ_INT(setgid(65534), 0);
	CHECK_EQ_INT(setuid(65534), 0);
	shop_reopen(shop);
	CHECK(!shop->store);
	CHECK(shop->err.code == ERR_SYSTEM || shop->err.code == ERR_DENIED);
	CHECK(strstr(shop->err.text, shop->folder));
}

TEST(a_folder_that_may_not_be_written_is_named)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	store_close(shop.store);
	shop.store = NULL;
	if (geteuid() != 0)
		SKIP("needs root to become somebody else");
	CHECK_EQ_INT(child_status(write_without_rights, &shop), 0);
}

TEST(a_file_system_that_becomes_read_only_is_an_error_and_not_the_end)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	store_close(shop.store);
	shop.store = NULL;
	if (mount("tmpfs", shop.folder, "tmpfs", 0, "size=40m") < 0)
		SKIP("needs the right to mount a small tmpfs");
	CHECK_EQ_INT(mount(NULL, shop.folder, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	shop_reopen(&shop);
	CHECK(!shop.store);
	CHECK_EQ_INT(shop.err.sys_errno, EROFS);
	CHECK_EQ_INT(mount(NULL, shop.folder, NULL, MS_REMOUNT, NULL), 0);
	shop_reopen(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(write_ended(&shop), 0);
	store_close(shop.store);
	shop.store = NULL;
	(void)umount(shop.folder);
}
