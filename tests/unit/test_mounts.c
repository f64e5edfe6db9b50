#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>

#include "proto/base/container.h"
#include "proto/jail_dirs.h"
#include "sandbox/jail/mounts.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

static struct err err = ERR_INIT;

static bool is_refused(const char *path)
{
	return jail_path_check(path, &err) < 0;
}

/* ---- paths --------------------------------------------------------------------------------- */

TEST(plain_absolute_paths_are_taken)
{
	static const char *const good[] = { "/usr", "/usr/lib/python3", "/opt/venv", "/home/a/venv",
		"/root/venv", "/tmp/build/x", "/etc/alternatives", "/etc/fonts/conf.d", "/usr/...",
		"/usr/.hidden", "/usr/a..b" };

	for (size_t i = 0; i < COUNT_OF(good); i++)
		CHECK(!is_refused(good[i]));
}

TEST(crooked_paths_are_refused)
{
	static const char *const bad[] = { "", "usr", "./usr", "/usr/", "//usr", "/usr//lib", "/..",
		"/usr/..", "/usr/../etc", "/./usr", "/usr/.", "/usr/./lib" };

	for (size_t i = 0; i < COUNT_OF(bad); i++)
		CHECK(is_refused(bad[i]));
}

TEST(a_path_that_is_too_long_is_refused)
{
	char path[2 * MOUNT_PATH_MAX];

	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[MOUNT_PATH_MAX] = '\0';
	CHECK(is_refused(path));
	path[MOUNT_PATH_MAX - 1] = '\0';
	CHECK(!is_refused(path));
}

TEST(what_shows_or_steers_the_host_is_refused)
{
	static const char *const bad[] = { "/", "/proc", "/proc/self", "/sys", "/sys/fs/cgroup",
		"/dev", "/dev/null", "/dev/sda", "/run", "/run/docker.sock", "/var", "/var/lib/ced",
		"/boot", "/etc", "/etc/shadow", "/etc/ssl/private", "/home", "/root", "/tmp",
		"/mnt", "/media", "/srv" };

	for (size_t i = 0; i < COUNT_OF(bad); i++)
		CHECK(is_refused(bad[i]));
}

TEST(a_name_that_begins_like_a_closed_folder_is_another_folder)
{
	CHECK(!is_refused("/processes"));
	CHECK(!is_refused("/etcetera"));
	CHECK(is_refused("/etc/alternatives2"));
}

TEST(a_link_is_judged_by_where_it_leads)
{
	char folder[] = "/tmp/ced-mounts.XXXXXX";
	char link[64];
	char real[MOUNT_PATH_MAX + 1];

	CHECK(mkdtemp(folder));
	(void)snprintf(link, sizeof(link), "%s/link", folder);
	CHECK(symlink("/etc/passwd", link) == 0);
	CHECK(mount_real_path(link, real, &err) < 0);
	CHECK_EQ_INT(err.code, ERR_DENIED);
	CHECK(unlink(link) == 0 && symlink("/usr/bin/env", link) == 0);
	CHECK(mount_real_path(link, real, &err) == 0);
	CHECK_STR(real, "/usr/bin/env");
	CHECK(unlink(link) == 0 && rmdir(folder) == 0);
	CHECK(mount_real_path(link, real, &err) < 0);
	CHECK_EQ_INT(err.sys_errno, ENOENT);
}

/* ---- trees --------------------------------------------------------------------------------- */

static const char *const folders[] = { "/work", NULL };
static const struct mount_text texts[] = { { "/etc/passwd", "user\n" }, { NULL, NULL } };
static char host_folder[] = "/tmp/ced-tree.XXXXXX";

static int build(const struct mount_row *rows, unsigned count)
{
	struct mount_plan plan = { .count = count, .folders = folders, .texts = texts };
	struct mount_sources sources;

	for (unsigned i = 0; i < count; i++)
		plan.rows[i] = rows[i];
	if (mounts_open(&plan, &sources, &err) < 0 || mounts_enter(&plan, &sources, &err) < 0) {
		printf("# %s\n", err.text);
		return -1;
	}
	return 0;
}

static unsigned long flags_of(const char *path)
{
	struct statvfs found;

	if (statvfs(path, &found) < 0)
		return 0;
	return found.f_flag & (ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC);
}

static int tree(void *context)
{
	const struct mount_row rows[] = {
		{ MOUNT_TREE, "/usr", "/usr", false },
		{ MOUNT_TREE, "/lib64", "/lib64", false },
		{ MOUNT_TARGET, host_folder, "/deep/down/here", false },
		{ MOUNT_TREE, "/no/such/path", "/no/such/path", true },
		{ MOUNT_DEVICE, "/dev/null", "/dev/null", false },
	};
	int null;

	(void)context;
	WANT(enter_namespaces());
	WANT(build(rows, COUNT_OF(rows)) == 0);
	WANT(flags_of("/") == (ST_RDONLY | ST_NOSUID | ST_NODEV));
	WANT(flags_of("/usr") == (ST_RDONLY | ST_NOSUID | ST_NODEV));
	WANT(flags_of("/deep/down/here") == (ST_RDONLY | ST_NOSUID | ST_NODEV));
	WANT(flags_of("/dev/null") == (ST_RDONLY | ST_NOSUID | ST_NOEXEC));
	WANT(access("/deep/down/here/planted", F_OK) == 0);
	WANT(access("/no", F_OK) < 0 && access("/proc", F_OK) < 0 && access("/tmp", F_OK) < 0);
	WANT(access("/work", F_OK) == 0 && access("/etc/passwd", R_OK) == 0);
	WANT(mkdir("/new", 0755) < 0 && errno == EROFS);
	WANT(open("/deep/down/here/planted", O_WRONLY) < 0 && errno == EROFS);
	null = open("/dev/null", O_RDWR);
	WANT(null >= 0 && write(null, "x", 1) == 1);
	WANT(access("/../../tmp", F_OK) < 0);
	return 0;
}

static bool plant(void)
{
	char file[64];
	int fd;

	if (!mkdtemp(host_folder) || chmod(host_folder, 0755) < 0)
		return false;
	(void)snprintf(file, sizeof(file), "%s/planted", host_folder);
	fd = open(file, O_WRONLY | O_CREAT, 0666);
	return fd >= 0 && close(fd) == 0;
}

static void uproot(void)
{
	char file[64];

	(void)snprintf(file, sizeof(file), "%s/planted", host_folder);
	(void)unlink(file);
	(void)rmdir(host_folder);
}

TEST(a_tree_holds_what_the_plan_names_and_nothing_can_be_written)
{
	int answer;

	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK(plant());
	answer = in_child(tree, NULL);
	uproot();
	CHECK_EQ_INT(answer, 0);
}

/* Expects an error with this code and these words. */
static int fails(const struct mount_row *row, enum err_code code, const char *words)
{
	WANT(enter_namespaces());
	WANT(build(row, 1) < 0);
	WANT(err.code == code && strstr(err.text, words));
	return 0;
}

static int missing(void *context)
{
	const struct mount_row row = { MOUNT_TREE, "/no/such/path", "/no", false };

	(void)context;
	return fails(&row, ERR_SYSTEM, "/no/such/path");
}

static int disguised(void *context)
{
	const struct mount_row row = { MOUNT_TARGET, "/proc/self/root/etc", "/x", false };

	(void)context;
	return fails(&row, ERR_DENIED, "/etc");
}

static int device_as_file(void *context)
{
	const struct mount_row row = { MOUNT_TREE, "/dev/null", "/x", false };

	(void)context;
	return fails(&row, ERR_DENIED, "neither");
}

static int harmful_device(void *context)
{
	const struct mount_row row = { MOUNT_DEVICE, "/dev/kmsg", "/dev/kmsg", false };

	(void)context;
	return fails(&row, ERR_DENIED, "/dev/kmsg");
}

TEST(a_source_that_must_not_or_cannot_be_there_stops_the_tree)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK_EQ_INT(in_child(missing, NULL), 0);
	CHECK_EQ_INT(in_child(disguised, NULL), 0);
	CHECK_EQ_INT(in_child(device_as_file, NULL), 0);
	if (access("/dev/kmsg", F_OK) == 0)
		CHECK_EQ_INT(in_child(harmful_device, NULL), 0);
}

static int procfs(void *context)
{
	int fd;

	(void)context;
	WANT(enter_namespaces());
	WANT(unshare(CLONE_NEWPID) == 0);
	if (fork() == 0) {
		char self[32] = "";

		fd = mounts_procfs(&err);
		if (fd < 0)
			printf("# %s\n", err.text);
		(void)fflush(stdout);
		_exit(fd < 0 || readlinkat(fd, "self", self, sizeof(self) - 1) <= 0 ||
			strcmp(self, "1") != 0 || faccessat(fd, "sys", F_OK, 0) == 0);
	}
	WANT(wait(&fd) > 0 && fd == 0);
	return 0;
}

static int procfs_in_tree(void *context)
{
	const struct mount_row row = { MOUNT_PROC, "/proc", "/proc", false };
	int status = -1;

	(void)context;
	WANT(enter_namespaces());
	WANT(unshare(CLONE_NEWPID) == 0);
	if (fork() == 0) {
		bool is_there = build(&row, 1) == 0 && access("/proc/1/status", R_OK) == 0;

		_exit(!is_there || access("/proc/2", F_OK) == 0 ||
			!(flags_of("/proc") & ST_RDONLY) || access("/proc/sys", F_OK) == 0);
	}
	WANT(wait(&status) > 0 && status == 0);
	return 0;
}

TEST(a_procfs_in_a_tree_is_its_own_and_read_only)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK_EQ_INT(in_child(procfs_in_tree, NULL), 0);
}

TEST(a_procfs_without_a_place_shows_only_its_own_pids)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK_EQ_INT(in_child(procfs, NULL), 0);
}
