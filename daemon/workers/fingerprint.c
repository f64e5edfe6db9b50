#include "daemon/workers/fingerprint.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"

#define FORM      "ced runtime 1\n" /* a later form must begin with another text */
#define PIECE_MAX 65536
#define FILES_MAX 64

/* Uses open(): thread sanitizer does not see the origin of a descriptor from openat(). */
static int add_file(struct digest *digest, const char *name, struct err *err)
{
	auto_fd int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	auto_free char *piece = malloc(PIECE_MAX);
	struct stat about;
	uint64_t size = 0;
	ssize_t got;

	if (fd < 0 || fstat(fd, &about) < 0)
		return err_sys(err, "%s", name);
	if (!piece || !S_ISREG(about.st_mode))
		return err_set(err, ERR_INVALID, "%s is no file that can be read", name);
	while ((got = read(fd, piece, PIECE_MAX)) > 0) {
		digest_add(digest, piece, (size_t)got);
		size += (uint64_t)got;
	}
	digest_add_u64(digest, size);
	return got < 0 ? err_sys(err, "%s", name) : 0;
}

static int by_name(const void *one, const void *other)
{
	return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static void free_names(char **names)
{
	for (size_t i = 0; i < FILES_MAX; i++)
		free(names[i]);
}

/* Lists the names of its files, sorted.  Leaves out folders such as __pycache__. */
static int list_files(DIR *dir, char **names, size_t *ret_count, struct err *err)
{
	const struct dirent *entry;

	while ((entry = readdir(dir))) {
		struct stat about;

		if (fstatat(dirfd(dir), entry->d_name, &about, 0) < 0 || !S_ISREG(about.st_mode))
			continue;
		if (*ret_count == FILES_MAX)
			return err_set(err, ERR_TOO_BIG, "more than %d files", FILES_MAX);
		names[*ret_count] = strdup(entry->d_name);
		if (!names[*ret_count])
			return err_set(err, ERR_MEMORY, "no memory for names");
		(*ret_count)++;
	}
	qsort(names, *ret_count, sizeof(*names), by_name);
	return 0;
}

/*
 * Works as opendir(), but calls open() itself.  Thread sanitizer does not see opendir() open the
 * descriptor, only closedir() close it.
 */
static DIR *open_folder(const char *path)
{
	auto_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (dir)
		(void)take_fd(&fd);
	return dir;
}

static int add_folder(struct digest *digest, const char *path, struct err *err)
{
	DIR *dir = open_folder(path);
	char *names[FILES_MAX] = { NULL };
	size_t count = 0;
	int result;

	if (!dir)
		return err_sys(err, "%s", path);
	result = list_files(dir, names, &count, err);
	for (size_t i = 0; i < count && result == 0; i++) {
		char name[PATH_MAX];

		cut_printf(name, sizeof(name), "%s/%s", path, names[i]);
		digest_add_sized(digest, names[i], strlen(names[i]));
		result = add_file(digest, name, err);
	}
	free_names(names);
	(void)closedir(dir);
	return result;
}

static void add_text(struct digest *digest, const char *text)
{
	digest_add_sized(digest, text, strlen(text));
}

int fingerprint_runtime(const struct config_runtime *runtime, const char *harness,
	char ret_text[DIGEST_TEXT_LEN + 1], struct err *err)
{
	struct digest digest;

	digest_start(&digest);
	digest_add(&digest, FORM, strlen(FORM));
	add_text(&digest, runtime->interpreter);
	add_text(&digest, runtime->preload);
	add_text(&digest, runtime->args);
	add_text(&digest, runtime->tools);
	for (unsigned i = 0; i < runtime->bind_count; i++)
		add_text(&digest, runtime->binds[i]);
	if (add_file(&digest, runtime->interpreter, err) < 0 ||
		add_folder(&digest, harness, err) < 0)
		return err_wrap(err, "fingerprint");
	digest_end_text(&digest, ret_text);
	return 0;
}

static struct utsname host;

static void look_at_host(void)
{
	if (uname(&host) < 0)
		host.release[0] = '\0';
}

const char *fingerprint_kernel(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, look_at_host);
	return host.release;
}
