#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#include "sandbox/filter/landlock.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

static struct err err = ERR_INIT;

static int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* A tree with /work and /tmp, all of it writable, so that only Landlock can refuse. */
static int make_tree(void)
{
	WANT(enter_namespaces());
	WANT(mount("tmpfs", "/mnt", "tmpfs", 0, NULL) == 0);
	WANT(mkdir("/mnt/work", 0755) == 0 && mkdir("/mnt/tmp", 0755) == 0);
	WANT(mkdir("/mnt/dev", 0755) == 0 && mkdir("/mnt/else", 0755) == 0);
	WANT(try_open("/mnt/dev/null", O_WRONLY | O_CREAT) == 0);
	WANT(mount("/dev/null", "/mnt/dev/null", NULL, MS_BIND, NULL) == 0);
	WANT(try_open("/mnt/else/file", O_WRONLY | O_CREAT) == 0);
	WANT(chroot("/mnt") == 0 && chdir("/") == 0);
	return 0;
}

static int confined(void *context)
{
	(void)context;
	WANT(make_tree() == 0);
	WANT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	WANT(landlock_confine(&err) == 0);
	WANT(try_open("/work/file", O_WRONLY | O_CREAT) == 0);
	WANT(try_open("/work/file", O_WRONLY | O_TRUNC) == 0);
	WANT(mkdir("/tmp/folder", 0755) == 0 && rename("/work/file", "/tmp/folder/file") == 0);
	WANT(unlink("/tmp/folder/file") == 0 && rmdir("/tmp/folder") == 0);
	WANT(try_open("/dev/null", O_RDWR) == 0);
	WANT(try_open("/else/file", O_RDONLY) == 0);
	WANT(try_open("/else/file", O_WRONLY) == EACCES);
	WANT(try_open("/else/new", O_WRONLY | O_CREAT) == EACCES);
	WANT(mkdir("/else/folder", 0755) < 0 && errno == EACCES);
	WANT(unlink("/else/file") < 0 && errno == EACCES);
	WANT(symlink("x", "/work/link") < 0 && errno == EACCES);
	WANT(mkfifo("/work/fifo", 0600) < 0 && errno == EACCES);
	WANT(mount("tmpfs", "/work", "tmpfs", 0, NULL) < 0 && errno == EPERM);
	return 0;
}

TEST(a_confined_process_writes_below_work_and_tmp_only)
{
	if (landlock_abi() < 2) /* ABI 1 has no right to move files between folders */
		SKIP("this kernel's Landlock is too old");
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK_EQ_INT(in_child(confined, NULL), 0);
}

static int without_privs_bit(void *context)
{
	(void)context;
	WANT(setuid(65534) == 0 || getuid() != 0);
	WANT(landlock_confine(&err) < 0);
	return 0;
}

TEST(without_no_new_privs_it_fails_and_says_so)
{
	if (landlock_abi() == 0)
		SKIP("this kernel has no Landlock");
	CHECK_EQ_INT(in_child(without_privs_bit, NULL), 0);
}
