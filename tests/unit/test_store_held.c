/* A log that grows because another program keeps reading from it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "store/base/db.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

#define MOST       ((int64_t)2 << 20)
#define ROUNDS_MAX 1000

/* A process that reads the store and keeps its transaction open until the test ends it. */
struct reader {
	pid_t pid;
	int tell;
};

static void stay(const char *path, int from, int told)
{
	sqlite3 *db = NULL;
	char word;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
		sqlite3_exec(db, "BEGIN; SELECT count(*) FROM runs", NULL, NULL, NULL) != SQLITE_OK)
		_exit(1);
	if (write(told, "r", 1) != 1)
		_exit(1);
	_exit(read(from, &word, 1) == 0 ? 0 : 1);
}

static bool reader_start(struct reader *reader, const struct shop *shop)
{
	char path[96];
	int to[2];
	int back[2];
	bool is_there;
	char word;

	(void)snprintf(path, sizeof(path), "%s/ced.db", shop->folder);
	if (pipe(to) < 0 || pipe(back) < 0)
		return false;
	reader->pid = fork();
	if (reader->pid == 0) {
		close(to[1]);
		stay(path, to[0], back[1]);
	}
	close(to[0]);
	close(back[1]);
	reader->tell = to[1];
	is_there = read(back[0], &word, 1) == 1;
	close(back[0]);
	return is_there;
}

static void reader_end(const struct reader *reader)
{
	int status = 0;

	close(reader->tell);
	CHECK_EQ_INT(waitpid(reader->pid, &status, 0), reader->pid);
	CHECK_EQ_INT(status, 0);
}

static int put(struct shop *shop)
{
	sample_next(&shop->sample);
	return sample_write(shop->store, &shop->sample, &shop->err);
}

/*
 * Writes until the store reports the held log or, with `refused`, until it refuses runs.  Returns
 * false if neither came within ROUNDS_MAX records.
 */
static bool write_until(struct shop *shop, bool refused, struct store_long_log *held)
{
	for (int i = 0; i < ROUNDS_MAX; i++) {
		struct err err = ERR_INIT;
		int r = put(shop);

		if (r < 0)
			return false;
		r = store_check_log(shop->store, held, &err);
		if (r < 0)
			shop->err = err;
		if (refused ? r < 0 : held->bytes > 0)
			return true;
	}
	return false;
}

static int64_t log_length(const struct shop *shop)
{
	char path[96];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/ced.db-wal", shop->folder);
	return stat(path, &st) == 0 ? st.st_size : -1;
}

TEST(a_reader_that_stays_is_told_at_half_of_the_ceiling_and_refused_for_at_the_ceiling)
{
	auto_shop struct shop shop;
	struct store_long_log held = { .bytes = 0 };
	struct reader reader;
	char who[32];
	char command[32];

	shop_init(&shop);
	store_limit_log(shop.store, MOST);
	CHECK_EQ_INT(put(&shop), 0);
	CHECK(reader_start(&reader, &shop));
	(void)snprintf(who, sizeof(who), "(process %d)", (int)reader.pid);
	(void)snprintf(command, sizeof(command), "kill %d", (int)reader.pid);

	CHECK(write_until(&shop, false, &held));
	CHECK(held.bytes >= MOST / 2 && held.bytes < MOST);
	CHECK_EQ_INT(held.most_bytes, MOST);
	CHECK(strstr(held.by, who) != NULL);
	CHECK_STR(held.command, command);

	CHECK(write_until(&shop, true, &held));
	CHECK(held.bytes >= MOST && held.bytes < MOST + MOST / 4);
	CHECK_STR(store_trouble(&shop.err), "locked");
	CHECK(strstr(shop.err.text, who) != NULL);
	CHECK(strstr(shop.err.text, command) != NULL);
	/* Results of runs that have run are still written. */
	CHECK_EQ_INT(put(&shop), 0);
	CHECK_EQ_INT(store_check_log(shop.store, &held, NULL), -1);

	reader_end(&reader);
	CHECK_EQ_INT(store_check_log(shop.store, &held, NULL), 0);
	CHECK_EQ_INT(held.bytes, 0);
	CHECK_EQ_INT(put(&shop), 0);
	CHECK_EQ_INT(store_check_log(shop.store, &held, NULL), 0);
	CHECK_EQ_INT(held.bytes, 0);
}

TEST(a_log_that_nobody_holds_is_neither_told_nor_long)
{
	auto_shop struct shop shop;
	struct store_long_log held = { .bytes = 0 };

	shop_init(&shop);
	store_limit_log(shop.store, MOST);
	CHECK(!write_until(&shop, false, &held));
	CHECK(log_length(&shop) <= ((int64_t)9 << 20)); /* 8 MiB from the beginning */
}

TEST(without_a_ceiling_nothing_is_told)
{
	auto_shop struct shop shop;
	struct store_long_log held = { .bytes = 1 };
	struct reader reader;

	shop_init(&shop);
	CHECK_EQ_INT(put(&shop), 0);
	CHECK(reader_start(&reader, &shop));
	CHECK(!write_until(&shop, false, &held));
	CHECK_EQ_INT(held.bytes, 0);
	reader_end(&reader);
}

TEST(a_reader_in_this_process_is_told_and_nothing_is_refused_for_it)
{
	auto_shop struct shop shop;
	struct store_long_log held = { .bytes = 0 };
	struct store *own;
	bool began = false;
	int64_t count = 0;

	shop_init(&shop);
	store_limit_log(shop.store, MOST);
	CHECK_EQ_INT(put(&shop), 0);
	own = store_open(shop.folder, STORE_READ, &shop.err);
	CHECK(own != NULL);
	CHECK_EQ_INT(db_begin_snapshot(own, &began, &shop.err), 0);
	CHECK_EQ_INT(db_number(own, "SELECT count(*) FROM runs", 0, &count, &shop.err), 0);
	CHECK(!write_until(&shop, true, &held));
	CHECK(held.bytes > MOST);
	CHECK(strstr(held.by, "ced itself") != NULL);
	CHECK_STR(held.command, "");
	db_end_snapshot(own, began);
	CHECK_EQ_INT(store_check_log(shop.store, &held, NULL), 0);
	CHECK_EQ_INT(held.bytes, 0);
	store_close(own);
}
