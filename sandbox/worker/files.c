#include "sandbox/worker/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "sandbox/jail_env.h"

#define OWN_INODES 3 /* the root, work, tmp */

/* glibc 2.36 has these calls and their constants; <linux/mount.h> clashes with <sys/mount.h>. */
#define ATTRS (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

static int set_number(int context, const char *key, uint64_t value, struct err *err)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	if (fsconfig(context, FSCONFIG_SET_STRING, key, text, 0) < 0)
		return err_sys(err, "tmpfs %s=%s", key, text);
	return 0;
}

static int set_limits(int context, uint64_t bytes, uint64_t inodes, struct err *err)
{
	if (set_number(context, "size", bytes, err) < 0)
		return -1;
	return set_number(context, "nr_inodes", inodes + OWN_INODES, err);
}

static int make_folders(int mount, struct err *err)
{
	if (mkdirat(mount, "work", 0700) < 0 || mkdirat(mount, "tmp", 0700) < 0)
		return err_sys(err, "mkdir in the tmpfs");
	return 0;
}

int files_make(struct files *files, uint64_t bytes, uint64_t inodes, struct err *err)
{
	auto_fd int context = fsopen("tmpfs", FSOPEN_CLOEXEC);
	auto_fd int mount = -1;

	if (context < 0)
		return err_sys(err, "fsopen tmpfs");
	if (set_limits(context, bytes, inodes, err) < 0)
		return -1;
	if (fsconfig(context, FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
		fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_sys(err, "create tmpfs");

	mount = fsmount(context, FSMOUNT_CLOEXEC, ATTRS);
	if (mount < 0)
		return err_sys(err, "fsmount");
	if (make_folders(mount, err) < 0)
		return -1;

	files->mount = take_fd(&mount);
	files->context = take_fd(&context);
	return 0;
}

int files_add_hosts(struct files *files, struct err *err)
{
	static const char text[] = "127.0.0.1 localhost\n";
	auto_fd int fd =
		openat(files->mount, FILES_HOSTS, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_sys(err, "file of hosts");
	files->hosts = true;
	return write_all(fd, text, sizeof(text) - 1, err);
}

/* Its place is a file of the zygote's tree. */
static int show_hosts(struct err *err)
{
	if (mount(JAIL_WORK_DIR "/" FILES_HOSTS, FILES_HOSTS_PATH, NULL, MS_BIND, NULL) < 0 ||
		mount(NULL, FILES_HOSTS_PATH, NULL,
			MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
			NULL) < 0)
		return err_sys(err, "bind " FILES_HOSTS_PATH);
	return 0;
}

int files_resize(const struct files *files, uint64_t bytes, uint64_t inodes, struct err *err)
{
	if (set_limits(files->context, bytes, inodes, err) < 0)
		return -1;
	if (fsconfig(files->context, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
		return err_sys(err, "resize tmpfs");
	return 0;
}

/*
 * The whole tmpfs is mounted on /work first; then its folders are bound over /tmp and over /work
 * itself, so that no path leads to its root.  Since Linux 6.15 open_tree(OPEN_TREE_CLONE) works on
 * a mount that is not attached, and the detour is not needed.
 */
int files_show(const struct files *files, struct err *err)
{
	if (move_mount(files->mount, "", AT_FDCWD, JAIL_WORK_DIR, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(err, "move_mount to " JAIL_WORK_DIR);
	if (mount(JAIL_WORK_DIR "/tmp", JAIL_TMP_DIR, NULL, MS_BIND, NULL) < 0)
		return err_sys(err, "bind " JAIL_TMP_DIR);
	/* Libraries use this name.  It is a second mount, since jails have no links. */
	if (mount(JAIL_TMP_DIR, JAIL_SHM_DIR, NULL, MS_BIND, NULL) < 0 && errno != ENOENT)
		return err_sys(err, "bind " JAIL_SHM_DIR);
	if (files->hosts && show_hosts(err) < 0)
		return -1;
	if (mount(JAIL_WORK_DIR "/work", JAIL_WORK_DIR, NULL, MS_BIND, NULL) < 0)
		return err_sys(err, "bind " JAIL_WORK_DIR);
	return 0;
}

int files_measure(const struct files *files, struct files_usage *ret_usage, struct err *err)
{
	struct statfs fs;

	if (fstatfs(files->mount, &fs) < 0)
		return err_sys(err, "fstatfs");
	*ret_usage = (struct files_usage){
		.bytes = (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize,
		.inodes = (uint64_t)(fs.f_files - fs.f_ffree) - OWN_INODES,
		.bytes_full = fs.f_bfree == 0,
		.inodes_full = fs.f_ffree == 0,
	};
	return 0;
}

void files_done(struct files *files)
{
	close_fds(&files->mount, 1);
	close_fds(&files->context, 1);
	files->hosts = false;
}
