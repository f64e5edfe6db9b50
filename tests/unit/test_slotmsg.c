#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/base/fdio.h"
#include "proto/internal/slotmsg.h"
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

static struct pair socket_pair(void)
{
	int fds[2] = { -1, -1 };

	(void)socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds);
	return (struct pair){ fds[0], fds[1] };
}

static int open_count(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static const int many[1 + SLOTMSG_JOIN_FDS_MAX + 1] = { 2, 2, 2, 2, 2, 2, 2, 2 };

/* Sends bytes without the checks of slotmsg_send(), and receives them as a message. */
static int recv_raw(const void *bytes, size_t len, unsigned fd_count, struct err *err)
{
	auto_pair struct pair pair = socket_pair();
	struct slotmsg msg;
	int fds[1 + SLOTMSG_JOIN_FDS_MAX];
	unsigned got_count = 0;
	int got;

	if (send_with_fds(pair.a, bytes, len, many, fd_count, err) < 0)
		return -2;
	got = slotmsg_recv(pair.b, &msg, fds, &got_count, err);
	close_fds(fds, got_count);
	return got;
}

TEST(a_message_arrives_as_it_was_sent_with_its_descriptors)
{
	auto_pair struct pair pair = socket_pair();
	struct slotmsg msg = slotmsg_of(SLOTMSG_WORKER_MAKE);
	struct slotmsg got;
	int fds[1 + SLOTMSG_JOIN_FDS_MAX];
	unsigned fd_count = 0;
	struct err err = ERR_INIT;

	msg.slot = 3;
	msg.sequence = 9;
	msg.limits.memory_bytes = 1UL << 40;
	(void)strcpy(msg.text, "hello");
	CHECK(slotmsg_send(pair.a, &msg, many, 4, &err) == 0);
	CHECK(slotmsg_recv(pair.b, &got, fds, &fd_count, &err) == 1);
	CHECK_EQ_INT(fd_count, 4);
	close_fds(fds, fd_count);
	CHECK(memcmp(&got, &msg, sizeof(msg)) == 0);
}

TEST(every_kind_travels_with_the_descriptors_it_needs_and_no_others)
{
	static const unsigned least[SLOTMSG_KIND_COUNT] = { [SLOTMSG_SLOT_OPEN] = 1,
		[SLOTMSG_WORKER_MAKE] = 4,
		[SLOTMSG_COLLECT] = 2,
		[SLOTMSG_KEEP] = 2,
		[SLOTMSG_NETWORK] = 2 };
	int before = open_count();

	for (uint32_t kind = 1; kind < SLOTMSG_KIND_COUNT; kind++) {
		struct slotmsg msg = slotmsg_of((enum slotmsg_kind)kind);
		bool joins = kind == SLOTMSG_SLOT_OPEN || kind == SLOTMSG_KEEP;
		unsigned most = joins                    ? 1 + SLOTMSG_JOIN_FDS_MAX
				: kind == SLOTMSG_ADJUST ? 1
							 : least[kind];
		struct err err = ERR_INIT;

		CHECK(strcmp(slotmsg_kind_word(kind), "unknown") != 0);
		for (unsigned fds = 0; fds <= 8; fds++) {
			bool good = fds >= least[kind] && fds <= most;

			CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), fds, &err), good ? 1 : -1);
			CHECK(good || err.code == ERR_PROTOCOL);
			CHECK_EQ_INT(slotmsg_send(-1, &msg, many, fds, &err), -1);
			CHECK(good == (err.code == ERR_SYSTEM));
		}
	}
	CHECK_EQ_INT(open_count(), before);
}

TEST(messages_out_of_shape_are_refused)
{
	int before = open_count();
	struct slotmsg msg = slotmsg_of(SLOTMSG_ADJUST);
	char longer[sizeof(msg) + 1] = { 0 };
	struct err err = ERR_INIT;

	memcpy(longer, &msg, sizeof(msg));
	CHECK_EQ_INT(recv_raw(longer, sizeof(longer), 1, &err), -1);
	for (size_t len = 1; len < sizeof(msg); len++)
		CHECK_EQ_INT(recv_raw(&msg, len, 1, &err), -1);
	msg.magic ^= 1;
	CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), 0, &err), -1);
	msg.magic ^= 1;
	msg.kind = SLOTMSG_NONE;
	CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), 0, &err), -1);
	msg.kind = SLOTMSG_KIND_COUNT;
	CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), 0, &err), -1);
	msg.kind = UINT32_MAX;
	CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), 0, &err), -1);
	msg.kind = SLOTMSG_ADJUST;
	memset(msg.text, 'x', sizeof(msg.text));
	CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), 0, &err), -1);
	CHECK_EQ_INT(err.code, ERR_PROTOCOL);
	CHECK_EQ_INT(open_count(), before);
}

TEST(refused_calls_come_with_the_end_in_possible_rows_and_nowhere_else)
{
	struct slotmsg good = slotmsg_of(SLOTMSG_WORKER_ENDED);
	struct slotmsg msg;
	struct err err = ERR_INIT;

	good.refused_count = SLOTMSG_REFUSED_MAX;
	for (unsigned i = 0; i < SLOTMSG_REFUSED_MAX; i++)
		good.refused[i] = (struct slotmsg_refused){ 41, i, 1 + i, i == 3, i };
	CHECK_EQ_INT(recv_raw(&good, sizeof(good), 0, &err), 1);
	msg = good;
	msg.refused_count = SLOTMSG_REFUSED_MAX + 1;
	CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), 0, &err), -1);
	msg.refused_count = UINT32_MAX;
	CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), 0, &err), -1);
	msg = good;
	msg.kind = SLOTMSG_WORKER_MADE;
	CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), 0, &err), -1);
	msg = good;
	msg.refused[5].nr = SLOTMSG_CALLS_MAX;
	CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), 0, &err), -1);
	msg = good;
	msg.refused[5].count = 0;
	CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), 0, &err), -1);
	msg = good;
	msg.refused[5].ended = 1;
	CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), 0, &err), -1);
	msg = good;
	msg.refused[5].first_us = -1;
	CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), 0, &err), -1);
	CHECK_EQ_INT(err.code, ERR_PROTOCOL);
}

TEST(the_end_of_the_conversation_and_a_quiet_peer_are_told_apart)
{
	auto_pair struct pair pair = socket_pair();
	struct slotmsg msg;
	int fds[1 + SLOTMSG_JOIN_FDS_MAX];
	unsigned fd_count = 0;
	struct err err = ERR_INIT;

	CHECK(fd_set_nonblocking(pair.b, true, &err) == 0);
	CHECK_EQ_INT(slotmsg_recv(pair.b, &msg, fds, &fd_count, &err), -1);
	CHECK_EQ_INT(err.code, ERR_BUSY);
	CHECK_EQ_INT(slotmsg_recv(pair.b, &msg, fds, &fd_count, NULL), -1);
	close_fds(&pair.a, 1);
	CHECK_EQ_INT(slotmsg_recv(pair.b, &msg, fds, &fd_count, &err), 0);
	CHECK_EQ_INT(slotmsg_recv(pair.b, &msg, fds, &fd_count, NULL), 0);
}

TEST(failing_and_interrupted_calls_are_told_or_taken_up)
{
	struct slotmsg msg = slotmsg_of(SLOTMSG_DROPPED);
	struct err err = ERR_INIT;

	FAULT_LOOP(FAULT_INTERRUPT)
		CHECK_EQ_INT(recv_raw(&msg, sizeof(msg), 0, &err), 1);
	FAULT_LOOP(FAULT_READ)
		CHECK(recv_raw(&msg, sizeof(msg), 0, &err) == (fault_hit() ? -1 : 1));
}

TEST(words_exist_for_kinds_only)
{
	CHECK_STR(slotmsg_kind_word(SLOTMSG_COLLECT), "collect");
	CHECK_STR(slotmsg_kind_word(SLOTMSG_NONE), "unknown");
	CHECK_STR(slotmsg_kind_word(UINT32_MAX), "unknown");
}
