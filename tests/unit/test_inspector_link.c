#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/loop/loop.h"
#include "daemon/policy/inspector_link.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "tests/check.h"

/* A link whose inspectors never send a message. */
struct silence {
	uv_loop_t loop;
	struct buf rules;
	struct inspector_link *link;
	unsigned lost;
};

static void on_lost(void *context, uint32_t child, const char *why, bool retired)
{
	struct silence *silence = context;

	(void)child;
	(void)retired;
	if (strcmp(why, "it does not get ready") == 0)
		silence->lost++;
}

static bool open_link(struct silence *silence, uint32_t ready_ms)
{
	const struct inspector_events events = { NULL, on_lost, silence };
	struct err err = ERR_INIT;

	*silence = (struct silence){ .lost = 0 };
	if (uv_loop_init(&silence->loop) != 0)
		return false;
	silence->link = inspector_link_new(&silence->loop, &silence->rules, 0, &events, &err);
	if (silence->link)
		inspector_link_ready_in(silence->link, ready_ms);
	return silence->link != NULL;
}

static void close_link(struct silence *silence)
{
	inspector_link_close(silence->link);
	(void)uv_run(&silence->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&silence->loop);
}

/* Returns how long the link waits for one inspector, from its socket to its loss; -1: no socket. */
static int64_t lose_one(struct silence *silence)
{
	unsigned before = silence->lost;
	int64_t began_ms = clock_ms();
	struct err err = ERR_INIT;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	if (fd_set_nonblocking(ends[0], true, &err) == 0 &&
		inspector_link_add(silence->link, ends[0], 1, &err) == 0)
		while (silence->lost == before)
			(void)uv_run(&silence->loop, UV_RUN_ONCE);
	close(ends[1]);
	return clock_ms() - began_ms;
}

static bool is_given(struct silence *silence, uint32_t ready_ms)
{
	return inspector_link_counts(silence->link).ready_ms == ready_ms &&
	       lose_one(silence) >= ready_ms;
}

TEST(whoever_follows_one_that_needed_longer_is_given_twice_as_long)
{
	static struct silence silence;
	bool good = open_link(&silence, 20);

	CHECK(good);
	for (uint32_t ms = 20; good && ms <= 80; ms *= 2)
		good = is_given(&silence, ms);
	CHECK(good);
	CHECK(is_given(&silence, 80));
	close_link(&silence);
}

static void on_answer(struct inspect_question *question, enum inspect_end end,
	const struct inspect_findings *findings)
{
	(void)findings;
	if (end == INSPECT_END_ABSENT)
		question->arena = NULL;
}

TEST(where_one_needed_longer_a_question_waits_for_those_that_follow)
{
	static struct silence silence;
	struct arena arena;
	struct inspect_question question = { .arena = &arena, .on_answer = on_answer };
	struct err err = ERR_INIT;
	int64_t began_ms;

	arena_init(&arena, 4096);
	CHECK(open_link(&silence, 200));
	inspector_link_patience(silence.link, &(struct inspector_patience){ 1000, 1000, 1000 });
	CHECK(lose_one(&silence) >= 0);
	began_ms = clock_ms();
	CHECK_EQ_INT(inspector_link_ask(silence.link, &question, &err), 0);
	while (question.arena)
		(void)uv_run(&silence.loop, UV_RUN_ONCE);
	CHECK(clock_ms() - began_ms >= 4 * 200);
	close_link(&silence);
	arena_done(&arena);
}
