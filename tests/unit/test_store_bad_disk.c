/*
 * A disk that cannot read one page: the runs on that page wait and all others settle.  And a disk
 * that fails altogether: then no run is blamed, and all of them settle once the disk works again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "store/base/db.h"
#include "store/maintenance.h"
#include "store/write/writer.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

#define PAGE     4096
#define DB_BYTES ((size_t)64 << 20)
#define RUNS     40U   /* enough for several pages of `records` */
#define FULL     4096U /* so many unsettled runs that each commit settles some */

/* ---- the disk ------------------------------------------------------------------------------- */

static struct {
	ino_t file; /* 0: the disk works */
	off_t page; /* the unreadable page of that file */
	bool all;   /* nothing can be read or written */
	int number; /* the errno: SQLite takes EIO for damage, and other numbers as they are */
} bad;

static bool fails(int fd, off_t at)
{
	struct stat st;

	if (bad.all)
		return true;
	return bad.file && fstat(fd, &st) == 0 && st.st_ino == bad.file && at / PAGE == bad.page;
}

static ssize_t disk_pread(int fd, void *bytes, size_t len, off_t at)
{
	if (!fails(fd, at))
		return pread(fd, bytes, len, at);
	errno = bad.number;
	return -1;
}

static ssize_t disk_read(int fd, void *bytes, size_t len)
{
	if (!fails(fd, lseek(fd, 0, SEEK_CUR)))
		return read(fd, bytes, len);
	errno = bad.number;
	return -1;
}

static ssize_t disk_pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	if (!bad.all)
		return pwrite(fd, bytes, len, at);
	errno = bad.number;
	return -1;
}

static ssize_t disk_write(int fd, const void *bytes, size_t len)
{
	if (!bad.all)
		return write(fd, bytes, len);
	errno = bad.number;
	return -1;
}

/* SQLite's VFS, with our calls in the place of the system's. */
static void disk_begin(int number)
{
	static const struct {
		const char *name;
		sqlite3_syscall_ptr call;
	} calls[] = {
		{ "read", (sqlite3_syscall_ptr)disk_read },
		{ "pread", (sqlite3_syscall_ptr)disk_pread },
		{ "pread64", (sqlite3_syscall_ptr)disk_pread },
		{ "write", (sqlite3_syscall_ptr)disk_write },
		{ "pwrite", (sqlite3_syscall_ptr)disk_pwrite },
		{ "pwrite64", (sqlite3_syscall_ptr)disk_pwrite },
	};
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	memset(&bad, 0, sizeof(bad));
	bad.number = number;
	for (size_t i = 0; i < COUNT_OF(calls); i++)
		(void)vfs->xSetSystemCall(vfs, calls[i].name, calls[i].call);
}

/* Makes the page of the database that holds these bytes unreadable. */
static bool spoil_page_of(struct shop *shop, const char *bytes)
{
	char path[128];
	char *file = NULL;
	struct stat st;
	size_t len = 0;
	const char *at;

	(void)snprintf(path, sizeof(path), "%s/ced.db", shop->folder);
	(void)sqlite3_wal_checkpoint_v2(
		shop->store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	if (stat(path, &st) < 0 || read_file(path, DB_BYTES, &file, &len, NULL) < 0)
		return false;
	at = memmem(file, len, bytes, strlen(bytes));
	if (at) {
		bad.page = (at - file) / PAGE;
		bad.file = st.st_ino;
	}
	free(file);
	(void)sqlite3_db_release_memory(shop->store->db);
	return at != NULL;
}

/* ---- the store ------------------------------------------------------------------------------ */

/* Programs short enough to stand in the row. */
static int put(struct shop *shop, const char *code)
{
	sample_next(&shop->sample);
	shop->sample.spec.code = (struct bytes){ code, strlen(code) };
	return sample_write(shop->store, &shop->sample, &shop->err);
}

static void fill(struct shop *shop)
{
	shop_init(shop);
	for (unsigned i = 0; i < RUNS; i++)
		CHECK_EQ_INT(put(shop, i == RUNS / 2 ? "# the spoilt one" : "# one of many"), 0);
}

static int64_t number(struct shop *shop, const char *sql)
{
	int64_t found = -1;

	(void)db_number(shop->store, sql, -1, &found, &shop->err);
	return found;
}

static int64_t pending(struct shop *shop)
{
	return number(shop, "SELECT count(*) FROM pending");
}

/* Does the work of idle moments.  Returns the last result. */
static int settle(struct shop *shop)
{
	int r;

	shop->store->writer->index.goes_on = true;
	while ((r = store_tidy(shop->store, &shop->err)) > 0)
		;
	return r;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void pass_over(int number_told, const char *words)
{
	auto_shop struct shop shop;
	struct store_damage damage = { .runs = 0 };
	int64_t waiting;

	disk_begin(number_told);
	fill(&shop);
	CHECK(spoil_page_of(&shop, "# the spoilt one"));
	CHECK_EQ_INT(settle(&shop), 0);
	waiting = pending(&shop);
	CHECK(waiting > 0 && waiting < RUNS);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM run_texts"), RUNS - waiting);
	CHECK(store_take_damage(shop.store, &damage));
	CHECK_EQ_INT(damage.runs, waiting);
	CHECK_EQ_INT(damage.row, number(&shop, "SELECT max(key) FROM pending"));
	CHECK(strstr(damage.why.text, words));
	CHECK(!store_take_damage(shop.store, &damage)); /* reported once */
	/* New runs settle.  The store tries the waiting ones again only after it is reopened. */
	CHECK_EQ_INT(put(&shop, "# the last one"), 0);
	CHECK_EQ_INT(settle(&shop), 0);
	CHECK_EQ_INT(pending(&shop), waiting);
	CHECK(!store_take_damage(shop.store, &damage));
	bad.file = 0;
	shop_reopen(&shop);
	CHECK_EQ_INT(settle(&shop), 0);
	CHECK_EQ_INT(pending(&shop), 0);
}

TEST(runs_that_the_disk_cannot_read_are_passed_over_and_the_others_settle)
{
	pass_over(ENODATA, "the disk failed");
}

TEST(so_are_runs_that_sqlite_takes_for_damaged)
{
	pass_over(EIO, "damaged");
}

static void fail_altogether(int number_told)
{
	auto_shop struct shop shop;
	struct store_damage damage = { .runs = 0 };

	disk_begin(number_told);
	fill(&shop);
	CHECK(spoil_page_of(&shop, "# the spoilt one"));
	bad.all = true;
	for (unsigned i = 0; i < 3; i++) {
		shop.err = (struct err)ERR_INIT;
		CHECK_EQ_INT(settle(&shop), -1);
	}
	CHECK(put(&shop, "# nobody takes this") < 0);
	CHECK(!store_take_damage(shop.store, &damage));
	CHECK_EQ_INT(shop.store->writer->index.unreadable_count, 0);
	disk_begin(0);
	CHECK_EQ_INT(settle(&shop), 0);
	CHECK_EQ_INT(pending(&shop), 0);
	CHECK(!store_take_damage(shop.store, &damage));
}

TEST(a_disk_that_fails_altogether_is_no_runs_fault)
{
	fail_altogether(ENODATA);
	fail_altogether(EIO);
}

/* The store suspected this run first; the write that would have cleared it failed too. */
TEST(a_run_is_tried_again_when_what_was_written_behind_it_failed_too)
{
	auto_shop struct shop shop;

	disk_begin(ENODATA);
	fill(&shop);
	CHECK(spoil_page_of(&shop, "# the spoilt one"));
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_settle(shop.store, &(bool){ false }, &shop.err), -1);
	store_rollback(shop.store);
	CHECK_EQ_INT(shop.store->writer->index.suspicion.runs, 1);
	bad.all = true;
	CHECK_EQ_INT(store_probe(shop.store, &shop.err), -1);
	CHECK_EQ_INT(shop.store->writer->index.suspicion.runs, 0);
	CHECK_EQ_INT(shop.store->writer->index.unreadable_count, 0);
	disk_begin(0);
	CHECK_EQ_INT(settle(&shop), 0);
	CHECK_EQ_INT(pending(&shop), 0);
}

TEST(records_are_written_while_the_disk_cannot_read_what_waits)
{
	auto_shop struct shop shop;
	unsigned failed = 0;

	disk_begin(ENODATA);
	fill(&shop);
	CHECK(spoil_page_of(&shop, "# the spoilt one"));
	shop.store->writer->index.waiting = FULL;
	for (unsigned i = 0; i < 2 * RUNS; i++) {
		if (put(&shop, "# behind it") == 0)
			continue;
		failed++;
		CHECK_EQ_INT(put(&shop, "# behind it"), 0);
	}
	CHECK_EQ_INT(failed, 1); /* after that, idle moments settle the rest */
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM runs"), 3 * RUNS);
	CHECK_EQ_INT(settle(&shop), 0);
	CHECK(pending(&shop) > 0 && pending(&shop) < RUNS);
}
