#include "sandbox/runtimes/command/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "sandbox/jail_env.h"
#include "sandbox/runtimes/command/cells.h"
#include "sandbox/runtimes/command/needs.h"

#define FILES_MAX 1024
#define STORE     JAIL_TMP_DIR /* where the copies are while folders are replaced */

/* Folders of the host that are bound whole; copies of the files that are picked replace them. */
static const char *const folders[] = { "/usr/bin", "/usr/lib", "/usr/lib64", "/bin", "/lib",
	"/lib64", "/etc/alternatives" };

/* Where programs are searched, in this order. */
static const char *const tool_folders[] = { "/usr/bin", "/bin" };

struct kept {
	char path[PATH_MAX]; /* symbolic links resolved */
	int mount;
	bool is_folder;
};

/* The C library reads UTF-8 from here. */
#define CHARACTERS "/usr/lib/locale/C.utf8"

/* A tree that is being made. */
static struct picking {
	int store;   /* the tmpfs, at first not mounted */
	int context; /* its configuration */
	struct kept kept[ORDERS_KEEP_MAX + 3];
	size_t kept_count;
	size_t file_count;
} picking;

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

static bool is_in_folders(const char *path)
{
	for (size_t i = 0; i < COUNT_OF(folders); i++)
		if (is_below(path, folders[i]))
			return true;
	return false;
}

/* ---- copying ------------------------------------------------------------------------------ */

/* Makes every folder above `path` in the store. */
static int make_parents(int store, const char *path, struct err *err)
{
	char part[PATH_MAX];

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		cut_printf(part, sizeof(part), "%.*s", (int)(slash - path - 1), path + 1);
		if (mkdirat(store, part, 0755) < 0 && errno != EEXIST)
			return err_sys(err, "folder %s", part);
	}
	return 0;
}

/* Resolves the folders of a path; its last name stays, even if it is a link. */
static int name_of(const char *path, char ret_name[PATH_MAX], struct err *err)
{
	const char *last = strrchr(path, '/');
	char parent[PATH_MAX];
	char real[PATH_MAX];

	cut_printf(parent, sizeof(parent), "%.*s", (int)(last - path), path);
	if (!realpath(parent[0] ? parent : "/", real))
		return err_sys(err, "%s", parent);
	if (strlen(real) + strlen(last) >= PATH_MAX)
		return err_set(err, ERR_TOO_BIG, "%s: too long", path);
	cut_printf(ret_name, PATH_MAX, "%s%s", strcmp(real, "/") == 0 ? "" : real, last);
	return 0;
}

static int copy_bytes(int from, int to, const char *path, struct err *err)
{
	static char bytes[1 << 16];
	ssize_t got;

	while ((got = read(from, bytes, sizeof(bytes))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || write(to, bytes, (size_t)got) != got)
			return err_sys(err, "copy %s", path);
	}
	return 0;
}

/* Copies a file to the path `name`.  Returns 1 if there is no such file. */
static int copy_as(const char *path, const char *name, struct err *err)
{
	auto_fd int from = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	auto_fd int to = -1;
	struct stat stat;

	if (from < 0 && errno == ENOENT)
		return 1;
	if (from < 0 || fstat(from, &stat) < 0)
		return err_sys(err, "%s", path);
	if (!S_ISREG(stat.st_mode))
		return err_set(err, ERR_INVALID, "%s is not a file", path);
	if (make_parents(picking.store, name, err) < 0)
		return -1;
	to = openat(picking.store, name + 1, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0555);
	if (to < 0 && errno == EEXIST)
		return 0;
	if (to < 0)
		return err_sys(err, "file %s", name);
	if (++picking.file_count > FILES_MAX)
		return err_set(err, ERR_TOO_BIG, "more than %d files", FILES_MAX);
	return copy_bytes(from, to, path, err);
}

/* A file outside the folders is bound by itself and stays. */
static int copy_file(const char *path, struct err *err)
{
	char name[PATH_MAX];

	if (access(path, F_OK) < 0)
		return errno == ENOENT ? 1 : err_sys(err, "%s", path);
	if (name_of(path, name, err) < 0)
		return -1;
	return is_in_folders(name) ? copy_as(path, name, err) : 0;
}

static int on_library(void *context, const char *library, struct err *err)
{
	(void)context;
	return copy_file(library, err) < 0 ? -1 : 0;
}

/* Programs that a tool starts itself, which the list of tools does not name. */
static const struct {
	const char *tool, *starts;
} companions[] = {
	{ "tar", "sh" }, /* tar starts gzip for -z, if that is listed */
	{ "awk", "sh" }, /* system() and pipes */
	{ "gawk", "sh" },
	{ "mawk", "sh" },
	{ "gunzip", "gzip" }, /* scripts that start gzip */
	{ "zcat", "gzip" },
};

#define SCRIPTS_DEEP 4 /* the kernel's limit: an interpreter may be a script itself */

static int pick_tool(const char *name, unsigned depth, struct err *err);

/* "#!/usr/bin/env perl": the interpreter of a script, and what that starts. */
static int pick_interpreters(const char *path, unsigned depth, struct err *err)
{
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char line[256];
	char *rest = NULL;
	ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (got < 2 || line[0] != '#' || line[1] != '!' || depth == SCRIPTS_DEEP)
		return 0;
	line[got] = '\0';
	line[strcspn(line, "\n")] = '\0';
	for (char *word = strtok_r(line + 2, " \t", &rest); word;
		word = strtok_r(NULL, " \t", &rest)) {
		const char *slash = strrchr(word, '/');
		const char *name = slash ? slash + 1 : word;

		if (*name != '-' && pick_tool(name, depth + 1, err) < 0)
			return -1;
		if (strcmp(name, "env") != 0)
			return 0;
	}
	return 0;
}

static int pick_companions(const char *name, unsigned depth, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(companions); i++)
		if (strcmp(name, companions[i].tool) == 0 &&
			pick_tool(companions[i].starts, depth + 1, err) < 0)
			return -1;
	return 0;
}

/*
 * A tool with its libraries and the programs that it starts.  A tool that the host does not have is
 * skipped.
 */
static int pick_tool(const char *name, unsigned depth, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(tool_folders); i++) {
		char path[PATH_MAX];
		int result;

		cut_printf(path, sizeof(path), "%s/%s", tool_folders[i], name);
		result = copy_file(path, err);
		if (result < 0)
			return -1;
		if (result > 0)
			continue;
		if (pick_interpreters(path, depth, err) < 0 ||
			pick_companions(name, depth, err) < 0)
			return -1;
		return needs_of(path, on_library, NULL, err);
	}
	return 0;
}

static int pick_files(const struct orders *orders, const char *interpreter, struct err *err)
{
	if (copy_file(NEEDS_LOADER, err) < 0 || needs_of(interpreter, on_library, NULL, err) < 0)
		return -1;
	for (size_t i = 0; orders->tools[i]; i++)
		if (pick_tool(orders->tools[i], 0, err) < 0)
			return err_wrap(err, "tool %s", orders->tools[i]);
	return 0;
}

/* A file beside ced-zygote. */
static int pick_own(const char *folder, const char *file, struct err *err)
{
	char path[PATH_MAX];
	char name[PATH_MAX];
	int result;

	cut_printf(path, sizeof(path), JAIL_HARNESS_DIR "/%s", file);
	cut_printf(name, sizeof(name), "%s/%s", folder, file);
	result = copy_as(path, name, err);
	return result > 0 ? err_set(err, ERR_MISSING, "there is no %s", path) : result;
}

/*
 * The script that an interpreter is started with ahead of its job, or the libraries of deterministic
 * runs, of sessions and of interpreters that are started ahead.  The library that is loaded before the
 * C library has the same path in every jail.
 */
static int pick_our_files(const char *const *ahead, struct err *err)
{
	static const char *const plain[] = { STEADY_LIBRARY, STEADY_SCRIPT, CELLS_LIBRARY,
		AHEAD_LIBRARY, NULL };

	for (const char *const *file = ahead[0] ? ahead : plain; *file; file++)
		if (pick_own(TREE_AHEAD_DIR, *file, err) < 0)
			return -1;
	if (!ahead[0] && (pick_own(TREE_CALL_DIR, TREE_CALL, err) < 0 ||
				 pick_own(TREE_CALL_DIR, TREE_DISPLAY, err) < 0))
		return -1;
	return pick_own(JAIL_HARNESS_DIR, LIBC_LIBRARY, err);
}

/* ---- files that are kept ------------------------------------------------------------------ */

/* Opens `real` now, while the host's folder is there, to be mounted at `path` later. */
static int keep_at(const char *real, const char *path, struct err *err)
{
	struct kept *kept = &picking.kept[picking.kept_count];
	auto_fd int place = -1;
	struct stat stat;

	if (lstat(real, &stat) < 0)
		return err_sys(err, "%s", real);
	cut_printf(kept->path, sizeof(kept->path), "%s", path);
	kept->is_folder = S_ISDIR(stat.st_mode);
	kept->mount = (int)syscall(
		SYS_open_tree, AT_FDCWD, real, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (kept->mount < 0)
		return err_sys(err, "keep %s", real);
	picking.kept_count++;
	if (make_parents(picking.store, path, err) < 0)
		return -1;
	if (kept->is_folder)
		return mkdirat(picking.store, path + 1, 0755) < 0 && errno != EEXIST
			       ? err_sys(err, "folder %s", path)
			       : 0;
	place = openat(picking.store, path + 1, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
	return place < 0 ? err_sys(err, "file %s", path) : 0;
}

/* A path outside the folders needs no copy. */
static int keep(const char *path, struct err *err)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return errno == ENOENT ? 0 : err_sys(err, "%s", path);
	return is_in_folders(real) ? keep_at(real, real, err) : 0;
}

/*
 * The name by which it is started may be a link.  The filter of a zygote allows no new links, so
 * the file is mounted at that name too.
 */
static int keep_interpreter(const char *interpreter, struct err *err)
{
	char name[PATH_MAX];
	char real[PATH_MAX];

	if (keep(interpreter, err) < 0 || name_of(interpreter, name, err) < 0)
		return -1;
	if (!realpath(interpreter, real))
		return err_sys(err, "%s", interpreter);
	return strcmp(name, real) != 0 && is_in_folders(name) ? keep_at(real, name, err) : 0;
}

static int keep_all(const struct orders *orders, const char *interpreter, struct err *err)
{
	if (keep_interpreter(interpreter, err) < 0 || keep(CHARACTERS, err) < 0)
		return -1;
	for (size_t i = 0; orders->keep[i]; i++)
		if (keep(orders->keep[i], err) < 0)
			return -1;
	return 0;
}

/* ---- the store and the folders ------------------------------------------------------------ */

static int open_store(struct err *err)
{
	picking.context = fsopen("tmpfs", FSOPEN_CLOEXEC);
	if (picking.context < 0)
		return err_sys(err, "fsopen tmpfs");
	if (fsconfig(picking.context, FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
		fsconfig(picking.context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_sys(err, "tmpfs");
	picking.store =
		fsmount(picking.context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return picking.store < 0 ? err_sys(err, "fsmount") : 0;
}

static bool is_folder(const char *path)
{
	struct stat stat;

	return lstat(path, &stat) == 0 && S_ISDIR(stat.st_mode);
}

/* Unmounts the host's folder and binds the store's in its place, if it has one. */
static int change_folder(const char *folder, struct err *err)
{
	char stored[PATH_MAX];

	cut_printf(stored, sizeof(stored), STORE "%s", folder);
	if (!is_folder(folder))
		return 0;
	while (umount2(folder, MNT_DETACH) == 0)
		; /* with all mounts on it */
	if (errno != EINVAL)
		return err_sys(err, "umount %s", folder);
	if (is_folder(stored) && mount(stored, folder, NULL, MS_BIND, NULL) < 0)
		return err_sys(err, "bind %s", folder);
	return 0;
}

static int change_folders(struct err *err)
{
	if (move_mount(picking.store, "", AT_FDCWD, STORE, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(err, "move_mount to " STORE);
	for (size_t i = 0; i < COUNT_OF(folders); i++)
		if (change_folder(folders[i], err) < 0)
			return -1;
	for (size_t i = 0; i < picking.kept_count; i++) {
		const struct kept *kept = &picking.kept[i];

		if (move_mount(kept->mount, "", AT_FDCWD, kept->path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
			return err_sys(err, "put %s back", kept->path);
		close(kept->mount);
	}
	if (umount2(JAIL_HARNESS_DIR, MNT_DETACH) < 0)
		return err_sys(err, "umount " JAIL_HARNESS_DIR);
	if (mount(STORE JAIL_HARNESS_DIR, JAIL_HARNESS_DIR, NULL, MS_BIND, NULL) < 0)
		return err_sys(err, "bind " JAIL_HARNESS_DIR);
	if (umount2(STORE, MNT_DETACH) < 0)
		return err_sys(err, "umount " STORE);
	return 0;
}

/* Makes the file system read-only, not only the mounts. */
static int close_store(struct err *err)
{
	close(picking.store);
	if (fsconfig(picking.context, FSCONFIG_SET_FLAG, "ro", NULL, 0) < 0 ||
		fsconfig(picking.context, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
		return err_sys(err, "tools read-only");
	close(picking.context);
	return 0;
}

int tree_pick(const struct orders *orders, const char *interpreter, struct err *err)
{
	if (open_store(err) < 0 || pick_files(orders, interpreter, err) < 0 ||
		pick_our_files(orders->ahead, err) < 0 || keep_all(orders, interpreter, err) < 0)
		return -1;
	if (change_folders(err) < 0)
		return -1;
	return close_store(err);
}
