/* Copies a snapshot of the store while it is written. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "proto/base/fdio.h"
#include "store/base/db.h"
#include "store/maintenance.h"

#define STEP_PAGES   256 /* a megabyte; between two steps *stop is checked */
#define DIGEST_BYTES ((size_t)256 << 10)
/* A copy that used up the disk would stop the recorder. */
#define SPARE_BYTES  ((uint64_t)256 << 20)

static int check_room(struct store *store, int64_t bytes, struct err *err)
{
	struct statvfs disk;
	uint64_t room;

	if (statvfs(store->path, &disk) < 0)
		return err_sys(err, "the store: %s", store->path);
	room = (uint64_t)disk.f_bavail * disk.f_frsize;
	if (room < (uint64_t)bytes + SPARE_BYTES)
		return err_set(err, ERR_FULL,
			"the store: a copy beside it needs %llu MiB, with what is to stay free, and there are %llu",
			((unsigned long long)bytes + SPARE_BYTES) >> 20,
			(unsigned long long)room >> 20);
	return 0;
}

static int make_empty(const char *path, struct err *err)
{
	int fd;

	(void)unlink(path); /* of a daemon that died over it */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "the store: %s", path);
	(void)close(fd);
	return 0;
}

static int copy_failed(sqlite3 *copy, int code, struct err *err)
{
	return err_set(err, (code & 0xff) == SQLITE_FULL ? ERR_FULL : ERR_SYSTEM,
		"the store: the copy: %s", sqlite3_errmsg(copy));
}

/* The read transaction is open, so all pages are of one snapshot. */
static int copy_pages(struct store *store, sqlite3 *copy, const atomic_bool *stop, struct err *err)
{
	sqlite3_backup *backup = sqlite3_backup_init(copy, "main", store->db, "main");
	int r = SQLITE_OK;

	if (!backup)
		return copy_failed(copy, sqlite3_errcode(copy), err);
	while (r == SQLITE_OK && !atomic_load(stop))
		r = sqlite3_backup_step(backup, STEP_PAGES);
	(void)sqlite3_backup_finish(backup);
	if (r == SQLITE_OK)
		return err_set(err, ERR_CLOSED, "the store: the copy was broken off");
	return r == SQLITE_DONE ? 0 : copy_failed(copy, r, err);
}

static int copy_into(
	struct store *store, const char *path, const atomic_bool *stop, struct err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
	sqlite3 *copy = NULL;
	int r = sqlite3_open_v2(path, &copy, flags, NULL);

	if (r != SQLITE_OK)
		r = copy ? copy_failed(copy, r, err)
			 : err_set(err, ERR_MEMORY, "the store: no memory for a copy");
	else /* an incomplete copy is deleted */
		r = sqlite3_exec(copy, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL,
			    NULL, NULL) == SQLITE_OK
			    ? copy_pages(store, copy, stop, err)
			    : copy_failed(copy, SQLITE_ERROR, err);
	(void)sqlite3_close(copy);
	return r;
}

static int copy_moment(
	struct store *store, const char *path, const atomic_bool *stop, struct err *err)
{
	bool began = false;
	int64_t bytes = 0;
	int r;

	if (db_begin_snapshot(store, &began, err) < 0)
		return -1;
	/* The first query fixes the snapshot of the transaction. */
	r = db_bytes(store, &bytes, err);
	if (r == 0)
		r = check_room(store, bytes, err);
	if (r == 0)
		r = make_empty(path, err);
	if (r == 0)
		r = copy_into(store, path, stop, err);
	db_end_snapshot(store, began);
	return r;
}

static int digest_file(int fd, struct store_backup *ret_backup, struct err *err)
{
	auto_free char *bytes = malloc(DIGEST_BYTES);
	struct digest digest;
	ssize_t got;

	if (!bytes)
		return err_set(err, ERR_MEMORY, "the store: no memory for a copy");
	digest_start(&digest);
	while ((got = read(fd, bytes, DIGEST_BYTES)) > 0) {
		digest_add(&digest, bytes, (size_t)got);
		ret_backup->bytes += got;
	}
	if (got < 0)
		return err_sys(err, "the store: the copy");
	digest_end_text(&digest, ret_backup->sha256);
	return 0;
}

int store_backup(struct store *store, const char *path, const atomic_bool *stop,
	struct store_backup *ret_backup, struct err *err)
{
	int fd;

	*ret_backup = (struct store_backup){ .fd = -1 };
	if (copy_moment(store, path, stop, err) < 0) {
		(void)unlink(path);
		return -1;
	}
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	(void)unlink(path); /* only the holder of the descriptor may have it */
	if (fd < 0)
		return err_sys(err, "the store: %s", path);
	if (digest_file(fd, ret_backup, err) < 0) {
		(void)close(fd);
		return -1;
	}
	ret_backup->fd = fd;
	return 0;
}
