#include "store/room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "store/db.h"

#define RESERVE_FILE "ced.reserve"
#define PIECE        ((size_t)64 << 10)
#define MIB          (1024.0 * 1024.0)

int64_t room_free(const char *path)
{
	struct statvfs fs;

	if (statvfs(path, &fs) < 0 || !fs.f_frsize || fs.f_bavail > INT64_MAX / fs.f_frsize)
		return INT64_MAX;
	return (int64_t)(fs.f_bavail * fs.f_frsize);
}

int room_for_new(const char *folder, struct err *err)
{
	int64_t found = room_free(folder);

	if (found >= STORE_ROOM_NEW)
		return 0;
	return err_set(err, ERR_FULL,
		"the store: %.1f MiB are free in %s and a new store needs %.1f MiB: make room, or name "
		"another folder (the setting state)",
		(double)found / MIB, folder, (double)STORE_ROOM_NEW / MIB);
}

/* ---- the reserve -------------------------------------------------------------------------- */

/* Half of it is of no use. */
static int empty(int fd, const char *path, struct err *err)
{
	return ftruncate(fd, 0) < 0 ? err_sys(err, "the store: %s", path) : 1;
}

/* 0, 1: there is no room for it; -1.  Written, not only reserved: not every file system can. */
static int fill(const char *path, struct err *err)
{
	static const char zeroes[PIECE];
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat st;

	if (fd < 0 && (errno == ENOSPC || errno == EDQUOT))
		return 1;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "the store: %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "the store: %s is no ordinary file", path);
	if (st.st_size >= ROOM_RESERVE)
		return 0;
	for (off_t at = 0; at < ROOM_RESERVE; at += (off_t)PIECE) {
		if (pwrite(fd, zeroes, PIECE, at) == (ssize_t)PIECE)
			continue;
		return empty(fd, path, err);
	}
	/* Some file systems find only now that there is no room. */
	if (fdatasync(fd) == 0)
		return 0;
	return empty(fd, path, err);
}

static char *reserve_path(const char *db)
{
	char *path = NULL;

	return asprintf(&path, "%.*s" RESERVE_FILE, (int)(strlen(db) - strlen("ced.db")), db) < 0
		       ? NULL
		       : path;
}

bool room_give_up(const char *db)
{
	auto_free char *path = reserve_path(db);
	struct stat st;

	return path && stat(path, &st) == 0 && st.st_size > 0 && truncate(path, 0) == 0;
}

int room_start(struct store *store, struct err *err)
{
	int r;

	store->room.path = reserve_path(store->path);
	if (!store->room.path)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	r = fill(store->room.path, err);
	if (r < 0)
		return -1;
	store->room.is_open = r > 0;
	store->room.free_bytes = room_free(store->path);
	store->room.looked_ms = clock_ms();
	return 0;
}

void room_done(struct room *room)
{
	free(room->path);
	room->path = NULL;
}

bool store_room_release(struct store *store)
{
	struct room *room = &store->room;

	if (!room->path || room->is_open)
		return false;
	room->is_open = true;
	if (truncate(room->path, 0) < 0)
		return false;
	/* What the log holds goes where there is room again, and the log begins anew. */
	(void)sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	store->log_pages = 0;
	return true;
}

/* ---- looking ------------------------------------------------------------------------------ */

bool room_is_near(const struct store *store)
{
	return store->room.path && store->room.free_bytes < ROOM_NEAR;
}

bool room_is_calm(const struct store *store)
{
	return !store->room.path || (!store->room.is_open && store->room.free_bytes >= ROOM_CALM);
}

void room_look(struct store *store)
{
	struct room *room = &store->room;
	int64_t now_ms = clock_ms();

	if (!room->path || (!room_is_near(store) && now_ms - room->looked_ms < ROOM_SECOND))
		return;
	room->free_bytes = room_free(store->path);
	room->looked_ms = now_ms;
}

static int say_full(const struct room *room, struct err *err)
{
	return err_set(err, ERR_FULL,
		"the store: %.1f MiB are free on its disk, and runs are refused until %.0f MiB are: make "
		"room, or take contents of old runs away (cectl gc)",
		(double)room->free_bytes / MIB,
		(double)(ROOM_AGAIN + (room->is_open ? ROOM_RESERVE : 0)) / MIB);
}

int store_room(struct store *store, struct err *err)
{
	struct room *room = &store->room;

	if (!room->path)
		return 0;
	room_look(store);
	room->is_low = room->free_bytes < (room->is_low ? ROOM_AGAIN : ROOM_LEAST);
	return room->is_open || room->is_low ? say_full(room, err) : 0;
}

/* What has left the store gives its room back when the log is moved. */
int store_room_regain(struct store *store, struct err *err)
{
	struct room *room = &store->room;

	if (!room->path)
		return 0;
	if (store->shrunk || room->is_open)
		store_move_log(store);
	room->free_bytes = room_free(store->path);
	room->looked_ms = clock_ms();
	if (room->is_open && room->free_bytes >= ROOM_RESERVE + ROOM_AGAIN) {
		int r = fill(room->path, err);

		if (r < 0)
			return -1;
		room->is_open = r > 0;
		room->free_bytes = room_free(store->path);
	}
	return store_room(store, err);
}
