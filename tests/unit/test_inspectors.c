#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "daemon/server_parts.h"
#include "proto/base/clock.h"
#include "tests/check.h"
#include "tests/unit/house.h"

static bool next_inspector(struct house *house, struct priv_msg *ret_question, int *ret_sock)
{
	while (playing_hear(&house->play, ret_question, ret_sock)) {
		if (ret_question->op == PRIV_INSPECTOR)
			return true;
		close(*ret_sock);
		if (!playing_refuse(&house->play, ret_question, "not now"))
			return false;
	}
	return false;
}

TEST(an_inspector_that_is_refused_is_asked_for_again_after_a_pause)
{
	static struct priv_msg question;
	struct house house;
	int sock = -1;
	int64_t began_ms;

	CHECK(house_open(&house, ""));
	house.server->state.ready = true; /* past the start */
	CHECK(next_inspector(&house, &question, &sock));
	CHECK(question.body.inspector.memory_bytes > 0 && question.body.inspector.cpu_s > 0);
	CHECK(playing_refuse(&house.play, &question, "no room"));
	CHECK(playing_is_closed(&house.play, sock));
	close(sock);
	began_ms = clock_ms();
	CHECK(next_inspector(&house, &question, &sock));
	CHECK(clock_ms() - began_ms >= 50);
	close(sock);
	house_close(&house);
}

TEST(a_host_that_makes_no_jail_ends_the_start)
{
	static struct priv_msg question;
	struct house house;
	int sock = -1;

	CHECK(house_open(&house, ""));
	CHECK(next_inspector(&house, &question, &sock));
	CHECK(playing_refuse(&house.play, &question, "clone3: No space left on device"));
	CHECK(playing_is_closed(&house.play, sock));
	close(sock);
	CHECK(house.server->state.draining);
	CHECK_EQ_INT(house_end(&house), 1);
	house_close(&house);
}

TEST(an_inspector_that_dies_is_killed_for_good_and_replaced)
{
	static struct priv_msg question;
	struct house house;
	uint32_t child;
	int sock = -1;

	CHECK(house_ready(&house, ""));
	child = 1; /* the first id given out */
	close(house.inspector);
	house.inspector = -1;
	CHECK(next_inspector(&house, &question, &sock));
	CHECK_EQ_INT(house.play.kills, 1);
	CHECK_EQ_INT(house.play.killed, child);
	close(sock);
	house_close(&house);
}

TEST(an_inspector_that_talks_nonsense_is_replaced)
{
	static struct priv_msg question;
	struct house house;
	int sock = -1;

	CHECK(house_ready(&house, ""));
	CHECK_EQ_INT(write(house.inspector, "this is no message at all", 25), 25);
	CHECK(next_inspector(&house, &question, &sock));
	close(sock);
	house_close(&house);
}

TEST(the_house_is_ready_when_a_worker_waits_and_programs_can_be_checked)
{
	struct house house;

	CHECK(house_open(&house, ""));
	house.server->is_warm = true;
	server_look_ready(house.server);
	CHECK(!house.server->state.ready);
	house.server->is_warm = false;
	CHECK(house_warm(&house));
	house_turn(&house, 20);
	CHECK(house.server->state.ready);
	house_close(&house);
}
