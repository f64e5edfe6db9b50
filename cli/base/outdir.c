#include "cli/base/outdir.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"

#define PATH_BYTES_MAX 4096
#define FOLDER_FLAGS   (O_PATH | O_DIRECTORY | O_CLOEXEC)

int outdir_open(const char *path, struct err *err)
{
	int dir;

	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return err_sys(err, "cannot make the folder %s", path);
	dir = open(path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (dir < 0)
		return err_sys(err, "cannot open the folder %s", path);
	return dir;
}

static int open_beneath(int dir, const char *path)
{
	struct open_how how = {
		.flags = FOLDER_FLAGS,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static bool is_clean(const char *path)
{
	size_t len = strlen(path);

	return len > 0 && len < PATH_BYTES_MAX && path[0] != '/' && path[len - 1] != '/';
}

/* One folder further down, made when it is not there. */
static int enter(int dir, const char *name, struct err *err)
{
	int next;

	if (strcmp(name, "..") == 0)
		return err_set(err, ERR_DENIED, "the path leaves the folder");
	if (mkdirat(dir, name, 0777) < 0 && errno != EEXIST)
		return err_sys(err, "cannot make the folder %s", name);
	next = open_beneath(dir, name);
	if (next < 0 && (errno == ELOOP || errno == ENOTDIR))
		return err_set(err, ERR_DENIED, "%s is there and is not a folder", name);
	if (next < 0)
		return err_sys(err, "cannot enter the folder %s", name);
	return next;
}

/* The folder that holds the last part of `path`, which is cut into its parts. */
static int enter_parents(int dir, char *path, char **ret_name, struct err *err)
{
	auto_fd int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	char *name = path;
	char *slash;

	if (at < 0)
		return err_sys(err, "cannot keep the folder");
	for (; (slash = strchr(name, '/')) != NULL; name = slash + 1) {
		int next;

		*slash = '\0';
		if (*name == '\0')
			continue;
		next = enter(at, name, err);
		if (next < 0)
			return -1;
		close(at);
		at = next;
	}
	*ret_name = name;
	return take_fd(&at);
}

static int check_place(int parent, const char *name, struct err *err)
{
	struct stat there;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return err_set(err, ERR_DENIED, "it is not the name of a file");
	if (fstatat(parent, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "cannot look at it");
	if (!S_ISREG(there.st_mode))
		return err_set(
			err, ERR_EXISTS, "something that is not a regular file is in its place");
	return 0;
}

static int place(int parent, const char *name, const void *bytes, size_t len, struct err *err)
{
	auto_fd int fd = -1;
	char ours[64];
	int status;

	cut_printf(ours, sizeof(ours), ".cectl-%d.part", (int)getpid());
	fd = openat(parent, ours, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_sys(err, "cannot make a file");
	status = write_all(fd, bytes, len, err);
	if (status == 0 && renameat(parent, ours, parent, name) < 0)
		status = err_sys(err, "cannot put the file in its place");
	if (status < 0)
		(void)unlinkat(parent, ours, 0);
	return status;
}

static int place_new(int parent, const char *name, const void *bytes, size_t len, struct err *err)
{
	auto_fd int fd =
		openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

	if (fd < 0 && errno == EEXIST)
		return err_set(err, ERR_EXISTS, "there is such a file already");
	if (fd < 0)
		return err_sys(err, "cannot make it");
	if (write_all(fd, bytes, len, err) == 0)
		return 0;
	(void)unlinkat(parent, name, 0);
	return -1;
}

/* As enter_parents(), of a path that stays as it is; its parts are in `parts`. */
static int find_place(
	int dir, const char *path, char parts[PATH_BYTES_MAX], char **ret_name, struct err *err)
{
	if (!is_clean(path))
		return err_set(err, ERR_INVALID, "the path is not a relative path of a file");
	memcpy(parts, path, strlen(path) + 1);
	return enter_parents(dir, parts, ret_name, err);
}

int outdir_write(int dir, const char *path, const void *bytes, size_t len, struct err *err)
{
	char parts[PATH_BYTES_MAX];
	char *name = parts;
	auto_fd int parent = find_place(dir, path, parts, &name, err);

	if (parent < 0 || check_place(parent, name, err) < 0)
		return -1;
	return place(parent, name, bytes, len, err);
}

int outdir_write_new(int dir, const char *path, const void *bytes, size_t len, struct err *err)
{
	char parts[PATH_BYTES_MAX];
	char *name = parts;
	auto_fd int parent = find_place(dir, path, parts, &name, err);

	return parent < 0 ? -1 : place_new(parent, name, bytes, len, err);
}
