/*
 * A store of which nothing is known but where it lies: a copy that somebody handed over.
 *
 * It is read without a lock and without shared memory, since nobody writes to a copy: SQLite's VFS
 * without locks, and its exclusive mode, in which the index of the log lies in memory of this process.
 * So a folder that may only be read will do, and is left as it was.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db.h"

#define DB_FILE   "ced.db"
#define LOCK_FILE "ced.lock"
#define ANSWER_MS 60000
#define VFS       "unix-none"
#define ROOM      ((size_t)256 << 20)

static int find_file(struct store *store, const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOENT
			       ? err_set(err, ERR_MISSING, "the store: there is no %s", path)
			       : err_sys(err, "the store: %s", path);
	if (asprintf(&store->path, S_ISDIR(st.st_mode) ? "%s/" DB_FILE : "%s", path) < 0) {
		store->path = NULL;
		return err_set(err, ERR_MEMORY, "the store: no memory");
	}
	if (stat(store->path, &st) < 0)
		return err_sys(err, "the store: %s", store->path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "the store: %s is no ordinary file", store->path);
	return 0;
}

/* A daemon holds the lock of the folder that it writes to. */
static int check_nobody_writes(const struct store *store, struct err *err)
{
	const char *slash;
	auto_free char *path = NULL;
	auto_fd int fd = -1;
	int len;

	assert(store->path);
	slash = strrchr(store->path, '/');
	len = slash ? (int)(slash - store->path) : 1;
	if (asprintf(&path, "%.*s/" LOCK_FILE, len, slash ? store->path : ".") < 0)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0;
	return err_set(err, ERR_BUSY,
		"the store: a daemon writes to %s: ask the daemon, or a copy of ced.db and ced.db-wal",
		store->path);
}

static int open_file(struct store *store, struct err *err)
{
	int r = sqlite3_open_v2(store->path, &store->db,
		SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, VFS);

	if (!store->db)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	if (r != SQLITE_OK)
		return db_failed(store, r, err);
	(void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if (db_exec(store, "PRAGMA locking_mode = EXCLUSIVE", err) < 0)
		return -1;
	return db_configure(store, err);
}

static int open_copy(struct store *store, const char *path, struct err *err)
{
	if (find_file(store, path, err) < 0 || check_nobody_writes(store, err) < 0)
		return -1;
	if (open_file(store, err) < 0)
		return -1;
	store->patience_ms = ANSWER_MS;
	db_question(store);
	if (schema_prepare(store, err) < 0)
		return -1;
	if (schema_check_tables(store, err) < 0)
		return -1;
	db_answered(store);
	return 0;
}

struct store *store_open_copy(const char *path, struct err *err)
{
	auto_of(store_close) struct store *store = calloc(1, sizeof(*store));

	if (!store) {
		(void)err_set(err, ERR_MEMORY, "the store: no memory");
		return NULL;
	}
	store->mode = STORE_READ;
	store->lock_fd = -1;
	arena_init(&store->scratch, ROOM);
	buf_init(&store->text, ROOM);
	buf_init(&store->form, ROOM);
	buf_init(&store->left, ROOM);
	if (open_copy(store, path, err) < 0)
		return NULL;
	return take_ptr(store);
}
