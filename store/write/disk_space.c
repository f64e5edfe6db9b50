#include "store/write/disk_space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/clock.h"

#define RESERVE_FILE "ced.reserve"
#define PIECE        ((size_t)64 << 10)
#define MIB          (1024.0 * 1024.0)
#define LOOK_MS      1000

#define FREE_AGAIN ((int64_t)2 << 20) /* runs were refused, and are accepted again from here on */
#define FREE_AMPLE ((int64_t)8 << 20) /* below this no runs are indexed */

int64_t disk_space_free(const char *path)
{
	struct statvfs fs;

	if (statvfs(path, &fs) < 0 || !fs.f_frsize || fs.f_bavail > INT64_MAX / fs.f_frsize)
		return INT64_MAX;
	return (int64_t)(fs.f_bavail * fs.f_frsize);
}

int disk_space_for_new(const char *folder, struct err *err)
{
	int64_t found = disk_space_free(folder);

	if (found >= STORE_ROOM_NEW)
		return 0;
	return err_set(err, ERR_FULL,
		"the store: %.1f MiB are free in %s and a new store needs %.1f MiB: make room, or name "
		"another folder (the setting state)",
		(double)found / MIB, folder, (double)STORE_ROOM_NEW / MIB);
}

/* ---- the reserve -------------------------------------------------------------------------- */

/* A partly filled reserve is useless.  Returns 1, or -1. */
static int empty_reserve(int fd, const char *path, struct err *err)
{
	return ftruncate(fd, 0) < 0 ? err_sys(err, "the store: %s", path) : 1;
}

/*
 * 0, 1: there is no space for it; -1.  It is written, since not every file system can reserve
 * space.
 */
static int fill_reserve(const char *path, struct err *err)
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
	if (st.st_size >= STORE_ROOM_RESERVE)
		return 0;
	for (off_t at = 0; at < STORE_ROOM_RESERVE; at += (off_t)PIECE) {
		if (pwrite(fd, zeroes, PIECE, at) == (ssize_t)PIECE)
			continue;
		return empty_reserve(fd, path, err);
	}
	/* Some file systems notice only now that there is no space. */
	if (fdatasync(fd) == 0)
		return 0;
	return empty_reserve(fd, path, err);
}

static char *reserve_path(const char *db)
{
	char *path = NULL;

	return asprintf(&path, "%.*s" RESERVE_FILE, (int)(strlen(db) - strlen("ced.db")), db) < 0
		       ? NULL
		       : path;
}

bool disk_space_release_left(const char *db)
{
	auto_free char *path = reserve_path(db);
	struct stat st;

	return path && stat(path, &st) == 0 && st.st_size > 0 && truncate(path, 0) == 0;
}

static void look_now(struct disk_space *space)
{
	space->free_bytes = disk_space_free(space->db);
	space->looked_ms = clock_ms();
}

/* Fills it, and looks how much is free then. */
static int complete_reserve(struct disk_space *space, struct err *err)
{
	int r = fill_reserve(space->reserve, err);

	if (r < 0)
		return -1;
	space->reserve_is_used = r > 0;
	look_now(space);
	return 0;
}

int disk_space_start(struct disk_space *space, const char *db, struct err *err)
{
	*space = (struct disk_space){ .db = db, .reserve = reserve_path(db) };
	if (!space->reserve)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	return complete_reserve(space, err);
}

void disk_space_done(struct disk_space *space)
{
	free(space->reserve);
	space->reserve = NULL;
}

bool disk_space_release(struct disk_space *space)
{
	if (space->reserve_is_used)
		return false;
	space->reserve_is_used = true;
	return truncate(space->reserve, 0) == 0;
}

/* ---- looking ------------------------------------------------------------------------------ */

bool disk_space_is_low(const struct disk_space *space)
{
	return space->reserve && space->free_bytes < STORE_ROOM_NEAR;
}

bool disk_space_is_ample(const struct disk_space *space)
{
	return !space->reserve || (!space->reserve_is_used && space->free_bytes >= FREE_AMPLE);
}

void disk_space_look(struct disk_space *space)
{
	if (space->reserve &&
		(disk_space_is_low(space) || clock_ms() - space->looked_ms >= LOOK_MS))
		look_now(space);
}

int disk_space_check(struct disk_space *space, struct err *err)
{
	disk_space_look(space);
	space->is_refusing =
		space->free_bytes < (space->is_refusing ? FREE_AGAIN : STORE_ROOM_LEAST);
	if (!space->reserve_is_used && !space->is_refusing)
		return 0;
	return err_set(err, ERR_FULL,
		"the store: %.1f MiB are free on its disk, and runs are refused until %.0f MiB are: make "
		"room, or remove contents of old runs (cectl gc)",
		(double)space->free_bytes / MIB,
		(double)(FREE_AGAIN + (space->reserve_is_used ? STORE_ROOM_RESERVE : 0)) / MIB);
}

int disk_space_regain(struct disk_space *space, struct err *err)
{
	look_now(space);
	if (space->reserve_is_used && space->free_bytes >= STORE_ROOM_RESERVE + FREE_AGAIN &&
		complete_reserve(space, err) < 0)
		return -1;
	return disk_space_check(space, err);
}
