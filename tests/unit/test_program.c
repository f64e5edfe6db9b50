#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/internal/slotmsg.h"
#include "sandbox/worker/program.h"
#include "tests/check.h"

static struct err err = ERR_INIT;

/* ---- making bodies ------------------------------------------------------------------------ */

static void put_text(struct buf *body, const char *text)
{
	uint32_t len = (uint32_t)strlen(text);

	(void)buf_append(body, &len, sizeof(len));
	(void)buf_append_text(body, text);
}

static void put_file(struct buf *body, const char *path, const char *data, uint32_t mode)
{
	struct job_file file = { (uint32_t)strlen(path), mode, strlen(data) };

	(void)buf_append(body, &file, sizeof(file));
	(void)buf_append_text(body, path);
	(void)buf_append_text(body, data);
}

static struct job_body *head_of(struct buf *body)
{
	return (struct job_body *)(void *)body->bytes;
}

/* A body with a part of every kind. */
static void make_body(struct buf *body, const char *entrypoint, const char *path)
{
	const struct job_body head = { .code_len = 8,
		.entrypoint_len = (uint32_t)strlen(entrypoint),
		.arg_count = 2,
		.env_count = 1,
		.file_count = 1,
		.has_stdin = 1,
		.flags = JOB_FLAG_DETERMINISTIC,
		.rules_len = 5 };

	buf_init(body, 1 << 20);
	(void)buf_append(body, &head, sizeof(head));
	(void)buf_append_text(body, "print(1)");
	(void)buf_append_text(body, entrypoint);
	(void)buf_append_text(body, "rules");
	put_text(body, "first");
	put_text(body, "");
	put_text(body, "NAME=value");
	put_file(body, path, "data", 0640);
}

static bool is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.bytes, text, span.len) == 0;
}

#define auto_buf __attribute__((cleanup(buf_done)))

/* ---- reading them ------------------------------------------------------------------------- */

TEST(a_job_comes_apart_into_its_parts)
{
	auto_buf struct buf body;
	struct program program;
	struct program_file file;
	struct span text;

	make_body(&body, "main.py", "dir/in.txt");
	CHECK(program_parse(body.bytes, body.len, &program, &err) == 0);
	CHECK(is(program.code, "print(1)") && is(program.entrypoint, "main.py"));
	CHECK(program.has_stdin && program.arg_count == 2 && program.env_count == 1);
	CHECK(program.flags == JOB_FLAG_DETERMINISTIC && is(program.rules, "rules"));
	CHECK(program_next_text(&program.args, &text) && is(text, "first"));
	CHECK(program_next_text(&program.args, &text) && is(text, ""));
	CHECK(!program_next_text(&program.args, &text));
	CHECK(program_next_text(&program.env, &text) && is(text, "NAME=value"));
	CHECK(program_next_file(&program.files, &file));
	CHECK(is(file.path, "dir/in.txt") && is(file.data, "data") && file.mode == 0640);
	CHECK(!program_next_file(&program.files, &file));
}

TEST(a_job_that_ends_early_anywhere_is_refused)
{
	auto_buf struct buf body;
	struct program program;

	make_body(&body, "main.py", "dir/in.txt");
	for (size_t len = 0; len < body.len; len++)
		CHECK(program_parse(body.bytes, len, &program, &err) < 0);
}

TEST(a_byte_too_many_is_refused)
{
	auto_buf struct buf body;
	struct program program;

	make_body(&body, "main.py", "dir/in.txt");
	CHECK(buf_append_byte(&body, 0) == 0);
	CHECK(program_parse(body.bytes, body.len, &program, &err) < 0);
	CHECK_EQ_INT(err.code, ERR_PROTOCOL);
}

TEST(lengths_and_counts_that_are_lies_are_refused)
{
	auto_buf struct buf body;
	struct program program;
	uint32_t *fields;
	struct job_body honest;

	make_body(&body, "main.py", "dir/in.txt");
	honest = *head_of(&body);
	fields = (uint32_t *)(void *)body.bytes;
	for (size_t i = 0; i < 5; i++) {
		const uint32_t lies[] = { 0x7fffffff, 0x80000000, 0xffffffff, fields[i] + 1 };

		for (size_t k = 0; k < 4; k++) {
			fields[i] = lies[k];
			CHECK(program_parse(body.bytes, body.len, &program, &err) < 0);
		}
		*head_of(&body) = honest;
	}
	CHECK(program_parse(body.bytes, body.len, &program, &err) == 0);
}

TEST(an_entrypoint_is_a_bare_name)
{
	static const char *const bad[] = { "", ".", "..", "a/b", "/a", "a/" };
	struct program program;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		auto_buf struct buf body;

		make_body(&body, bad[i], "x");
		CHECK(program_parse(body.bytes, body.len, &program, &err) < 0);
	}
}

TEST(paths_that_lead_anywhere_else_are_refused)
{
	static const char *const bad[] = { "", ".", "..", "/a", "../a", "a/../b", "a//b", "a/./b",
		"a/", "a/..", "./a" };
	struct program program;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		auto_buf struct buf body;

		make_body(&body, "main.py", bad[i]);
		CHECK(program_parse(body.bytes, body.len, &program, &err) < 0);
	}
}

TEST(texts_with_a_nul_are_refused)
{
	auto_buf struct buf body;
	struct program program;

	make_body(&body, "main.py", "x");
	*(char *)memmem(body.bytes, body.len, "value", 5) = '\0';
	CHECK(program_parse(body.bytes, body.len, &program, &err) < 0);
}

/* ---- writing them ------------------------------------------------------------------------- */

/* A folder of the test's own, opened; removed at its end. */
struct folder {
	char path[64];
	int fd;
};

static void folder_done(struct folder *folder)
{
	char command[128];

	close(folder->fd);
	(void)snprintf(command, sizeof(command), "rm -rf %s", folder->path);
	(void)!system(command);
}

#define auto_folder __attribute__((cleanup(folder_done)))

static bool folder_init(struct folder *folder)
{
	(void)snprintf(folder->path, sizeof(folder->path), "/tmp/ced-program.XXXXXX");
	if (!mkdtemp(folder->path))
		return false;
	folder->fd = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return folder->fd >= 0;
}

TEST(a_program_is_written_with_its_files)
{
	auto_folder struct folder folder;
	auto_buf struct buf body;
	auto_free char *text = NULL;
	size_t len = 0;
	struct program program;
	struct stat status;
	char path[128];

	CHECK(folder_init(&folder));
	make_body(&body, "main.py", "a/b/in.txt");
	CHECK(program_parse(body.bytes, body.len, &program, &err) == 0);
	CHECK(program_write(&program, folder.fd, -1, &err) == 0);
	(void)snprintf(path, sizeof(path), "%s/main.py", folder.path);
	CHECK(read_file(path, 100, &text, &len, &err) == 0);
	CHECK_STR(text, "print(1)");
	CHECK(fstatat(folder.fd, "a/b/in.txt", &status, 0) == 0);
	CHECK_EQ_INT(status.st_mode & 07777, 0640);
	CHECK_EQ_INT(status.st_size, 4);
}

TEST(a_file_that_is_given_twice_is_refused)
{
	auto_folder struct folder folder;
	auto_buf struct buf body;
	struct program program;

	CHECK(folder_init(&folder));
	make_body(&body, "main.py", "main.py");
	CHECK(program_parse(body.bytes, body.len, &program, &err) == 0);
	CHECK(program_write(&program, folder.fd, -1, &err) < 0);
	CHECK(strstr(err.text, "main.py"));
}

TEST(a_link_in_the_way_is_not_followed)
{
	auto_folder struct folder folder;
	auto_buf struct buf body;
	struct program program;

	CHECK(folder_init(&folder));
	CHECK(symlinkat("/tmp/ced-program-target", folder.fd, "main.py") == 0);
	make_body(&body, "main.py", "x");
	CHECK(program_parse(body.bytes, body.len, &program, &err) == 0);
	CHECK(program_write(&program, folder.fd, -1, &err) < 0);
	CHECK(access("/tmp/ced-program-target", F_OK) < 0);
}

TEST(a_file_made_ahead_becomes_the_program_whatever_its_name)
{
	static const char *const names[] = { "main.py", "other.py" };

	for (size_t i = 0; i < 2; i++) {
		auto_folder struct folder folder;
		auto_buf struct buf body;
		auto_free char *text = NULL;
		struct program program;
		struct stat status;
		char path[128];
		size_t len = 0;
		int ahead;

		CHECK(folder_init(&folder));
		ahead = program_file_ahead(folder.fd);
		CHECK(ahead >= 0);
		CHECK(fstat(ahead, &status) == 0 && status.st_size == 0);
		/* a file of the job may have the name that the other one had */
		make_body(&body, names[i], i ? "main.py" : "in.txt");
		CHECK(program_parse(body.bytes, body.len, &program, &err) == 0);
		CHECK(program_write(&program, folder.fd, ahead, &err) == 0);
		CHECK(fcntl(ahead, F_GETFD) < 0);
		(void)snprintf(path, sizeof(path), "%s/%s", folder.path, names[i]);
		CHECK(read_file(path, 100, &text, &len, &err) == 0);
		CHECK_STR(text, "print(1)");
		CHECK(fstatat(folder.fd, i ? "main.py" : "in.txt", &status, 0) == 0);
		CHECK_EQ_INT(status.st_size, 4);
	}
}

TEST(where_a_file_ahead_cannot_be_had_there_is_none)
{
	auto_folder struct folder folder;

	CHECK(folder_init(&folder));
	CHECK(symlinkat("/tmp/ced-program-target", folder.fd, "main.py") == 0);
	CHECK_EQ_INT(program_file_ahead(folder.fd), -1);
	CHECK(access("/tmp/ced-program-target", F_OK) < 0);
}

#define SHM "/dev/shm" /* what a worker's /tmp is: a tmpfs, which knows files without a name */

TEST(stdin_is_a_copy_in_a_file_without_a_name)
{
	for (int way = 0; way < 2; way++) {
		auto_fd int kept = dup(STDIN_FILENO);
		auto_fd int seen = -1;
		struct stat sent;
		struct stat taken;
		char text[16] = "";
		int fd = memfd_create("stdin", MFD_CLOEXEC);
		int ahead = way ? program_stdin_ahead(SHM) : -1;

		CHECK(fd >= 0 && write(fd, "one line", 8) == 8 && lseek(fd, 0, SEEK_SET) == 0);
		CHECK(fstat(fd, &sent) == 0);
		CHECK(program_stdin(fd, ahead, SHM, &err) == 0);
		CHECK(fcntl(fd, F_GETFD) < 0);
		CHECK(ahead < 0 || fcntl(ahead, F_GETFD) < 0);
		seen = dup(STDIN_FILENO);
		CHECK(dup2(kept, STDIN_FILENO) == STDIN_FILENO);
		CHECK(fstat(seen, &taken) == 0 && S_ISREG(taken.st_mode));
		CHECK(taken.st_dev != sent.st_dev);
		CHECK_EQ_INT(taken.st_nlink, 0);
		CHECK(read(seen, text, sizeof(text)) == 8);
		CHECK_STR(text, "one line");
	}
}

TEST(stdin_that_is_larger_than_a_file_may_be_is_told_and_no_signal)
{
	struct rlimit before;
	int fd = memfd_create("stdin", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, "one line", 8) == 8);
	CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
	CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 4, before.rlim_max }) == 0);
	CHECK(program_stdin(fd, -1, SHM, &err) < 0);
	CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
	CHECK(strstr(err.text, "stdin"));
}
