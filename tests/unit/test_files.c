#include <fcntl.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include "sandbox/worker/files.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

static struct err err = ERR_INIT;

static int measured(void *context)
{
	struct files files = FILES_INIT;
	struct files_usage usage;
	char block[4096] = { 1 };
	int fd;

	(void)context;
	WANT(enter_namespaces());
	WANT(files_make(&files, 16384, 2, &err) == 0);
	WANT(files_measure(&files, &usage, &err) == 0);
	WANT(usage.bytes == 0 && usage.inodes == 0 && !usage.bytes_full && !usage.inodes_full);

	fd = openat(files.mount, "work/a", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	for (int i = 0; i < 4; i++)
		WANT(write(fd, block, sizeof(block)) == (ssize_t)sizeof(block));
	WANT(write(fd, block, 1) < 0 && errno == ENOSPC);
	WANT(mkdirat(files.mount, "tmp/b", 0700) == 0);
	WANT(mkdirat(files.mount, "tmp/c", 0700) < 0 && errno == ENOSPC);
	WANT(files_measure(&files, &usage, &err) == 0);
	WANT(usage.bytes == 16384 && usage.inodes == 2 && usage.bytes_full && usage.inodes_full);

	WANT(files_resize(&files, 4096, 2, &err) < 0); /* less than the file has */
	files_done(&files);
	files_done(&files);
	WANT(files.mount == -1);
	return 0;
}

TEST(files_have_two_ceilings_and_are_counted)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK_EQ_INT(in_child(measured, NULL), 0);
}

static int shown(void *context)
{
	const unsigned long wanted = ST_NOSUID | ST_NODEV | ST_NOEXEC;
	struct files files = FILES_INIT;
	struct statvfs fs;

	(void)context;
	WANT(enter_namespaces());
	WANT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	WANT(mount("tmpfs", "/tmp", "tmpfs", 0, NULL) == 0 && chroot("/tmp") == 0);
	WANT(chdir("/") == 0 && mkdir("/work", 0755) == 0 && mkdir("/tmp", 0755) == 0);
	WANT(files_make(&files, 1 << 20, 100, &err) == 0);
	WANT(files_resize(&files, 1 << 21, 200, &err) == 0);
	WANT(files_show(&files, &err) == 0);

	WANT(close(creat("/work/w", 0600)) == 0 && close(creat("/tmp/t", 0600)) == 0);
	WANT(faccessat(files.mount, "work/w", F_OK, 0) == 0);
	WANT(faccessat(files.mount, "tmp/t", F_OK, 0) == 0);
	WANT(access("/work/tmp", F_OK) < 0 && access("/work/work", F_OK) < 0);
	WANT(access("/work/../work/w", F_OK) == 0 && access("/tmp/../tmp/t", F_OK) == 0);
	WANT(statvfs("/work", &fs) == 0 && (fs.f_flag & wanted) == wanted);
	WANT(fs.f_blocks * fs.f_frsize == 1 << 21);
	WANT(statvfs("/tmp", &fs) == 0 && (fs.f_flag & wanted) == wanted);
	files_done(&files);
	return 0;
}

TEST(the_two_folders_are_seen_and_nothing_else_of_the_file_system)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK_EQ_INT(in_child(shown, NULL), 0);
}
