#include "store/write/writer_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "store/base/schema.h"
#include "store/base/stmt.h"
#include "store/write/chain_write.h"
#include "store/write/writer.h"

#define LOCK_FILE "ced.lock"
#define MODE_FILE 0600

/*
 * The write-ahead log is written once in full and then overwritten from its beginning after each
 * checkpoint, because a disk syncs overwritten blocks in a third of the time that a growing file
 * needs.  A small run fills about six pages.
 */
#define LOG_BYTES ((off_t)STORE_ROOM_LOG)

#define LOCK_WAIT_MS 3000
#define LOCK_LOOK_MS 20

/* ---- files -------------------------------------------------------------------------------- */

/* Waits a moment: a killed ced holds the lock until the last of its threads has left the disk. */
static int wait_for_lock(int fd)
{
	const struct timespec pause = { .tv_nsec = LOCK_LOOK_MS * 1000000L };
	int64_t until_ms = clock_ms() + LOCK_WAIT_MS;
	int r;

	while ((r = flock(fd, LOCK_EX | LOCK_NB)) < 0 && errno == EWOULDBLOCK &&
		clock_ms() < until_ms)
		(void)nanosleep(&pause, NULL);
	return r;
}

/* Why no file can be opened in the folder, and what an administrator types. */
static int explain_folder(const char *folder, struct err *err)
{
	int why = errno;
	unsigned uid = geteuid();
	struct stat st;

	if (stat(folder, &st) < 0 && errno == ENOENT)
		return err_set(err, ERR_MISSING,
			"the store: there is no folder %s: type install -d -m 700 -o %u -g %u %s",
			folder, uid, (unsigned)getegid(), folder);
	if (why == ENOTDIR)
		return err_set(
			err, ERR_INVALID, "the store: %s is no folder: name another one", folder);
	if (why == EACCES && stat(folder, &st) == 0 && st.st_uid != uid)
		return err_set(err, ERR_DENIED,
			"the store: %s belongs to uid %u, and the daemon is uid %u: type chown -R %u:%u %s",
			folder, (unsigned)st.st_uid, uid, uid, (unsigned)getegid(), folder);
	errno = why;
	return err_sys(err, "the store: %s/" LOCK_FILE, folder);
}

/* Locks the folder for this process until the descriptor is closed. */
static int lock_folder(struct store *store, const char *folder, struct err *err)
{
	auto_free char *path = NULL;
	auto_fd int fd = -1;
	struct stat st;

	if (asprintf(&path, "%s/" LOCK_FILE, folder) < 0)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, MODE_FILE);
	if (fd < 0)
		return explain_folder(folder, err);
	if (wait_for_lock(fd) < 0) {
		if (errno == EWOULDBLOCK)
			return err_set(err, ERR_BUSY,
				"the store: another ced writes to %s: stop it first, or name another folder",
				folder);
		return err_sys(err, "the store: %s", path);
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "the store: %s is no ordinary file", path);
	store->writer->lock_fd = take_fd(&fd);
	return 0;
}

/* SQLite would make the file readable for all users.  The log gets the mode of the database. */
static int make_file(const struct store *store, struct err *err)
{
	auto_fd int fd = open(
		store->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, MODE_FILE);
	struct stat st;

	if (fd < 0)
		return err_sys(err, "the store: %s", store->path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "the store: %s is no ordinary file", store->path);
	return 0;
}

/* ---- the log ------------------------------------------------------------------------------ */

/* SQLite calls it after each commit. */
static int on_commit(void *context, sqlite3 *db, const char *name, int pages)
{
	struct writer *writer = context;

	(void)db;
	(void)name;
	writer->log_pages = pages;
	writer->log_frames = pages;
	return SQLITE_OK;
}

static int use_log(struct store *store, struct err *err)
{
	auto_of(db_finish) sqlite3_stmt *stmt = db_prepare(store, "PRAGMA journal_mode = WAL", err);
	bool is_wal;

	if (stmt_step(store, stmt, err) <= 0)
		return -1;
	is_wal = strcmp((const char *)sqlite3_column_text(stmt, 0), "wal") == 0;
	if (!is_wal)
		return err_set(err, ERR_UNSUPPORTED,
			"the store: the file system of %s cannot share memory between programs",
			store->path);
	(void)sqlite3_wal_hook(store->db, on_commit, store->writer);
	return 0;
}

/*
 * Extends the log to its size with zeroes, which a reader takes for the end of the log.  The write
 * lock is held meanwhile, so no frame can be written in between.
 */
static int fill_log(const struct store *store, struct err *err)
{
	static const char zeroes[64 << 10];
	auto_free char *path = NULL;
	auto_fd int fd = -1;
	struct stat st;

	if (asprintf(&path, "%s-wal", store->path) < 0)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "the store: %s", path);
	if (st.st_size >= LOG_BYTES)
		return 0;
	for (off_t at = st.st_size; at < LOG_BYTES; at += (off_t)sizeof(zeroes)) {
		if (pwrite(fd, zeroes, sizeof(zeroes), at) != (ssize_t)sizeof(zeroes))
			return err_set(err, ERR_FULL,
				"the store: %.1f MiB are free in %s, and %.1f MiB more are needed for the log: "
				"make room",
				(double)disk_space_free(path) / (1 << 20), path,
				(double)(LOG_BYTES - at) / (1 << 20));
	}
	return fdatasync(fd) < 0 ? err_sys(err, "the store: %s", path) : 0;
}

static int prepare_log(struct store *store, struct err *err)
{
	struct err why = ERR_INIT;
	int r;

	if (store_begin(store, err) < 0)
		return -1;
	r = fill_log(store, &why);
	/* The reserve takes space on this very disk. */
	if (r < 0 && why.code == ERR_FULL && disk_space_release_left(store->path))
		r = fill_log(store, &why);
	store_rollback(store);
	return r < 0 ? err_pass(err, &why) : 0;
}

/* SQLite can tell whether the file was moved between its own open() and now. */
static int start_watch(struct store *store, const char *folder, struct err *err)
{
	struct file_watch *watch = &store->writer->watch;
	int moved = 0;

	if (file_watch_start(watch, folder, store->path, err) < 0)
		return -1;
	(void)sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	if (moved)
		return err_set(err, ERR_BUSY,
			"the store: %s was replaced while it was opened: start ced again",
			store->path);
	file_watch_note_length(watch, WATCH_DB);
	file_watch_note_length(watch, WATCH_LOG);
	return 0;
}

/* ---- runs that were in flight when the last writer ended ---------------------------------- */

static int record_lost(struct store *store, int64_t key, int64_t now_us, struct err *err)
{
	if (stmt_run(store, STMT_LOST, SQL_VALUES(sql_int(key), sql_int(now_us)), err) < 0)
		return -1;
	return chain_add(store, CHAIN_RUN, key, err);
}

static int record_all_lost(struct store *store, uint64_t *ret_count, struct err *err)
{
	int64_t now_us = clock_wall_us();
	int64_t key = INT64_MIN;
	uint64_t count = 0;
	int r;

	if (store_begin(store, err) < 0)
		return -1;
	while ((r = stmt_next_key(store, STMT_LOST_NEXT, &key, err)) > 0 &&
		(r = record_lost(store, key, now_us, err)) == 0)
		count++;
	if (r < 0) {
		store_rollback(store);
		return -1;
	}
	*ret_count = count;
	return store_commit(store, STORE_NOW, err);
}

/* ---- life --------------------------------------------------------------------------------- */

static int take_stock(struct store *store, struct err *err)
{
	int64_t count = 0;
	int64_t newest = 0;

	if (db_number(store, "SELECT count(*) FROM pending", 0, &count, err) < 0 ||
		db_number(store, "SELECT max(key) FROM runs", 0, &newest, err) < 0)
		return -1;
	store->writer->index.waiting = (uint64_t)count;
	store->writer->newest_ms = (uint64_t)db_ms_of_key(newest);
	return 0;
}

static int open_files(struct store *store, const char *folder, struct err *err)
{
	struct stat st;
	bool is_new = stat(store->path, &st) < 0 || st.st_size == 0;
	const char *vfs = wal_vfs(err);

	if (!vfs || lock_folder(store, folder, err) < 0)
		return -1;
	if ((is_new && disk_space_for_new(folder, err) < 0) || make_file(store, err) < 0)
		return -1;
	if (db_open(store, store->path, vfs, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, err) < 0)
		return -1;
	return db_configure(store, err);
}

static int prepare_database(struct store *store, struct err *err)
{
	/* It takes effect in an empty file; removed contents then free space on the disk. */
	if (db_exec(store, "PRAGMA auto_vacuum = INCREMENTAL", err) < 0 || use_log(store, err) < 0)
		return -1;
	(void)sqlite3_exec(store->db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
	if (schema_prepare(store, err) < 0)
		return -1;
	store->wal = wal_file_of(store->db);
	if (!store->wal)
		return err_set(err, ERR_UNSUPPORTED, "the store: SQLite keeps no log");
	return prepare_log(store, err);
}

int writer_open(struct store *store, const char *folder, struct err *err)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	store->writer = writer;
	writer->lock_fd = -1;
	writer->cached_count = -1;
	progress_mark_init(&writer->mark);
	run_json_init(&writer->json);
	if (open_files(store, folder, err) < 0 || prepare_database(store, err) < 0)
		return -1;
	if (start_watch(store, folder, err) < 0 ||
		disk_space_start(&writer->space, store->path, err) < 0)
		return -1;
	if (chain_end(store, &writer->chain, err) < 0 ||
		record_all_lost(store, &writer->lost, err) < 0)
		return -1;
	return take_stock(store, err);
}

void writer_finish(struct store *store)
{
	/*
	 * SQLite does not move the log while others read it.  After this the database alone is
	 * complete.
	 */
	if (store->wal)
		(void)writer_move_log(store, NULL);
	/* Only when the start has taken over the mark. */
	if (store->writer->mark.fd >= 0)
		(void)store_mark_now(store, NULL);
}

void writer_free(struct store *store)
{
	struct writer *writer = store->writer;

	progress_mark_done(&writer->mark);
	file_watch_done(&writer->watch);
	disk_space_done(&writer->space);
	run_json_done(&writer->json);
	if (writer->lock_fd >= 0)
		(void)close(writer->lock_fd);
	free(writer);
	store->writer = NULL;
}
