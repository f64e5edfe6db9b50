/* Messages between the daemon and ced-egress: each has one shape and one direction. */
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/internal/egressmsg.h"
#include "tests/check.h"

static struct egress_msg msg, got;
static int pair[2];

static bool begin(void)
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0;
}

static void end(void)
{
	close(pair[0]);
	close(pair[1]);
}

static void make(enum egress_kind kind)
{
	memset(&msg, 0, sizeof(msg));
	msg.magic = EGRESS_MAGIC;
	msg.kind = kind;
	if (kind == EGRESS_BEGIN) {
		msg.body.begin.rule_count = 1;
		msg.body.begin.rules[0].port = 443;
	}
}

TEST(each_kind_travels_one_way_with_what_belongs_to_it)
{
	CHECK(begin());
	for (unsigned kind = EGRESS_SETUP; kind < EGRESS_KIND_COUNT; kind++) {
		const bool from_daemon = kind < EGRESS_READY;
		const int fd = kind == EGRESS_BEGIN ? STDIN_FILENO : -1;
		struct err err = ERR_INIT;
		int got_fd = -1;

		make((enum egress_kind)kind);
		CHECK_EQ_INT(
			egressmsg_send(pair[0], &msg, kind == EGRESS_BEGIN ? -1 : 0, &err), -1);
		CHECK_EQ_INT(egressmsg_send(pair[0], &msg, fd, &err), 0);
		CHECK_EQ_INT(egressmsg_recv(pair[1], from_daemon, &got, &got_fd, &err), 1);
		CHECK_EQ_INT(got.kind, kind);
		CHECK((got_fd >= 0) == (fd >= 0));
		if (got_fd >= 0)
			close(got_fd);
		CHECK_EQ_INT(egressmsg_send(pair[0], &msg, fd, &err), 0);
		CHECK_EQ_INT(egressmsg_recv(pair[1], !from_daemon, &got, &got_fd, &err), -1);
		CHECK(err.code == ERR_PROTOCOL && got_fd < 0);
	}
	end();
}

TEST(what_is_out_of_range_or_shape_is_refused)
{
	struct err err = ERR_INIT;
	int fd = -1;

	CHECK(begin());
	make(EGRESS_SETUP);
	msg.body.setup.private_count = EGRESS_PRIVATE_MAX + 1;
	CHECK_EQ_INT(egressmsg_send(pair[0], &msg, -1, &err), -1);
	make(EGRESS_SETUP);
	memset(msg.body.setup.resolvers, 'a', sizeof(msg.body.setup.resolvers));
	CHECK_EQ_INT(egressmsg_send(pair[0], &msg, -1, &err), -1);
	make(EGRESS_BEGIN);
	msg.body.begin.rule_count = EGRESS_RULES_MAX + 1;
	CHECK_EQ_INT(egressmsg_send(pair[0], &msg, 0, &err), -1);
	make(EGRESS_BEGIN);
	msg.body.begin.rules[0].port = 0;
	CHECK_EQ_INT(egressmsg_send(pair[0], &msg, 0, &err), -1);
	make(EGRESS_CLOSED);
	msg.body.connection.verdict = EGRESS_VERDICT_COUNT;
	CHECK_EQ_INT(egressmsg_send(pair[0], &msg, -1, &err), -1);
	make(EGRESS_DECIDED);
	strcpy(msg.body.connection.host, "a\nb");
	CHECK_EQ_INT(egressmsg_send(pair[0], &msg, -1, &err), -1);
	make(EGRESS_DECIDED);
	strcpy(msg.body.connection.sni, "\xff");
	CHECK_EQ_INT(egressmsg_send(pair[0], &msg, -1, &err), -1);
	make(EGRESS_DECIDED);
	memset(msg.body.connection.address, '1', sizeof(msg.body.connection.address));
	CHECK_EQ_INT(egressmsg_send(pair[0], &msg, -1, &err), -1);
	make(EGRESS_ENDED);
	CHECK_EQ_INT(send(pair[0], &msg, offsetof(struct egress_msg, body) + 1, 0),
		offsetof(struct egress_msg, body) + 1);
	CHECK_EQ_INT(egressmsg_recv(pair[1], false, &got, &fd, &err), -1);
	msg.magic++;
	CHECK(send(pair[0], &msg, sizeof(uint64_t), 0) > 0);
	CHECK_EQ_INT(egressmsg_recv(pair[1], false, &got, &fd, &err), -1);
	CHECK_EQ_INT(egressmsg_recv(pair[1], false, &got, &fd, &err), -1);
	CHECK(err.code == ERR_BUSY);
	close(pair[0]);
	CHECK_EQ_INT(egressmsg_recv(pair[1], false, &got, &fd, &err), 0);
	close(pair[1]);
}

TEST(each_verdict_way_and_reason_has_a_word)
{
	for (unsigned i = 0; i < EGRESS_VERDICT_COUNT; i++)
		CHECK(egress_verdict_word(i));
	for (unsigned i = 0; i < EGRESS_WAY_COUNT; i++)
		CHECK(egress_way_word(i));
	for (unsigned i = 1; i < EGRESS_WHY_COUNT; i++)
		CHECK(egress_why_word(i));
	CHECK(!egress_why_word(EGRESS_WHY_NONE) && !egress_why_word(EGRESS_WHY_COUNT));
	CHECK(!egress_verdict_word(EGRESS_VERDICT_COUNT) && !egress_way_word(EGRESS_WAY_COUNT));
}
