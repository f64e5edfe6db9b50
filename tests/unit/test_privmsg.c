#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/base/fdio.h"
#include "proto/internal/privmsg.h"
#include "tests/check.h"
#include "tests/fault.h"

#define HEAD_LEN offsetof(struct priv_msg, body)

enum side {
	TO_SPAWNER,
	TO_DAEMON
};

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

static const int many[PRIV_FDS_MAX + 1] = { [0 ... PRIV_FDS_MAX] = 2 };

/* Sends bytes without the checks of priv_send() and receives them. */
static int recv_raw(
	enum side side, const void *bytes, size_t len, unsigned fd_count, struct err *err)
{
	auto_pair struct pair pair = socket_pair();
	static struct priv_msg msg;
	int fds[PRIV_FDS_MAX];
	unsigned got_count = 0;
	int got;

	if (send_with_fds(pair.a, bytes, len, many, fd_count, err) < 0)
		return -2;
	got = priv_recv(pair.b, side == TO_SPAWNER, &msg, fds, &got_count, err);
	close_fds(fds, got_count);
	return got;
}

/* With room after the message, for messages that claim to be longer than allowed. */
static int recv_msg(enum side side, const struct priv_msg *msg, unsigned fd_count)
{
	static char bytes[sizeof(struct priv_msg) + 64];
	struct err err = ERR_INIT;

	memcpy(bytes, msg, sizeof(*msg));
	return recv_raw(side, bytes, HEAD_LEN + msg->body_len, fd_count, &err);
}

/* Fills a message, which is too large for the stack of each test. */
static void msg_fill(struct priv_msg *msg, enum priv_op op, bool is_answer, size_t body_len)
{
	memset(msg, 0, sizeof(*msg));
	msg->magic = PRIV_MAGIC;
	msg->op = op;
	msg->is_answer = is_answer;
	msg->body_len = (uint32_t)body_len;
}

TEST(a_question_and_its_answer_arrive_as_they_were_sent)
{
	auto_pair struct pair pair = socket_pair();
	static struct priv_msg question;
	static struct priv_msg answer;
	static struct priv_msg got;
	int fds[PRIV_FDS_MAX];
	unsigned fd_count = 0;
	struct err err = ERR_INIT;

	msg_fill(&question, PRIV_ZYGOTE, false, 0);
	question.sequence = 7;
	question.body.zygote = (struct priv_zygote){ 2, 16 };
	CHECK(priv_send(pair.a, &question, many, 1, &err) == 0);
	CHECK(priv_recv(pair.b, true, &got, fds, &fd_count, &err) == 1);
	close_fds(fds, fd_count);
	CHECK(fd_count == 1 && got.op == PRIV_ZYGOTE && got.sequence == 7);
	CHECK(got.body.zygote.runtime == 2 && got.body.zygote.slots == 16);

	msg_fill(&answer, PRIV_ZYGOTE, true, 0);
	answer.id = 5;
	CHECK(priv_send(pair.b, &answer, many, 1, &err) == 0);
	CHECK(priv_recv(pair.a, false, &got, fds, &fd_count, &err) == 1);
	close_fds(fds, fd_count);
	CHECK(fd_count == 1 && got.id == 5 && got.body_len == 0);
}

/* The expected contents of the table, written independently. */
static const struct {
	enum priv_op op;
	size_t request_len;
	unsigned request_fds;
	size_t answer_len;
	unsigned answer_fds;
} shapes[] = {
	{ PRIV_HELLO, 0, 0, sizeof(struct priv_host), 0 },
	{ PRIV_RUNTIME, sizeof(struct priv_runtime), 0, 0, 0 },
	{ PRIV_SEAL, 0, 0, 0, 0 },
	{ PRIV_ZYGOTE, sizeof(struct priv_zygote), 1, 0, 1 },
	{ PRIV_SLOT, sizeof(struct priv_slot), 0, sizeof(struct priv_knobs), 0 },
	{ PRIV_INSPECTOR, sizeof(struct priv_inspector), 1, 0, 1 },
	{ PRIV_KILL, 0, 0, 0, 0 },
};

TEST(every_operation_has_one_shape_in_each_direction)
{
	int before = open_count();

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		static struct priv_msg request;
		static struct priv_msg answer;

		msg_fill(&request, shapes[i].op, false, shapes[i].request_len);
		msg_fill(&answer, shapes[i].op, true, shapes[i].answer_len);
		for (unsigned fds = 0; fds < 4; fds++) {
			bool asked = fds == shapes[i].request_fds;
			bool answered = fds == shapes[i].answer_fds;

			CHECK_EQ_INT(recv_msg(TO_SPAWNER, &request, fds), asked ? 1 : -1);
			CHECK_EQ_INT(recv_msg(TO_DAEMON, &answer, fds), answered ? 1 : -1);
			CHECK_EQ_INT(recv_msg(TO_DAEMON, &request, fds), -1);
			CHECK_EQ_INT(recv_msg(TO_SPAWNER, &answer, fds), -1);
		}
		request.body_len += 4;
		answer.body_len += 4;
		CHECK_EQ_INT(recv_msg(TO_SPAWNER, &request, shapes[i].request_fds), -1);
		CHECK_EQ_INT(recv_msg(TO_DAEMON, &answer, shapes[i].answer_fds), -1);
	}
	CHECK_EQ_INT(open_count(), before);
}

TEST(an_exit_is_told_unasked_and_only_by_the_spawner)
{
	static struct priv_msg exited;
	static struct priv_msg answer;

	msg_fill(&exited, PRIV_EXITED, false, 0);
	msg_fill(&answer, PRIV_EXITED, true, 0);
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &exited, 0), 1);
	CHECK_EQ_INT(recv_msg(TO_SPAWNER, &exited, 0), -1);
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &answer, 0), -1);
}

TEST(bad_news_travels_alone)
{
	static struct priv_msg answer;
	static struct priv_msg slot;
	static struct priv_msg question;

	msg_fill(&answer, PRIV_ZYGOTE, true, 0);
	msg_fill(&slot, PRIV_SLOT, true, 0);
	msg_fill(&question, PRIV_KILL, false, 0);
	answer.error = ERR_SYSTEM;
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &answer, 0), 1);
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &answer, 1), -1);
	slot.error = ERR_SYSTEM;
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &slot, 0), 1);
	slot.body_len = sizeof(struct priv_knobs);
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &slot, 0), -1);
	question.error = ERR_SYSTEM;
	CHECK_EQ_INT(recv_msg(TO_SPAWNER, &question, 0), -1);
}

TEST(knobs_name_exactly_the_descriptors_that_come)
{
	static struct priv_msg msg;

	msg_fill(&msg, PRIV_SLOT, true, sizeof(struct priv_knobs));
	for (uint32_t i = 0; i < PRIV_FDS_MAX; i++)
		msg.body.knobs.which[i] = 1 + i % (KNOB_COUNT - 1);
	msg.body.knobs.count = PRIV_FDS_MAX;
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &msg, PRIV_FDS_MAX), 1);
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &msg, PRIV_FDS_MAX - 1), -1);
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &msg, PRIV_FDS_MAX + 1), -1);
	msg.body.knobs.which[3] = KNOB_COUNT;
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &msg, PRIV_FDS_MAX), -1);
	msg.body.knobs.which[3] = KNOB_NONE;
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &msg, PRIV_FDS_MAX), -1);
	msg.body.knobs.count = UINT32_MAX;
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &msg, 0), -1);
}

TEST(texts_that_do_not_end_are_refused)
{
	static struct priv_msg msg;
	struct {
		char *text;
		size_t size;
	} texts[] = {
		{ msg.text, sizeof(msg.text) },
		{ msg.body.runtime.name, PRIV_NAME_MAX },
		{ msg.body.runtime.interpreter, PRIV_PATH_MAX },
		{ msg.body.runtime.harness, PRIV_PATH_MAX },
		{ msg.body.runtime.preload, PRIV_PRELOAD_MAX },
		{ msg.body.runtime.binds[0].path, PRIV_PATH_MAX },
		{ msg.body.runtime.binds[PRIV_BINDS_MAX - 1].path, PRIV_PATH_MAX },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		msg_fill(&msg, PRIV_RUNTIME, false, sizeof(struct priv_runtime));
		memset(texts[i].text, 'x', texts[i].size - 1);
		CHECK_EQ_INT(recv_msg(TO_SPAWNER, &msg, 0), 1);
		texts[i].text[texts[i].size - 1] = 'x';
		CHECK_EQ_INT(recv_msg(TO_SPAWNER, &msg, 0), -1);
	}
	msg_fill(&msg, PRIV_HELLO, true, sizeof(struct priv_host));
	memset(msg.body.host.why_not, 'x', sizeof(msg.body.host.why_not));
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &msg, 0), -1);
	msg_fill(&msg, PRIV_RUNTIME, false, sizeof(struct priv_runtime));
	msg.body.runtime.bind_count = PRIV_BINDS_MAX + 1;
	CHECK_EQ_INT(recv_msg(TO_SPAWNER, &msg, 0), -1);
}

TEST(messages_out_of_shape_are_refused)
{
	static struct priv_msg msg;
	struct err err = ERR_INIT;

	msg_fill(&msg, PRIV_SEAL, false, 0);
	for (size_t len = 1; len < HEAD_LEN; len++)
		CHECK_EQ_INT(recv_raw(TO_SPAWNER, &msg, len, 1, &err), -1);
	CHECK_EQ_INT(recv_raw(TO_SPAWNER, &msg, HEAD_LEN + 1, 0, &err), -1);
	CHECK_EQ_INT(recv_raw(TO_SPAWNER, &msg, sizeof(msg), 0, &err), -1);
	msg.magic++;
	CHECK_EQ_INT(recv_msg(TO_SPAWNER, &msg, 0), -1);
	msg_fill(&msg, PRIV_NONE, false, 0);
	CHECK_EQ_INT(recv_msg(TO_SPAWNER, &msg, 0), -1);
	msg.op = PRIV_OP_COUNT;
	CHECK_EQ_INT(recv_msg(TO_SPAWNER, &msg, 0), -1);
	msg.op = UINT32_MAX;
	CHECK_EQ_INT(recv_msg(TO_SPAWNER, &msg, 0), -1);
	msg_fill(&msg, PRIV_SEAL, false, 0);
	msg.is_answer = 2;
	CHECK_EQ_INT(recv_msg(TO_SPAWNER, &msg, 0), -1);
	CHECK_EQ_INT(recv_msg(TO_DAEMON, &msg, 0), -1);
	msg_fill(&msg, PRIV_SEAL, false, 0xfffffff0U);
	CHECK_EQ_INT(recv_raw(TO_SPAWNER, &msg, HEAD_LEN, 0, &err), -1);
}

TEST(a_sender_refuses_what_the_receiver_would)
{
	static struct priv_msg msg = { .op = PRIV_ZYGOTE };
	struct err err = ERR_INIT;

	CHECK_EQ_INT(priv_send(-1, &msg, many, 0, &err), -1);
	CHECK_EQ_INT(err.code, ERR_PROTOCOL);
	CHECK_EQ_INT(priv_send(-1, &msg, many, 1, &err), -1);
	CHECK_EQ_INT(err.code, ERR_SYSTEM);
	msg.op = 99;
	CHECK_EQ_INT(priv_send(-1, &msg, many, 1, &err), -1);
	CHECK_EQ_INT(err.code, ERR_PROTOCOL);
}

TEST(nothing_of_an_earlier_message_is_left_behind_the_body)
{
	auto_pair struct pair pair = socket_pair();
	static struct priv_msg msg = { .op = PRIV_SEAL };
	static struct priv_msg got;
	int fds[PRIV_FDS_MAX];
	unsigned fd_count = 0;
	struct err err = ERR_INIT;

	memset(&got, 0xff, sizeof(got));
	CHECK(priv_send(pair.a, &msg, NULL, 0, &err) == 0);
	CHECK(priv_recv(pair.b, true, &got, fds, &fd_count, &err) == 1);
	CHECK_EQ_INT(got.body.zygote.slots, 0);
}

TEST(operations_come_in_their_phase_only)
{
	CHECK(priv_op_in_turn(PRIV_HELLO, PRIV_GREETING));
	CHECK(!priv_op_in_turn(PRIV_RUNTIME, PRIV_GREETING));
	CHECK(!priv_op_in_turn(PRIV_HELLO, PRIV_CONFIGURING));
	CHECK(priv_op_in_turn(PRIV_RUNTIME, PRIV_CONFIGURING));
	CHECK(priv_op_in_turn(PRIV_SEAL, PRIV_CONFIGURING));
	CHECK(!priv_op_in_turn(PRIV_ZYGOTE, PRIV_CONFIGURING));
	CHECK(priv_op_in_turn(PRIV_ZYGOTE, PRIV_SERVING));
	CHECK(!priv_op_in_turn(PRIV_RUNTIME, PRIV_SERVING));
	CHECK(!priv_op_in_turn(PRIV_EXITED, PRIV_SERVING));
	CHECK(!priv_op_in_turn(UINT32_MAX, PRIV_SERVING));
	CHECK_EQ_INT(priv_phase_after(PRIV_HELLO, PRIV_GREETING), PRIV_CONFIGURING);
	CHECK_EQ_INT(priv_phase_after(PRIV_RUNTIME, PRIV_CONFIGURING), PRIV_CONFIGURING);
	CHECK_EQ_INT(priv_phase_after(PRIV_SEAL, PRIV_CONFIGURING), PRIV_SERVING);
	CHECK_EQ_INT(priv_phase_after(PRIV_KILL, PRIV_SERVING), PRIV_SERVING);
	CHECK_STR(priv_op_word(PRIV_SEAL), "seal");
	CHECK_STR(priv_op_word(77), "unknown");
}

TEST(the_end_of_the_conversation_and_a_quiet_peer_are_told_apart)
{
	auto_pair struct pair pair = socket_pair();
	static struct priv_msg msg;
	int fds[PRIV_FDS_MAX];
	unsigned fd_count = 0;
	struct err err = ERR_INIT;

	CHECK(fd_set_nonblocking(pair.b, true, &err) == 0);
	CHECK_EQ_INT(priv_recv(pair.b, true, &msg, fds, &fd_count, &err), -1);
	CHECK_EQ_INT(err.code, ERR_BUSY);
	close_fds(&pair.a, 1);
	CHECK_EQ_INT(priv_recv(pair.b, true, &msg, fds, &fd_count, NULL), 0);
}

TEST(interrupted_calls_are_taken_up_again)
{
	static struct priv_msg msg;

	msg_fill(&msg, PRIV_SEAL, false, 0);
	FAULT_LOOP(FAULT_INTERRUPT)
		CHECK_EQ_INT(recv_msg(TO_SPAWNER, &msg, 0), 1);
}
