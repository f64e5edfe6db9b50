#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/workers/spawner_link.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "tests/check.h"
#include "tests/fault.h"
#include "tests/unit/playing.h"

/* A link to a spawner that the test plays. */
struct pair {
	uv_loop_t loop;
	struct playing play;
	struct spawner_link *link;
	unsigned answers, refusals, exits, losses;
	uint32_t last_id;
	char last_text[256];
	bool lost;
};

static void on_exited(void *context, uint32_t child, int status)
{
	struct pair *pair = context;

	(void)status;
	pair->exits++;
	pair->last_id = child;
}

static void on_lost(void *context, const char *why)
{
	struct pair *pair = context;

	(void)why;
	pair->losses++;
	pair->lost = true;
}

static void on_answer(void *context, const struct priv_msg *msg, int *fds, unsigned fd_count)
{
	struct pair *pair = context;

	close_fds(fds, fd_count);
	if (msg->error)
		pair->refusals++;
	else
		pair->answers++;
	pair->last_id = msg->id;
	(void)strcpy(pair->last_text, msg->text);
}

static bool open_pair(struct pair *pair)
{
	int ends[2];
	struct err err = ERR_INIT;

	memset(pair, 0, sizeof(*pair));
	(void)uv_loop_init(&pair->loop);
	pair->play = (struct playing){ .loop = &pair->loop, .spawner = -1 };
	if (!playing_pair(SOCK_SEQPACKET, ends))
		return false;
	(void)fcntl(ends[0], F_SETFL, 0);
	pair->play.spawner = ends[1];
	pair->link = spawner_link_new(ends[0], &err);
	return pair->link != NULL;
}

static bool start_pair(struct pair *pair)
{
	const struct spawner_events events = { on_exited, on_lost, pair };
	struct err err = ERR_INIT;

	return open_pair(pair) && spawner_link_start(pair->link, &pair->loop, &events, &err) == 0;
}

static void close_pair(struct pair *pair)
{
	spawner_link_close(pair->link);
	close_fds(&pair->play.spawner, 1);
	(void)uv_run(&pair->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&pair->loop);
}

static void ask(struct pair *pair, uint32_t child)
{
	static struct priv_msg msg;

	msg = (struct priv_msg){ .op = PRIV_KILL, .id = child };
	spawner_ask(pair->link, &msg, NULL, 0, on_answer, pair);
}

/* ---- before the loop runs ------------------------------------------------------------------- */

TEST(a_question_before_the_loop_waits_for_its_answer_or_says_why_not)
{
	static struct priv_msg msg, answer;
	struct pair pair;
	struct err err = ERR_INIT;

	CHECK(open_pair(&pair));
	msg = (struct priv_msg){ .op = PRIV_SEAL, .sequence = 1 };
	CHECK(playing_answer(&pair.play, &msg, &answer, NULL, 0));
	CHECK_EQ_INT(spawner_ask_now(pair.link, &msg, &err), 0);
	msg = (struct priv_msg){ .op = PRIV_SEAL, .sequence = 2 };
	CHECK(playing_refuse(&pair.play, &msg, "not twice"));
	msg = (struct priv_msg){ .op = PRIV_SEAL };
	CHECK_EQ_INT(spawner_ask_now(pair.link, &msg, &err), -1);
	CHECK_STR(err.text, "not twice");
	CHECK_EQ_INT(err.code, ERR_DENIED);
	close_pair(&pair);
}

TEST(another_answer_than_the_one_that_was_asked_for_is_refused)
{
	static struct priv_msg msg, answer;

	for (int way = 0; way < 3; way++) {
		struct pair pair;
		struct err err = ERR_INIT;

		CHECK(open_pair(&pair));
		msg = (struct priv_msg){ .op = way ? PRIV_SEAL : PRIV_RUNTIME, .sequence = 1 };
		if (way == 1)
			msg.sequence = 7;
		if (way == 2)
			CHECK(playing_exited(&pair.play, 3, 0));
		else
			CHECK(playing_answer(&pair.play, &msg, &answer, NULL, 0));
		msg = (struct priv_msg){ .op = PRIV_SEAL };
		CHECK_EQ_INT(spawner_ask_now(pair.link, &msg, &err), -1);
		CHECK_EQ_INT(err.code, ERR_PROTOCOL);
		close_pair(&pair);
	}
}

TEST(a_spawner_that_has_gone_is_noticed_before_the_loop_runs)
{
	static struct priv_msg msg;
	struct pair pair;
	struct err err = ERR_INIT;

	CHECK(open_pair(&pair));
	(void)shutdown(pair.play.spawner, SHUT_WR);
	msg = (struct priv_msg){ .op = PRIV_SEAL };
	CHECK_EQ_INT(spawner_ask_now(pair.link, &msg, &err), -1);
	CHECK_EQ_INT(err.code, ERR_CLOSED);
	close_pair(&pair);
}

/* ---- in the loop ---------------------------------------------------------------------------- */

/* ced has no room for the answer's descriptors: only that question fails. */
TEST(an_answer_whose_descriptors_find_no_room_fails_its_question_and_no_other)
{
	static struct priv_msg msg, answer;
	struct rlimit before, none;
	struct pair pair;
	int sock;
	int none_came[PRIV_FDS_MAX];
	unsigned count = 0;
	struct err err = ERR_INIT;

	CHECK(start_pair(&pair));
	msg = (struct priv_msg){ .op = PRIV_INSPECTOR };
	msg.body.inspector = (struct priv_inspector){ 64 << 20, 10 };
	sock = dup(0);
	spawner_ask(pair.link, &msg, &sock, 1, on_answer, &pair);
	ask(&pair, 2);
	CHECK_EQ_INT(priv_recv(pair.play.spawner, true, &msg, none_came, &count, &err), 1);
	close_fds(none_came, count);
	answer = (struct priv_msg){ .id = 5 };
	sock = dup(0);
	CHECK(playing_answer(&pair.play, &msg, &answer, &sock, 1));
	CHECK_EQ_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 3, before.rlim_max };
	CHECK_EQ_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
	playing_turn(&pair.play, 10);
	CHECK_EQ_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
	CHECK_EQ_INT(pair.refusals, 1);
	CHECK(strstr(pair.last_text, "no descriptor is left") != NULL);
	CHECK(!pair.lost);

	CHECK_EQ_INT(priv_recv(pair.play.spawner, true, &msg, none_came, &count, &err), 1);
	CHECK_EQ_INT(msg.id, 2);
	CHECK(playing_answer(&pair.play, &msg, &answer, NULL, 0));
	playing_turn(&pair.play, 10);
	CHECK_EQ_INT(pair.answers, 1);
	close_pair(&pair);
}

TEST(questions_are_asked_one_after_another_and_answered_in_order)
{
	static struct priv_msg msg, answer;
	struct pair pair;
	int none[PRIV_FDS_MAX];
	unsigned count = 0;
	struct err err = ERR_INIT;

	CHECK(start_pair(&pair));
	for (uint32_t child = 1; child <= 3; child++)
		ask(&pair, child);
	for (uint32_t child = 1; child <= 3; child++) {
		CHECK_EQ_INT(priv_recv(pair.play.spawner, true, &msg, none, &count, &err), 1);
		CHECK_EQ_INT(msg.id, child);
		CHECK_EQ_INT(priv_recv(pair.play.spawner, true, &answer, none, &count, &err), -1);
		answer = (struct priv_msg){ .id = 100 + child };
		CHECK(playing_answer(&pair.play, &msg, &answer, NULL, 0));
		playing_turn(&pair.play, 0);
		CHECK_EQ_INT(pair.answers, child);
		CHECK_EQ_INT(pair.last_id, 100 + child);
	}
	close_pair(&pair);
}

/* The answer of a question that could not be sent asks another one, which waits behind the others. */
static void ask_again(void *context, const struct priv_msg *msg, int *fds, unsigned fd_count)
{
	on_answer(context, msg, fds, fd_count);
	ask(context, 9);
}

TEST(a_question_that_cannot_be_sent_fails_alone_and_its_answer_may_ask_again)
{
	static const uint32_t asked[] = { 1, 3, 9 };
	static struct priv_msg msg, answer;
	struct pair pair;
	int none[PRIV_FDS_MAX];
	unsigned count = 0;
	struct err err = ERR_INIT;

	CHECK(start_pair(&pair));
	ask(&pair, 1);
	msg = (struct priv_msg){ .op = PRIV_KILL, .id = 2 };
	spawner_ask(pair.link, &msg, NULL, 0, ask_again, &pair);
	ask(&pair, 3);
	for (size_t i = 0; i < COUNT_OF(asked); i++) {
		CHECK_EQ_INT(priv_recv(pair.play.spawner, true, &msg, none, &count, &err), 1);
		CHECK_EQ_INT(msg.id, asked[i]);
		CHECK(playing_answer(&pair.play, &msg, &answer, NULL, 0));
		if (i == 0)
			fault_arm(FAULT_WRITE, 1);
		playing_turn(&pair.play, 0);
		fault_disarm();
	}
	CHECK(fault_hit());
	CHECK_EQ_INT(pair.answers, 3);
	CHECK_EQ_INT(pair.refusals, 1);
	CHECK(!pair.lost);
	close_pair(&pair);
}

TEST(a_child_that_ends_is_told_between_question_and_answer)
{
	struct pair pair;

	CHECK(start_pair(&pair));
	ask(&pair, 1);
	CHECK(playing_exited(&pair.play, 9, 0));
	playing_turn(&pair.play, 0);
	CHECK_EQ_INT(pair.exits, 1);
	CHECK_EQ_INT(pair.last_id, 9);
	CHECK_EQ_INT(pair.answers, 0);
	close_pair(&pair);
	CHECK_EQ_INT(pair.refusals, 1); /* the close answered it */
}

TEST(everybody_who_waits_is_told_once_when_the_spawner_goes)
{
	struct pair pair;

	CHECK(start_pair(&pair));
	for (uint32_t child = 1; child <= 5; child++)
		ask(&pair, child);
	close_fds(&pair.play.spawner, 1);
	pair.play.spawner = -1;
	CHECK(playing_until(&pair.play, &pair.lost));
	CHECK_EQ_INT(pair.refusals, 5);
	CHECK_EQ_INT(pair.losses, 1);
	ask(&pair, 6);
	CHECK_EQ_INT(pair.refusals, 6);
	pair.play.spawner = open("/dev/null", O_RDONLY);
	close_pair(&pair);
}

TEST(an_answer_to_no_question_or_garbage_ends_the_conversation)
{
	static struct priv_msg msg, answer;

	for (int way = 0; way < 4; way++) {
		struct pair pair;

		CHECK(start_pair(&pair));
		msg = (struct priv_msg){ .op = PRIV_KILL, .sequence = 1 };
		if (way > 0)
			ask(&pair, 1);
		if (way == 1)
			msg.sequence = 2;
		if (way == 2)
			msg.op = PRIV_SEAL;
		if (way == 3)
			CHECK_EQ_INT(send(pair.play.spawner, "garbage", 7, 0), 7);
		else
			CHECK(playing_answer(&pair.play, &msg, &answer, NULL, 0));
		CHECK(playing_until(&pair.play, &pair.lost));
		CHECK_EQ_INT(pair.refusals, way > 0);
		close_pair(&pair);
	}
}

TEST(descriptors_are_taken_also_when_the_question_cannot_be_asked)
{
	FAULT_LOOP(FAULT_ALLOC) {
		static struct priv_msg msg;
		struct pair pair;
		int ends[2];

		CHECK_EQ_INT(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
		if (start_pair(&pair)) {
			msg = (struct priv_msg){ .op = PRIV_INSPECTOR };
			spawner_ask(pair.link, &msg, &ends[1], 1, on_answer, &pair);
			close_pair(&pair);
			CHECK_EQ_INT(pair.refusals, 1);
		} else {
			CHECK(fault_hit());
			close(ends[1]);
			close_pair(&pair);
		}
		CHECK(fcntl(ends[1], F_GETFD) < 0);
		close(ends[0]);
	}
}
