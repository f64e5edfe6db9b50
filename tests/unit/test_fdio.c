#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "tests/check.h"
#include "tests/fault.h"

struct pair {
	int a;
	int b;
};

static void pair_close(struct pair *pair)
{
	close_fds((int[]){ pair->a, pair->b }, 2);
}

#define auto_pair __attribute__((cleanup(pair_close)))

static struct pair socket_pair(int type)
{
	int fds[2] = { -1, -1 };

	(void)socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds);
	return (struct pair){ fds[0], fds[1] };
}

static struct pair pipe_pair(void)
{
	int fds[2] = { -1, -1 };

	if (pipe2(fds, O_CLOEXEC) < 0)
		abort();
	return (struct pair){ fds[0], fds[1] };
}

/* Counts the open descriptors of this process. */
static int open_count(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

TEST(a_write_goes_out_whole_and_a_read_comes_in_whole)
{
	auto_pair struct pair pair = pipe_pair();
	char sent[3000];
	char got[sizeof(sent)];
	struct err err = ERR_INIT;

	memset(sent, 'x', sizeof(sent));
	CHECK(write_all(pair.b, sent, sizeof(sent), &err) == 0);
	CHECK(read_all(pair.a, got, sizeof(got), &err) == 0);
	CHECK(memcmp(sent, got, sizeof(sent)) == 0);
	CHECK(write_all(pair.b, NULL, 0, &err) == 0);
	CHECK(read_all(pair.a, NULL, 0, &err) == 0);
}

TEST(short_and_interrupted_calls_are_taken_up_again)
{
	static const enum fault_kind kinds[] = { FAULT_SHORT_READ, FAULT_SHORT_WRITE,
		FAULT_INTERRUPT };

	for (size_t i = 0; i < 3; i++) {
		FAULT_LOOP(kinds[i]) {
			auto_pair struct pair pipe = pipe_pair();
			auto_pair struct pair sockets = socket_pair(SOCK_STREAM);
			char got[8] = "";
			struct err err = ERR_INIT;

			CHECK(write_all(pipe.b, "1234567", 8, &err) == 0);
			CHECK(read_all(pipe.a, got, 8, &err) == 0);
			CHECK_STR(got, "1234567");
			CHECK(write_all(sockets.b, "abcdefg", 8, &err) == 0);
			CHECK(read_all(sockets.a, got, 8, &err) == 0);
			CHECK_STR(got, "abcdefg");
		}
	}
}

TEST(failing_calls_are_reported)
{
	auto_pair struct pair pipe = pipe_pair();
	char got[4];
	struct err err = ERR_INIT;

	fault_arm(FAULT_WRITE, 1);
	CHECK(write_all(pipe.b, "1234", 4, &err) < 0);
	CHECK_EQ_INT(err.sys_errno, EIO);
	fault_arm(FAULT_READ, 1);
	CHECK(read_all(pipe.a, got, 4, &err) < 0);
	CHECK_EQ_INT(err.sys_errno, EIO);
	fault_disarm();
}

TEST(a_stream_that_ends_early_is_closed)
{
	auto_pair struct pair pair = pipe_pair();
	char got[4];
	struct err err = ERR_INIT;

	CHECK(write_all(pair.b, "12", 2, &err) == 0);
	close_fds(&pair.b, 1);
	CHECK(read_all(pair.a, got, 4, &err) < 0);
	CHECK_EQ_INT(err.code, ERR_CLOSED);
}

TEST(writing_to_nobody_fails_without_a_signal)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	pid_t child;
	int status = 0;

	CHECK(sigaction(SIGPIPE, &standard, NULL) == 0);
	child = fork();
	if (child == 0) {
		struct pair pipe = pipe_pair();
		struct pair sockets = socket_pair(SOCK_STREAM);
		struct err err = ERR_INIT;

		close_fds(&pipe.a, 1);
		close_fds(&sockets.a, 1);
		if (write_all(pipe.b, "x", 1, &err) == 0 || err.sys_errno != EPIPE)
			_exit(1);
		if (write_all(sockets.b, "x", 1, &err) == 0 || err.sys_errno != EPIPE)
			_exit(2);
		if (send_with_fds(sockets.b, "x", 1, NULL, 0, &err) >= 0 || err.code != ERR_CLOSED)
			_exit(3);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_EQ_INT(status, 0);
}

/* ---- files ---- */

static void write_file(const char *path, const char *text, size_t len)
{
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd >= 0)
		(void)write_all(fd, text, len, NULL);
}

TEST(a_file_is_read_whole_and_ends_with_a_nul)
{
	char path[] = "/tmp/ced-fdio-XXXXXX";
	auto_fd int fd = mkstemp(path);
	auto_free char *text = NULL;
	size_t len = 0;
	struct err err = ERR_INIT;
	int read_it;

	write_file(path, "hello\0world", 11);
	read_it = read_file(path, 11, &text, &len, &err);
	(void)unlink(path);
	CHECK(fd >= 0);
	CHECK(read_it == 0);
	CHECK_EQ_INT(len, 11);
	CHECK(memcmp(text, "hello\0world", 12) == 0);
}

TEST(a_file_past_the_ceiling_is_refused)
{
	char path[] = "/tmp/ced-fdio-XXXXXX";
	auto_fd int fd = mkstemp(path);
	char *text = NULL;
	size_t len = 7;
	struct err err = ERR_INIT;
	int read_it;

	write_file(path, "hello world", 11);
	read_it = read_file(path, 10, &text, &len, &err);
	(void)unlink(path);
	CHECK(fd >= 0);
	CHECK(read_it < 0 && !text && len == 7);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
	CHECK(strncmp(err.text, path, strlen(path)) == 0);
}

TEST(a_large_file_and_an_empty_one_are_read_too)
{
	char path[] = "/tmp/ced-fdio-XXXXXX";
	auto_fd int fd = mkstemp(path);
	auto_free char *large = calloc(1, 100000);
	auto_free char *text = NULL;
	auto_free char *empty = NULL;
	size_t len = 0;
	size_t empty_len = 1;
	struct err err = ERR_INIT;
	int read_it;

	CHECK(fd >= 0 && large);
	memset(large, 'z', 100000);
	write_file(path, large, 100000);
	read_it = read_file(path, 100000, &text, &len, &err);
	write_file(path, "", 0);
	read_it += read_file(path, 0, &empty, &empty_len, &err);
	(void)unlink(path);
	CHECK_EQ_INT(read_it, 0);
	CHECK(len == 100000 && memcmp(text, large, len) == 0);
	CHECK(empty_len == 0 && *empty == '\0');
}

TEST(what_is_not_a_regular_file_is_refused_without_waiting)
{
	char folder[] = "/tmp/ced-fdio-XXXXXX";
	char path[64];
	char *text = NULL;
	size_t len = 0;
	struct err err = ERR_INIT;
	enum err_code fifo_code;

	CHECK(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/fifo", folder);
	(void)mkfifo(path, 0600);
	(void)read_file(path, 100, &text, &len, &err);
	fifo_code = err.code;
	(void)unlink(path);
	(void)read_file(folder, 100, &text, &len, &err);
	(void)rmdir(folder);
	CHECK_EQ_INT(fifo_code, ERR_INVALID);
	CHECK_EQ_INT(err.code, ERR_INVALID);
	CHECK(read_file(path, 100, &text, &len, &err) < 0);
	CHECK_EQ_INT(err.code, ERR_MISSING);
	CHECK(!text);
}

TEST(reading_a_file_survives_failing_calls)
{
	static const enum fault_kind kinds[] = { FAULT_ALLOC, FAULT_READ, FAULT_INTERRUPT,
		FAULT_SHORT_READ };
	int before = open_count();

	for (size_t i = 0; i < 4; i++) {
		FAULT_LOOP(kinds[i]) {
			auto_free char *text = NULL;
			size_t len = 0;
			struct err err = ERR_INIT;
			int read_it = read_file("/etc/passwd", 1 << 20, &text, &len, &err);

			CHECK(read_it == 0 ? text != NULL : fault_hit() && err.code != ERR_NONE);
			CHECK(read_it == 0 || kinds[i] == FAULT_ALLOC || kinds[i] == FAULT_READ);
		}
	}
	CHECK_EQ_INT(open_count(), before);
}

/* ---- descriptors ---- */

TEST(descriptors_arrive_with_their_message_and_close_on_exec)
{
	auto_pair struct pair pair = socket_pair(SOCK_SEQPACKET);
	auto_pair struct pair first = pipe_pair();
	int fds[2] = { -1, -1 };
	char got[4] = "";
	size_t count = 9;
	struct err err = ERR_INIT;
	char byte = 0;

	CHECK(send_with_fds(pair.a, "abc", 3, (int[]){ first.a, first.b }, 2, &err) == 3);
	CHECK(recv_with_fds(pair.b, got, sizeof(got), fds, 2, &count, &err) == 3);
	CHECK_EQ_INT(count, 2);
	CHECK_STR(got, "abc");
	CHECK(fcntl(fds[0], F_GETFD) == FD_CLOEXEC);
	CHECK(write_all(fds[1], "!", 1, &err) == 0);
	CHECK(read_all(first.a, &byte, 1, &err) == 0);
	CHECK_EQ_INT(byte, '!');
	close_fds(fds, 2);
	CHECK_EQ_INT(fds[0], -1);
	close_fds(fds, 2);
}

TEST(a_message_without_descriptors_says_so)
{
	auto_pair struct pair pair = socket_pair(SOCK_SEQPACKET);
	int fds[2];
	char got[4];
	size_t count = 9;
	struct err err = ERR_INIT;

	CHECK(send_with_fds(pair.a, "abc", 3, NULL, 0, &err) == 3);
	CHECK(recv_with_fds(pair.b, got, sizeof(got), fds, 2, &count, &err) == 3);
	CHECK_EQ_INT(count, 0);
}

TEST(more_descriptors_than_wanted_are_closed_and_refused)
{
	auto_pair struct pair pair = socket_pair(SOCK_SEQPACKET);
	int before = open_count();
	int many[FDIO_FDS_MAX + 1];
	int fds[2];
	char got[4];
	size_t count = 0;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < FDIO_FDS_MAX + 1; i++)
		many[i] = 2;
	CHECK(send_with_fds(pair.a, "abc", 3, many, 3, &err) == 3);
	CHECK(recv_with_fds(pair.b, got, sizeof(got), fds, 2, &count, &err) < 0);
	CHECK_EQ_INT(err.code, ERR_PROTOCOL);
	CHECK(send_with_fds(pair.a, "abc", 3, many, FDIO_FDS_MAX, &err) == 3);
	CHECK(recv_with_fds(pair.b, got, sizeof(got), fds, 0, &count, &err) < 0);
	CHECK(send_with_fds(pair.a, "abc", 3, many, FDIO_FDS_MAX + 1, &err) < 0);
	CHECK_EQ_INT(err.code, ERR_INVALID);
	CHECK_EQ_INT(open_count(), before);
}

/*
 * More descriptors than our own sender sends: the kernel drops those that the control buffer has
 * no room for.
 */
TEST(descriptors_cut_by_the_kernel_are_closed_and_refused)
{
	enum {
		COUNT = FDIO_FDS_MAX + 20
	};
	auto_pair struct pair pair = socket_pair(SOCK_SEQPACKET);
	int before = open_count();
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int) * COUNT)];
	} control = { .bytes = { 0 } };
	struct iovec part = { (char[]){ 'x' }, 1 };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	int numbers[COUNT];
	int fds[FDIO_FDS_MAX];
	char got[4];
	size_t count = 0;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < COUNT; i++)
		numbers[i] = 2;
	control.head = (struct cmsghdr){ CMSG_LEN(sizeof(numbers)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.head), numbers, sizeof(numbers));
	CHECK(sendmsg(pair.a, &message, 0) == 1);
	CHECK(recv_with_fds(pair.b, got, sizeof(got), fds, FDIO_FDS_MAX, &count, &err) < 0);
	CHECK_EQ_INT(err.code, ERR_PROTOCOL);
	CHECK_EQ_INT(open_count(), before);
}

TEST(a_message_longer_than_its_room_is_refused)
{
	auto_pair struct pair pair = socket_pair(SOCK_SEQPACKET);
	int before = open_count();
	int fds[2];
	char got[2];
	size_t count = 0;
	struct err err = ERR_INIT;

	CHECK(send_with_fds(pair.a, "abc", 3, (int[]){ 2 }, 1, &err) == 3);
	CHECK(recv_with_fds(pair.b, got, sizeof(got), fds, 2, &count, &err) < 0);
	CHECK_EQ_INT(err.code, ERR_PROTOCOL);
	CHECK_EQ_INT(open_count(), before);
}

TEST(a_socket_that_is_not_ready_says_busy_and_one_without_peer_says_closed)
{
	auto_pair struct pair pair = socket_pair(SOCK_SEQPACKET);
	static char large[4096];
	int fds[2];
	char got[2];
	size_t count = 0;
	struct err err = ERR_INIT;

	CHECK(fd_set_nonblocking(pair.a, true, &err) == 0);
	CHECK(recv_with_fds(pair.a, got, sizeof(got), fds, 2, &count, &err) < 0);
	CHECK_EQ_INT(err.code, ERR_BUSY);
	while (send_with_fds(pair.a, large, sizeof(large), NULL, 0, &err) >= 0)
		continue;
	CHECK_EQ_INT(err.code, ERR_BUSY);
	close_fds(&pair.b, 1);
	CHECK(send_with_fds(pair.a, "x", 1, NULL, 0, &err) < 0);
	CHECK_EQ_INT(err.code, ERR_CLOSED);
	CHECK(fd_set_nonblocking(pair.a, false, &err) == 0);
	CHECK((fcntl(pair.a, F_GETFL) & O_NONBLOCK) == 0);
	CHECK(fd_set_nonblocking(-1, true, &err) < 0);
	CHECK_EQ_INT(err.sys_errno, EBADF);
}

TEST(interrupted_messages_are_taken_up_again)
{
	FAULT_LOOP(FAULT_INTERRUPT) {
		auto_pair struct pair pair = socket_pair(SOCK_SEQPACKET);
		int fds[2];
		char got[4];
		size_t count = 0;
		struct err err = ERR_INIT;

		CHECK(send_with_fds(pair.a, "abc", 3, NULL, 0, &err) == 3);
		CHECK(recv_with_fds(pair.b, got, sizeof(got), fds, 2, &count, &err) == 3);
	}
}
