#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "store/db.h"
#include "store/lost.h"

#define DB_FILE         "ced.db"
#define EVIDENCE_SCHEMA 9 /* the first that has links of runs that wait */
#define LOCK_FILE       "ced.lock"
#define ANSWER_MS       10000 /* a question that takes longer keeps others waiting */
#define MODE_FILE       0600

/*
 * The write-ahead log is a file that is written once in full and then overwritten from its
 * beginning after each checkpoint, because the disk syncs overwritten blocks in a third of the time
 * that it needs for a file that grows.  A small run fills about six pages.
 */
#define LOG_BYTES       ((off_t)STORE_ROOM_LOG)
#define SCRATCH_CEILING ((size_t)256 << 20)

/* ---- opening ------------------------------------------------------------------------------ */

/* Takes the folder for this process; the lock goes with the descriptor. */
static int lock_folder(struct store *store, const char *folder, struct err *err)
{
	auto_free char *path = NULL;
	auto_fd int fd = -1;
	struct stat st;

	if (asprintf(&path, "%s/" LOCK_FILE, folder) < 0)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, MODE_FILE);
	if (fd < 0)
		return err_sys(err, "the store: %s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return err_set(
				err, ERR_BUSY, "the store: another ced writes to %s", folder);
		return err_sys(err, "the store: %s", path);
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "the store: %s is no ordinary file", path);
	store->lock_fd = take_fd(&fd);
	return 0;
}

/* SQLite would make the file readable for all; its log takes the mode from it. */
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

static int open_database(struct store *store, struct err *err)
{
	const char *vfs = disk_vfs(err);
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW;
	int r;

	if (!vfs)
		return -1;
	flags |= store->mode == STORE_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
	r = sqlite3_open_v2(store->path, &store->db, flags, vfs);
	if (!store->db)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	if (r != SQLITE_OK) {
		(void)db_failed(store, r, err);
		return err_wrap(err, "%s", store->path);
	}
	return db_configure(store, err);
}

static int on_commit(void *context, sqlite3 *db, const char *name, int pages)
{
	struct store *store = context;

	(void)db;
	(void)name;
	store->log_pages = pages;
	store->held.frames = pages;
	return SQLITE_OK;
}

static int use_log(struct store *store, struct err *err)
{
	sqlite3_stmt *stmt = NULL;
	int r = sqlite3_prepare_v2(store->db, "PRAGMA journal_mode = WAL", -1, &stmt, NULL);
	bool is_wal = false;

	if (r == SQLITE_OK)
		r = sqlite3_step(stmt);
	if (r == SQLITE_ROW)
		is_wal = strcmp((const char *)sqlite3_column_text(stmt, 0), "wal") == 0;
	(void)sqlite3_finalize(stmt);
	if (r != SQLITE_ROW)
		return db_failed(store, r, err);
	if (!is_wal)
		return err_set(err, ERR_UNSUPPORTED,
			"the store: the file system of %s cannot share memory between programs",
			store->path);
	(void)sqlite3_wal_hook(store->db, on_commit, store);
	return 0;
}

/*
 * Writes the log out to its size.  What is added are zeroes behind the last frame, which a reader
 * of the log takes for its end.  The write lock is held meanwhile, so no frame can come in between.
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
				(double)room_free(path) / (1 << 20), path,
				(double)(LOG_BYTES - at) / (1 << 20));
	}
	return fdatasync(fd) < 0 ? err_sys(err, "the store: %s", path) : 0;
}

/* How many runs wait to be settled, and which time the newest one has. */
static int take_stock(struct store *store, struct err *err)
{
	int64_t count = 0;
	int64_t newest = 0;

	if (db_number(store, "SELECT count(*) FROM pending", 0, &count, err) < 0 ||
		db_number(store, "SELECT max(key) FROM runs", 0, &newest, err) < 0)
		return -1;
	store->unsettled = (uint64_t)count;
	store->newest_ms = (uint64_t)db_ms_of_key(newest);
	return 0;
}

/* SQLite itself looks whether the database moved between its own open() and the first look. */
static int start_watch(struct store *store, struct err *err)
{
	auto_free char *folder = strndup(store->path, strlen(store->path) - strlen("/" DB_FILE));
	int moved = 0;

	if (!folder)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	if (watch_start(&store->watch, folder, store->path, err) < 0)
		return -1;
	(void)sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	if (moved)
		return err_set(err, ERR_BUSY,
			"the store: %s was replaced while it was opened: start ced again",
			store->path);
	watch_note_length(&store->watch, WATCH_DB);
	watch_note_length(&store->watch, WATCH_LOG);
	return 0;
}

/* Makes the log as long as it is to stay. */
static int prepare_log(struct store *store, struct err *err)
{
	struct err why = ERR_INIT;
	int r;

	if (store_begin(store, err) < 0)
		return -1;
	r = fill_log(store, &why);
	/* What is kept for gc was taken from this very disk. */
	if (r < 0 && why.code == ERR_FULL && room_give_up(store->path))
		r = fill_log(store, &why);
	store_rollback(store);
	return r < 0 ? err_pass(err, &why) : 0;
}

static int prepare_writing(struct store *store, struct err *err)
{
	/* Of a file that is still empty; then what leaves the store leaves room on the disk. */
	if (db_exec(store, "PRAGMA auto_vacuum = INCREMENTAL", err) < 0 || use_log(store, err) < 0)
		return -1;
	(void)sqlite3_exec(store->db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
	if (schema_prepare(store, err) < 0)
		return -1;
	store->log = disk_log_of(store->db);
	if (!store->log)
		return err_set(err, ERR_UNSUPPORTED, "the store: SQLite keeps no log");
	if (prepare_log(store, err) < 0)
		return -1;
	if (start_watch(store, err) < 0 || room_start(store, err) < 0)
		return -1;
	if (chain_end(store, &store->chain, err) < 0 || chain_begin(store, err) < 0)
		return -1;
	if (store->came_from && store->came_from < EVIDENCE_SCHEMA &&
		chain_begin_parked(store, err) < 0)
		return -1;
	if (lost_mark(store, &store->lost, err) < 0)
		return -1;
	return take_stock(store, err);
}

static bool is_new(const struct store *store)
{
	struct stat st;

	return stat(store->path, &st) < 0 || st.st_size == 0;
}

static int open_in(struct store *store, const char *folder, struct err *err)
{
	if (asprintf(&store->path, "%s/" DB_FILE, folder) < 0) {
		store->path = NULL;
		return err_set(err, ERR_MEMORY, "the store: no memory");
	}
	if (store->mode == STORE_WRITE) {
		if (lock_folder(store, folder, err) < 0)
			return -1;
		if (is_new(store) && room_for_new(folder, err) < 0)
			return -1;
		if (make_file(store, err) < 0)
			return -1;
	} else if (access(store->path, F_OK) < 0 && errno == ENOENT) {
		return err_set(err, ERR_MISSING, "the store: there is none in %s", folder);
	}
	if (open_database(store, err) < 0)
		return -1;
	return store->mode == STORE_WRITE ? prepare_writing(store, err)
					  : schema_prepare(store, err);
}

struct store *store_open(const char *folder, enum store_mode mode, struct err *err)
{
	auto_of(store_close) struct store *store = calloc(1, sizeof(*store));

	if (!store) {
		(void)err_set(err, ERR_MEMORY, "the store: no memory");
		return NULL;
	}
	store->mode = mode;
	store->patience_ms = mode == STORE_READ ? ANSWER_MS : 0;
	store->lock_fd = -1;
	store->cached_count = -1;
	mark_init(&store->mark);
	arena_init(&store->scratch, SCRATCH_CEILING);
	buf_init(&store->text, SCRATCH_CEILING);
	buf_init(&store->form, SCRATCH_CEILING);
	buf_init(&store->left, SCRATCH_CEILING);
	if (open_in(store, folder, err) < 0)
		return NULL;
	return take_ptr(store);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	/* SQLite does not, as long as others read it; then a copy of the database alone is whole. */
	if (store->log)
		store_move_log(store);
	/* Not where the start ended before the mark was taken over. */
	if (!store->watch.is_broken && store->mark.fd >= 0)
		mark_write(store);
	mark_done(&store->mark);
	watch_done(&store->watch);
	room_done(&store->room);
	stmt_close_all(store);
	canon_close(store);
	(void)sqlite3_close(store->db);
	arena_done(&store->scratch);
	buf_done(&store->text);
	buf_done(&store->form);
	buf_done(&store->left);
	free(store->path);
	/* Last: until the database is closed nobody else may write to it. */
	if (store->lock_fd >= 0)
		(void)close(store->lock_fd);
	free(store);
}

uint64_t store_lost_count(const struct store *store)
{
	return store->lost;
}

uint64_t store_newest_ms(const struct store *store)
{
	return store->newest_ms;
}

/* ---- what it is like ---------------------------------------------------------------------- */

static int64_t size_of(const char *path, const char *ending)
{
	auto_free char *whole = NULL;
	struct stat st;

	if (asprintf(&whole, "%s%s", path, ending) < 0 || stat(whole, &st) < 0)
		return 0;
	return st.st_size;
}

int store_status(
	struct store *store, struct arena *arena, struct value **ret_status, struct err *err)
{
	struct value *status = value_map(arena);
	int64_t runs = 0;
	int64_t pending = 0;

	if (db_number(store, "SELECT count(*) FROM runs", 0, &runs, err) < 0 ||
		db_number(store, "SELECT count(*) FROM pending", 0, &pending, err) < 0)
		return -1;
	if (value_map_put(arena, status, "runs", value_int(arena, runs)) < 0 ||
		value_map_put(arena, status, "unsettled", value_int(arena, pending)) < 0 ||
		value_map_put(arena, status, "bytes", value_int(arena, size_of(store->path, ""))) <
			0 ||
		value_map_put(arena, status, "wal_bytes",
			value_int(arena, size_of(store->path, "-wal"))) < 0 ||
		value_map_put(arena, status, "free_bytes",
			value_int(arena, room_free(store->path))) < 0 ||
		value_map_put(arena, status, "schema", value_int(arena, store->schema)) < 0 ||
		value_map_put(arena, status, "path", value_text(arena, store->path)) < 0)
		return err_set(err, ERR_MEMORY, "the store: no memory for an answer");
	*ret_status = status;
	return 0;
}
