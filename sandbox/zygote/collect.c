#include "sandbox/zygote/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/base/utf8.h"
#include "proto/internal/slotmsg.h"

#define COPY_BYTES  65536
#define PATH_BYTES  4096
#define SKIPS_MAX   256 /* skipped entries that are reported; the rest are not */
#define CPU_SECONDS 10
#define SECONDS     4 /* of time, for each entry and each piece of a file */

struct walk {
	const struct collect_job *job;
	char *globs; /* patterns, each ended by a NUL; one more NUL behind the last */
	size_t globs_len;
	unsigned entries;
	unsigned skips;
	uint32_t taken;
	uint64_t bytes_left;
	bool stopped;
	size_t path_len;
	char path[PATH_BYTES + 1];
	char copy[COPY_BYTES];
};

/* The names in one folder, sorted, so that a limit on files cuts the same ones every time. */
struct names {
	char **list;
	size_t count;
	size_t room;
};

static void names_done(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
}

#define auto_names __attribute__((cleanup(names_done)))

static int by_bytes(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static int names_add(struct names *names, const char *name)
{
	if (names->count == names->room) {
		size_t room = names->room ? names->room * 2 : 64;
		char **list = realloc(names->list, room * sizeof(*list));

		if (!list)
			return -1;
		names->list = list;
		names->room = room;
	}
	names->list[names->count] = strdup(name);
	if (!names->list[names->count])
		return -1;
	names->count++;
	return 0;
}

/* ---- patterns ----------------------------------------------------------------------------- */

static size_t slashes(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '/';
	return count;
}

/* The rest of `path` behind its next slash, or NULL. */
static const char *below(const char *path)
{
	const char *slash = strchr(path, '/');

	return slash ? slash + 1 : NULL;
}

/* Whether the path is in the folder with this name, or in one of that name anywhere. */
static int is_in_folder(const char *path, const char *folder, size_t len, bool anywhere)
{
	for (; path; path = anywhere ? below(path) : NULL)
		if (strncmp(folder, path, len) == 0 && path[len] == '/')
			return 1;
	return 0;
}

/*
 * Each pattern is held against a path once, so a hostile one costs no more than others.  A star matches
 * no slash.  So where two stars stand for folders in front, the rest of the pattern can match only the
 * end of the path that has as many slashes.
 */
int collect_matches(const char *glob, const char *path)
{
	bool anywhere = false;
	size_t wanted;
	size_t len;

	for (; strncmp(glob, "**/", 3) == 0; glob += 3)
		anywhere = true;
	if (strcmp(glob, "*") == 0 || strcmp(glob, "**") == 0)
		return 1;
	len = strlen(glob);
	if (len > 3 && strcmp(glob + len - 3, "/**") == 0)
		return is_in_folder(path, glob, len - 3, anywhere);
	wanted = slashes(glob);
	for (size_t left = slashes(path); anywhere && path && left > wanted; left--)
		path = below(path);
	return path && fnmatch(glob, path, FNM_PATHNAME | FNM_NOESCAPE) == 0;
}

static bool is_wanted(const struct walk *walk)
{
	const char *end = walk->globs + walk->globs_len;

	for (const char *glob = walk->globs; glob < end; glob += strlen(glob) + 1)
		if (*glob && collect_matches(glob, walk->path))
			return true;
	return false;
}

static int read_globs(struct walk *walk, struct err *err)
{
	struct stat status;
	size_t len;

	if (fstat(walk->job->globs, &status) < 0)
		return err_sys(err, "globs");
	if (status.st_size < 0 || status.st_size > COLLECT_GLOBS_MAX)
		return err_set(err, ERR_TOO_BIG, "globs have %jd bytes", (intmax_t)status.st_size);
	len = (size_t)status.st_size;
	walk->globs = calloc(1, len + 1);
	if (!walk->globs)
		return err_set(err, ERR_MEMORY, "no memory for globs");
	if (pread(walk->job->globs, walk->globs, len, 0) != (ssize_t)len)
		return err_sys(err, "read globs");
	walk->globs_len = len;
	return 0;
}

/* ---- writing to the pipe ------------------------------------------------------------------ */

/* The time begins anew: ced may be slow to read, but not as slow as that. */
static int put(const struct walk *walk, const void *bytes, size_t len, struct err *err)
{
	(void)alarm(SECONDS);
	return write_all(walk->job->pipe, bytes, len, err);
}

static int write_head(struct walk *walk, enum artifact_reason reason, uint32_t mode,
	uint64_t data_len, struct err *err)
{
	struct artifact_head head = {
		.magic = SLOTMSG_MAGIC,
		.reason = reason,
		.path_len = (uint32_t)walk->path_len,
		.mode = mode,
		.data_len = data_len,
	};

	if (put(walk, &head, sizeof(head), err) < 0)
		return -1;
	return put(walk, walk->path, walk->path_len, err);
}

static int skip(struct walk *walk, enum artifact_reason reason, struct err *err)
{
	if (walk->skips++ >= SKIPS_MAX)
		return 0;
	return write_head(walk, reason, 0, 0, err);
}

static int stop(struct walk *walk, enum artifact_reason reason, struct err *err)
{
	walk->stopped = true;
	walk->path_len = 0;
	return write_head(walk, reason, 0, 0, err);
}

/*
 * Writes exactly as many bytes as the head said.  A file that has become shorter ends the stream.
 */
static int copy_data(struct walk *walk, int fd, uint64_t len, struct err *err)
{
	while (len > 0) {
		size_t step = len < sizeof(walk->copy) ? (size_t)len : sizeof(walk->copy);

		if (read_all(fd, walk->copy, step, err) < 0)
			return -1;
		if (put(walk, walk->copy, step, err) < 0)
			return -1;
		len -= step;
	}
	return 0;
}

/* ---- the walk ----------------------------------------------------------------------------- */

static int open_below(int dir, const char *name, int flags)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};

	return (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
}

static enum artifact_reason judge(const struct walk *walk, const struct stat *status)
{
	if (!S_ISREG(status->st_mode))
		return ARTIFACT_NOT_REGULAR;
	if (status->st_nlink != 1)
		return ARTIFACT_HARD_LINK;
	if ((uint64_t)status->st_size > walk->bytes_left ||
		(uint64_t)status->st_blocks * 512 > walk->bytes_left + COPY_BYTES)
		return ARTIFACT_TOO_LARGE;
	return ARTIFACT_TAKEN;
}

static int take_file(struct walk *walk, int dir, const char *name, struct err *err)
{
	struct stat status;
	enum artifact_reason reason;
	auto_fd int fd = open_below(dir, name, O_NOFOLLOW);

	if (fd < 0 || fstat(fd, &status) < 0)
		return skip(walk, ARTIFACT_UNREADABLE, err);
	reason = judge(walk, &status);
	if (reason != ARTIFACT_TAKEN)
		return skip(walk, reason, err);
	if (walk->taken >= walk->job->count_most)
		return stop(walk, ARTIFACT_TOO_MANY, err);

	if (write_head(walk, ARTIFACT_TAKEN, status.st_mode & 0777, (uint64_t)status.st_size, err) <
		0)
		return -1;
	walk->taken++;
	walk->bytes_left -= (uint64_t)status.st_size;
	return copy_data(walk, fd, (uint64_t)status.st_size, err);
}

static int walk_folder(struct walk *walk, int dir, unsigned depth, struct err *err);

static int enter_folder(
	struct walk *walk, int dir, const char *name, unsigned depth, struct err *err)
{
	auto_fd int folder = -1;

	if (depth >= ARTIFACT_DEPTH_MAX)
		return stop(walk, ARTIFACT_TOO_DEEP, err);
	folder = open_below(dir, name, O_DIRECTORY | O_NOFOLLOW);
	if (folder < 0)
		return skip(walk, ARTIFACT_UNREADABLE, err);
	return walk_folder(walk, take_fd(&folder), depth + 1, err);
}

static int visit(struct walk *walk, int dir, const char *name, unsigned depth, struct err *err)
{
	struct stat status;

	if (!utf8_is_valid(name, strlen(name)))
		return skip(walk, ARTIFACT_BAD_NAME, err);
	if (fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return skip(walk, ARTIFACT_UNREADABLE, err);
	if (S_ISDIR(status.st_mode))
		return enter_folder(walk, dir, name, depth, err);
	if (!is_wanted(walk))
		return 0;
	if (S_ISLNK(status.st_mode) && strcmp(name, SLOTMSG_MODULES) == 0)
		return 0; /* the slot has made it */
	if (!S_ISREG(status.st_mode))
		return skip(walk, ARTIFACT_NOT_REGULAR, err);
	return take_file(walk, dir, name, err);
}

/* Appends a name to the path for one visit.  A path that gets too long counts as a bad name. */
static int visit_named(
	struct walk *walk, int dir, const char *name, unsigned depth, struct err *err)
{
	size_t before = walk->path_len;
	size_t name_len = strlen(name);
	size_t slash = before > 0;
	int result;

	(void)alarm(SECONDS);
	if (++walk->entries > ARTIFACT_ENTRIES_MAX)
		return stop(walk, ARTIFACT_TOO_MANY_ENTRIES, err);
	if (before + slash + name_len > PATH_BYTES)
		return skip(walk, ARTIFACT_BAD_NAME, err);
	if (slash)
		walk->path[before] = '/';
	memcpy(walk->path + before + slash, name, name_len + 1);
	walk->path_len = before + slash + name_len;

	result = visit(walk, dir, name, depth, err);
	if (!walk->stopped) {
		walk->path_len = before;
		walk->path[before] = '\0';
	}
	return result;
}

static int list_folder(DIR *folder, struct names *names, struct err *err)
{
	const struct dirent *entry;

	while (names->count <= ARTIFACT_ENTRIES_MAX && (entry = readdir(folder)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (names_add(names, entry->d_name) < 0)
			return err_set(err, ERR_MEMORY, "no memory for names");
	}
	if (names->count > 1)
		qsort(names->list, names->count, sizeof(*names->list), by_bytes);
	return 0;
}

/* Takes `dir`, which stays open until everything below it has been visited. */
static int walk_folder(struct walk *walk, int dir, unsigned depth, struct err *err)
{
	auto_names struct names names = { NULL, 0, 0 };
	DIR *folder = fdopendir(dir);
	int result;

	if (!folder) {
		close(dir);
		return skip(walk, ARTIFACT_UNREADABLE, err);
	}
	result = list_folder(folder, &names, err);
	for (size_t i = 0; i < names.count && result == 0 && !walk->stopped; i++)
		result = visit_named(walk, dir, names.list[i], depth, err);
	closedir(folder);
	return result;
}

/* ---- the collector ------------------------------------------------------------------------ */

/* A bug here must not block the slot: SIGALRM and SIGXCPU have no handler and kill. */
static void bound_time(void)
{
	struct rlimit cpu = { CPU_SECONDS, CPU_SECONDS };
	sigset_t none;

	(void)signal(SIGALRM, SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)setrlimit(RLIMIT_CPU, &cpu);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)alarm(SECONDS);
}

int collect_run(const struct collect_job *job, struct err *err)
{
	auto_free struct walk *walk = calloc(1, sizeof(*walk));
	auto_free char *globs = NULL;
	int work;

	bound_time();
	if (!walk)
		return err_set(err, ERR_MEMORY, "no memory to collect");
	walk->job = job;
	walk->bytes_left = job->bytes_most;
	if (read_globs(walk, err) < 0)
		return -1;
	globs = walk->globs;

	work = open_below(job->files, "work", O_DIRECTORY | O_NOFOLLOW);
	if (work < 0)
		return err_sys(err, "open the working directory");
	return walk_folder(walk, work, 0, err);
}
