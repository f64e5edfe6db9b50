/* Mounts as a jail's tree is made of them, in a mount namespace that goes with its only process. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/doctor/probe.h"
#include "cli/doctor/try.h"
#include "proto/base/cleanup.h"

#define MOUNTS ((uint64_t)(CLONE_NEWUSER | CLONE_NEWNS))

#define TMPFS_BYTES  ((size_t)64 << 10)
#define TMPFS_INODES 8

/* A file system that is mounted nowhere yet; `options` are names and values in turn. */
static int make(const char *type, const char *const *options, struct err *err)
{
	auto_fd int context = fsopen(type, FSOPEN_CLOEXEC);
	int mount;

	if (context < 0)
		return err_sys(err, "fsopen %s", type);
	for (; options && *options; options += 2)
		if (fsconfig(context, FSCONFIG_SET_STRING, options[0], options[1], 0) < 0)
			return err_sys(err, "fsconfig %s=%s", options[0], options[1]);
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_sys(err, "create %s", type);
	mount = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return mount < 0 ? err_sys(err, "fsmount %s", type) : mount;
}

/* Over /proc, which is everywhere and which only we see covered. */
static int attach(int mount, struct err *err)
{
	if (mount < 0)
		return -1;
	if (move_mount(mount, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(err, "move_mount");
	return 0;
}

static int private_first(struct err *err)
{
	if (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_sys(err, "make mounts private");
	return 0;
}

static int try_mounts(
	uint64_t kinds, try_work work, const char *found, struct finding *finding, struct err *err)
{
	if (try_inside(kinds, work, NULL, err) < 0)
		return -1;
	cut_printf(finding->found, FOUND_MAX, "%s", found);
	return 0;
}

/* ---- the calls ----------------------------------------------------------------------------- */

static int mount_one(void *context, struct err *err)
{
	auto_fd int mount = -1;

	(void)context;
	if (private_first(err) < 0)
		return -1;
	mount = make("tmpfs", NULL, err);
	return attach(mount, err);
}

PROBE(mount_api)
{
	(void)patient;
	return try_mounts(MOUNTS, mount_one, "fsopen, fsconfig, fsmount, move_mount", finding, err);
}

/* ---- tmpfs --------------------------------------------------------------------------------- */

static int fill_bytes(int mount, struct err *err)
{
	static const char page[4096];
	auto_fd int fd = openat(mount, "bytes", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	size_t total = 0;

	if (fd < 0)
		return err_sys(err, "a file in the tmpfs");
	while (total <= TMPFS_BYTES && write(fd, page, sizeof(page)) == (ssize_t)sizeof(page))
		total += sizeof(page);
	if (total > TMPFS_BYTES || errno != ENOSPC)
		return err_set(err, ERR_UNSUPPORTED, "its size does not hold");
	return unlinkat(mount, "bytes", 0);
}

static int fill_inodes(int mount, struct err *err)
{
	char name[] = "a";
	int count = 0;

	while (count <= TMPFS_INODES && mkdirat(mount, name, 0700) == 0) {
		count++;
		name[0]++;
	}
	if (count > TMPFS_INODES || errno != ENOSPC)
		return err_set(err, ERR_UNSUPPORTED, "its number of files does not hold");
	return 0;
}

static int fill_tmpfs(void *context, struct err *err)
{
	static const char *const options[] = { "size", "64k", "nr_inodes", "8", NULL };
	auto_fd int mount = make("tmpfs", options, err);

	(void)context;
	if (mount < 0 || fill_bytes(mount, err) < 0)
		return -1;
	return fill_inodes(mount, err);
}

PROBE(tmpfs_limits)
{
	(void)patient;
	return try_mounts(MOUNTS, fill_tmpfs, "filled up to its bytes and to its files, not past",
		finding, err);
}

/* ---- the host's files, read only ----------------------------------------------------------- */

static int bind_usr(void *context, struct err *err)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
		.propagation = MS_PRIVATE,
	};
	auto_fd int tree =
		open_tree(AT_FDCWD, "/usr", OPEN_TREE_CLOEXEC | OPEN_TREE_CLONE | AT_RECURSIVE);
	struct statvfs found;

	(void)context;
	if (tree < 0)
		return err_sys(err, "open_tree /usr");
	if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		return err_sys(err, "mount_setattr");
	if (fstatvfs(tree, &found) < 0 || !(found.f_flag & ST_RDONLY) ||
		!(found.f_flag & ST_NOSUID))
		return err_set(err, ERR_UNSUPPORTED, "the copy is not read-only and nosuid");
	if (private_first(err) < 0)
		return -1;
	return attach(tree, err);
}

PROBE(binds)
{
	(void)patient;
	return try_mounts(MOUNTS, bind_usr,
		"open_tree and mount_setattr: /usr, read-only, nosuid, nodev", finding, err);
}

static int leave_the_host(void *context, struct err *err)
{
	auto_fd int root = make("tmpfs", NULL, err);

	(void)context;
	if (root < 0 || private_first(err) < 0 || attach(root, err) < 0)
		return -1;
	if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
		return err_sys(err, "pivot_root");
	if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return err_sys(err, "umount of the old root");
	if (access("/usr", F_OK) == 0)
		return err_set(err, ERR_UNSUPPORTED, "the old root can still be seen");
	return 0;
}

PROBE(pivot)
{
	(void)patient;
	return try_mounts(
		MOUNTS, leave_the_host, "the host's root was left and taken off", finding, err);
}

/* ---- others -------------------------------------------------------------------------------- */

static int mount_procfs(void *context, struct err *err)
{
	static const char *const options[] = { "subset", "pid", NULL };
	auto_fd int proc = make("proc", options, err);

	(void)context;
	if (proc < 0)
		return -1;
	if (faccessat(proc, "1/status", F_OK, 0) < 0)
		return err_sys(err, "its own first process");
	if (faccessat(proc, "meminfo", F_OK, 0) == 0)
		return err_set(err, ERR_UNSUPPORTED, "subset=pid shows more than processes");
	return 0;
}

PROBE(procfs)
{
	(void)patient;
	if (try_mounts(MOUNTS | CLONE_NEWPID, mount_procfs,
		    "of its own processes and nothing else (subset=pid)", finding, err) == 0)
		return 0;
	if (err->sys_errno == EPERM)
		cut_printf(finding->repair, REPAIR_MAX,
			"the host's /proc is covered in parts, as containers do it: start the container "
			"with --security-opt systempaths=unconfined, or take ProtectKernel*= and "
			"ProtectProc= out of the unit");
	return -1;
}

static int mount_overlay(void *context, struct err *err)
{
	auto_fd int overlay = fsopen("overlay", FSOPEN_CLOEXEC);

	(void)context;
	return overlay < 0 ? err_sys(err, "fsopen overlay") : 0;
}

PROBE(overlay)
{
	(void)patient;
	return try_mounts(MOUNTS, mount_overlay,
		"there; ced does not use it: jails are made of binds", finding, err);
}
