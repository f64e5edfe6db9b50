#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/loop/thread_work.h"
#include "daemon/sessions/sessions.h"
#include "daemon/settings/config_file.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "tests/check.h"
#include "tests/fault.h"

#define ALICE 1000
#define BOB   1001
#define CAROL 1002
#define DAVE  1003

static uv_loop_t loop;
static struct config config; /* too large for a stack */
static struct sessions sessions;
static struct thread_work threads;

/* Cells whose turn has come after they waited, and sessions that have ended, in order. */
static struct session_turn *turns[16];
static unsigned turn_count, end_count;
static enum session_end last_end;

static void on_turn(struct session_turn *turn)
{
	turns[turn_count++] = turn;
}

#define CELL                       \
	{                          \
		.on_turn = on_turn \
	}

static void on_end(void *context, const struct session *session)
{
	CHECK(context == &sessions);
	end_count++;
	last_end = session->end;
}

static void begin(void)
{
	(void)uv_loop_init(&loop);
	config_init(&config);
	config.sessions_max = 3;
	config.sessions_per_uid = 2;
	config.workers_reserve = 1;
	config.session_queue = 2;
	config.session_ms = 600000;
	sessions_init(&sessions, &loop, &config);
	sessions.on_end = on_end;
	sessions.context = &sessions;
	thread_work_init(&threads, &loop);
	sessions.thread_work = &threads;
	turn_count = 0;
	end_count = 0;
}

static void finish(void)
{
	(void)sessions_end_all(&sessions, SESSION_DAEMON);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(uv_loop_close(&loop), 0);
}

static struct session *open_for(uint32_t uid, const char *id, int64_t idle_ms)
{
	struct arena arena;
	const char *why = NULL;
	struct session *session;

	arena_init(&arena, 4096);
	session = session_open(&sessions,
		&(struct session_start){ .id = id,
			.uid = uid,
			.arena = &arena,
			.language = "python",
			.idle_ms = idle_ms },
		&why);
	if (!session)
		arena_done(&arena);
	if (!session && !why)
		abort(); /* a refusal without a reason */
	return session;
}

#define ID(letter) "0000000000000000000000000" letter

static struct session *open_one(void)
{
	return open_for(ALICE, ID("A"), 600000);
}

TEST(a_session_is_found_until_it_ends)
{
	struct session *session;

	begin();
	session = open_one();
	CHECK(sessions_find(&sessions, ID("A")) == session);
	CHECK(!sessions_find(&sessions, ID("B")));
	CHECK(session_expires_wall_us(session) > session->opened_wall_us);
	session_hold(session);
	session_end(session, SESSION_CLOSED);
	CHECK(!sessions_find(&sessions, ID("A")));
	CHECK_EQ_INT(session->end, SESSION_CLOSED);
	session_end(session, SESSION_ADMIN);
	CHECK_EQ_INT(session->end, SESSION_CLOSED);
	CHECK_EQ_INT(end_count, 1);
	session_let_go(session);
	finish();
}

TEST(a_user_opens_so_many_and_all_users_so_many)
{
	begin();
	CHECK(open_for(ALICE, ID("A"), 600000));
	CHECK(open_for(ALICE, ID("B"), 600000));
	CHECK(!open_for(ALICE, ID("C"), 600000));
	CHECK(open_for(BOB, ID("D"), 600000));
	CHECK(!open_for(BOB, ID("E"), 600000));
	session_end(sessions_find(&sessions, ID("A")), SESSION_CLOSED);
	CHECK(open_for(BOB, ID("E"), 600000));
	CHECK(open_for(CAROL, ID("F"), 600000)); /* she has none yet */
	CHECK(!open_for(CAROL, ID("G"), 600000));
	CHECK(!open_for(DAVE, ID("G"), 600000));
	CHECK_EQ_INT(sessions_end_all(&sessions, SESSION_ADMIN), 4);
	CHECK_EQ_INT(last_end, SESSION_ADMIN);
	finish();
}

TEST(cells_take_turns_in_the_order_in_which_they_came)
{
	struct session_turn cells[3] = { CELL, CELL, CELL };
	struct session *session;

	begin();
	session = open_one();
	for (unsigned i = 0; i < 3; i++)
		session_come(session, &cells[i]);
	CHECK_EQ_INT(session_enter(&cells[1]), 0); /* it was read sooner than the first */
	CHECK_EQ_INT(session_enter(&cells[2]), 0);
	CHECK_EQ_INT(turn_count, 0);
	CHECK_EQ_INT(session_enter(&cells[0]), 1);
	CHECK(session->now == &cells[0]);
	session_leave(&cells[0]);
	CHECK(turn_count == 1 && turns[0] == &cells[1]);
	session_leave(&cells[1]);
	session_leave(&cells[1]);
	CHECK(turn_count == 2 && turns[1] == &cells[2]);
	session_leave(&cells[2]);
	CHECK(!session->now);
	finish();
}

TEST(a_cell_that_never_waits_for_its_turn_lets_the_next_one_have_it)
{
	struct session_turn cells[2] = { CELL, CELL };
	struct session *session;

	begin();
	session = open_one();
	session_come(session, &cells[0]);
	session_come(session, &cells[1]);
	CHECK_EQ_INT(session_enter(&cells[1]), 0);
	session_leave(&cells[0]); /* the policy has denied it */
	CHECK(turn_count == 1 && turns[0] == &cells[1]);
	session_leave(&cells[1]);
	finish();
}

TEST(so_many_cells_wait)
{
	struct session_turn cells[4] = { CELL, CELL, CELL, CELL };
	struct session *session;

	begin();
	session = open_one();
	for (unsigned i = 0; i < 4; i++)
		session_come(session, &cells[i]);
	CHECK_EQ_INT(session_enter(&cells[0]), 1);
	CHECK_EQ_INT(session_enter(&cells[1]), 0);
	CHECK_EQ_INT(session_enter(&cells[2]), 0);
	CHECK_EQ_INT(session_enter(&cells[3]), -1);
	CHECK_EQ_INT(session->waiting_count, 2);
	session_leave(&cells[3]);
	session_leave(&cells[1]);
	CHECK_EQ_INT(session->waiting_count, 1);
	session_leave(&cells[0]);
	CHECK(turn_count == 1 && turns[0] == &cells[2]);
	session_leave(&cells[2]);
	finish();
}

TEST(waiting_cells_are_told_of_the_end_and_coming_ones_find_it)
{
	struct session_turn cells[3] = { CELL, CELL, CELL };
	struct session *session;

	begin();
	session = open_one();
	session_hold(session);
	for (unsigned i = 0; i < 3; i++)
		session_come(session, &cells[i]);
	CHECK_EQ_INT(session_enter(&cells[0]), 1);
	CHECK_EQ_INT(session_enter(&cells[1]), 0);
	session_end(session, SESSION_CLOSED);
	CHECK(turn_count == 1 && turns[0] == &cells[1] && !cells[1].is_running);
	CHECK(!cells[2].is_coming);
	CHECK_EQ_INT(session->waiting_count, 0);
	for (unsigned i = 0; i < 3; i++)
		session_leave(&cells[i]);
	CHECK_EQ_INT(turn_count, 1);
	session_let_go(session);
	finish();
}

TEST(a_session_ends_when_it_is_idle)
{
	begin();
	(void)open_for(ALICE, ID("A"), 5);
	while (!end_count)
		(void)uv_run(&loop, UV_RUN_ONCE);
	CHECK_EQ_INT(last_end, SESSION_IDLE);
	finish();
}

TEST(a_session_that_is_old_while_a_cell_runs_ends_with_that_cell)
{
	struct session_turn cell = CELL;
	struct session_turn behind = CELL;
	struct session *session;

	begin();
	sessions.age_ms = 20;
	session = open_for(ALICE, ID("A"), 5);
	session_hold(session);
	session_come(session, &cell);
	CHECK_EQ_INT(session_enter(&cell), 1);
	session_come(session, &behind);
	CHECK_EQ_INT(session_enter(&behind), 0);
	while (session->clock && uv_run(&loop, UV_RUN_DEFAULT))
		;
	CHECK_EQ_INT(session->end, SESSION_OPEN);
	CHECK(session_expires_wall_us(session) <= clock_wall_us());
	CHECK(open_for(ALICE, ID("B"), 600000));
	CHECK(!open_for(ALICE, ID("C"), 600000)); /* it counts until the cell is over */
	session_leave(&cell);
	CHECK_EQ_INT(session->end, SESSION_AGE);
	CHECK(turn_count == 1 && turns[0] == &behind && !behind.is_running);
	session_let_go(session);
	finish();
}

TEST(the_end_of_a_cell_is_that_of_a_session_which_is_too_old)
{
	struct session *session;

	begin();
	session = open_one();
	session_hold(session);
	session_end_if_old(session);
	CHECK_EQ_INT(session->end, SESSION_OPEN);
	sessions.age_ms = 0;
	session_end_if_old(session);
	CHECK_EQ_INT(session->end, SESSION_AGE);
	session_end_if_old(session);
	CHECK_EQ_INT(end_count, 1);
	session_let_go(session);
	finish();
}

TEST(without_memory_no_session_opens)
{
	begin();
	FAULT_LOOP(FAULT_ALLOC) {
		struct session *session = open_one();

		CHECK(session ? !list_is_empty(&sessions.open)
			      : fault_hit() && list_is_empty(&sessions.open));
		if (session)
			session_end(session, SESSION_CLOSED);
	}
	finish();
}

TEST(pinned_states_leave_a_place_for_the_newest)
{
	struct states states;

	states_init(&states, 3);
	for (uint32_t number = 4; number <= 6; number++)
		states.kept[states.count++] = (struct kept_state){ .number = number };
	CHECK(states_have(&states, 4) && !states_have(&states, 7));
	states_pin(&states, 4, NULL);
	states_pin(&states, 5, "a name that is longer than thirty-two characters");
	CHECK(!states_may_pin(&states, 6));
	CHECK(states_may_pin(&states, 4)); /* again, under another name */
	CHECK_EQ_INT((int)strlen(states.kept[1].name), STATE_NAME_MAX);
	states_done(&states);
	states_init(&states, 1);
	CHECK(!states_may_pin(&states, 1));
	states_init(&states, 0);
	CHECK(!states_may_pin(&states, 1));
}

/* Files in the place of those of a cgroup. */
static int knob_with(const char *text)
{
	int fd = memfd_create("knob", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		abort();
	return fd;
}

/* Has one process and 600 bytes of memory, and another leaf, in which something dies. */
static void take_knobs(struct worker *worker)
{
	memset(worker, 0, sizeof(*worker));
	knobs_init(&worker->knobs);
	knobs_init(&worker->leaves[0]);
	worker->knobs.fds[KNOB_PIDS_NOW] = knob_with("1");
	worker->knobs.fds[KNOB_MEMORY_NOW] = knob_with("600");
	worker->knobs.fds[KNOB_MEMORY_EMPTY] = knob_with("none");
	worker->leaves[0].fds[KNOB_PIDS_NOW] = knob_with("1");
	worker->leaf_count = 1;
}

static void end_and_give_knobs(struct session *session, struct worker *worker)
{
	session->worker = NULL; /* it has no slot that could be given back */
	session_end(session, SESSION_CLOSED);
	knobs_done(&worker->knobs);
	knobs_done(&worker->leaves[0]);
}

TEST(memory_is_taken_back_on_a_thread_before_a_state_is_kept)
{
	static struct worker worker;
	struct session *session;
	char text[24] = "";
	int asked;

	begin();
	session = open_one();
	take_knobs(&worker);
	asked = worker.knobs.fds[KNOB_MEMORY_EMPTY];
	session->worker = &worker;
	session->limits.memory_bytes = 500;
	states_keep(session, 1);
	CHECK_EQ_INT(session->states.step, STATES_SHRINK);
	while (session->states.step == STATES_SHRINK && uv_run(&loop, UV_RUN_ONCE))
		;
	CHECK(pread(asked, text, sizeof(text) - 1, 0) > 0 && strtoull(text, NULL, 10) > 100);
	CHECK_EQ_INT(session->states.step, STATES_REST);
	CHECK_STR(session->states.why_not, "memory"); /* as there is no more room than before */

	states_keep(session, 1);
	CHECK_EQ_INT(session->states.step, STATES_SHRINK);
	session->limits.memory_bytes = (uint64_t)1 << 30;
	while (session->states.step == STATES_SHRINK && uv_run(&loop, UV_RUN_ONCE))
		;
	CHECK_EQ_INT(session->states.step, STATES_ROOM); /* it goes on */
	end_and_give_knobs(session, &worker);
	finish();
}

TEST(a_session_ends_while_memory_is_taken_back)
{
	static struct worker worker;
	struct session *session;

	begin();
	session = open_one();
	take_knobs(&worker);
	session->worker = &worker;
	states_keep(session, 1);
	CHECK_EQ_INT(session->states.step, STATES_SHRINK);
	end_and_give_knobs(session, &worker);
	CHECK_EQ_INT(end_count, 1);
	finish(); /* in which the thread ends, with a descriptor of its own */
}

TEST(each_end_has_a_word)
{
	for (int end = SESSION_OPEN; end <= SESSION_DAEMON; end++)
		CHECK(strlen(session_end_word((enum session_end)end)) > 0);
}
