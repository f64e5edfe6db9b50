#include "sandbox/jail/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "proto/base/container.h"
#include "proto/base/owned.h"
#include "proto/jail_dirs.h"

/* The kernel's current name of an open file. */
static int check_opened(int fd, char *ret_real, struct err *err)
{
	char link[64];
	ssize_t len;

	cut_printf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, ret_real, MOUNT_PATH_MAX);
	if (len < 0)
		return err_sys(err, "%s", link);
	if (len == MOUNT_PATH_MAX)
		return err_set(err, ERR_TOO_BIG, "leads to a path that is too long");
	ret_real[len] = '\0';
	return jail_path_check(ret_real, err);
}

int mount_real_path(const char *path, char *ret_real, struct err *err)
{
	auto_fd int fd = -1;

	if (jail_path_check(path, err) < 0)
		return -1;
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "%s", path);
	return check_opened(fd, ret_real, err) < 0 ? err_wrap(err, "%s", path) : 0;
}

/* ---- the new mount API, which Debian 12's libc does not declare --------------------------- */

static int set_attributes(int fd, uint64_t flags, bool with_below, struct err *err)
{
	struct mount_attr attr = { .attr_set = flags, .propagation = MS_PRIVATE };
	unsigned how = AT_EMPTY_PATH | (with_below ? AT_RECURSIVE : 0U);

	if (syscall(SYS_mount_setattr, fd, "", how, &attr, sizeof(attr)) < 0)
		return err_sys(err, "mount_setattr");
	return 0;
}

static int move_mount_to(int mount, int folder, const char *name, struct err *err)
{
	if (syscall(SYS_move_mount, mount, "", folder, name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(err, "move_mount");
	return 0;
}

/*
 * Makes a file system that is not mounted.  `options` are names and values in turn, ended by NULL.
 */
static int make_mount(const char *type, const char *const *options, unsigned flags, struct err *err)
{
	auto_fd int context = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	int mount;

	if (context < 0)
		return err_sys(err, "fsopen %s", type);
	for (; *options; options += 2)
		if (syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, options[0], options[1], 0) <
			0)
			return err_sys(err, "%s: option %s", type, options[0]);
	if (syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_sys(err, "%s", type);
	mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, flags);
	return mount < 0 ? err_sys(err, "fsmount %s", type) : mount;
}

int mounts_procfs(struct err *err)
{
	static const char *const options[] = { "subset", "pid", NULL };

	return make_mount(
		"proc", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, err);
}

/* ---- sources ------------------------------------------------------------------------------- */

/* Major 1: null, zero, full, random, urandom; not mem, port, kmsg. */
#define MEM_MAJOR       1
#define HARMLESS_MINORS (1U << 3 | 1U << 5 | 1U << 7 | 1U << 8 | 1U << 9)

static bool is_harmless(const struct stat *device)
{
	return S_ISCHR(device->st_mode) && major(device->st_rdev) == MEM_MAJOR &&
	       minor(device->st_rdev) < 32 && HARMLESS_MINORS >> minor(device->st_rdev) & 1U;
}

static int check_source(const struct mount_row *row, int fd, struct err *err)
{
	char real[MOUNT_PATH_MAX + 1];
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return err_sys(err, "stat");
	if (row->kind == MOUNT_DEVICE && is_harmless(&stat))
		return 0;
	if (!S_ISDIR(stat.st_mode) && !S_ISREG(stat.st_mode) && !S_ISLNK(stat.st_mode))
		return err_set(err, ERR_DENIED, "is neither file nor folder");
	return check_opened(fd, real, err);
}

static int clone_tree(int fd, struct err *err)
{
	int clone = (int)syscall(SYS_open_tree, fd, "",
		OPEN_TREE_CLOEXEC | OPEN_TREE_CLONE | AT_EMPTY_PATH | AT_RECURSIVE);

	return clone < 0 ? err_sys(err, "open_tree") : clone;
}

/* A symbolic link stays an O_PATH descriptor, since it cannot be mounted. */
static int open_source(const struct mount_row *row, struct err *err)
{
	unsigned nofollow = row->kind == MOUNT_TARGET ? 0 : AT_SYMLINK_NOFOLLOW;
	uint64_t flags = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
			 (row->kind == MOUNT_DEVICE ? MOUNT_ATTR_NOEXEC : MOUNT_ATTR_NODEV);
	auto_fd int fd =
		(int)syscall(SYS_open_tree, AT_FDCWD, row->source, OPEN_TREE_CLOEXEC | nofollow);
	auto_fd int clone = -1;
	struct stat stat;

	if (fd < 0)
		return err_sys(err, "open");
	if (row->kind == MOUNT_PROC) {
		clone = mounts_procfs(err);
	} else {
		if (check_source(row, fd, err) < 0)
			return -1;
		if (fstat(fd, &stat) == 0 && S_ISLNK(stat.st_mode))
			return take_fd(&fd);
		clone = clone_tree(fd, err);
	}
	if (clone < 0)
		return -1;
	if (set_attributes(clone, flags, true, err) < 0)
		return -1;
	return take_fd(&clone);
}

int mounts_open(const struct mount_plan *plan, struct mount_sources *ret_sources, struct err *err)
{
	for (unsigned i = 0; i < plan->count; i++) {
		const struct mount_row *row = &plan->rows[i];
		struct err failure = ERR_INIT;

		ret_sources->fds[i] = open_source(row, &failure);
		if (ret_sources->fds[i] >= 0)
			continue;
		if (row->optional && failure.sys_errno == ENOENT)
			continue;
		return err_set(err, failure.code, "%s: %s", row->source, failure.text);
	}
	return 0;
}

/* ---- the tree ------------------------------------------------------------------------------ */

/* Opens a path inside the new root; symbolic links cannot lead out of it. */
static int open_inside(int root, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static const char *last_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

/* Opens the folder of `path` and makes those that are missing. */
static int open_parent(int root, const char *path, struct err *err)
{
	auto_fd int folder = open_inside(root, "/", O_PATH | O_DIRECTORY);
	char prefix[MOUNT_PATH_MAX];

	if (folder < 0) /* a service manager's filter may refuse it, and then no jail works */
		return err_sys(err, "openat2");
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		cut_printf(prefix, sizeof(prefix), "%.*s", (int)(slash - path), path);
		if (mkdirat(folder, last_name(prefix), 0755) < 0 && errno != EEXIST)
			return err_sys(err, "folder %s", prefix);
		cleanup_fd(&folder);
		folder = open_inside(root, prefix, O_PATH | O_DIRECTORY);
		if (folder < 0)
			return err_sys(err, "folder %s", prefix);
	}
	return take_fd(&folder);
}

static int make_file(int folder, const char *name, const char *text, struct err *err)
{
	auto_fd int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return err_sys(err, "file");
	return 0;
}

static int copy_link(int source, int folder, const char *name, struct err *err)
{
	char target[MOUNT_PATH_MAX];
	ssize_t len = readlinkat(source, "", target, sizeof(target) - 1);

	if (len < 0)
		return err_sys(err, "readlink");
	target[len] = '\0';
	if (symlinkat(target, folder, name) < 0 && errno != EEXIST)
		return err_sys(err, "link");
	return 0;
}

static int check_flags(int fd, enum mount_kind kind, struct err *err)
{
	unsigned long wanted = ST_RDONLY | ST_NOSUID | (kind == MOUNT_DEVICE ? 0UL : ST_NODEV);
	struct statvfs found;

	if (fstatvfs(fd, &found) < 0)
		return err_sys(err, "statvfs");
	if ((found.f_flag & wanted) != wanted)
		return err_set(err, ERR_DENIED, "is mounted with flags %#lx, not %#lx",
			found.f_flag, wanted);
	return 0;
}

/* Makes a file or folder to mount on, unless one exists (a bind inside a bind). */
static int make_place(int source, int folder, const char *name, struct err *err)
{
	struct stat stat;

	if (fstat(source, &stat) < 0)
		return err_sys(err, "stat");
	if (faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (!S_ISDIR(stat.st_mode))
		return make_file(folder, name, "", err);
	if (mkdirat(folder, name, 0755) < 0)
		return err_sys(err, "folder");
	return 0;
}

static int place(int root, const struct mount_row *row, int source, struct err *err)
{
	auto_fd int folder = -1;
	auto_fd int placed = -1;
	const char *name = last_name(row->target);
	struct stat stat;

	folder = open_parent(root, row->target, err);
	if (folder < 0)
		return -1;
	if (fstat(source, &stat) == 0 && S_ISLNK(stat.st_mode))
		return copy_link(source, folder, name, err);
	if (make_place(source, folder, name, err) < 0 ||
		move_mount_to(source, folder, name, err) < 0)
		return -1;
	placed = open_inside(root, row->target, O_PATH);
	if (placed < 0)
		return err_sys(err, "open inside");
	return check_flags(placed, row->kind, err);
}

static int fill(
	int root, const struct mount_plan *plan, struct mount_sources *sources, struct err *err)
{
	for (unsigned i = 0; i < plan->count; i++) {
		if (sources->fds[i] < 0)
			continue;
		if (place(root, &plan->rows[i], sources->fds[i], err) < 0)
			return err_wrap(err, "%s", plan->rows[i].target);
		close(sources->fds[i]);
		sources->fds[i] = -1;
	}
	for (const char *const *path = plan->folders; path && *path; path++)
		if (mkdirat(root, *path + 1, 0755) < 0 && errno != EEXIST)
			return err_sys(err, "folder %s", *path);
	for (const struct mount_text *file = plan->texts; file && file->path; file++) {
		auto_fd int folder = open_parent(root, file->path, err);

		if (folder < 0 || make_file(folder, last_name(file->path), file->text, err) < 0)
			return err_wrap(err, "%s", file->path);
	}
	return 0;
}

/* pivot_root() puts the old root on top of the new one; unmounting it removes the host's tree. */
static int pivot(int root, struct err *err)
{
	char cwd[8];

	if (fchdir(root) < 0)
		return err_sys(err, "chdir to the new root");
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return err_sys(err, "pivot_root");
	if (umount2(".", MNT_DETACH) < 0)
		return err_sys(err, "umount of the old root");
	if (chdir("/") < 0 || !getcwd(cwd, sizeof(cwd)) || strcmp(cwd, "/") != 0)
		return err_set(err, ERR_DENIED, "the new root is not \"/\"");
	return 0;
}

int mounts_enter(const struct mount_plan *plan, struct mount_sources *sources, struct err *err)
{
	static const char *const options[] = { "mode", "0755", "size", "512k", "nr_inodes", "512",
		NULL };
	auto_fd int root = make_mount("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, err);
	auto_fd int inside = -1;

	if (root < 0)
		return -1;
	if (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_sys(err, "private propagation");
	/* Any folder would do here; this one exists on every host. */
	if (move_mount_to(root, AT_FDCWD, "/proc", err) < 0)
		return -1;
	if (fill(root, plan, sources, err) < 0 || pivot(root, err) < 0)
		return -1;

	inside = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (inside < 0)
		return err_sys(err, "/");
	if (set_attributes(inside, MOUNT_ATTR_RDONLY, false, err) < 0)
		return err_wrap(err, "/");
	return check_flags(inside, MOUNT_TREE, err);
}
