#include "sandbox/worker/snapshot.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/internal/slotmsg.h"

#define ENTRIES_MAX 16384
#define DEPTH_MAX   64
#define FDS_MAX     4096
#define ROOTS_MAX   4
#define NUMBERS_MAX (1U << 30)
#define PAGE_BYTES  4096 /* smaller holes in a file are filled with zeros */

struct entry {
	char *path; /* absolute */
	mode_t mode;
	struct timespec times[2];
	char *data; /* of a file */
	size_t len;
};

struct offset {
	int fd;
	off_t at;
	bool is_copied; /* the file has no name any more: `copy` has its contents */
	dev_t dev;
	ino_t ino;
	struct entry copy; /* without a path */
};

struct snapshot {
	const char *const *roots;
	mode_t root_modes[ROOTS_MAX];
	struct entry *entries; /* a folder before what is in it; sorted by path */
	size_t count, room;
	uint64_t bytes;
	struct offset *offsets;
	size_t offset_count;
	char cwd[PATH_MAX]; /* "": it has none any more */
};

/* ---- walking -------------------------------------------------------------------------------- */

/* One step of a walk: a folder that is open, and what is done with each name in it. */
struct walk {
	char path[PATH_MAX];
	size_t len;
	int depth;
	int (*visit)(struct walk *walk, int dir, const char *name, struct err *err);
	/* The same for a name whose path is too long, or too deep. */
	int (*visit_beyond)(struct walk *walk, int dir, const char *name, struct err *err);
	void *context;
};

static bool is_beyond(const struct walk *walk, const char *name)
{
	return walk->len + strlen(name) + 2 > sizeof(walk->path) || walk->depth == DEPTH_MAX;
}

static size_t push(struct walk *walk, const char *name)
{
	const size_t before = walk->len;
	const size_t len = strlen(name);

	walk->path[walk->len] = '/';
	memcpy(walk->path + walk->len + 1, name, len + 1);
	walk->len += len + 1;
	walk->depth++;
	return before;
}

static void pop(struct walk *walk, size_t before)
{
	walk->len = before;
	walk->path[before] = '\0';
	walk->depth--;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX */
static int visit(struct walk *walk, int dir, const char *name, struct err *err)
{
	size_t before;
	int result;

	if (is_beyond(walk, name))
		return walk->visit_beyond(walk, dir, name, err);
	before = push(walk, name);
	result = walk->visit(walk, dir, name, err);
	pop(walk, before);
	return result;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Takes `fd`. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX */
static int walk_folder(struct walk *walk, int fd, struct err *err)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	int result = 0;

	if (!dir) {
		close(fd);
		return err_sys(err, "%s", walk->path);
	}
	while (result == 0 && (entry = readdir(dir)))
		if (!is_dots(entry->d_name))
			result = visit(walk, dirfd(dir), entry->d_name, err);
	closedir(dir);
	return result;
}

/* open_roots() was called. */
static int walk_roots(struct walk *walk, const char *const *roots, struct err *err)
{
	for (size_t i = 0; roots[i]; i++) {
		int fd = open(roots[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0)
			return err_sys(err, "%s", roots[i]);
		walk->depth = 0;
		walk->len = strlen(roots[i]);
		memcpy(walk->path, roots[i], walk->len + 1);
		if (walk_folder(walk, fd, err) < 0)
			return -1;
	}
	return 0;
}

/* A file.  The program may have taken its own right to read or write it. */
static int open_anyway(int dir, const char *name, int flags, mode_t mode)
{
	int fd = openat(dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 || errno != EACCES)
		return fd;
	if (fchmodat(dir, name, (mode & 07777) | 0600, 0) < 0)
		return -1;
	fd = openat(dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && fchmod(fd, mode & 07777) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* ---- taking --------------------------------------------------------------------------------- */

static struct entry *add_entry(struct snapshot *snapshot, const struct walk *walk,
	const struct stat *status, struct err *err)
{
	struct entry *entry;

	if (snapshot->count == snapshot->room) {
		size_t room = snapshot->room ? snapshot->room * 2 : 64;
		struct entry *more = realloc(snapshot->entries, room * sizeof(*more));

		if (!more || room > ENTRIES_MAX) {
			snapshot->entries = more ? more : snapshot->entries;
			(void)err_set(err, ERR_TOO_BIG, "too many files");
			return NULL;
		}
		snapshot->entries = more;
		snapshot->room = room;
	}
	entry = &snapshot->entries[snapshot->count];
	*entry = (struct entry){ .path = strdup(walk->path),
		.mode = status->st_mode,
		.times = { status->st_atim, status->st_mtim } };
	if (!entry->path) {
		(void)err_set(err, ERR_MEMORY, "no memory for a file's name");
		return NULL;
	}
	snapshot->count++;
	return entry;
}

/* Where the next bytes begin that are no hole, and where they end; false: there are no more. */
static bool find_data(int fd, off_t *at, off_t *ret_end, off_t size)
{
	*at = lseek(fd, *at, SEEK_DATA);
	*ret_end = *at < 0 ? -1 : lseek(fd, *at, SEEK_HOLE);
	if (*ret_end > size)
		*ret_end = size;
	return *at >= 0 && *ret_end > *at;
}

/* Holes are not read, and take no memory. */
static int copy_file(
	struct snapshot *snapshot, struct entry *entry, int fd, uint64_t size, struct err *err)
{
	off_t end = 0;

	snapshot->bytes += size;
	if (snapshot->bytes > SESSION_FILES_BYTES_MAX)
		return err_set(err, ERR_TOO_BIG, "the files are too large");
	entry->data = calloc(1, size ? (size_t)size : 1);
	if (!entry->data)
		return err_set(err, ERR_MEMORY, "no memory for a file");
	entry->len = (size_t)size;
	for (off_t at = 0; find_data(fd, &at, &end, (off_t)size); at = end)
		if (lseek(fd, at, SEEK_SET) < 0 ||
			read_all(fd, entry->data + at, (size_t)(end - at), err) < 0)
			return err_wrap(err, "%s", entry->path);
	return 0;
}

static int refuse_beyond(struct walk *walk, int dir, const char *name, struct err *err)
{
	(void)dir;
	return err_set(
		err, ERR_TOO_BIG, "%s/%s is too deep, or its path too long", walk->path, name);
}

/* Without the right to search a folder, nothing is known of what is in it: it is open to us for the walk. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX */
static int take_folder(struct walk *walk, int dir, const char *name, mode_t mode, struct err *err)
{
	const bool is_closed = (mode & 0500) != 0500;
	int fd;
	int result;

	if (is_closed && fchmodat(dir, name, 0700, 0) < 0)
		return err_sys(err, "mode of %s", walk->path);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	result = fd < 0 ? err_sys(err, "%s", walk->path) : walk_folder(walk, fd, err);
	if (is_closed && fchmodat(dir, name, mode & 07777, 0) < 0)
		return err_sys(err, "mode of %s", walk->path);
	return result;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX */
static int take_entry(struct walk *walk, int dir, const char *name, struct err *err)
{
	struct snapshot *snapshot = walk->context;
	struct stat status;
	struct entry *entry;
	int fd;
	int result;

	if (fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "%s", walk->path);
	if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
		return err_set(err, ERR_UNSUPPORTED, "%s is neither file nor folder", walk->path);
	entry = add_entry(snapshot, walk, &status, err);
	if (!entry)
		return -1;
	if (S_ISDIR(status.st_mode))
		return take_folder(walk, dir, name, status.st_mode, err);
	fd = open_anyway(dir, name, O_RDONLY, status.st_mode);
	if (fd < 0)
		return err_sys(err, "%s", walk->path);
	result = copy_file(snapshot, entry, fd, (uint64_t)status.st_size, err);
	close(fd);
	return result;
}

static int by_path(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return strcmp(a->path, b->path);
}

static bool is_taken(const struct snapshot *snapshot, const struct stat *status)
{
	for (size_t i = 0; i < snapshot->offset_count; i++) {
		const struct offset *offset = &snapshot->offsets[i];

		if (offset->is_copied && offset->dev == status->st_dev &&
			offset->ino == status->st_ino)
			return true;
	}
	return false;
}

static int read_bytes(int fd, char *bytes, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t got = pread(fd, bytes + at, len - at, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break; /* it has become shorter */
		at += (size_t)got;
	}
	return 0;
}

/* Deleted files that are open for reading and writing, such as those of Python's tempfile. */
static int copy_nameless(struct snapshot *snapshot, struct offset *offset, struct err *err)
{
	const int flags = fcntl(offset->fd, F_GETFL);
	struct stat status;

	if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || fstat(offset->fd, &status) < 0 ||
		!S_ISREG(status.st_mode) || status.st_nlink > 0 || is_taken(snapshot, &status))
		return 0;
	snapshot->bytes += (uint64_t)status.st_size;
	if (snapshot->bytes > SESSION_FILES_BYTES_MAX)
		return err_set(err, ERR_TOO_BIG, "the files are too large");
	offset->copy.len = (size_t)status.st_size;
	offset->copy.data = calloc(1, offset->copy.len ? offset->copy.len : 1);
	if (!offset->copy.data)
		return err_set(err, ERR_MEMORY, "no memory for a file");
	if (read_bytes(offset->fd, offset->copy.data, offset->copy.len) < 0)
		return err_sys(err, "read a deleted file");
	offset->dev = status.st_dev;
	offset->ino = status.st_ino;
	offset->is_copied = true;
	return 0;
}

static int take_offsets(struct snapshot *snapshot, struct err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return err_sys(err, "limit of descriptors");
	snapshot->offsets = calloc(FDS_MAX, sizeof(*snapshot->offsets));
	if (!snapshot->offsets)
		return err_set(err, ERR_MEMORY, "no memory for offsets");
	for (int fd = 0; fd < FDS_MAX && (rlim_t)fd < limit.rlim_cur; fd++) {
		struct offset *offset = &snapshot->offsets[snapshot->offset_count];

		offset->fd = fd;
		offset->at = lseek(fd, 0, SEEK_CUR);
		if (offset->at < 0)
			continue;
		snapshot->offset_count++;
		if (copy_nameless(snapshot, offset, err) < 0)
			return -1;
	}
	return 0;
}

static int note_roots(struct snapshot *snapshot, struct err *err)
{
	struct stat status;

	for (size_t i = 0; snapshot->roots[i]; i++) {
		assert(i < ROOTS_MAX);
		if (stat(snapshot->roots[i], &status) < 0)
			return err_sys(err, "%s", snapshot->roots[i]);
		snapshot->root_modes[i] = status.st_mode;
	}
	return 0;
}

/* To be searched, and written in: settle_roots() gives them their modes. */
static int open_roots(const struct snapshot *snapshot, struct err *err)
{
	struct stat status;

	for (size_t i = 0; snapshot->roots[i]; i++)
		if (stat(snapshot->roots[i], &status) < 0 ||
			((status.st_mode & 0700) != 0700 && chmod(snapshot->roots[i], 0700) < 0))
			return err_sys(err, "%s", snapshot->roots[i]);
	return 0;
}

/* The program may have changed them, and open_roots() has. */
static int settle_roots(const struct snapshot *snapshot, struct err *err)
{
	struct stat status;

	for (size_t i = 0; snapshot->roots[i]; i++) {
		const mode_t mode = snapshot->root_modes[i];

		if (stat(snapshot->roots[i], &status) < 0)
			return err_sys(err, "%s", snapshot->roots[i]);
		if (status.st_mode != mode && chmod(snapshot->roots[i], mode & 07777) < 0)
			return err_sys(err, "mode of %s", snapshot->roots[i]);
	}
	return 0;
}

static int take_entries(struct snapshot *snapshot, struct err *err)
{
	struct walk walk = {
		.visit = take_entry, .visit_beyond = refuse_beyond, .context = snapshot
	};
	int result = open_roots(snapshot, err);

	if (result == 0)
		result = walk_roots(&walk, snapshot->roots, err);
	return settle_roots(snapshot, err) < 0 ? -1 : result;
}

struct snapshot *snapshot_take(const char *const *roots, struct err *err)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot) {
		(void)err_set(err, ERR_MEMORY, "no memory for a snapshot");
		return NULL;
	}
	snapshot->roots = roots;
	if (!getcwd(snapshot->cwd, sizeof(snapshot->cwd)) || snapshot->cwd[0] != '/')
		snapshot->cwd[0] = '\0';
	if (note_roots(snapshot, err) < 0 || take_entries(snapshot, err) < 0 ||
		take_offsets(snapshot, err) < 0) {
		snapshot_free(snapshot);
		return NULL;
	}
	if (snapshot->count)
		qsort(snapshot->entries, snapshot->count, sizeof(*snapshot->entries), by_path);
	return snapshot;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	for (size_t i = 0; i < snapshot->count; i++) {
		free(snapshot->entries[i].path);
		free(snapshot->entries[i].data);
	}
	free(snapshot->entries);
	for (size_t i = 0; i < snapshot->offset_count; i++)
		free(snapshot->offsets[i].copy.data);
	free(snapshot->offsets);
	free(snapshot);
}

/* ---- putting back --------------------------------------------------------------------------- */

/* The entry of this path, if it is of the same kind. */
static const struct entry *find(const struct snapshot *snapshot, const char *path, mode_t mode)
{
	union {
		const char *in;
		char *out;
	} name = { .in = path };
	const struct entry wanted = { .path = name.out };
	const struct entry *found = snapshot->count
					    ? bsearch(&wanted, snapshot->entries, snapshot->count,
						      sizeof(wanted), by_path)
					    : NULL;

	return found && (found->mode & S_IFMT) == (mode & S_IFMT) ? found : NULL;
}

/* Opens a folder whatever its mode, which it then has not any more.  NULL: it cannot. */
static DIR *open_folder(int dir, const char *name)
{
	int fd = fchmodat(dir, name, 0700, 0) < 0
			 ? -1
			 : openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (!folder && fd >= 0)
		close(fd);
	return folder;
}

/* 0, or -1 with errno: it is a folder that is not empty, or something is wrong. */
static int remove_one(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0)
		return 0;
	return errno == EISDIR || errno == EPERM ? unlinkat(dir, name, AT_REMOVEDIR) : -1;
}

/* Into `top`, under a number that nothing else there has. */
static int lift(int dir, const char *name, int top, unsigned *number)
{
	char text[16];
	int moved;

	if (fchmodat(dir, name, 0700, 0) < 0)
		return -1; /* its own `..` is to be written */
	do {
		cut_printf(text, sizeof(text), "%u", (*number)++);
		moved = renameat(dir, name, top, text);
	} while (moved < 0 && (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) &&
		 *number < NUMBERS_MAX);
	return moved;
}

/* Removes an entry of `top`.  If it is a folder, folders in it become entries of `top`. */
static int flatten(int top, const char *name, unsigned *number)
{
	const struct dirent *entry;
	DIR *folder;
	int result = 0;

	if (remove_one(top, name) == 0)
		return 0;
	folder = open_folder(top, name);
	if (!folder)
		return -1;
	while (result == 0 && (entry = readdir(folder)))
		if (!is_dots(entry->d_name) && remove_one(dirfd(folder), entry->d_name) < 0)
			result = lift(dirfd(folder), entry->d_name, top, number);
	closedir(folder);
	return result < 0 ? -1 : remove_one(top, name);
}

/*
 * Removes a folder with all that is in it, however deep: a program may have made folders until there was
 * no place for more.
 */
static int remove_folder(int dir, const char *name, struct err *err)
{
	DIR *top = open_folder(dir, name);
	const struct dirent *entry;
	unsigned number = 1;
	int result = 0;
	bool found = top != NULL;

	while (found && result == 0) {
		found = false;
		rewinddir(top);
		while (result == 0 && (entry = readdir(top)))
			if (!is_dots(entry->d_name)) {
				found = true;
				result = flatten(dirfd(top), entry->d_name, &number);
			}
	}
	if (!top || result < 0 || unlinkat(dir, name, AT_REMOVEDIR) < 0)
		result = err_sys(err, "remove %s", name);
	if (top)
		closedir(top);
	return result;
}

static int remove_entry(int dir, const char *name, struct err *err)
{
	if (remove_one(dir, name) == 0)
		return 0;
	return errno == ENOTEMPTY || errno == EEXIST ? remove_folder(dir, name, err)
						     : err_sys(err, "remove %s", name);
}

/* The snapshot has nothing there. */
static int clear_beyond(struct walk *walk, int dir, const char *name, struct err *err)
{
	(void)walk;
	return remove_entry(dir, name, err);
}

/*
 * Before any file is written, so that those that have grown leave room for those that have shrunk.  A file
 * that gets shorter also loses the private pages of those who have mapped it.  A hole leaves them alone.
 */
static int empty_file(int dir, const char *name, const struct stat *status)
{
	auto_fd int fd = open_anyway(dir, name, O_WRONLY, status->st_mode);

	if (fd < 0 || status->st_size == 0)
		return fd < 0 ? -1 : 0;
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, status->st_size) == 0)
		return 0;
	return ftruncate(fd, 0);
}

/* Removes what the snapshot does not have, and empties the files that it has. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX */
static int clear_entry(struct walk *walk, int dir, const char *name, struct err *err)
{
	struct stat status;
	int fd;

	if (fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "%s", walk->path);
	if (!find(walk->context, walk->path, status.st_mode))
		return remove_entry(dir, name, err);
	if (!S_ISDIR(status.st_mode))
		return empty_file(dir, name, &status) < 0 ? err_sys(err, "%s", walk->path) : 0;
	if (fchmodat(dir, name, 0700, 0) < 0)
		return err_sys(err, "%s", walk->path);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_sys(err, "%s", walk->path) : walk_folder(walk, fd, err);
}

struct anew {
	char *paths;
	size_t len, size;
};

static void note_anew(struct anew *anew, const char *path)
{
	const size_t len = strlen(path) + 1;

	if (anew->len + len > anew->size)
		return;
	memcpy(anew->paths + anew->len, path, len);
	anew->len += len;
}

/* Not write_all(), which tries sendmsg(2) first: the job's filter refuses that. */
static int write_bytes(int fd, const char *bytes, size_t len, off_t at)
{
	while (len > 0) {
		ssize_t written = pwrite(fd, bytes, len, at);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		bytes += written;
		at += written;
		len -= (size_t)written;
	}
	return 0;
}

/* How much of the page at `at` there is; 0 at the end, or if it has only zeros. */
static size_t page_at(const struct entry *entry, size_t at)
{
	const size_t left = entry->len - at;
	const size_t len = left < PAGE_BYTES ? left : PAGE_BYTES;
	const char *bytes = entry->data + at;

	return len && (bytes[0] || memcmp(bytes, bytes + 1, len - 1) != 0) ? len : 0;
}

/* Leaves holes, which may be larger than the disk. */
static int write_pages(int fd, const struct entry *entry)
{
	size_t at = 0;

	while (at < entry->len) {
		size_t end = at;
		size_t len;

		while ((len = page_at(entry, end)) > 0)
			end += len;
		if (write_bytes(fd, entry->data + at, end - at, (off_t)at) < 0)
			return -1;
		at = end + PAGE_BYTES;
	}
	return 0;
}

static int write_back(const struct entry *entry, struct anew *anew, struct err *err)
{
	auto_fd int fd = open_anyway(AT_FDCWD, entry->path, O_WRONLY, entry->mode);

	if (fd < 0 && errno == ENOENT) {
		fd = open(entry->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		note_anew(anew, entry->path);
	}
	if (fd < 0)
		return err_sys(err, "open %s", entry->path);
	if (ftruncate(fd, (off_t)entry->len) < 0)
		return err_sys(err, "size of %s", entry->path);
	if (write_pages(fd, entry) < 0)
		return err_sys(err, "write %s", entry->path);
	if (fchmod(fd, entry->mode & 07777) < 0)
		return err_sys(err, "mode of %s", entry->path);
	if (futimens(fd, entry->times) < 0)
		return err_sys(err, "times of %s", entry->path);
	return 0;
}

static int make_back(const struct entry *entry, struct anew *anew, struct err *err)
{
	if (!S_ISDIR(entry->mode))
		return write_back(entry, anew, err);
	if (mkdir(entry->path, 0700) < 0 && errno != EEXIST)
		return err_sys(err, "%s", entry->path);
	return 0;
}

static int empty_nameless(const struct snapshot *snapshot, struct err *err)
{
	for (size_t i = 0; i < snapshot->offset_count; i++)
		if (snapshot->offsets[i].is_copied && ftruncate(snapshot->offsets[i].fd, 0) < 0)
			return err_sys(err, "size of a deleted file");
	return 0;
}

/* O_APPEND would move all writing to the end. */
static int write_nameless(const struct offset *offset, struct err *err)
{
	const int flags = fcntl(offset->fd, F_GETFL);
	int result = 0;

	if (flags < 0 || (flags & O_APPEND && fcntl(offset->fd, F_SETFL, flags & ~O_APPEND) < 0))
		return err_sys(err, "flags of a deleted file");
	if (ftruncate(offset->fd, (off_t)offset->copy.len) < 0 ||
		write_pages(offset->fd, &offset->copy) < 0)
		result = err_sys(err, "write a deleted file");
	if (flags & O_APPEND && fcntl(offset->fd, F_SETFL, flags) < 0)
		return err_sys(err, "flags of a deleted file");
	return result;
}

/* Contents and places of what is open. */
static int settle_open_files(const struct snapshot *snapshot, struct err *err)
{
	for (size_t i = 0; i < snapshot->offset_count; i++) {
		const struct offset *offset = &snapshot->offsets[i];

		if (offset->is_copied && write_nameless(offset, err) < 0)
			return -1;
		(void)lseek(offset->fd, offset->at, SEEK_SET);
	}
	return 0;
}

/* Last, since writing into a folder changes its time, and its mode may forbid it. */
static int settle_folders(const struct snapshot *snapshot, struct err *err)
{
	for (size_t i = snapshot->count; i-- > 0;) {
		const struct entry *entry = &snapshot->entries[i];

		if (!S_ISDIR(entry->mode))
			continue;
		if (utimensat(AT_FDCWD, entry->path, entry->times, AT_SYMLINK_NOFOLLOW) < 0 ||
			fchmodat(AT_FDCWD, entry->path, entry->mode & 07777, 0) < 0)
			return err_sys(err, "%s", entry->path);
	}
	return 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written by note_anew() */
int snapshot_put_back(const struct snapshot *snapshot, char *ret_anew, size_t size, size_t *ret_len,
	struct err *err)
{
	union {
		const struct snapshot *in;
		void *out;
	} context = { .in = snapshot };
	struct walk walk = {
		.visit = clear_entry, .visit_beyond = clear_beyond, .context = context.out
	};
	struct anew anew = { .paths = ret_anew, .size = size };

	if (empty_nameless(snapshot, err) < 0 || open_roots(snapshot, err) < 0 ||
		walk_roots(&walk, snapshot->roots, err) < 0)
		return -1;
	for (size_t i = 0; i < snapshot->count; i++)
		if (make_back(&snapshot->entries[i], &anew, err) < 0)
			return -1;
	if (settle_open_files(snapshot, err) < 0)
		return -1;
	*ret_len = anew.len;
	/* The folder may have been made anew, and folders have not got their modes yet. */
	if (snapshot->cwd[0] && chdir(snapshot->cwd) < 0)
		return err_sys(err, "%s", snapshot->cwd);
	return settle_folders(snapshot, err) < 0 ? -1 : settle_roots(snapshot, err);
}
