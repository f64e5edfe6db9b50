/* Opens and closes a store, and describes it for a status. */
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/fill.h"
#include "store/base/canonical.h"
#include "store/base/db.h"
#include "store/base/schema.h"
#include "store/base/stmt.h"
#include "store/write/disk_space.h"
#include "store/write/writer_open.h"

#define DB_FILE        "ced.db"
#define LOCK_FILE      "ced.lock"
#define ANSWER_MS      10000 /* for one question to a daemon's store, since others wait */
#define COPY_ANSWER_MS 60000
#define COPY_VFS       "unix-none"

static struct store *store_new(enum store_mode mode, struct err *err)
{
	auto_of(store_close) struct store *store = calloc(1, sizeof(*store));

	if (store) {
		store->mode = mode;
		store->stmts = stmt_table_new();
		store->canonical = canonical_new();
	}
	if (store && store->stmts && store->canonical)
		return take_ptr(store);
	(void)err_set(err, ERR_MEMORY, "the store: no memory");
	return NULL;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	if (store->writer)
		writer_finish(store);
	stmt_table_free(store->stmts);
	canonical_free(store->canonical);
	(void)sqlite3_close(store->db);
	/* Until the database is closed no other process may write to it. */
	if (store->writer)
		writer_free(store);
	free(store->path);
	free(store);
}

/* ---- in a state folder -------------------------------------------------------------------- */

/* SQLite opens no database whose path has a symbolic link, and does not say why. */
static int check_no_link(const char *folder, struct err *err)
{
	auto_free char *part = strdup(folder);
	auto_free char *real = realpath(folder, NULL);
	struct stat st;

	if (!part)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	for (size_t at = 1; *folder && at <= strlen(folder); at++) {
		if (folder[at] != '/' && folder[at] != '\0')
			continue;
		part[at] = '\0';
		if (lstat(part, &st) == 0 && S_ISLNK(st.st_mode))
			return err_set(err, ERR_INVALID,
				"the store: %s is a symbolic link, and ced opens a store only by a path "
				"without links: set state to %s",
				part, real ? real : "the folder that it should lead to");
		part[at] = folder[at];
	}
	return 0;
}

static int open_reader(struct store *store, const char *folder, struct err *err)
{
	const char *vfs = wal_vfs(err);

	store->patience_ms = ANSWER_MS;
	if (access(store->path, F_OK) < 0 && errno == ENOENT)
		return err_set(err, ERR_MISSING, "the store: there is none in %s", folder);
	if (!vfs ||
		db_open(store, store->path, vfs, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW, err) <
			0 ||
		db_configure(store, err) < 0)
		return -1;
	return schema_prepare(store, err);
}

struct store *store_open(const char *folder, enum store_mode mode, struct err *err)
{
	auto_of(store_close) struct store *store = store_new(mode, err);

	if (!store || check_no_link(folder, err) < 0)
		return NULL;
	if (asprintf(&store->path, "%s/" DB_FILE, folder) < 0) {
		store->path = NULL;
		(void)err_set(err, ERR_MEMORY, "the store: no memory");
		return NULL;
	}
	if ((mode == STORE_WRITE ? writer_open(store, folder, err)
				 : open_reader(store, folder, err)) < 0)
		return NULL;
	return take_ptr(store);
}

/* ---- a copy ------------------------------------------------------------------------------- */

static int find_copy(struct store *store, const char *path, struct err *err)
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
static int check_no_writer(const char *db, struct err *err)
{
	const char *slash;
	auto_free char *path = NULL;
	auto_fd int fd = -1;
	int len;

	assert(db);
	slash = strrchr(db, '/');
	len = slash ? (int)(slash - db) : 1;
	if (asprintf(&path, "%.*s/" LOCK_FILE, len, slash ? db : ".") < 0)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0;
	return err_set(err, ERR_BUSY,
		"the store: a daemon writes to %s: ask the daemon, or a copy of ced.db and ced.db-wal",
		db);
}

/* Whether a file beside the database may hold a part of its content. */
static bool has_beside(const char *db, const char *ending)
{
	auto_free char *whole = NULL;
	struct stat st;

	return asprintf(&whole, "%s%s", db, ending) < 0 ||
	       (stat(whole, &st) == 0 && st.st_size > 0);
}

/* SQLite's log and journal stand beside the file itself, not beside a link to it. */
static bool is_all_in_one_file(const char *path)
{
	auto_free char *db = realpath(path, NULL);

	return db && !has_beside(db, "-wal") && !has_beside(db, "-journal");
}

/*
 * A name under which SQLite creates no log beside the file.  Gives a text, or NULL without memory.
 */
static char *name_immutable(const char *path)
{
	static const char *const plain =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t size = strlen(path) * 3 + sizeof("file:?immutable=1");
	char *name = malloc(size);
	size_t len = 5;

	if (!name)
		return NULL;
	memcpy(name, "file:", len);
	for (; *path; path++) {
		if (strchr(plain, *path))
			name[len++] = *path;
		else
			len += (size_t)sprintf(name + len, "%%%02X", (unsigned char)*path);
	}
	memcpy(name + len, "?immutable=1", sizeof("?immutable=1"));
	return name;
}

static int open_copy_file(struct store *store, struct err *err)
{
	auto_free char *name = NULL;

	if (!is_all_in_one_file(store->path))
		return db_open(store, store->path, COPY_VFS, SQLITE_OPEN_READONLY, err);
	name = name_immutable(store->path);
	if (!name)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	return db_open(store, name, COPY_VFS, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
}

/*
 * A copy has no writer, so it is read without locks and without shared memory. SQLite has a VFS
 * without locks, and in its exclusive mode it keeps the index of the log in the memory of this
 * process. A copy without a log is opened as immutable, since SQLite would otherwise create the
 * log. So the folder need not be writable, and is left as it was.
 */
static int open_copy(struct store *store, const char *path, struct err *err)
{
	int r;

	store->patience_ms = COPY_ANSWER_MS;
	if (find_copy(store, path, err) < 0 || check_no_writer(store->path, err) < 0)
		return -1;
	if (open_copy_file(store, err) < 0)
		return -1;
	(void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if (db_exec(store, "PRAGMA locking_mode = EXCLUSIVE", err) < 0 ||
		db_configure(store, err) < 0)
		return -1;
	db_question(store);
	if (schema_prepare(store, err) < 0)
		return -1;
	r = schema_compare(store, err);
	db_answered(store);
	if (r > 0)
		return err_set(err, ERR_CORRUPT, "the store: the tables of %s are not those of ced",
			store->path);
	return r;
}

struct store *store_open_copy(const char *path, struct err *err)
{
	auto_of(store_close) struct store *store = store_new(STORE_READ, err);

	if (!store || open_copy(store, path, err) < 0)
		return NULL;
	return take_ptr(store);
}

/* ---- status ------------------------------------------------------------------------------- */

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
	struct fill status = fill_start(arena);
	int64_t runs = 0;
	int64_t pending = 0;

	if (db_number(store, "SELECT count(*) FROM runs", 0, &runs, err) < 0 ||
		db_number(store, "SELECT count(*) FROM pending", 0, &pending, err) < 0)
		return -1;
	fill_int(&status, "runs", runs);
	fill_int(&status, "unsettled", pending);
	fill_int(&status, "bytes", size_of(store->path, ""));
	fill_int(&status, "wal_bytes", size_of(store->path, "-wal"));
	fill_int(&status, "free_bytes", disk_space_free(store->path));
	fill_int(&status, "schema", store->schema);
	fill_text(&status, "path", store->path);
	*ret_status = fill_done(&status);
	return *ret_status ? 0 : err_set(err, ERR_MEMORY, "the store: no memory for an answer");
}
