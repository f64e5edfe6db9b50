#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/runs/execution.h"
#include "daemon/workers/worker.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "tests/check.h"
#include "tests/fault.h"
#include "tests/unit/alone.h"

static void gets(struct alone *alone, enum worker_state state)
{
	playing_turn(&alone->play, 0);
	CHECK_STR(worker_state_word(alone->worker->state), worker_state_word(state));
}

/* The slot reads DROP for its worker and reports that it is done. */
static void drops(struct alone *alone)
{
	struct slotmsg msg;
	int none[1 + SLOTMSG_JOIN_FDS_MAX];

	CHECK(playing_lease(&alone->play, alone->slot, &msg, none));
	CHECK_STR(slotmsg_kind_word(msg.kind), "worker_drop");
	CHECK_EQ_INT(msg.sequence, alone->played.sequence);
	CHECK(played_says(&alone->played, SLOTMSG_DROPPED));
	gets(alone, WORKER_EMPTY);
}

/* ---- made, warm --------------------------------------------------------------------------- */

TEST(a_worker_is_warm_when_its_slot_and_itself_have_said_so_in_either_order)
{
	for (int order = 0; order < 2; order++) {
		struct alone alone;

		CHECK(alone_open(&alone, NULL) && alone_make(&alone));
		CHECK(order ? played_says(&alone.played, SLOTMSG_WORKER_MADE)
			    : played_sends(&alone.played, JOB_READY, 0, ""));
		gets(&alone, WORKER_MAKING);
		CHECK(order ? played_sends(&alone.played, JOB_READY, 0, "")
			    : played_says(&alone.played, SLOTMSG_WORKER_MADE));
		gets(&alone, WORKER_WARM);
		CHECK_EQ_INT(alone.zygote.warm, 1);
		alone_close(&alone);
	}
}

TEST(a_worker_is_made_with_the_limits_and_with_rlimits_where_no_cgroup_holds)
{
	struct alone alone;

	CHECK(alone_open(&alone, NULL) && alone_make(&alone));
	CHECK_EQ_INT(alone.played.index, 3);
	CHECK_EQ_INT(alone.played.limits.memory_bytes, ALONE_LIMITS.memory_bytes);
	CHECK_EQ_INT(alone.played.limits.file_bytes, ALONE_LIMITS.disk_bytes);
	CHECK_EQ_INT(alone.played.limits.open_files, ALONE_LIMITS.open_files);
	CHECK_EQ_INT(alone.played.flags, SLOTMSG_FLAG_RLIMIT_MEMORY | SLOTMSG_FLAG_RLIMIT_PIDS);
	alone_close(&alone);
}

TEST(knobs_hold_what_they_can_and_are_written_before_the_worker_is_made)
{
	struct alone alone;
	struct knobs knobs;
	char text[32] = "";

	knobs_init(&knobs);
	knobs.fds[KNOB_MEMORY_MAX] = alone_file("");
	knobs.fds[KNOB_PIDS_MAX] = alone_file("");
	CHECK(alone_open(&alone, &knobs) && alone_make(&alone));
	CHECK_EQ_INT(alone.played.flags, 0);
	CHECK(pread(alone.worker->knobs.fds[KNOB_MEMORY_MAX], text, sizeof(text) - 1, 0) > 0);
	CHECK_STR(text, "268435456");
	alone_close(&alone);
}

TEST(a_cgroup_that_refuses_the_limits_loses_the_slot)
{
	struct alone alone;
	struct knobs knobs;

	knobs_init(&knobs);
	knobs.fds[KNOB_MEMORY_MAX] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK(alone_open(&alone, &knobs));
	worker_make(alone.worker, &ALONE_LIMITS);
	gets(&alone, WORKER_GONE);
	CHECK_EQ_INT(alone.worker->state, WORKER_GONE);
	alone_close(&alone);
}

TEST(all_that_is_charged_to_a_leaf_counts_and_it_stays_open_until_the_next_worker_is_made)
{
	struct alone alone;
	struct knobs first;
	struct knobs leaf;

	knobs_init(&first);
	knobs_init(&leaf);
	first.fds[KNOB_MEMORY_NOW] = alone_file("1000");
	leaf.fds[KNOB_MEMORY_NOW] = alone_file("5000"); /* an earlier session's */
	CHECK(alone_open(&alone, &first) && alone_warm(&alone));
	worker_add_leaf(alone.worker, &leaf);
	CHECK_EQ_INT(worker_memory(alone.worker), 6000);
	worker_release(alone.worker);
	drops(&alone);
	CHECK_EQ_INT(alone.worker->leaf_count, 1);
	CHECK(alone_make(&alone));
	CHECK_EQ_INT(alone.worker->leaf_count, 0);
	alone_close(&alone);
}

TEST(words_about_an_earlier_worker_mean_nothing)
{
	static const enum slotmsg_kind late[] = { SLOTMSG_WORKER_MADE, SLOTMSG_WORKER_FAILED,
		SLOTMSG_WORKER_ENDED, SLOTMSG_DROPPED, SLOTMSG_ADJUSTED, SLOTMSG_COLLECTED,
		SLOTMSG_ZYGOTE_READY };
	struct alone alone;

	CHECK(alone_open(&alone, NULL) && alone_warm(&alone));
	for (unsigned i = 0; i < COUNT_OF(late); i++)
		CHECK(playing_say(alone.slot, late[i], 3, alone.played.sequence - 1));
	gets(&alone, WORKER_WARM);
	alone_close(&alone);
}

TEST(words_that_come_twice_or_too_early_change_nothing)
{
	static const enum slotmsg_kind odd[] = { SLOTMSG_WORKER_MADE, SLOTMSG_WORKER_FAILED,
		SLOTMSG_DROPPED, SLOTMSG_ADJUSTED, SLOTMSG_COLLECTED };
	struct alone alone;

	CHECK(alone_open(&alone, NULL) && alone_warm(&alone));
	for (unsigned i = 0; i < COUNT_OF(odd); i++)
		CHECK(played_says(&alone.played, odd[i]));
	gets(&alone, WORKER_WARM);
	CHECK_EQ_INT(alone.zygote.warm, 1);
	alone_close(&alone);
}

/* ---- a worker that cannot be made ----------------------------------------------------------- */

TEST(a_making_that_failed_is_counted_and_the_slot_is_emptied)
{
	struct alone alone;

	CHECK(alone_open(&alone, NULL) && alone_make(&alone));
	CHECK(played_says(&alone.played, SLOTMSG_WORKER_FAILED));
	gets(&alone, WORKER_ENDING);
	CHECK_EQ_INT(alone.worker->misses, 1);
	drops(&alone);
	CHECK(check_ok());
	CHECK_EQ_INT(alone.zygote.empty, 1);
	alone_close(&alone);
}

TEST(a_worker_that_dies_while_it_is_made_is_a_miss_and_one_that_gets_warm_forgets_misses)
{
	struct alone alone;

	CHECK(alone_open(&alone, NULL) && alone_make(&alone));
	CHECK(played_ended(&alone.played, SIGKILL));
	gets(&alone, WORKER_ENDING);
	CHECK_EQ_INT(alone.worker->misses, 1);
	drops(&alone);
	CHECK(check_ok());
	played_close(&alone.played);
	CHECK(alone_warm(&alone));
	CHECK_EQ_INT(alone.worker->misses, 0);
	alone_close(&alone);
}

TEST(what_a_worker_writes_while_it_is_made_is_dropped_and_not_shown_to_its_program)
{
	struct alone alone;
	struct capture capture;

	CHECK(alone_open(&alone, NULL) && alone_make(&alone));
	CHECK_EQ_INT(write(alone.played.out, "noise", 5), 5);
	CHECK_EQ_INT(write(alone.played.errout, "noise", 5), 5);
	playing_turn(&alone.play, 0);
	CHECK(playing_warm(&alone.played));
	gets(&alone, WORKER_WARM);
	capture_init(&capture, 100, false);
	CHECK_EQ_INT(capture_read(&capture, watch_fd(alone.worker->out)), CAPTURE_DRY);
	CHECK_EQ_INT(capture.total, 0);
	capture_done(&capture);
	alone_close(&alone);
}

TEST(a_worker_that_closes_a_stream_before_it_is_warm_is_a_miss)
{
	struct alone alone;

	CHECK(alone_open(&alone, NULL) && alone_make(&alone));
	close(alone.played.out);
	alone.played.out = -1;
	playing_turn(&alone.play, 0);
	CHECK(playing_warm(&alone.played));
	gets(&alone, WORKER_ENDING);
	CHECK_EQ_INT(alone.worker->misses, 1);
	CHECK_EQ_INT(alone.zygote.warm, 0);
	alone_close(&alone);
}

/* ---- a warm worker that fails --------------------------------------------------------------- */

static void is_replaced(struct alone *alone)
{
	gets(alone, WORKER_ENDING);
	CHECK(check_ok());
	CHECK(playing_is_closed(&alone->play, alone->played.lifeline));
	drops(alone);
}

TEST(a_warm_worker_that_dies_is_replaced)
{
	struct alone alone;

	CHECK(alone_open(&alone, NULL) && alone_warm(&alone));
	CHECK(played_ended(&alone.played, SIGKILL));
	is_replaced(&alone);
	alone_close(&alone);
}

TEST(a_warm_worker_that_closes_its_job_socket_is_given_to_nobody)
{
	struct alone alone;

	CHECK(alone_open(&alone, NULL) && alone_warm(&alone));
	close(alone.played.job);
	alone.played.job = -1;
	is_replaced(&alone);
	alone_close(&alone);
}

TEST(a_warm_worker_that_sends_what_is_no_message_is_given_to_nobody)
{
	struct job_head odd[] = { { 1, JOB_READY, 0, 0 }, { SLOTMSG_MAGIC, JOB_START, 0, 0 },
		{ SLOTMSG_MAGIC, JOB_KIND_COUNT, 0, 0 },
		{ SLOTMSG_MAGIC, JOB_ERROR, SLOTMSG_REPORT_MAX + 1, 0 } };

	for (unsigned i = 0; i < COUNT_OF(odd); i++) {
		struct alone alone;

		CHECK(alone_open(&alone, NULL) && alone_warm(&alone));
		CHECK_EQ_INT(write(alone.played.job, &odd[i], sizeof(odd[i])), sizeof(odd[i]));
		is_replaced(&alone);
		CHECK(check_ok());
		alone_close(&alone);
	}
}

TEST(a_warm_worker_that_writes_or_closes_a_stream_is_given_to_nobody)
{
	for (int way = 0; way < 4; way++) {
		struct alone alone;
		int *stream = way & 1 ? &alone.played.errout : &alone.played.out;

		CHECK(alone_open(&alone, NULL) && alone_warm(&alone));
		if (way & 2) {
			CHECK_EQ_INT(write(*stream, "early", 5), 5);
		} else {
			close(*stream);
			*stream = -1;
		}
		is_replaced(&alone);
		CHECK(check_ok());
		alone_close(&alone);
	}
}

/* ---- a hostile or dying slot ---------------------------------------------------------------- */

static void is_lost(struct alone *alone)
{
	gets(alone, WORKER_GONE);
	CHECK(check_ok());
	CHECK_EQ_INT(alone->worker->state, WORKER_GONE);
	CHECK(playing_is_closed(&alone->play, alone->played.lifeline));
	CHECK(playing_is_closed(&alone->play, alone->played.job));
}

TEST(a_slot_that_goes_away_is_lost_whatever_it_was_doing)
{
	for (int warm = 0; warm < 2; warm++) {
		struct alone alone;

		CHECK(alone_open(&alone, NULL));
		CHECK(warm ? alone_warm(&alone) : alone_make(&alone));
		close(alone.slot);
		alone.slot = -1;
		is_lost(&alone);
		CHECK(check_ok());
		alone_close(&alone);
	}
}

TEST(what_no_slot_says_loses_the_slot)
{
	static const enum slotmsg_kind wrong[] = { SLOTMSG_ZYGOTE_READY, SLOTMSG_SLOT_OPENED,
		SLOTMSG_SLOT_FAILED, SLOTMSG_SLOT_GONE, SLOTMSG_ADJUST, SLOTMSG_WORKER_DROP };

	for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
		struct alone alone;

		CHECK(alone_open(&alone, NULL) && alone_warm(&alone));
		CHECK(played_says(&alone.played, wrong[i]));
		is_lost(&alone);
		CHECK(check_ok());
		alone_close(&alone);
	}
}

TEST(what_is_no_message_loses_the_slot)
{
	for (int way = 0; way < 4; way++) {
		struct alone alone;
		struct slotmsg msg = slotmsg_of(SLOTMSG_WORKER_MADE);
		size_t len = sizeof(msg);

		CHECK(alone_open(&alone, NULL) && alone_warm(&alone));
		msg.sequence = alone.played.sequence;
		if (way == 0)
			msg.magic = 0;
		else if (way == 1)
			msg.kind = SLOTMSG_KIND_COUNT;
		else if (way == 2)
			memset(msg.text, 'x', sizeof(msg.text));
		else
			len--;
		CHECK_EQ_INT(send(alone.slot, &msg, len, 0), len);
		is_lost(&alone);
		CHECK(check_ok());
		alone_close(&alone);
	}
}

TEST(descriptors_that_a_slot_presses_on_us_are_closed_and_lose_it)
{
	for (size_t count = 1; count <= FDIO_FDS_MAX; count += FDIO_FDS_MAX - 1) {
		struct alone alone;
		struct slotmsg msg = slotmsg_of(SLOTMSG_WORKER_MADE);
		int fds[FDIO_FDS_MAX];
		unsigned before;
		struct err err = ERR_INIT;

		CHECK(alone_open(&alone, NULL) && alone_warm(&alone));
		for (size_t i = 0; i < count; i++)
			fds[i] = STDERR_FILENO;
		before = alone_fd_count();
		CHECK(send_with_fds(alone.slot, &msg, sizeof(msg), fds, count, &err) > 0);
		gets(&alone, WORKER_GONE);
		CHECK(alone_fd_count() < before); /* the worker's pipes are closed */
		alone_close(&alone);
	}
}

TEST(a_slot_that_does_not_listen_is_lost_and_not_waited_for)
{
	struct alone alone;
	struct slotmsg msg = slotmsg_of(SLOTMSG_DROPPED);
	struct err err = ERR_INIT;

	CHECK(alone_open(&alone, NULL) && alone_warm(&alone));
	while (slotmsg_send(watch_fd(alone.worker->slot), &msg, NULL, 0, &err) == 0)
		continue;
	CHECK_EQ_INT(err.code, ERR_BUSY);
	worker_release(alone.worker);
	CHECK_EQ_INT(alone.worker->state, WORKER_GONE);
	alone_close(&alone);
}

TEST(a_slot_that_owes_us_a_word_for_too_long_is_stuck_and_one_that_waits_for_us_is_not)
{
	struct alone alone;

	CHECK(alone_open(&alone, NULL));
	alone.worker->moved_us -= (WORKER_SILENCE_MS + 1) * 1000;
	CHECK(!worker_is_stuck(alone.worker)); /* empty: the slot waits for the daemon */
	CHECK(alone_make(&alone));
	CHECK(!worker_is_stuck(alone.worker));
	alone.worker->moved_us -= (WORKER_SILENCE_MS + 1) * 1000;
	CHECK(worker_is_stuck(alone.worker));
	CHECK(playing_warm(&alone.played));
	gets(&alone, WORKER_WARM);
	alone.worker->moved_us -= (WORKER_SILENCE_MS + 1) * 1000;
	CHECK(!worker_is_stuck(alone.worker));
	worker_release(alone.worker);
	alone.worker->moved_us -= (WORKER_SILENCE_MS + 1) * 1000;
	CHECK(worker_is_stuck(alone.worker));
	alone_close(&alone);
}

/* ---- giving up ------------------------------------------------------------------------------ */

TEST(releasing_and_losing_may_come_again_in_any_order)
{
	struct alone alone;

	CHECK(alone_open(&alone, NULL) && alone_warm(&alone));
	worker_release(alone.worker);
	worker_release(alone.worker);
	worker_kill(alone.worker);
	worker_lose(alone.worker, "once");
	worker_lose(alone.worker, "twice");
	worker_release(alone.worker);
	CHECK_EQ_INT(alone.worker->state, WORKER_GONE);
	alone_close(&alone);
}

TEST(a_job_for_a_worker_without_a_socket_is_refused_and_given_back_to_nobody)
{
	struct alone alone;
	unsigned before;
	int fds[WORKER_JOB_FDS_MAX];

	CHECK(alone_open(&alone, NULL) && alone_warm(&alone));
	worker_lose(alone.worker, "for the test");
	before = alone_fd_count();
	fds[0] = dup(STDERR_FILENO);
	fds[1] = dup(STDERR_FILENO);
	CHECK_EQ_INT(worker_send_job(alone.worker, strdup("body"), 4, fds, 2), -1);
	CHECK_EQ_INT(alone_fd_count(), before);
	alone_close(&alone);
}

TEST(a_making_without_memory_loses_the_slot_and_no_descriptor)
{
	unsigned before = alone_fd_count();

	FAULT_LOOP(FAULT_ALLOC) {
		struct alone alone;

		if (alone_open(&alone, NULL)) {
			worker_make(alone.worker, &ALONE_LIMITS);
			CHECK(alone.worker->state == WORKER_MAKING || fault_hit());
		} else {
			CHECK(fault_hit());
		}
		alone_close(&alone);
		CHECK_EQ_INT(alone_fd_count(), before);
	}
}

TEST(a_making_that_cannot_be_told_to_the_slot_loses_it_and_no_descriptor)
{
	unsigned before = alone_fd_count();

	FAULT_LOOP(FAULT_WRITE) {
		struct alone alone;

		CHECK(alone_open(&alone, NULL));
		worker_make(alone.worker, &ALONE_LIMITS);
		CHECK_EQ_INT(alone.worker->state, fault_hit() ? WORKER_GONE : WORKER_MAKING);
		alone_close(&alone);
		CHECK_EQ_INT(alone_fd_count(), before);
	}
}
