#include "store/write/file_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "proto/base/container.h"

static int name_files(struct file_watch *watch, const char *folder, const char *db)
{
	struct file_watch_name *names = watch->names;

	if (asprintf(&names[WATCH_DB].path, "%s", db) < 0)
		names[WATCH_DB].path = NULL;
	if (asprintf(&names[WATCH_LOG].path, "%s-wal", db) < 0)
		names[WATCH_LOG].path = NULL;
	if (asprintf(&names[WATCH_INDEX].path, "%s-shm", db) < 0)
		names[WATCH_INDEX].path = NULL;
	if (asprintf(&names[WATCH_LOCK].path, "%s/ced.lock", folder) < 0)
		names[WATCH_LOCK].path = NULL;
	for (size_t i = 0; i < WATCH_COUNT; i++)
		if (!names[i].path)
			return -1;
	return 0;
}

int file_watch_start(struct file_watch *watch, const char *folder, const char *db, struct err *err)
{
	*watch = (struct file_watch){ .is_broken = false };
	if (name_files(watch, folder, db) < 0) {
		file_watch_done(watch);
		return err_set(err, ERR_MEMORY, "the store: no memory");
	}
	for (size_t i = 0; i < WATCH_COUNT; i++) {
		struct file_watch_name *name = &watch->names[i];
		struct stat st;

		if (stat(name->path, &st) < 0) {
			(void)err_sys(err, "the store: %s", name->path);
			file_watch_done(watch);
			return -1;
		}
		name->device = st.st_dev;
		name->inode = st.st_ino;
	}
	return 0;
}

void file_watch_done(struct file_watch *watch)
{
	for (size_t i = 0; i < WATCH_COUNT; i++) {
		free(watch->names[i].path);
		watch->names[i].path = NULL;
	}
}

void file_watch_note_length(struct file_watch *watch, enum watch_file file)
{
	struct file_watch_name *name = &watch->names[file];
	struct stat st;

	if (name->path && stat(name->path, &st) == 0 && st.st_dev == name->device &&
		st.st_ino == name->inode)
		name->floor = st.st_size;
}

void file_watch_forget_length(struct file_watch *watch, enum watch_file file)
{
	watch->names[file].floor = 0;
}

static int gone(struct err *err, const char *path, const char *what)
{
	(void)err_set(err, ERR_SYSTEM,
		"the store: %s was %s while ced uses it, so what is written now would be lost: before "
		"you stop ced, see \"A file of the store is gone\" in docs/operations/runbook.md",
		path, what);
	if (err)
		err->sys_errno = ESTALE;
	return -1;
}

static int look_at(struct file_watch_name *name, struct err *err)
{
	struct stat st;

	name->is_short = false;
	if (stat(name->path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? gone(err, name->path, "removed")
			       : err_sys(err, "the store: %s", name->path);
	if (st.st_dev != name->device || st.st_ino != name->inode)
		return gone(err, name->path, "replaced");
	name->is_short = st.st_size < name->floor;
	return name->is_short ? gone(err, name->path, "cut off") : 0;
}

int file_watch_look(struct file_watch *watch, struct err *err)
{
	int r = 0;

	if (!watch->names[WATCH_DB].path)
		return 0;
	watch->is_gone = false;
	watch->is_short = false;
	for (size_t i = 0; i < WATCH_COUNT; i++) {
		struct file_watch_name *name = &watch->names[i];

		if (look_at(name, r < 0 ? NULL : err) == 0)
			continue;
		watch->is_gone = watch->is_gone || !name->is_short;
		watch->is_short = watch->is_short || name->is_short;
		r = -1;
	}
	watch->is_broken = r < 0;
	return r;
}
