#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/egress/names.h"
#include "tests/check.h"

#define WAIT_MS 20000

static struct err err = ERR_INIT;

/* What a question led to. */
struct found {
	bool answered;
	size_t count;
	struct address address;
};

static void on_answer(void *context, const struct address *list, size_t count)
{
	struct found *found = context;

	found->answered = true;
	found->count = count;
	if (count > 0)
		found->address = list[0];
}

static int open_server(char *ret_resolver, size_t size)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(in);
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (bind(sock, (struct sockaddr *)&in, len) < 0 ||
		getsockname(sock, (struct sockaddr *)&in, &len) < 0)
		return -1;
	(void)snprintf(ret_resolver, size, "127.0.0.1:%u", ntohs(in.sin_port));
	return sock;
}

/* Answers one question: 192.0.2.7, to whoever asks for such an address.  False: nobody has asked. */
static bool answer(int sock)
{
	uint8_t bytes[512];
	struct sockaddr_in from;
	socklen_t from_len = sizeof(from);
	static const uint8_t row[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 7 };
	const ssize_t got =
		recvfrom(sock, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &from_len);
	size_t end = 12;
	bool is_v4;

	if (got < 17)
		return false;
	while (bytes[end])
		end += 1U + bytes[end];
	end += 5;
	is_v4 = bytes[end - 3] == 1;
	bytes[2] = 0x81;
	bytes[3] = 0x80;
	memset(bytes + 6, 0, 6);
	bytes[7] = is_v4;
	memcpy(bytes + end, row, sizeof(row));
	return sendto(sock, bytes, end + (is_v4 ? sizeof(row) : 0), 0, (struct sockaddr *)&from,
		       from_len) > 0;
}

static void turn(struct loop *loop, struct names *names)
{
	struct epoll_event events[8];
	const int count = epoll_wait(loop->epoll, events, 8, 10);

	for (int i = 0; i < count; i++) {
		struct loop_io *io = events[i].data.ptr;

		if (io->events)
			io->on_event(io, events[i].events);
	}
	names_tick(names);
}

TEST(a_question_that_waits_is_asked_of_the_new_servers)
{
	struct loop loop = { epoll_create1(EPOLL_CLOEXEC) };
	struct names *names = names_new(&loop, &err);
	struct found found[2] = { { 0 } };
	char silent[32];
	char other[32];
	const int silent_sock = open_server(silent, sizeof(silent));
	const int sock = open_server(other, sizeof(other));

	CHECK(names && silent_sock >= 0 && sock >= 0);
	CHECK_EQ_INT(names_use(names, silent, &err), 0);
	names_find(names, "a.test", on_answer, &found[0]);
	names_find(names, "b.test", on_answer, &found[1]);
	turn(&loop, names);
	CHECK(!found[0].answered && !found[1].answered);
	CHECK_EQ_INT(names_use(names, other, &err), 0);
	CHECK(!found[0].answered && !found[1].answered);
	for (int i = 0; i < WAIT_MS / 10 && !(found[0].answered && found[1].answered); i++) {
		while (answer(sock))
			;
		turn(&loop, names);
	}
	for (size_t i = 0; i < 2; i++) {
		CHECK_EQ_INT(found[i].count, 1);
		CHECK_EQ_INT(found[i].address.bytes[15], 7);
	}
	names_free(names);
	close(loop.epoll);
	close(silent_sock);
	close(sock);
}

TEST(servers_that_cannot_be_read_are_an_error)
{
	struct loop loop = { epoll_create1(EPOLL_CLOEXEC) };
	struct names *names = names_new(&loop, &err);

	CHECK(names != NULL);
	CHECK_EQ_INT(names_use(names, "no address", &err), -1);
	names_free(names);
	close(loop.epoll);
}
