#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/internal/slotmsg.h"
#include "sandbox/worker/snapshot.h"
#include "tests/check.h"

static struct err err = ERR_INIT;
static char folder[] = "/tmp/ced-snapshot.XXXXXX";
static const char *roots[] = { folder, NULL };
static char anew[4096];
static size_t anew_len;

static void begin(void)
{
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	CHECK(mkdtemp(folder) != NULL);
	CHECK(chdir(folder) == 0);
}

static void end(void)
{
	char command[128];

	CHECK(chdir("/") == 0);
	(void)snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -r %s", folder, folder);
	CHECK(system(command) == 0);
}

static void put(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK(fchmod(fd, mode) == 0);
	close(fd);
}

static bool holds(const char *path, const char *text)
{
	char bytes[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes) - 1);

	if (fd >= 0)
		close(fd);
	return got >= 0 && strcmp(bytes, text) == 0;
}

TEST(contents_modes_times_and_folders_come_back)
{
	struct snapshot *snapshot;
	struct timespec old[2] = { { 1000, 5 }, { 2000, 7 } };
	struct stat status;

	begin();
	put("a", "one", 0640);
	CHECK(utimensat(AT_FDCWD, "a", old, 0) == 0);
	CHECK(mkdir("d", 0750) == 0 && mkdir("d/e", 0700) == 0);
	put("d/e/b", "two", 0600);
	put("gone", "", 0600);
	snapshot = snapshot_take(roots, &err);
	CHECK(snapshot != NULL);

	put("a", "longer than before", 0600);
	CHECK(unlink("gone") == 0 && unlink("d/e/b") == 0 && rmdir("d/e") == 0);
	put("d/e", "a file in its place", 0600);
	put("more", "x", 0600);
	CHECK(mkdir("m", 0700) == 0 && mkdir("m/n", 0700) == 0);
	put("m/n/o", "x", 0600);

	CHECK(snapshot_put_back(snapshot, anew, sizeof(anew), &anew_len, &err) == 0);
	CHECK(holds("a", "one") && holds("d/e/b", "two") && holds("gone", ""));
	CHECK(stat("a", &status) == 0 && (status.st_mode & 0777) == 0640);
	CHECK(status.st_mtim.tv_sec == 2000 && status.st_mtim.tv_nsec == 7);
	CHECK(stat("d", &status) == 0 && (status.st_mode & 0777) == 0750);
	CHECK(access("more", F_OK) < 0 && access("m", F_OK) < 0);
	CHECK(anew_len > 0 && strstr(anew, "/d/e/b"));
	snapshot_free(snapshot);
	end();
}

TEST(an_open_file_sees_its_old_contents_at_its_old_place)
{
	struct snapshot *snapshot;
	char byte[3] = "";
	int fd;

	begin();
	put("a", "abcdef", 0600);
	fd = open("a", O_RDWR | O_CLOEXEC);
	CHECK(lseek(fd, 2, SEEK_SET) == 2);
	snapshot = snapshot_take(roots, &err);
	CHECK(snapshot != NULL);
	CHECK(write(fd, "XYZ", 3) == 3 && ftruncate(fd, 1) == 0);
	CHECK(snapshot_put_back(snapshot, anew, sizeof(anew), &anew_len, &err) == 0);
	CHECK_EQ_INT(anew_len, 0);
	CHECK(read(fd, byte, 2) == 2 && strcmp(byte, "cd") == 0);
	close(fd);
	snapshot_free(snapshot);
	end();
}

TEST(a_deleted_file_that_is_open_comes_back)
{
	struct snapshot *snapshot;
	char bytes[8] = "";
	int fd, appends, reads;

	begin();
	put("a", "abcdef", 0600);
	fd = open("a", O_RDWR | O_CLOEXEC);
	appends = open("a", O_RDWR | O_APPEND | O_CLOEXEC);
	reads = open("a", O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && appends >= 0 && reads >= 0 && unlink("a") == 0);
	CHECK(lseek(fd, 2, SEEK_SET) == 2);
	snapshot = snapshot_take(roots, &err);
	CHECK(snapshot != NULL);
	CHECK(ftruncate(fd, 1) == 0 && write(appends, "later", 5) == 5 && write(fd, "!", 1) == 1);
	CHECK_EQ_INT(snapshot_put_back(snapshot, anew, sizeof(anew), &anew_len, &err), 0);
	CHECK_EQ_INT(anew_len, 0);
	CHECK(pread(reads, bytes, sizeof(bytes) - 1, 0) == 6 && strcmp(bytes, "abcdef") == 0);
	CHECK_EQ_INT(lseek(fd, 0, SEEK_CUR), 2);
	CHECK(write(appends, "+", 1) == 1 && lseek(appends, 0, SEEK_CUR) == 7);
	snapshot_free(snapshot);
	close(fd);
	close(appends);
	close(reads);
	end();
}

TEST(a_deleted_file_that_only_appends_comes_back)
{
	struct snapshot *snapshot;
	char bytes[8] = "";
	int fd;

	begin();
	put("a", "abcdef", 0600);
	fd = open("a", O_RDWR | O_APPEND | O_CLOEXEC);
	CHECK(fd >= 0 && unlink("a") == 0);
	snapshot = snapshot_take(roots, &err);
	CHECK(snapshot != NULL);
	CHECK(write(fd, "later", 5) == 5);
	CHECK_EQ_INT(snapshot_put_back(snapshot, anew, sizeof(anew), &anew_len, &err), 0);
	CHECK(pread(fd, bytes, sizeof(bytes) - 1, 0) == 6 && strcmp(bytes, "abcdef") == 0);
	CHECK(fcntl(fd, F_GETFL) & O_APPEND);
	snapshot_free(snapshot);
	CHECK(ftruncate(fd, (off_t)SESSION_FILES_BYTES_MAX + 1) == 0);
	CHECK(snapshot_take(roots, &err) == NULL);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
	close(fd);
	end();
}

TEST(files_and_folders_that_nobody_may_read_come_back_as_well)
{
	struct snapshot *snapshot;
	struct stat status;

	begin();
	put("secret", "s", 0);
	CHECK(mkdir("d", 0700) == 0);
	put("d/x", "y", 0200);
	CHECK(chmod("d", 0) == 0);
	snapshot = snapshot_take(roots, &err);
	CHECK(snapshot != NULL);
	CHECK(chmod("d", 0700) == 0 && unlink("d/x") == 0 && chmod("d", 0500) == 0);
	CHECK(snapshot_put_back(snapshot, anew, sizeof(anew), &anew_len, &err) == 0);
	CHECK(stat("secret", &status) == 0 && (status.st_mode & 0777) == 0);
	CHECK(stat("d", &status) == 0 && (status.st_mode & 0777) == 0);
	CHECK(chmod("d", 0700) == 0 && stat("d/x", &status) == 0);
	CHECK((status.st_mode & 0777) == 0200);
	snapshot_free(snapshot);
	end();
}

TEST(too_large_files_are_refused_also_when_they_are_holes)
{
	int fd;

	begin();
	fd = open("hole", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(ftruncate(fd, (off_t)1 << 36) == 0);
	CHECK(snapshot_take(roots, &err) == NULL);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
	CHECK(ftruncate(fd, (off_t)SESSION_FILES_BYTES_MAX + 1) == 0);
	CHECK(snapshot_take(roots, &err) == NULL);
	close(fd);
	end();
}

TEST(folders_too_deep_and_things_that_are_no_files_are_refused)
{
	begin();
	CHECK(mkfifo("pipe", 0600) == 0);
	CHECK(snapshot_take(roots, &err) == NULL);
	CHECK(unlink("pipe") == 0);
	for (int i = 0; i < 70; i++)
		CHECK(mkdir("d", 0700) == 0 && chdir("d") == 0);
	CHECK(snapshot_take(roots, &err) == NULL);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
	end();
}

TEST(folders_of_any_depth_are_removed_with_what_is_in_them)
{
	struct snapshot *snapshot;

	begin();
	put("kept", "kept", 0600);
	snapshot = snapshot_take(roots, &err);
	CHECK(snapshot != NULL);
	CHECK(mkdir("deep", 0700) == 0 && chdir("deep") == 0);
	for (int i = 0; i < 800; i++) {
		put("file", "x", 0);
		/* numbers, since they are what folders are called on the way */
		CHECK(mkdir("2", 0700) == 0 && mkdir("1", 0700) == 0 && chdir("1") == 0);
	}
	CHECK(chmod(".", 0) == 0);
	CHECK(chdir(folder) == 0 && chmod("deep", 0) == 0);
	CHECK_EQ_INT(snapshot_put_back(snapshot, anew, sizeof(anew), &anew_len, &err), 0);
	CHECK(holds("kept", "kept"));
	CHECK(access("deep", F_OK) < 0);
	snapshot_free(snapshot);
	end();
}

TEST(a_tree_that_is_deeper_than_a_snapshot_may_be_is_removed_below_a_folder_that_stays)
{
	struct snapshot *snapshot;
	char path[70 * 2 + 1] = "";

	begin();
	for (int i = 0; i < 60; i++) {
		(void)snprintf(
			path + strlen(path), sizeof(path) - strlen(path), "%sd", i ? "/" : "");
		CHECK(mkdir(path, 0700) == 0);
	}
	snapshot = snapshot_take(roots, &err);
	CHECK(snapshot != NULL);
	CHECK(chdir(path) == 0);
	for (int i = 0; i < 30; i++)
		CHECK(mkdir("more", 0700) == 0 && chdir("more") == 0);
	CHECK(chdir(folder) == 0);
	CHECK_EQ_INT(snapshot_put_back(snapshot, anew, sizeof(anew), &anew_len, &err), 0);
	CHECK(chdir(path) == 0 && access("more", F_OK) < 0);
	snapshot_free(snapshot);
	end();
}

TEST(holes_stay_holes)
{
	struct snapshot *snapshot;
	struct stat status;
	int fd;

	begin();
	fd = open("hole", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(ftruncate(fd, (off_t)32 << 20) == 0);
	CHECK(pwrite(fd, "middle", 6, (off_t)16 << 20) == 6);
	snapshot = snapshot_take(roots, &err);
	CHECK(snapshot != NULL);
	CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, "other", 5, 0) == 5);
	CHECK_EQ_INT(snapshot_put_back(snapshot, anew, sizeof(anew), &anew_len, &err), 0);
	CHECK(fstat(fd, &status) == 0);
	CHECK_EQ_INT(status.st_size, (off_t)32 << 20);
	CHECK(status.st_blocks < 1024);
	{
		char bytes[7] = "";

		CHECK(pread(fd, bytes, 6, (off_t)16 << 20) == 6 && strcmp(bytes, "middle") == 0);
		CHECK(pread(fd, bytes, 6, 0) == 6 && bytes[0] == 0 && bytes[4] == 0);
	}
	close(fd);
	snapshot_free(snapshot);
	end();
}

TEST(a_root_that_nobody_may_enter_is_opened_and_closed_again)
{
	struct snapshot *snapshot;
	struct stat status;

	begin();
	put("f", "1", 0600);
	snapshot = snapshot_take(roots, &err);
	CHECK(snapshot != NULL);
	put("f", "2", 0600);
	CHECK(chmod(folder, 0) == 0);
	CHECK_EQ_INT(snapshot_put_back(snapshot, anew, sizeof(anew), &anew_len, &err), 0);
	CHECK(stat(folder, &status) == 0);
	CHECK((status.st_mode & 0777) == 0700);
	CHECK(holds("f", "1"));
	snapshot_free(snapshot);
	CHECK(chmod(folder, 0) == 0);
	snapshot = snapshot_take(roots, &err);
	CHECK(snapshot != NULL && stat(folder, &status) == 0);
	CHECK((status.st_mode & 0777) == 0);
	snapshot_free(snapshot);
	CHECK(chmod(folder, 0700) == 0);
	end();
}

TEST(a_folder_that_is_missing_is_told)
{
	static const char *const missing[] = { "/nowhere/at/all", NULL };

	CHECK(snapshot_take(missing, &err) == NULL);
	snapshot_free(NULL);
}
