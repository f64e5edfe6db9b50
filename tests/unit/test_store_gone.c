/* Files of the store that are removed while it is open, or between two starts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/fdio.h"
#include "store/base/db.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

#define FILE_BYTES ((size_t)64 << 20)

static const char *path_of(const struct shop *shop, const char *name)
{
	static char paths[4][128];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", shop->folder, name);
	return path;
}

/* Writes a run; it is on the disk if this returns 0. */
static int put(struct shop *shop)
{
	struct store_run run;

	sample_next(&shop->sample);
	run = sample_ended(&shop->sample);
	shop->err = (struct err)ERR_INIT;
	if (store_begin(shop->store, &shop->err) < 0)
		return -1;
	if (store_put_ended(shop->store, &run, &shop->err) < 0) {
		store_rollback(shop->store);
		return -1;
	}
	return store_commit(shop->store, STORE_NOW, &shop->err);
}

static int copy(const char *from, const char *to)
{
	char *bytes = NULL;
	size_t len = 0;
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int r = -1;

	if (fd >= 0 && read_file(from, FILE_BYTES, &bytes, &len, NULL) == 0)
		r = write_all(fd, bytes, len, NULL);
	free(bytes);
	if (fd >= 0)
		(void)close(fd);
	return r;
}

/* ---- while it is open ----------------------------------------------------------------------- */

static void expect_gone(struct shop *shop, const char *name, const char *what)
{
	char words[64];

	(void)snprintf(words, sizeof(words), "%s was %s", name, what);
	CHECK_EQ_INT(put(shop), -1);
	CHECK_STR(store_trouble(&shop->err), "gone");
	CHECK(store_is_shut(&shop->err));
	CHECK(strstr(shop->err.text, words) != NULL);
	CHECK_EQ_INT(store_check_files(shop->store, NULL), -1);
	CHECK_EQ_INT(store_probe(shop->store, NULL), -1);
}

TEST(a_file_that_is_removed_fails_the_next_record)
{
	static const char *const names[] = { "ced.db", "ced.db-wal", "ced.db-shm", "ced.lock" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		auto_shop struct shop shop;

		shop_init(&shop);
		CHECK_EQ_INT(put(&shop), 0);
		CHECK_EQ_INT(unlink(path_of(&shop, names[i])), 0);
		expect_gone(&shop, names[i], "removed");
	}
}

TEST(a_file_that_is_removed_between_the_beginning_and_the_end_of_a_commit_fails_it)
{
	auto_shop struct shop shop;
	struct store_run run;

	shop_init(&shop);
	run = sample_ended(&shop.sample);
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_put_ended(shop.store, &run, &shop.err), 0);
	CHECK_EQ_INT(unlink(path_of(&shop, "ced.db-wal")), 0);
	CHECK_EQ_INT(store_commit(shop.store, STORE_NOW, &shop.err), -1);
	CHECK_STR(store_trouble(&shop.err), "gone");
}

TEST(another_file_under_the_name_fails_the_next_record)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK_EQ_INT(copy(path_of(&shop, "ced.db"), path_of(&shop, "new.db")), 0);
	CHECK_EQ_INT(rename(path_of(&shop, "new.db"), path_of(&shop, "ced.db")), 0);
	expect_gone(&shop, "ced.db", "replaced");
}

TEST(a_folder_that_is_moved_away_fails_the_next_record_and_is_well_when_it_is_back)
{
	auto_shop struct shop shop;
	char aside[96];

	shop_init(&shop);
	(void)snprintf(aside, sizeof(aside), "%s.aside", shop.folder);
	CHECK_EQ_INT(rename(shop.folder, aside), 0);
	expect_gone(&shop, "ced.db", "removed");
	CHECK_EQ_INT(rename(aside, shop.folder), 0);
	CHECK_EQ_INT(put(&shop), 0);
	CHECK_EQ_INT(store_check_files(shop.store, NULL), 0);
}

TEST(a_log_or_a_database_that_is_cut_off_fails_the_next_record)
{
	static const char *const names[] = { "ced.db-wal", "ced.db" };

	for (size_t i = 0; i < 2; i++) {
		auto_shop struct shop shop;

		shop_init(&shop);
		CHECK_EQ_INT(put(&shop), 0);
		CHECK_EQ_INT(truncate(path_of(&shop, names[i]), 0), 0);
		expect_gone(&shop, names[i], "cut off");
	}
}

TEST(another_program_may_empty_the_log_in_order)
{
	auto_shop struct shop shop;
	sqlite3 *other = NULL;
	struct stat st;

	shop_init(&shop);
	CHECK_EQ_INT(put(&shop), 0);
	CHECK_EQ_INT(sqlite3_open(path_of(&shop, "ced.db"), &other), SQLITE_OK);
	CHECK_EQ_INT(sqlite3_exec(other, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL),
		SQLITE_OK);
	(void)sqlite3_close(other);
	CHECK_EQ_INT(stat(path_of(&shop, "ced.db-wal"), &st), 0);
	CHECK_EQ_INT(st.st_size, 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ_INT(put(&shop), 0);
}

TEST(nothing_that_was_answered_is_lost_with_a_log_that_is_removed)
{
	auto_shop struct shop shop;
	char aside[96], copied[128];
	struct store *found;
	struct value *record = NULL;
	char last[RUN_ID_LEN + 1];
	uint32_t uid;

	shop_init(&shop);
	for (unsigned i = 0; i < 20; i++)
		CHECK_EQ_INT(put(&shop), 0);
	memcpy(last, shop.sample.run_id, sizeof(last));
	CHECK_EQ_INT(unlink(path_of(&shop, "ced.db-wal")), 0);
	CHECK_EQ_INT(put(&shop), -1);
	/* A copy of what kill -9 would leave now. */
	(void)snprintf(aside, sizeof(aside), "%s.killed", shop.folder);
	(void)snprintf(copied, sizeof(copied), "%s/ced.db", aside);
	CHECK_EQ_INT(mkdir(aside, 0700), 0);
	CHECK_EQ_INT(copy(path_of(&shop, "ced.db"), copied), 0);
	found = store_open_copy(copied, &shop.err);
	CHECK(found != NULL);
	CHECK_EQ_INT(store_get(found, last, 10, &shop.arena, &record, &uid, &shop.err), 0);
	store_close(found);
	CHECK_EQ_INT(unlink(copied), 0);
	(void)strcat(copied, "-wal");
	(void)unlink(copied);
	CHECK_EQ_INT(rmdir(aside), 0);
}

/* ---- between two starts --------------------------------------------------------------------- */

/* A store with a mark file; `found` is what the mark said. */
struct marked {
	struct shop shop;
	struct signer *signer;
	struct store_mark found;
};

static void open_marked(struct marked *marked)
{
	bool is_new;

	if (!marked->shop.store)
		marked->shop.store =
			store_open(marked->shop.folder, STORE_WRITE, &marked->shop.err);
	marked->signer = signer_open(marked->shop.folder, &is_new, &marked->shop.err);
	CHECK(marked->shop.store != NULL && marked->signer != NULL);
	CHECK_EQ_INT(store_mark_open(
			     marked->shop.store, marked->signer, &marked->found, &marked->shop.err),
		0);
}

static void marked_init(struct marked *marked)
{
	memset(marked, 0, sizeof(*marked));
	shop_init(&marked->shop);
	open_marked(marked);
	CHECK(!marked->found.is_there);
	CHECK_STR(marked->found.words, "");
	CHECK_EQ_INT(store_mark_now(marked->shop.store, &marked->shop.err), 0);
}

static void close_marked(struct marked *marked)
{
	store_close(marked->shop.store);
	marked->shop.store = NULL;
	signer_close(marked->signer);
	marked->signer = NULL;
}

static void marked_done(struct marked *marked)
{
	close_marked(marked);
	shop_done(&marked->shop);
}

static const char *const files[] = { "ced.db", "ced.db-wal", "ced.mark" };

/* Copies the files that kill -9 would leave now, or brings the copy back. */
static void keep(struct marked *marked, bool back, size_t from, size_t to)
{
	char beside[64];

	for (size_t i = from; i < to; i++) {
		(void)snprintf(beside, sizeof(beside), "kept-%s", files[i]);
		if (back)
			CHECK_EQ_INT(copy(path_of(&marked->shop, beside),
					     path_of(&marked->shop, files[i])),
				0);
		else
			CHECK_EQ_INT(copy(path_of(&marked->shop, files[i]),
					     path_of(&marked->shop, beside)),
				0);
	}
}

TEST(a_store_that_was_killed_holds_what_its_mark_says)
{
	__attribute__((cleanup(marked_done))) struct marked marked;

	marked_init(&marked);
	for (unsigned i = 0; i < 5; i++)
		CHECK_EQ_INT(put(&marked.shop), 0);
	keep(&marked, false, 0, 3);
	close_marked(&marked);
	keep(&marked, true, 0, 3);
	open_marked(&marked);
	CHECK(marked.found.is_there);
	CHECK_STR(marked.found.words, "");
}

TEST(a_log_that_was_removed_between_two_starts_is_found_once)
{
	__attribute__((cleanup(marked_done))) struct marked marked;

	marked_init(&marked);
	for (unsigned i = 0; i < 5; i++)
		CHECK_EQ_INT(put(&marked.shop), 0);
	keep(&marked, false, 0, 3);
	close_marked(&marked);
	keep(&marked, true, 0, 3);
	CHECK_EQ_INT(unlink(path_of(&marked.shop, "ced.db-wal")), 0);
	open_marked(&marked);
	CHECK(strstr(marked.found.words, "link 5 was on the disk") != NULL);
	CHECK_EQ_INT(put(&marked.shop), 0);
	close_marked(&marked);
	open_marked(&marked);
	CHECK(marked.found.is_there);
	CHECK_STR(marked.found.words, "");
}

TEST(a_run_that_had_only_begun_is_missed_too)
{
	__attribute__((cleanup(marked_done))) struct marked marked;
	struct store_run run;

	marked_init(&marked);
	run = sample_begun(&marked.shop.sample);
	CHECK_EQ_INT(store_begin(marked.shop.store, &marked.shop.err), 0);
	CHECK_EQ_INT(store_put_begun(marked.shop.store, &run, &marked.shop.err), 0);
	CHECK_EQ_INT(store_commit(marked.shop.store, STORE_NOW, &marked.shop.err), 0);
	keep(&marked, false, 0, 3);
	close_marked(&marked);
	keep(&marked, true, 0, 3);
	CHECK_EQ_INT(unlink(path_of(&marked.shop, "ced.db-wal")), 0);
	open_marked(&marked);
	CHECK(strstr(marked.found.words, "no such run") != NULL);
}

TEST(an_older_copy_in_its_place_is_found_and_a_restored_one_without_its_mark_is_not)
{
	__attribute__((cleanup(marked_done))) struct marked marked;

	marked_init(&marked);
	CHECK_EQ_INT(put(&marked.shop), 0);
	close_marked(&marked);
	keep(&marked, false, 0, 1);
	open_marked(&marked);
	CHECK_EQ_INT(put(&marked.shop), 0);
	close_marked(&marked);
	keep(&marked, true, 0, 1);
	(void)unlink(path_of(&marked.shop, "ced.db-wal"));
	open_marked(&marked);
	CHECK(strstr(marked.found.words, "rolled back") != NULL);
	close_marked(&marked);
	CHECK_EQ_INT(unlink(path_of(&marked.shop, "ced.mark")), 0);
	open_marked(&marked);
	CHECK(!marked.found.is_there);
	CHECK_STR(marked.found.words, "");
}

static void spoil(struct marked *marked, off_t at, char byte)
{
	int fd = open(path_of(&marked->shop, "ced.mark"), O_WRONLY | O_CLOEXEC);

	CHECK_EQ_INT(pwrite(fd, &byte, 1, at), 1);
	(void)close(fd);
}

TEST(a_mark_that_was_changed_is_found_and_an_empty_one_is_none)
{
	__attribute__((cleanup(marked_done))) struct marked marked;

	marked_init(&marked);
	CHECK_EQ_INT(put(&marked.shop), 0);
	close_marked(&marked);
	spoil(&marked, (off_t)strlen("ced-mark-1 links="), '0'); /* links=0 */
	open_marked(&marked);
	CHECK(!marked.found.is_there);
	CHECK(strstr(marked.found.words, "is not what ced has written") != NULL);
	close_marked(&marked);
	CHECK_EQ_INT(truncate(path_of(&marked.shop, "ced.mark"), 0), 0);
	open_marked(&marked);
	CHECK(!marked.found.is_there);
	CHECK_STR(marked.found.words, "");
}

TEST(a_mark_of_another_key_says_nothing)
{
	__attribute__((cleanup(marked_done))) struct marked marked;

	marked_init(&marked);
	CHECK_EQ_INT(put(&marked.shop), 0);
	close_marked(&marked);
	CHECK_EQ_INT(unlink(path_of(&marked.shop, "audit.key")), 0);
	open_marked(&marked);
	CHECK(!marked.found.is_there);
	CHECK_STR(marked.found.words, "");
}

TEST(a_mark_that_is_removed_is_made_again)
{
	__attribute__((cleanup(marked_done))) struct marked marked;

	marked_init(&marked);
	CHECK_EQ_INT(unlink(path_of(&marked.shop, "ced.mark")), 0);
	CHECK_EQ_INT(put(&marked.shop), 0);
	CHECK_EQ_INT(access(path_of(&marked.shop, "ced.mark"), F_OK), 0);
}

TEST(a_mark_remembers_what_the_clock_was_worth)
{
	__attribute__((cleanup(marked_done))) struct marked marked;
	const struct store_clock worth = { 1700000000000000, 1600000000000000, 5000000, 77 };

	marked_init(&marked);
	store_mark_clock(marked.shop.store, &worth);
	CHECK_EQ_INT(put(&marked.shop), 0);
	close_marked(&marked);
	open_marked(&marked);
	CHECK_EQ_INT(marked.found.clock.wall_us, worth.wall_us);
	CHECK_EQ_INT(marked.found.clock.surely_us, worth.surely_us);
	CHECK_EQ_INT(marked.found.clock.calm_us, worth.calm_us);
	CHECK_EQ_INT(marked.found.clock.ahead_us, worth.ahead_us);
}

TEST(what_has_not_reached_the_disk_is_not_in_the_mark)
{
	__attribute__((cleanup(marked_done))) struct marked marked;
	struct store_run run;
	char *before = NULL, *after = NULL;
	size_t len = 0;

	marked_init(&marked);
	CHECK_EQ_INT(put(&marked.shop), 0);
	CHECK_EQ_INT(read_file(path_of(&marked.shop, "ced.mark"), 4096, &before, &len, NULL), 0);
	sample_next(&marked.shop.sample);
	run = sample_ended(&marked.shop.sample);
	CHECK_EQ_INT(store_begin(marked.shop.store, &marked.shop.err), 0);
	CHECK_EQ_INT(store_put_ended(marked.shop.store, &run, &marked.shop.err), 0);
	CHECK_EQ_INT(store_commit(marked.shop.store, STORE_SOON, &marked.shop.err), 0);
	CHECK_EQ_INT(read_file(path_of(&marked.shop, "ced.mark"), 4096, &after, &len, NULL), 0);
	CHECK(before && after && memcmp(before, after, len) == 0);
	free(before);
	free(after);
}

/* ---- after an orderly end ------------------------------------------------------------------- */

static int64_t runs_in(const char *path)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;
	int64_t count = -1;

	if (sqlite3_open(path, &db) == SQLITE_OK &&
		sqlite3_prepare_v2(db, "SELECT count(*) FROM runs", -1, &stmt, NULL) == SQLITE_OK &&
		sqlite3_step(stmt) == SQLITE_ROW)
		count = sqlite3_column_int64(stmt, 0);
	(void)sqlite3_finalize(stmt);
	(void)sqlite3_close(db);
	return count;
}

TEST(after_an_orderly_end_the_database_alone_has_every_run)
{
	auto_shop struct shop shop;
	struct store *reader;
	int64_t count = 0;

	shop_init(&shop);
	for (int i = 0; i < 3; i++)
		CHECK_EQ_INT(put(&shop), 0);
	/*
	 * SQLite does not clean up while another connection is open, for example one of the
	 * daemon's readers.
	 */
	reader = store_open(shop.folder, STORE_READ, &shop.err);
	CHECK(reader);
	CHECK_EQ_INT(db_number(reader, "SELECT count(*) FROM runs", 0, &count, NULL), 0);
	CHECK_EQ_INT(count, 3);
	store_close(shop.store);
	shop.store = NULL;
	CHECK_EQ_INT(copy(path_of(&shop, "ced.db"), path_of(&shop, "alone.db")), 0);
	store_close(reader);
	CHECK_EQ_INT(runs_in(path_of(&shop, "alone.db")), 3);
	/* SQLite creates these when the copy is read. */
	(void)unlink(path_of(&shop, "alone.db-wal"));
	(void)unlink(path_of(&shop, "alone.db-shm"));
	(void)unlink(path_of(&shop, "alone.db"));
}
