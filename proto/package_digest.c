#include "proto/package_digest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"

#define FORM        "ced packages 1\n" /* a later form must begin with another text */
#define PIECE_BYTES ((size_t)128 << 10)
#define MODE_BITS   07777U
#define READ_BITS   0444U
#define SEARCH_BITS 0111U

struct walk {
	struct package_scan *scan;
	struct digest digest;
	int root;
	dev_t device;
	char path[PATH_MAX]; /* of the entry, relative to the root */
	size_t len;
	char *piece;
	struct err *err;
};

/* ---- errors --------------------------------------------------------------------------------- */

/* Names are bytes from outside, and the reason is shown and sent as text. */
static const char *shown(const char *path, char room[256])
{
	size_t len = strlen(path);
	const char *from = len > 255 ? path + len - 255 : path;

	cut_printf(room, 256, "%s", from);
	for (char *at = room; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return room;
}

static int refuse(struct walk *walk, const char *why)
{
	char room[256];

	return err_set(walk->err, ERR_DENIED, "%s: %s", shown(walk->path, room), why);
}

static int fail_sys(struct walk *walk)
{
	int number = errno;
	char room[256];

	(void)shown(walk->path, room);
	errno = number;
	return err_sys(walk->err, "%s", room[0] ? room : "the folder");
}

static int count(struct walk *walk, uint64_t entries, uint64_t bytes)
{
	struct package_scan *scan = walk->scan;

	scan->entries += entries;
	scan->bytes += bytes;
	if (scan->entries > scan->entries_most)
		return err_set(walk->err, ERR_TOO_BIG, "has more than %llu files and folders",
			(unsigned long long)scan->entries_most);
	if (scan->bytes > scan->bytes_most)
		return err_set(walk->err, ERR_TOO_BIG, "has more than %llu bytes",
			(unsigned long long)scan->bytes_most);
	if (scan->on_progress && scan->on_progress(scan))
		return err_set(walk->err, ERR_CLOSED, "stopped");
	return 0;
}

/* ---- entries -------------------------------------------------------------------------------- */

static void add_entry(
	struct walk *walk, char kind, const struct stat *about, const uint8_t content[DIGEST_LEN])
{
	digest_add(&walk->digest, &kind, 1);
	digest_add_sized(&walk->digest, walk->path, walk->len);
	digest_add_u64(&walk->digest, kind == 'l' ? 0 : about->st_mode & MODE_BITS);
	digest_add_u64(&walk->digest, kind == 'd' ? 0 : (uint64_t)about->st_size);
	digest_add(&walk->digest, content, DIGEST_LEN);
}

/* The file may grow while it is read, so the sum of bytes is what was read. */
static int add_file(struct walk *walk, int folder, const char *name)
{
	auto_fd int fd =
		openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	uint8_t content[DIGEST_LEN];
	struct digest digest;
	struct stat about;
	ssize_t got;

	if (fd < 0 || fstat(fd, &about) < 0)
		return fail_sys(walk);
	if (!S_ISREG(about.st_mode))
		return refuse(walk, "is not an ordinary file");
	digest_start(&digest);
	while ((got = read(fd, walk->piece, PIECE_BYTES)) > 0) {
		digest_add(&digest, walk->piece, (size_t)got);
		if (count(walk, 0, (uint64_t)got) < 0)
			return -1;
	}
	if (got < 0)
		return fail_sys(walk);
	digest_end(&digest, content);
	add_entry(walk, 'f', &about, content);
	return 0;
}

/* The kernel follows the link, so a link that leads through another one is checked too. */
static bool leads_out(const struct walk *walk)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH };
	auto_fd int fd = (int)syscall(SYS_openat2, walk->root, walk->path, &how, sizeof(how));

	return fd < 0 && errno != ENOENT;
}

static int add_link(struct walk *walk, int folder, const char *name, const struct stat *about)
{
	uint8_t content[DIGEST_LEN];
	char target[PATH_MAX];
	ssize_t len = readlinkat(folder, name, target, sizeof(target));

	if (len < 0)
		return fail_sys(walk);
	if (leads_out(walk))
		return refuse(walk, "is a link that leads out of the folder");
	digest_of(target, (size_t)len, content);
	add_entry(walk, 'l', about, content);
	return 0;
}

static int add_folder(struct walk *walk, int fd, unsigned depth);

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than PACKAGE_DEPTH_MAX */
static int enter_folder(
	struct walk *walk, int folder, const char *name, const struct stat *about, unsigned depth)
{
	static const uint8_t none[DIGEST_LEN];
	auto_fd int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return fail_sys(walk);
	add_entry(walk, 'd', about, none);
	return add_folder(walk, fd, depth + 1);
}

static const char *fault_of(const struct walk *walk, const struct stat *about)
{
	mode_t mode = about->st_mode;

	if (S_ISLNK(mode))
		return NULL;
	if (!S_ISDIR(mode) && !S_ISREG(mode))
		return "is neither file nor folder nor link";
	if (mode & (S_ISUID | S_ISGID))
		return "has the setuid or setgid bit: chmod ug-s";
	if ((mode & READ_BITS) != READ_BITS ||
		(S_ISDIR(mode) && (mode & SEARCH_BITS) != SEARCH_BITS))
		return "is not readable for all: chmod -R a+rX";
	return about->st_dev != walk->device ? "is a mount of another file system" : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): as above */
static int add_named(struct walk *walk, int folder, const char *name, unsigned depth)
{
	struct stat about;
	const char *fault;

	if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) < 0)
		return fail_sys(walk);
	if (count(walk, 1, 0) < 0)
		return -1;
	fault = fault_of(walk, &about);
	if (fault)
		return refuse(walk, fault);
	if (S_ISLNK(about.st_mode))
		return add_link(walk, folder, name, &about);
	if (S_ISREG(about.st_mode))
		return add_file(walk, folder, name);
	if (depth == PACKAGE_DEPTH_MAX)
		return refuse(walk, "is too deep");
	return enter_folder(walk, folder, name, &about, depth);
}

/* ---- a folder ------------------------------------------------------------------------------- */

struct names {
	char **items;
	size_t count, room;
};

static void names_done(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
}

static int names_add(struct names *names, const char *name, struct err *err)
{
	if (names->count == names->room) {
		size_t room = names->room ? 2 * names->room : 64;
		char **items = realloc(names->items, room * sizeof(*items));

		if (!items)
			return err_set(err, ERR_MEMORY, "no memory for the names of a folder");
		names->items = items;
		names->room = room;
	}
	names->items[names->count] = strdup(name);
	if (!names->items[names->count])
		return err_set(err, ERR_MEMORY, "no memory for the names of a folder");
	names->count++;
	return 0;
}

static int by_bytes(const void *one, const void *other)
{
	const char *const *a = one, *const *b = other;

	return strcmp(*a, *b);
}

/* Reads no more names than the set may still have. */
static int read_names(struct walk *walk, int fd, struct names *names)
{
	uint64_t left = walk->scan->entries_most - walk->scan->entries;
	DIR *folder = fdopendir(fd);
	const struct dirent *entry;
	int result = 0;

	if (!folder) {
		close(fd);
		return fail_sys(walk);
	}
	errno = 0;
	while (result == 0 && (entry = readdir(folder))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		result = names->count == left ? count(walk, left + 1, 0)
					      : names_add(names, entry->d_name, walk->err);
		errno = 0;
	}
	if (result == 0 && errno)
		result = fail_sys(walk);
	(void)closedir(folder);
	return result;
}

/* NOLINTNEXTLINE(misc-no-recursion): as above */
static int add_below(struct walk *walk, int fd, const char *name, unsigned depth)
{
	size_t before = walk->len;
	size_t len = strlen(name) + (before > 0);
	int result;

	if (before + len >= sizeof(walk->path))
		return refuse(walk, "has names that are too long");
	cut_printf(
		walk->path + before, sizeof(walk->path) - before, "%s%s", before ? "/" : "", name);
	walk->len += len;
	result = add_named(walk, fd, name, depth);
	walk->len = before;
	walk->path[before] = '\0';
	return result;
}

/* NOLINTNEXTLINE(misc-no-recursion): as above */
static int add_folder(struct walk *walk, int fd, unsigned depth)
{
	__attribute__((cleanup(names_done))) struct names names = { NULL, 0, 0 };
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int result = 0;

	if (own < 0)
		return fail_sys(walk);
	if (read_names(walk, own, &names) < 0)
		return -1;
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items), by_bytes);
	for (size_t i = 0; i < names.count && result == 0; i++)
		result = add_below(walk, fd, names.items[i], depth);
	return result;
}

int package_digest(const char *path, struct package_scan *scan, char ret_text[DIGEST_TEXT_LEN + 1],
	struct err *err)
{
	auto_fd int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_free char *piece = malloc(PIECE_BYTES);
	struct walk walk = { .scan = scan, .root = root, .piece = piece, .err = err };
	struct stat about;
	const char *fault;

	scan->entries = scan->bytes = 0;
	if (root < 0 || fstat(root, &about) < 0)
		return fail_sys(&walk);
	if (!piece)
		return err_set(err, ERR_MEMORY, "no memory to read files");
	walk.device = about.st_dev;
	fault = fault_of(&walk, &about);
	if (fault)
		return err_set(err, ERR_DENIED, "the folder %s", fault);
	digest_start(&walk.digest);
	digest_add(&walk.digest, FORM, strlen(FORM));
	if (add_folder(&walk, root, 0) < 0)
		return -1;
	digest_end_text(&walk.digest, ret_text);
	return 0;
}
