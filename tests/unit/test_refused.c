#include <sys/socket.h>
#include <sys/syscall.h>

#include "daemon/runs/refused.h"
#include "tests/check.h"

static struct arena arena;

static struct job_result told(
	const struct slotmsg_refused *rows, size_t count, int64_t begun_us, int64_t ended_us)
{
	const struct facts facts = { .refused = rows, .refused_count = count, .refused_others = 7 };
	struct job_result result = { 0 };

	refused_tell(&arena, &facts, begun_us, ended_us, &result);
	return result;
}

TEST(what_was_refused_is_told_in_words_and_in_the_order_of_time)
{
	static const struct slotmsg_refused rows[] = {
		{ SYS_ptrace, 0, 1, 1, 5000 },
		{ SYS_socket, AF_INET, 3, 0, 1200 },
	};
	struct job_result result;

	arena_init(&arena, 4096);
	result = told(rows, 2, 1000, 9000);
	CHECK_EQ_INT(result.refused_count, 2);
	CHECK_EQ_INT(result.refused_others, 7);
	CHECK_STR(result.refused[0].call, "socket");
	CHECK_STR(result.refused[0].kind, "AF_INET");
	CHECK_EQ_INT(result.refused[0].count, 3);
	CHECK_EQ_INT(result.refused[0].first_us, 200);
	CHECK(!result.refused[0].ended);
	CHECK_STR(refused_note(&arena, &result.refused[0]),
		"socket(AF_INET), 3 times: tried to open an internet socket");
	CHECK_STR(refused_note(&arena, &result.refused[1]), "ptrace(): tried to trace a process");
	CHECK(!result.refused[1].kind && result.refused[1].ended);
	arena_done(&arena);
}

TEST(times_lie_within_the_run)
{
	static const struct slotmsg_refused rows[] = {
		{ SYS_socket, AF_INET, 1, 0, 10 },
		{ SYS_socket, AF_INET6, 1, 0, INT64_MAX },
	};
	struct job_result result;

	arena_init(&arena, 4096);
	result = told(rows, 2, 1000, 9000);
	CHECK_EQ_INT(result.refused[0].first_us, 0);
	CHECK_EQ_INT(result.refused[1].first_us, 8000);
	arena_done(&arena);
}

TEST(nothing_refused_says_nothing)
{
	struct job_result result;

	arena_init(&arena, 4096);
	result = told(NULL, 0, 1000, 9000);
	CHECK(!result.refused && result.refused_count == 0 && result.refused_others == 0);
	arena_done(&arena);
}
