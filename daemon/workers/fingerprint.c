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
		return err_set(err, ERR_INVALID, "%s is not a file that the daemon can read", name);
	while ((got = read(fd, piece, PIECE_MAX)) > 0) {
		digest_add(digest, piece, (size_t)got);
		size += (uint64_t)got;
	}
	digest_add_u64(digest, size);
	return got < 0 ? err_sys(err, "%s", name) : 0;
}

/* Works in every locale, unlike alphasort(). */
static int by_name(const struct dirent **one, const struct dirent **other)
{
	return strcmp((*one)->d_name, (*other)->d_name);
}

/* Leaves out folders such as __pycache__. */
static int add_entry(struct digest *digest, const char *path, const char *name, struct err *err)
{
	char whole[PATH_MAX];
	struct stat about;

	cut_printf(whole, sizeof(whole), "%s/%s", path, name);
	if (stat(whole, &about) < 0 || !S_ISREG(about.st_mode))
		return 0;
	digest_add_sized(digest, name, strlen(name));
	return add_file(digest, whole, err);
}

static int add_folder(struct digest *digest, const char *path, struct err *err)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, NULL, by_name);
	int result = 0;

	if (count < 0)
		return err_sys(err, "%s", path);
	for (int i = 0; i < count; i++) {
		if (result == 0)
			result = add_entry(digest, path, entries[i]->d_name, err);
		free(entries[i]);
	}
	free(entries);
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
