/*
 * The store against a power cut.
 *
 * This program's own pwrite() and fdatasync() take the place of libc's, for SQLite too.  They keep
 * a journal of every write to the database and its log, of every sync, and of every promise of the
 * store.  A cut can be at any place in the journal.  It keeps all bytes synced before, and a
 * random selection of the sectors written since.  The test opens a store from that: every run
 * promised before the cut must be in it, whole.
 *
 * A failed sync may have lost the writes before it.  The next sync succeeds all the same, because
 * the kernel reports an error only once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sqlite3.h>

#include "proto/base/container.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

#define RUNS 420
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CUTS 100 /* each takes four times as long here; builds without sanitizers try the rest */
#else
#define CUTS 300
#endif
#define EVENTS_MAX 40000
#define SECTOR     512
#define IMAGE_MAX  ((size_t)24 << 20)
#define LOG_BYTES  ((off_t)8 << 20)

enum file {
	FILE_DB,
	FILE_LOG,
	FILE_COUNT
};
enum kind {
	WRITTEN,
	SYNCED,
	NOT_SYNCED,
	CUT_TO,
	PROMISED
};

struct event {
	enum kind kind;
	enum file file;
	off_t at; /* or the new size */
	size_t len;
	char *bytes; /* or the run's id */
};

static struct event events[EVENTS_MAX];
static size_t event_count;
static bool recording;
static unsigned fail_one_in; /* one sync in so many fails; 0: none */

/* ---- the journal -------------------------------------------------------------------------- */

static bool file_of(int fd, enum file *ret_file)
{
	char link[64];
	char path[256];
	ssize_t len;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return false;
	path[len] = '\0';
	if (strstr(path, "ced.db-wal"))
		*ret_file = FILE_LOG;
	else if (strstr(path, "ced.db") && !strstr(path, "-shm"))
		*ret_file = FILE_DB;
	else
		return false;
	return true;
}

static void note(enum kind kind, enum file file, off_t at, const void *bytes, size_t len)
{
	struct event *event = &events[event_count];
	char *copy = malloc(len + 1);

	if (event_count == EVENTS_MAX || !copy)
		abort();
	if (len)
		memcpy(copy, bytes, len);
	copy[len] = '\0';
	*event = (struct event){ kind, file, at, len, copy };
	event_count++;
}

static ssize_t noted_write(int fd, const void *bytes, size_t len, off_t at)
{
	ssize_t r = syscall(SYS_pwrite64, fd, bytes, len, at);
	enum file file = FILE_DB;

	if (recording && r > 0 && file_of(fd, &file))
		note(WRITTEN, file, at, bytes, (size_t)r);
	return r;
}

static int noted_sync(int fd)
{
	enum file file = FILE_DB;

	/* The test needs nothing on the real disk. */
	if (!recording || !file_of(fd, &file))
		return 0;
	if (fail_one_in && (unsigned)random() % fail_one_in == 0) {
		note(NOT_SYNCED, file, 0, NULL, 0);
		errno = EIO;
		return -1;
	}
	note(SYNCED, file, 0, NULL, 0);
	return 0;
}

static int noted_cut(int fd, off_t size)
{
	long r = syscall(SYS_ftruncate, fd, size);
	enum file file = FILE_DB;

	if (recording && r == 0 && file_of(fd, &file))
		note(CUT_TO, file, size, NULL, 0);
	return (int)r;
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	return noted_write(fd, bytes, len, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
{
	return noted_write(fd, bytes, len, at);
}

int fdatasync(int fd)
{
	return noted_sync(fd);
}

int fsync(int fd)
{
	return noted_sync(fd);
}

int ftruncate(int fd, off_t size)
{
	return noted_cut(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
	return noted_cut(fd, size);
}

/* ---- what a disk holds -------------------------------------------------------------------- */

/* One file: its bytes as synced, and the first event that is not synced. */
struct image {
	char *bytes;
	size_t size;
	size_t first_unsynced; /* index of an event */
};

static void grow(struct image *image, size_t size)
{
	if (size > IMAGE_MAX)
		abort();
	if (size > image->size)
		image->size = size;
}

static void apply(struct image *image, const struct event *event)
{
	if (event->kind == CUT_TO) {
		size_t size = (size_t)event->at;

		if (size < image->size)
			memset(image->bytes + size, 0, image->size - size);
		image->size = size;
		return;
	}
	grow(image, (size_t)event->at + event->len);
	memcpy(image->bytes + event->at, event->bytes, event->len);
}

/* All writes to the file before event number `end` have reached the disk. */
static void make_safe(struct image *image, enum file file, size_t end)
{
	for (size_t i = image->first_unsynced; i < end; i++) {
		if (events[i].file == file &&
			(events[i].kind == WRITTEN || events[i].kind == CUT_TO))
			apply(image, &events[i]);
	}
	image->first_unsynced = end;
}

/* A random selection of the sectors of one write. */
static void apply_some(struct image *image, const struct event *event, unsigned percent)
{
	size_t at = (size_t)event->at;
	size_t end = at + event->len;

	if (event->kind == CUT_TO) {
		if ((unsigned)random() % 100 < percent)
			apply(image, event);
		return;
	}
	while (at < end) {
		size_t next = (at / SECTOR + 1) * SECTOR < end ? (at / SECTOR + 1) * SECTOR : end;

		if ((unsigned)random() % 100 < percent) {
			grow(image, next);
			memcpy(image->bytes + at, event->bytes + (at - (size_t)event->at),
				next - at);
		}
		at = next;
	}
}

/* After a failed sync, the sectors that did not reach the disk before it never will. */
static void lose_some(struct image *image, enum file file, size_t end)
{
	for (size_t i = image->first_unsynced; i < end; i++) {
		if (events[i].file == file &&
			(events[i].kind == WRITTEN || events[i].kind == CUT_TO))
			apply_some(image, &events[i], 50);
	}
	image->first_unsynced = end;
}

/* The file as a cut at event `end` leaves it, in `ret_image`. */
static void cut_power(const struct image *safe, enum file file, size_t end, unsigned percent,
	struct image *ret_image)
{
	memcpy(ret_image->bytes, safe->bytes, safe->size);
	if (ret_image->size > safe->size)
		memset(ret_image->bytes + safe->size, 0, ret_image->size - safe->size);
	ret_image->size = safe->size;
	for (size_t i = safe->first_unsynced; i < end; i++) {
		if (events[i].file == file &&
			(events[i].kind == WRITTEN || events[i].kind == CUT_TO))
			apply_some(ret_image, &events[i], percent);
	}
}

static bool put_file(const struct shop *shop, const char *name, const struct image *image)
{
	char path[128];
	size_t used = image->size;
	bool done;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", shop->folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	while (used > 0 && !image->bytes[used - 1])
		used--;
	done = fd >= 0 &&
	       (!used || syscall(SYS_pwrite64, fd, image->bytes, used, 0) == (long)used) &&
	       syscall(SYS_ftruncate, fd, (off_t)image->size) == 0;
	if (fd >= 0)
		(void)close(fd);
	return done;
}

/* ---- the workload ------------------------------------------------------------------------- */

static void promise(const struct sample *sample)
{
	note(PROMISED, FILE_COUNT, 0, sample->run_id, RUN_ID_LEN);
}

/* Begins and ends a run.  Returns true if the store promised it. */
static bool write_run(struct shop *shop)
{
	struct store_run run = sample_begun(&shop->sample);
	struct err err = ERR_INIT;

	if (store_begin(shop->store, &err) == 0) {
		if (store_put_begun(shop->store, &run, &err) == 0)
			(void)store_commit(shop->store, STORE_SOON, &err);
		else
			store_rollback(shop->store);
	}
	run = sample_ended(&shop->sample);
	if (store_begin(shop->store, &err) < 0)
		return false;
	if (store_put_ended(shop->store, &run, &err) < 0) {
		store_rollback(shop->store);
		return false;
	}
	return store_commit(shop->store, STORE_NOW, &err) == 0;
}

static unsigned work(struct shop *shop)
{
	static char output[20000];
	unsigned promised = 0;

	for (unsigned i = 0; i < RUNS; i++) {
		sample_next(&shop->sample);
		for (size_t k = 0; k < sizeof(output); k++)
			output[k] = (char)(random() >> 7);
		shop->sample.result.out.head =
			(struct bytes){ output, i % 9 ? 100 + i : sizeof(output) };
		if (write_run(shop)) {
			promise(&shop->sample);
			promised++;
		}
		if (i % 3 == 0)
			(void)store_tidy(shop->store, &shop->err);
	}
	return promised;
}

/* ---- after the cut ------------------------------------------------------------------------ */

static bool is_sound(const struct shop *shop)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;
	char path[128];
	bool sound;

	(void)snprintf(path, sizeof(path), "%s/ced.db", shop->folder);
	sound = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
		sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL) == SQLITE_OK &&
		sqlite3_step(stmt) == SQLITE_ROW &&
		strcmp((const char *)sqlite3_column_text(stmt, 0), "ok") == 0;
	(void)sqlite3_finalize(stmt);
	(void)sqlite3_close(db);
	return sound;
}

static void check_promises(struct shop *shop, size_t end)
{
	for (size_t i = 0; i < end; i++) {
		struct value *record = NULL;
		uint32_t uid = 0;

		if (events[i].kind != PROMISED)
			continue;
		arena_done(&shop->arena);
		CHECK_EQ_INT(store_get(shop->store, events[i].bytes, 100000, &shop->arena, &record,
				     &uid, &shop->err),
			0);
		CHECK_STR(value_as_text(value_get(record, "outcome")), "ok");
		CHECK(value_get(record, "stdout")->text.len >= 100);
	}
}

static void check_cut(struct shop *shop, const struct image *safe, struct image *left, size_t end,
	unsigned percent)
{
	static const char *const names[] = { "ced.db", "ced.db-wal" };
	char shm[128];

	for (unsigned file = 0; file < FILE_COUNT; file++) {
		cut_power(&safe[file], (enum file)file, end, percent, &left[file]);
		CHECK(put_file(shop, names[file], &left[file]));
	}
	(void)snprintf(shm, sizeof(shm), "%s/ced.db-shm", shop->folder);
	(void)unlink(shm);
	shop->store = store_open(shop->folder, STORE_WRITE, &shop->err);
	if (!shop->store)
		(void)printf("# event %zu: %s\n", end, shop->err.text);
	CHECK(shop->store);
	check_promises(shop, end);
	CHECK(check_ok());
	CHECK(is_sound(shop));
	store_close(shop->store);
	shop->store = NULL;
}

static int by_number(const void *a, const void *b)
{
	size_t left = *(const size_t *)a;
	size_t right = *(const size_t *)b;

	return left < right ? -1 : left > right;
}

/*
 * Half of the cuts are anywhere, half in or right after a checkpoint, where the order matters
 * most.
 */
static size_t choose_cuts(size_t first, size_t cuts[CUTS])
{
	static size_t near_db[EVENTS_MAX];
	size_t near_count = 0;

	for (size_t i = first; i < event_count; i++) {
		if (events[i].file == FILE_DB)
			near_db[near_count++] = i;
	}
	for (size_t i = 0; i < CUTS; i++) {
		cuts[i] = first + (size_t)random() % (event_count - first);
		if (i % 2 && near_count) {
			cuts[i] =
				near_db[(size_t)random() % near_count] + 1 + (size_t)random() % 12;
			if (cuts[i] > event_count)
				cuts[i] = event_count;
		}
	}
	qsort(cuts, CUTS, sizeof(cuts[0]), by_number);
	return near_count;
}

static void check_all_cuts(struct shop *shop, size_t first)
{
	static const unsigned percents[] = { 0, 10, 50, 90, 99 };
	struct image safe[FILE_COUNT];
	struct image left[FILE_COUNT];
	static size_t cuts[CUTS];
	size_t at = 0;

	for (unsigned file = 0; file < FILE_COUNT; file++) {
		safe[file] = (struct image){ calloc(1, IMAGE_MAX), 0, 0 };
		left[file] = (struct image){ calloc(1, IMAGE_MAX), 0, 0 };
	}
	CHECK(choose_cuts(first, cuts) > 0);
	for (size_t i = 0; i < CUTS && check_ok(); i++) {
		for (; at < cuts[i]; at++) {
			if (events[at].kind == SYNCED)
				make_safe(&safe[events[at].file], events[at].file, at + 1);
			if (events[at].kind == NOT_SYNCED)
				lose_some(&safe[events[at].file], events[at].file, at + 1);
		}
		check_cut(shop, safe, left, cuts[i], percents[i % COUNT_OF(percents)]);
	}
	for (unsigned file = 0; file < FILE_COUNT; file++) {
		free(safe[file].bytes);
		free(left[file].bytes);
	}
}

/*
 * Runs the workload, with failing syncs or without, then tries every cut.  Returns how many runs
 * were promised.
 */
static unsigned work_and_cut(struct shop *shop, unsigned one_in)
{
	unsigned promised;
	size_t first;

	srandom(4711);
	recording = true;
	shop_init(shop);
	first = event_count;
	fail_one_in = one_in;
	promised = shop->store ? work(shop) : 0;
	fail_one_in = 0;
	recording = false;
	store_close(shop->store);
	shop->store = NULL;
	check_all_cuts(shop, first);
	(void)printf("# %d cuts among %zu events, %u of %d runs promised\n", CUTS, event_count,
		promised, RUNS);
	for (size_t i = 0; i < event_count; i++)
		free(events[i].bytes);
	event_count = 0;
	return promised;
}

TEST(no_promised_run_is_missing_wherever_the_power_is_cut)
{
	auto_shop struct shop shop;

	CHECK_EQ_INT(work_and_cut(&shop, 0), RUNS);
}

TEST(no_promised_run_is_missing_when_syncs_fail_before_the_cut)
{
	auto_shop struct shop shop;

	CHECK(work_and_cut(&shop, 12) > RUNS / 2);
}
