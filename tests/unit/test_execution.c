#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/runs/execution.h"
#include "daemon/runs/outcome.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "tests/check.h"
#include "tests/fault.h"
#include "tests/unit/alone.h"

#define EXITED(code) ((code) << 8)

/* One run in one worker; the test plays the request around it. */
struct run {
	struct alone alone;
	struct execution execution;
	struct job_spec spec;
	struct arena arena;
	struct job_result result;
	unsigned ends;
	bool ended;
};

static void on_end(struct execution *execution)
{
	struct run *run = execution->owner;

	run->ends++;
	run->ended = true;
	outcome_decide(&run->arena, &run->spec.limits, &execution->facts, &run->result);
}

static bool prepare(struct run *run, struct knobs *knobs)
{
	memset(run, 0, sizeof(*run));
	arena_init(&run->arena, 1 << 20);
	run->spec.code = (struct bytes){ "print(1)", 8 };
	run->spec.entrypoint = "main.py";
	run->spec.limits = ALONE_LIMITS;
	run->execution.loop = &run->alone.loop;
	run->execution.spec = &run->spec;
	run->execution.arena = &run->arena;
	run->execution.on_end = on_end;
	run->execution.owner = run;
	return alone_open(&run->alone, knobs) && alone_warm(&run->alone);
}

static bool start(struct run *run)
{
	execution_start(&run->execution, run->alone.worker);
	return !run->ended;
}

/* Starts the run, and reads and discards its job. */
static bool begin_with(struct run *run, struct knobs *knobs)
{
	size_t len = 0;

	if (!prepare(run, knobs) || !start(run))
		return false;
	free(played_job(&run->alone.play, &run->alone.played, &len));
	return len > 0 && played_sends(&run->alone.played, JOB_BEGUN, 0, "");
}

static bool begin(struct run *run)
{
	return begin_with(run, NULL);
}

/* A worker whose cgroup counts its cpu time, so that the slot's report is not needed. */
static bool begin_counted(struct run *run)
{
	struct knobs knobs;

	knobs_init(&knobs);
	knobs.fds[KNOB_CPU_USAGE] = alone_file("user_usec 900\nsystem_usec 100\n");
	return prepare(run, &knobs) && start(run) &&
	       played_says(&run->alone.played, SLOTMSG_ADJUSTED) &&
	       played_sends(&run->alone.played, JOB_BEGUN, 0, "");
}

static void finish(struct run *run)
{
	execution_done(&run->execution);
	execution_done(&run->execution);
	alone_close(&run->alone);
	arena_done(&run->arena);
}

static void ends_as(struct run *run, enum outcome outcome)
{
	CHECK(playing_until(&run->alone.play, &run->ended));
	playing_turn(&run->alone.play, 0);
	CHECK_EQ_INT(run->ends, 1);
	CHECK_STR(outcome_word(run->result.outcome), outcome_word(outcome));
}

static bool asks(struct run *run, enum slotmsg_kind kind, struct slotmsg *ret_msg, int *ret_fds)
{
	return playing_lease(&run->alone.play, run->alone.slot, ret_msg, ret_fds) &&
	       ret_msg->kind == kind;
}

/* ---- ends ----------------------------------------------------------------------------------- */

TEST(a_program_that_is_done_with_0_is_over_before_its_death_is_seen)
{
	struct run run;

	CHECK(begin_counted(&run));
	CHECK_EQ_INT(write(run.alone.played.out, "hello\n", 6), 6);
	CHECK(played_sends(&run.alone.played, JOB_DONE, 0, ""));
	ends_as(&run, OUTCOME_OK);
	CHECK_EQ_INT(run.execution.out.total, 6);
	CHECK(!run.execution.facts.ended);
	finish(&run);
}

/* While the run is recorded, the pipes of its killed worker stay hung up. */
TEST(a_worker_that_hangs_up_after_the_end_of_its_run_does_not_keep_the_loop_busy)
{
	struct pollfd loop = { .events = POLLIN };
	struct run run;

	CHECK(begin_counted(&run));
	CHECK(played_sends(&run.alone.played, JOB_DONE, 0, ""));
	ends_as(&run, OUTCOME_OK);
	played_close(&run.alone.played);
	playing_turn(&run.alone.play, 5);
	loop.fd = uv_backend_fd(&run.alone.loop);
	CHECK_EQ_INT(poll(&loop, 1, 0), 0);
	finish(&run);
}

/*
 * A program can forge DONE.  If it were not killed, it could go on computing while the run is
 * recorded.
 */
TEST(a_program_that_says_that_it_is_done_is_killed_at_once)
{
	struct run run;

	CHECK(begin(&run));
	CHECK(played_sends(&run.alone.played, JOB_DONE, 0, ""));
	playing_turn(&run.alone.play, 0);
	CHECK(run.execution.worker != NULL); /* the execution still holds its worker */
	CHECK(playing_is_closed(&run.alone.play, run.alone.played.lifeline));
	CHECK(played_used(&run.alone.played, SIGKILL, 700000)); /* no cgroup counts its time here */
	ends_as(&run, OUTCOME_OK);
	finish(&run);
}

/* A harness waits to be killed after its end. */
TEST(who_says_that_it_is_done_and_dies_in_another_way_has_not_said_it_for_the_harness)
{
	static const struct {
		int code, status;
		enum outcome outcome;
	} rows[] = {
		{ 3, SIGSEGV, OUTCOME_SIGNAL },
		{ 3, EXITED(9), OUTCOME_EXIT },
		{ 3, EXITED(0), OUTCOME_OK },
		{ 3, EXITED(3), OUTCOME_EXIT },
		{ 3, SIGKILL, OUTCOME_EXIT },
		{ 3, SIGSYS, OUTCOME_SYSCALL_DENIED },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct run run;

		CHECK(begin(&run));
		CHECK(played_sends(&run.alone.played, JOB_DONE, rows[i].code, ""));
		playing_turn(&run.alone.play, 0);
		CHECK(played_ended(&run.alone.played, rows[i].status));
		ends_as(&run, rows[i].outcome);
		CHECK(rows[i].status != EXITED(9) || run.result.exit_code == 9);
		finish(&run);
	}
}

TEST(where_no_cgroup_counts_its_cpu_time_one_that_is_done_waits_for_its_slot_to_tell_it)
{
	struct run run;

	CHECK(begin(&run));
	CHECK(played_sends(&run.alone.played, JOB_DONE, 0, ""));
	playing_turn(&run.alone.play, 10);
	CHECK_EQ_INT(run.ends, 0);
	CHECK(played_used(&run.alone.played, SIGKILL, 700000));
	ends_as(&run, OUTCOME_OK);
	CHECK_EQ_INT(run.result.metrics.cpu_user_us, 700000);
	finish(&run);
}

TEST(another_code_waits_for_the_death_that_brings_the_facts)
{
	struct run run;

	CHECK(begin(&run));
	CHECK(played_sends(&run.alone.played, JOB_DONE, 3, ""));
	CHECK(playing_is_closed(&run.alone.play, run.alone.played.lifeline));
	CHECK_EQ_INT(run.ends, 0);
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_EXIT);
	CHECK_EQ_INT(run.result.exit_code, 3);
	finish(&run);
}

TEST(a_word_that_is_still_in_the_socket_when_the_death_is_told_counts)
{
	struct run run;

	CHECK(begin(&run));
	playing_turn(&run.alone.play, 0);
	CHECK(played_ended(&run.alone.played, EXITED(0)));
	CHECK(played_sends(&run.alone.played, JOB_DONE, 0, ""));
	ends_as(&run, OUTCOME_OK);
	finish(&run);
}

TEST(a_program_that_leaves_by_itself_is_judged_by_its_wait_status)
{
	static const struct {
		int status;
		enum outcome outcome;
	} rows[] = {
		{ EXITED(0), OUTCOME_OK },
		{ EXITED(9), OUTCOME_EXIT },
		{ SIGSEGV, OUTCOME_SIGNAL },
		{ SIGSYS, OUTCOME_SYSCALL_DENIED },
	};

	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		struct run run;

		CHECK(begin(&run));
		CHECK(played_ended(&run.alone.played, rows[i].status));
		ends_as(&run, rows[i].outcome);
		CHECK(check_ok());
		finish(&run);
	}
}

TEST(a_program_that_closes_its_job_socket_goes_on_until_it_ends)
{
	struct run run;

	CHECK(begin(&run));
	playing_turn(&run.alone.play, 0);
	close(run.alone.played.job);
	run.alone.played.job = -1;
	playing_turn(&run.alone.play, 0);
	CHECK_EQ_INT(run.ends, 0);
	CHECK_EQ_INT(write(run.alone.played.out, "x", 1), 1);
	CHECK(played_ended(&run.alone.played, EXITED(0)));
	ends_as(&run, OUTCOME_OK);
	CHECK_EQ_INT(run.execution.out.total, 1);
	finish(&run);
}

TEST(a_slot_that_dies_half_way_is_our_fault_and_keeps_what_was_written)
{
	struct run run;

	CHECK(begin(&run));
	playing_turn(&run.alone.play, 0);
	CHECK_EQ_INT(write(run.alone.played.out, "half", 4), 4);
	close(run.alone.slot);
	run.alone.slot = -1;
	ends_as(&run, OUTCOME_SANDBOX_ERROR);
	CHECK_EQ_INT(run.result.ran, RAN_YES);
	CHECK_EQ_INT(run.execution.out.total, 4);
	CHECK(run.execution.worker == NULL);
	finish(&run);
}

TEST(a_slot_that_tells_a_second_death_while_artifacts_are_gathered_is_lost)
{
	struct run run;
	struct slotmsg msg;
	int fds[1 + SLOTMSG_JOIN_FDS_MAX];

	CHECK(prepare(&run, NULL));
	run.spec.artifact_globs = (const char *[]){ "*" };
	run.spec.artifact_glob_count = 1;
	CHECK(start(&run));
	CHECK(played_sends(&run.alone.played, JOB_BEGUN, 0, ""));
	CHECK(played_ended(&run.alone.played, EXITED(0)));
	CHECK(asks(&run, SLOTMSG_COLLECT, &msg, fds));
	CHECK(played_ended(&run.alone.played, EXITED(0)));
	ends_as(&run, OUTCOME_SANDBOX_ERROR);
	close_fds(fds, 2);
	finish(&run);
}

TEST(a_worker_that_dies_before_it_got_the_job_is_our_fault_and_nothing_ran)
{
	struct run run;

	CHECK(prepare(&run, NULL));
	run.spec.limits.open_files = 32; /* so that the slot gets a question first */
	CHECK(start(&run));
	CHECK(played_ended(&run.alone.played, SIGSEGV));
	ends_as(&run, OUTCOME_SANDBOX_ERROR);
	CHECK_EQ_INT(run.result.ran, RAN_NO);
	finish(&run);
}

/* A kept state of its session may take its place: scenario.374-states-attacks. */
TEST(a_worker_that_dies_before_it_got_the_job_can_be_kept)
{
	static const struct worker_events events = { .adjusted = NULL };
	struct worker *worker;
	struct run run;

	CHECK(prepare(&run, NULL));
	run.spec.limits.open_files = 32; /* so that the slot gets a question first */
	CHECK(start(&run));
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_SANDBOX_ERROR);
	worker = run.execution.worker;
	CHECK(worker && worker->state == WORKER_TAKEN);
	run.execution.worker = NULL;
	worker_keep(worker, &events, &run);
	CHECK_EQ_INT(worker->state, WORKER_KEPT);
	CHECK(!worker->job);
	worker->owner = NULL;
	finish(&run);
}

/* The next upkeep frees its memory, while the run may still be recorded. */
TEST(a_slot_that_is_lost_after_the_end_takes_the_worker_with_it)
{
	struct run run;

	CHECK(begin_counted(&run));
	CHECK(played_sends(&run.alone.played, JOB_DONE, 0, ""));
	ends_as(&run, OUTCOME_OK);
	CHECK(run.execution.worker != NULL);
	close(take_fd(&run.alone.slot));
	playing_turn(&run.alone.play, 10);
	CHECK(run.execution.worker == NULL);
	CHECK_EQ_INT(run.ends, 1);
	finish(&run);
}

/* ---- a gate --------------------------------------------------------------------------------- */

/* The worker has the job and compiles. */
static bool begin_gated(struct run *run)
{
	const struct job_body *parts;
	size_t len = 0;
	char *job;
	bool is_gated;

	if (!prepare(run, NULL))
		return false;
	execution_start_gated(&run->execution, run->alone.worker);
	job = played_job(&run->alone.play, &run->alone.played, &len);
	parts = (const void *)job;
	is_gated = len > 0 && (parts->flags & JOB_FLAG_GATE);
	free(job);
	return is_gated && !run->execution.spoilt;
}

TEST(behind_a_gate_no_clock_runs_and_nothing_is_read_until_it_opens)
{
	struct job_head go = { 0, 0, 0, 0 };
	struct run run;

	CHECK(begin_gated(&run));
	CHECK_EQ_INT(write(run.alone.played.errout, "a warning\n", 10), 10);
	playing_turn(&run.alone.play, 10);
	CHECK_EQ_INT(run.execution.errout.total, 0);
	CHECK(!run.execution.sent && !run.execution.wall && !run.execution.spoilt);
	CHECK(read(run.alone.played.job, &go, sizeof(go)) < 0 && errno == EAGAIN);

	execution_open(&run.execution);
	CHECK(run.execution.wall != NULL);
	CHECK_EQ_INT(read(run.alone.played.job, &go, sizeof(go)), sizeof(go));
	CHECK(go.magic == SLOTMSG_MAGIC && go.kind == JOB_GO && go.len == 0);
	CHECK(played_sends(&run.alone.played, JOB_BEGUN, 0, ""));
	CHECK(played_ended(&run.alone.played, EXITED(0)));
	ends_as(&run, OUTCOME_OK);
	CHECK_EQ_INT(run.execution.errout.total, 10);
	finish(&run);
}

TEST(whatever_comes_from_a_worker_behind_a_gate_spoils_it_and_ends_no_run)
{
	static const enum job_kind kinds[] = { JOB_BEGUN, JOB_DONE, JOB_ERROR, JOB_FAILED,
		JOB_DENIED };

	for (size_t i = 0; i < COUNT_OF(kinds) + 2; i++) {
		struct run run;

		CHECK(begin_gated(&run));
		if (i < COUNT_OF(kinds))
			CHECK(played_sends(&run.alone.played, kinds[i], 0, "{}"));
		else if (i == COUNT_OF(kinds))
			CHECK(played_ended(&run.alone.played, SIGSEGV));
		else
			worker_lose(run.alone.worker, "of no reason");
		playing_turn(&run.alone.play, 10);
		CHECK(!execution_can_open(&run.execution));
		CHECK_EQ_INT(run.ends, 0);
		CHECK(!run.execution.facts.began && !run.execution.facts.done);
		execution_done(&run.execution);
		CHECK(run.execution.worker == NULL);
		CHECK_EQ_INT(run.ends, 0);
		finish(&run);
	}
}

TEST(a_worker_that_closes_its_job_socket_behind_a_gate_cannot_be_used)
{
	struct run run;

	CHECK(begin_gated(&run));
	CHECK(execution_can_open(&run.execution));
	close(take_fd(&run.alone.played.job));
	playing_turn(&run.alone.play, 10); /* its slot has not told its death yet */
	CHECK(!execution_can_open(&run.execution));
	CHECK_EQ_INT(run.ends, 0);
	finish(&run);
}

TEST(a_worker_behind_a_gate_that_stays_shut_is_killed)
{
	struct run run;

	CHECK(begin_gated(&run));
	execution_done(&run.execution);
	CHECK(playing_is_closed(&run.alone.play, run.alone.played.lifeline));
	CHECK_EQ_INT(run.ends, 0);
	finish(&run);
}

TEST(whatever_allocation_fails_behind_a_gate_no_descriptor_is_lost)
{
	unsigned before = alone_fd_count();

	FAULT_LOOP(FAULT_ALLOC) {
		struct run run;

		if (prepare(&run, NULL)) {
			execution_start_gated(&run.execution, run.alone.worker);
			if (execution_can_open(&run.execution))
				execution_open(&run.execution);
			(void)played_ended(&run.alone.played, EXITED(0));
			playing_turn(&run.alone.play, 0);
			CHECK_EQ_INT(run.ends, !run.execution.spoilt);
		}
		fault_disarm();
		finish(&run);
		CHECK_EQ_INT(alone_fd_count(), before);
	}
}

/* ---- the job on its way in ------------------------------------------------------------------ */

TEST(stdin_comes_inside_the_job_where_a_worker_receives_no_descriptors)
{
	struct run run;
	size_t len = 0;
	uint64_t stdin_len = 0;
	struct job_body head;
	auto_free char *body = NULL;

	CHECK(prepare(&run, NULL));
	run.spec.input = (struct bytes){ "stdin", 5 };
	run.spec.has_input = true;
	run.execution.stdin_inline = true;
	CHECK(start(&run));
	body = played_job(&run.alone.play, &run.alone.played, &len);
	CHECK(body && len > sizeof(head) + sizeof(stdin_len) + 5);
	memcpy(&head, body, sizeof(head));
	CHECK_EQ_INT(head.has_stdin, JOB_STDIN_INLINE);
	memcpy(&stdin_len, body + len - 5 - sizeof(stdin_len), sizeof(stdin_len));
	CHECK_EQ_INT(stdin_len, 5);
	CHECK(!memcmp(body + len - 5, "stdin", 5));
	finish(&run);
}

TEST(a_large_job_goes_out_in_pieces_and_stdin_with_the_first_as_a_sealed_file)
{
	struct run run;
	struct job_head head;
	auto_fd int input = -1;
	size_t fd_count = 0;
	size_t len = (size_t)3 << 20;
	auto_free char *code = calloc(1, len);
	auto_free char *body = calloc(1, len + 1024);
	char text[8] = "";
	struct err err = ERR_INIT;

	CHECK(prepare(&run, NULL) && code && body);
	run.spec.code = (struct bytes){ code, len };
	run.spec.input = (struct bytes){ "stdin", 5 };
	run.spec.has_input = true;
	CHECK(start(&run));
	CHECK_EQ_INT(recv_with_fds(
			     run.alone.played.job, &head, sizeof(head), &input, 1, &fd_count, &err),
		sizeof(head));
	CHECK_EQ_INT(fd_count, 1);
	CHECK_EQ_INT(read(input, text, sizeof(text)), 5);
	CHECK_STR(text, "stdin");
	CHECK_EQ_INT(fcntl(input, F_GET_SEALS),
		F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	CHECK(playing_read(&run.alone.play, run.alone.played.job, body, head.len));
	CHECK(head.len > len);
	finish(&run);
}

TEST(a_worker_that_dies_while_it_takes_a_large_job_ends_the_run)
{
	struct run run;
	size_t len = (size_t)3 << 20;
	auto_free char *code = calloc(1, len);

	CHECK(prepare(&run, NULL) && code);
	run.spec.code = (struct bytes){ code, len };
	CHECK(start(&run));
	close(run.alone.played.job);
	run.alone.played.job = -1;
	playing_turn(&run.alone.play, 0);
	CHECK_EQ_INT(run.ends, 0);
	CHECK(played_ended(&run.alone.played, EXITED(1)));
	ends_as(&run, OUTCOME_SANDBOX_ERROR);
	finish(&run);
}

TEST(a_job_that_is_too_large_is_refused_and_not_sent)
{
	struct run run;

	CHECK(prepare(&run, NULL));
	run.spec.code.len = SLOTMSG_BODY_MAX; /* never read */
	CHECK(!start(&run));
	ends_as(&run, OUTCOME_SANDBOX_ERROR);
	CHECK_EQ_INT(run.result.ran, RAN_NO);
	finish(&run);
}

/* ---- limits that the slot sets -------------------------------------------------------------- */

static bool wants_adjusting(struct run *run, struct slotmsg *ret_msg)
{
	int none[1 + SLOTMSG_JOIN_FDS_MAX];

	if (!prepare(run, NULL))
		return false;
	run->spec.limits.disk_bytes = 1 << 20;
	return start(run) && asks(run, SLOTMSG_ADJUST, ret_msg, none);
}

TEST(other_limits_are_set_before_the_job_is_sent)
{
	struct run run;
	struct slotmsg msg;
	char byte;
	size_t len = 0;

	CHECK(wants_adjusting(&run, &msg));
	CHECK_EQ_INT(msg.limits.disk_bytes, 1 << 20);
	CHECK(read(run.alone.played.job, &byte, 1) < 0);
	CHECK(played_says(&run.alone.played, SLOTMSG_ADJUSTED));
	free(played_job(&run.alone.play, &run.alone.played, &len));
	CHECK(len > 0);
	finish(&run);
}

/*
 * Returns the cpu limit that the slot gets for this limit of the run, with or without the cgroup's
 * counter.
 */
static uint64_t told_of_cpu(struct knobs *knobs, uint64_t cpu_ms)
{
	struct run run;
	struct slotmsg msg = { .kind = SLOTMSG_NONE };
	int none[1 + SLOTMSG_JOIN_FDS_MAX];

	if (!prepare(&run, knobs))
		return 0;
	run.spec.limits.cpu_ms = cpu_ms;
	if (!start(&run) || !asks(&run, SLOTMSG_ADJUST, &msg, none))
		return 0;
	finish(&run);
	return msg.limits.cpu_ms;
}

TEST(a_slot_whose_clock_counts_the_making_too_leaves_cpu_time_to_the_cgroups_clock)
{
	struct knobs knobs;

	knobs_init(&knobs);
	CHECK_EQ_INT(told_of_cpu(&knobs, ALONE_LIMITS.cpu_ms - 1), ALONE_LIMITS.cpu_ms - 1);
	knobs.fds[KNOB_CPU_USAGE] = alone_file("user_usec 0\nsystem_usec 0\n");
	CHECK_EQ_INT(told_of_cpu(&knobs, 1), 1001);
}

TEST(limits_that_could_not_be_set_end_the_run_with_the_reason)
{
	struct run run;
	struct slotmsg msg;
	char byte;

	CHECK(wants_adjusting(&run, &msg));
	msg.kind = SLOTMSG_ADJUSTED;
	msg.status = -1;
	(void)strcpy(msg.text, "resize tmpfs: busy");
	CHECK(playing_say_msg(run.alone.slot, &msg));
	ends_as(&run, OUTCOME_SANDBOX_ERROR);
	CHECK_EQ_INT(run.result.ran, RAN_NO);
	CHECK(strstr(run.result.reason, "resize tmpfs: busy"));
	CHECK(read(run.alone.played.job, &byte, 1) < 0);
	finish(&run);
}

TEST(a_run_that_is_cancelled_while_limits_are_set_gets_no_job_any_more)
{
	struct run run;
	struct slotmsg msg;

	CHECK(wants_adjusting(&run, &msg));
	execution_cancel(&run.execution, KILLED_CANCEL);
	CHECK(played_says(&run.alone.played, SLOTMSG_ADJUSTED));
	playing_turn(&run.alone.play, 0);
	CHECK(!run.execution.facts.job_sent);
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_CANCELED);
	CHECK_EQ_INT(run.result.ran, RAN_NO);
	finish(&run);
}

TEST(an_answer_that_nobody_asked_for_sends_no_second_job)
{
	struct run run;
	char byte;

	CHECK(begin(&run));
	CHECK(played_says(&run.alone.played, SLOTMSG_ADJUSTED));
	CHECK(played_says(&run.alone.played, SLOTMSG_COLLECTED));
	playing_turn(&run.alone.play, 0);
	CHECK(read(run.alone.played.job, &byte, 1) < 0);
	CHECK_EQ_INT(run.ends, 0);
	finish(&run);
}

TEST(a_slot_that_never_answers_is_given_up_after_a_while)
{
	struct run run;
	struct slotmsg msg;

	CHECK(wants_adjusting(&run, &msg));
	ends_as(&run, OUTCOME_SANDBOX_ERROR);
	CHECK_EQ_INT(run.alone.worker->state, WORKER_GONE);
	finish(&run);
}

/* ---- limits that the daemon holds ----------------------------------------------------------- */

TEST(the_byte_past_the_cap_kills)
{
	struct run run;
	char bytes[4097] = "";

	CHECK(begin(&run));
	CHECK_EQ_INT(write(run.alone.played.errout, bytes, 1024), 1024);
	playing_turn(&run.alone.play, 0);
	CHECK(run.alone.worker->lifeline >= 0);
	CHECK_EQ_INT(write(run.alone.played.errout, bytes, 1), 1);
	CHECK(playing_is_closed(&run.alone.play, run.alone.played.lifeline));
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_OUTPUT_LIMIT);
	CHECK_EQ_INT(run.execution.errout.total, 1024);
	finish(&run);
}

TEST(a_program_past_its_cap_does_not_see_its_pipe_break_while_it_is_killed)
{
	struct run run;
	char bytes[4097] = "";

	CHECK(begin(&run));
	CHECK_EQ_INT(write(run.alone.played.errout, bytes, 1025), 1025);
	CHECK(playing_is_closed(&run.alone.play, run.alone.played.lifeline));
	for (int i = 0; i < 3; i++) {
		CHECK_EQ_INT(write(run.alone.played.errout, bytes, 1), 1);
		playing_turn(&run.alone.play, 0);
	}
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_OUTPUT_LIMIT);
	finish(&run);
}

TEST(a_cap_that_was_passed_with_the_last_bytes_is_passed_although_it_was_done)
{
	struct run run;
	char bytes[4097] = "";

	CHECK(begin(&run));
	playing_turn(&run.alone.play, 0);
	CHECK(played_sends(&run.alone.played, JOB_DONE, 0, ""));
	CHECK_EQ_INT(write(run.alone.played.out, bytes, sizeof(bytes)), sizeof(bytes));
	playing_turn(&run.alone.play, 0);
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_OUTPUT_LIMIT);
	finish(&run);
}

TEST(time_that_is_up_kills_and_a_done_word_that_comes_later_is_not_believed)
{
	struct run run;

	CHECK(prepare(&run, NULL));
	run.spec.limits.wall_ms = 20;
	CHECK(start(&run));
	CHECK(played_sends(&run.alone.played, JOB_BEGUN, 0, ""));
	CHECK(playing_is_closed(&run.alone.play, run.alone.played.lifeline));
	CHECK(played_sends(&run.alone.played, JOB_DONE, 0, ""));
	playing_turn(&run.alone.play, 0);
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_WALL_LIMIT);
	finish(&run);
}

TEST(an_end_that_was_there_before_a_late_daemon_looked_counts)
{
	struct run run;

	CHECK(prepare(&run, NULL));
	run.spec.limits.wall_ms = 20;
	CHECK(start(&run));
	CHECK(played_sends(&run.alone.played, JOB_BEGUN, 0, ""));
	CHECK(played_sends(&run.alone.played, JOB_DONE, 0, ""));
	(void)usleep(40 * 1000); /* the daemon stalls */
	playing_turn(&run.alone.play, 0);
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_OK);
	finish(&run);
}

TEST(cpu_time_is_looked_at_in_the_cgroup_and_only_what_the_run_used_counts)
{
	struct run run;
	struct knobs knobs;
	int fd;

	knobs_init(&knobs);
	fd = alone_file("user_usec 900000\nsystem_usec 100000\n");
	knobs.fds[KNOB_CPU_USAGE] = fd;
	CHECK(prepare(&run, &knobs));
	run.spec.limits.cpu_ms = 10; /* the slot gets this limit too */
	CHECK(start(&run) && played_says(&run.alone.played, SLOTMSG_ADJUSTED));
	playing_turn(&run.alone.play, 60);
	CHECK(run.alone.worker->lifeline >= 0);
	CHECK(pwrite(fd, "user_usec 908000\nsystem_usec 102000\n", 36, 0) > 0);
	CHECK(playing_is_closed(&run.alone.play, run.alone.played.lifeline));
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_CPU_LIMIT);
	CHECK_EQ_INT(run.result.metrics.cpu_user_us, 8000);
	finish(&run);
}

TEST(more_processors_use_up_cpu_time_sooner_than_the_wall_clock_says)
{
	struct run run;
	struct knobs knobs;
	int fd;

	knobs_init(&knobs);
	fd = alone_file("user_usec 0\nsystem_usec 0\n");
	knobs.fds[KNOB_CPU_USAGE] = fd;
	knobs.fds[KNOB_CPU_MAX] = alone_file("");
	CHECK(prepare(&run, &knobs));
	run.spec.limits.cpu_percent = 5000; /* 5 s of cpu in a tenth of a second */
	CHECK(start(&run));
	CHECK(pwrite(fd, "user_usec 5000000\nsystem_usec 1\n", 32, 0) > 0);
	CHECK(playing_is_closed(&run.alone.play, run.alone.played.lifeline));
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_CPU_LIMIT);
	finish(&run);
}

TEST(a_counter_that_cannot_be_read_any_more_kills_nobody_and_counts_as_nothing)
{
	struct run run;
	struct knobs knobs;

	knobs_init(&knobs);
	knobs.fds[KNOB_CPU_USAGE] = alone_file("user_usec 900000\nsystem_usec 100000\n");
	knobs.fds[KNOB_MEMORY_EVENTS] = alone_file("oom_kill 3\n");
	knobs.fds[KNOB_PIDS_EVENTS] = alone_file("max 5\n");
	CHECK(prepare(&run, &knobs));
	run.spec.limits.cpu_ms = 10;
	CHECK(start(&run) && played_says(&run.alone.played, SLOTMSG_ADJUSTED));
	playing_turn(&run.alone.play, 0);
	for (int i = KNOB_MEMORY_EVENTS; i < KNOB_COUNT; i++)
		if (run.alone.worker->knobs.fds[i] >= 0)
			CHECK_EQ_INT(ftruncate(run.alone.worker->knobs.fds[i], 0), 0);
	playing_turn(&run.alone.play, 40);
	CHECK(run.alone.worker->lifeline >= 0);
	CHECK(played_sends(&run.alone.played, JOB_BEGUN, 0, ""));
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_SIGNAL);
	CHECK_EQ_INT(run.result.metrics.cpu_user_us, 0);
	finish(&run);
}

TEST(a_death_that_is_not_seen_in_time_gives_the_slot_up)
{
	struct run run;

	CHECK(begin(&run));
	execution_cancel(&run.execution, KILLED_CANCEL);
	ends_as(&run, OUTCOME_CANCELED);
	CHECK_EQ_INT(run.alone.worker->state, WORKER_GONE);
	finish(&run);
}

/* A run whose cgroup can be killed and counts its cpu time.  Returns that counter's file. */
static int begin_killable(struct run *run)
{
	struct knobs knobs;

	knobs_init(&knobs);
	knobs.fds[KNOB_CPU_USAGE] = alone_file("user_usec 1000\nsystem_usec 0\n");
	knobs.fds[KNOB_KILL] = alone_file("");
	if (!begin_with(run, &knobs))
		return -1;
	return run->alone.worker->knobs.fds[KNOB_CPU_USAGE];
}

static void count_cpu(int fd, unsigned us)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "user_usec %07u\nsystem_usec 0\n", us);

	CHECK(pwrite(fd, text, (size_t)len, 0) == len);
}

TEST(nobody_waits_for_a_slot_that_stopped_when_its_worker_is_killed_and_gone)
{
	struct run run;
	int64_t began_ms = clock_ms();

	CHECK(begin_killable(&run) >= 0);
	execution_cancel(&run.execution, KILLED_CANCEL);
	close(run.alone.played.job);
	close(run.alone.played.out);
	close(run.alone.played.errout);
	run.alone.played.job = run.alone.played.out = run.alone.played.errout = -1;
	ends_as(&run, OUTCOME_CANCELED);
	CHECK(clock_ms() - began_ms < 2500);
	CHECK_EQ_INT(run.alone.worker->state, WORKER_RUNNING); /* its slot is not freed yet */
	finish(&run);
}

TEST(a_death_that_takes_processor_time_is_waited_for_and_the_place_kept)
{
	struct run run;
	int counter = begin_killable(&run);
	int64_t began_ms = clock_ms();

	CHECK(counter >= 0);
	CHECK(played_sends(&run.alone.played, JOB_DONE, 3, ""));
	for (unsigned us = 2000; clock_ms() - began_ms < 4000; us += 1000) {
		count_cpu(counter, us);
		playing_turn(&run.alone.play, 50);
	}
	CHECK_EQ_INT(run.ends, 0);
	count_cpu(counter, 6001000);
	CHECK(played_ended(&run.alone.played, EXITED(3)));
	ends_as(&run, OUTCOME_EXIT);
	CHECK_EQ_INT(run.result.metrics.cpu_user_us, 6000000);
	finish(&run);
}

TEST(what_a_run_used_is_told_although_its_slot_is_lost)
{
	struct run run;
	int counter = begin_killable(&run);

	CHECK(counter >= 0);
	count_cpu(counter, 5001000);
	close(run.alone.slot);
	run.alone.slot = -1;
	ends_as(&run, OUTCOME_SANDBOX_ERROR);
	CHECK_EQ_INT(run.result.metrics.cpu_user_us, 5000000);
	finish(&run);
}

/* ---- forged messages ------------------------------------------------------------------------ */

TEST(a_beginning_that_is_told_after_the_end_is_not_later_than_the_end)
{
	struct run run;

	CHECK(prepare(&run, NULL) && start(&run));
	CHECK(played_sends(&run.alone.played, JOB_DONE, 1, ""));
	playing_turn(&run.alone.play, 5);
	CHECK(played_sends(&run.alone.played, JOB_BEGUN, 0, ""));
	playing_turn(&run.alone.play, 5);
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_EXIT);
	CHECK(run.execution.begun_us > 0);
	CHECK(run.execution.ended_us >= run.execution.begun_us);
	finish(&run);
}

TEST(words_before_the_job_was_sent_mean_nothing)
{
	struct run run;
	struct slotmsg msg;

	CHECK(wants_adjusting(&run, &msg));
	CHECK(played_sends(&run.alone.played, JOB_BEGUN, 0, ""));
	CHECK(played_sends(&run.alone.played, JOB_DONE, 0, ""));
	playing_turn(&run.alone.play, 0);
	CHECK_EQ_INT(run.ends, 0);
	CHECK(!run.execution.facts.began);
	finish(&run);
}

TEST(the_first_report_counts_and_one_that_cannot_be_read_is_none)
{
	static const struct {
		const char *first, *type;
	} rows[] = {
		{ "{\"type\":\"ValueError\"}", "ValueError" },
		{ "{\"type\":", NULL },
		{ "[1]", NULL },
		{ "{\"a\":[[[[[[[[[[[]]]]]]]]]]]}", NULL },
	};

	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		struct run run;
		const char *type;

		CHECK(begin(&run));
		CHECK(played_sends(&run.alone.played, JOB_ERROR, 0, rows[i].first));
		CHECK(played_sends(&run.alone.played, JOB_ERROR, 0, "{\"type\":\"Forged\"}"));
		CHECK(played_ended(&run.alone.played, EXITED(1)));
		ends_as(&run, rows[i].type ? OUTCOME_EXCEPTION : OUTCOME_EXIT);
		CHECK(check_ok());
		type = value_as_text(value_get(run.execution.facts.error, "type"));
		CHECK_STR(type, rows[i].type);
		finish(&run);
	}
}

TEST(reports_without_end_take_nothing_of_the_memory_that_the_record_needs)
{
	struct run run;
	auto_free char *report = calloc(1, SLOTMSG_REPORT_MAX);
	size_t used;

	CHECK(begin(&run) && report);
	memset(report, '[', 1000);
	CHECK(played_sends(&run.alone.played, JOB_ERROR, 0, report));
	playing_turn(&run.alone.play, 0);
	used = run.arena.used;
	for (int i = 0; i < 10; i++) {
		CHECK(played_sends(&run.alone.played, JOB_ERROR, 0, "{\"a\":1,\"b\":2,\"c\":"));
		playing_turn(&run.alone.play, 0);
	}
	CHECK_EQ_INT(run.arena.used, used);
	finish(&run);
}

TEST(a_worker_that_denies_ends_its_run_where_it_was_told_rules)
{
	static const char *const bodies[] = { "{\"rule\":\"x\"}", "{\"rule\":", "" };

	for (unsigned i = 0; i < COUNT_OF(bodies); i++) {
		struct run run;

		CHECK(begin(&run));
		run.execution.rules = (struct bytes){ "x\t\n", 3 };
		CHECK(played_sends(&run.alone.played, JOB_DENIED, 0, bodies[i]));
		CHECK(played_sends(&run.alone.played, JOB_DENIED, 0, bodies[i]));
		CHECK(played_ended(&run.alone.played, SIGKILL));
		ends_as(&run, OUTCOME_POLICY_DENIED);
		CHECK(check_ok());
		CHECK_EQ_INT(run.result.ran, RAN_YES);
		finish(&run);
	}
}

TEST(where_no_rules_were_told_a_denial_is_noise)
{
	struct run run;

	CHECK(begin(&run));
	CHECK(played_sends(&run.alone.played, JOB_DENIED, 0, "{\"rule\":\"x\"}"));
	CHECK(played_ended(&run.alone.played, EXITED(0)));
	ends_as(&run, OUTCOME_OK);
	finish(&run);
}

TEST(words_in_one_piece_are_all_heard_and_the_last_half_waits)
{
	struct job_head heads[10];
	struct run run;

	CHECK(begin_counted(&run));
	for (unsigned i = 0; i < COUNT_OF(heads); i++)
		heads[i] = (struct job_head){ SLOTMSG_MAGIC, JOB_BEGUN, 0, 0 };
	heads[COUNT_OF(heads) - 1].kind = JOB_DONE;
	CHECK_EQ_INT(write(run.alone.played.job, heads, sizeof(heads) - 1), sizeof(heads) - 1);
	playing_turn(&run.alone.play, 10);
	CHECK_EQ_INT(run.ends, 0);
	CHECK_EQ_INT(write(run.alone.played.job, (char *)heads + sizeof(heads) - 1, 1), 1);
	ends_as(&run, OUTCOME_OK);
	finish(&run);
}

/*
 * Sending a message takes the program a twentieth of the time that reading it takes us.  Without a
 * bound the daemon would read for as long as the program runs.
 */
TEST(a_program_that_floods_the_job_socket_is_no_longer_listened_to)
{
	static struct job_head heads[3000];
	struct run run;

	CHECK(begin(&run));
	for (unsigned i = 0; i < COUNT_OF(heads); i++)
		heads[i] = (struct job_head){ SLOTMSG_MAGIC, JOB_BEGUN, 0, 0 };
	heads[COUNT_OF(heads) - 1].kind = JOB_DONE;
	CHECK(send(run.alone.played.job, heads, sizeof(heads), MSG_NOSIGNAL) > 0);
	playing_turn(&run.alone.play, 10);
	CHECK_EQ_INT(run.ends, 0);
	errno = 0;
	CHECK(send(run.alone.played.job, heads, sizeof(*heads), MSG_NOSIGNAL) < 0);
	CHECK_EQ_INT(errno, EPIPE);
	CHECK(played_ended(&run.alone.played, EXITED(3)));
	ends_as(&run, OUTCOME_EXIT);
	finish(&run);
}

TEST(a_jail_that_could_not_begin_says_why_once_and_not_after_it_began)
{
	struct run run;

	CHECK(prepare(&run, NULL) && start(&run));
	CHECK(played_sends(&run.alone.played, JOB_FAILED, 0, "no room for files"));
	CHECK(played_sends(&run.alone.played, JOB_FAILED, 0, "forged"));
	playing_turn(&run.alone.play, 0);
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_SANDBOX_ERROR);
	CHECK(strstr(run.result.reason, "no room for files"));
	finish(&run);

	CHECK(prepare(&run, NULL) && start(&run));
	CHECK(played_sends(&run.alone.played, JOB_FAILED, 0, "forged \xff\xfe"));
	playing_turn(&run.alone.play, 0);
	CHECK(played_ended(&run.alone.played, SIGKILL));
	ends_as(&run, OUTCOME_SANDBOX_ERROR);
	CHECK(strstr(run.result.reason, "does not say why"));
	finish(&run);

	CHECK(begin(&run));
	CHECK(played_sends(&run.alone.played, JOB_FAILED, 0, "forged"));
	playing_turn(&run.alone.play, 0);
	CHECK(!run.execution.facts.failed);
	finish(&run);
}

/* ---- artifacts ------------------------------------------------------------------------------ */

/* A run that has ended well and whose collector was asked for.  Returns the collector's pipe. */
static int collecting(struct run *run)
{
	static const char *globs[] = { "*.txt", "out/*" };
	struct slotmsg msg;
	int fds[1 + SLOTMSG_JOIN_FDS_MAX];
	char text[32] = "";

	if (!prepare(run, NULL))
		return -1;
	run->spec.artifact_globs = globs;
	run->spec.artifact_glob_count = 2;
	if (!start(run) || !played_sends(&run->alone.played, JOB_BEGUN, 0, "") ||
		!played_sends(&run->alone.played, JOB_DONE, 0, ""))
		return -1;
	playing_turn(&run->alone.play, 0);
	if (!played_ended(&run->alone.played, SIGKILL) || !asks(run, SLOTMSG_COLLECT, &msg, fds))
		return -1;
	if (read(fds[1], text, sizeof(text)) != 12 || memcmp(text, "*.txt\0out/*", 12) != 0 ||
		msg.artifact_count != ALONE_LIMITS.artifact_count + 1 || /* the program itself */
		msg.artifact_bytes != ALONE_LIMITS.artifact_bytes + run->spec.code.len)
		return -1;
	close(fds[1]);
	return fds[0];
}

TEST(artifacts_are_whole_when_the_pipe_has_ended_and_the_collector_too)
{
	for (int order = 0; order < 2; order++) {
		struct run run;
		int fd = collecting(&run);

		CHECK(fd >= 0);
		CHECK_EQ_INT(write(fd, "some bytes", 10), 10);
		if (order)
			CHECK(played_says(&run.alone.played, SLOTMSG_COLLECTED));
		else
			close(fd);
		playing_turn(&run.alone.play, 5);
		CHECK_EQ_INT(run.ends, 0);
		if (order)
			close(fd);
		else
			CHECK(played_says(&run.alone.played, SLOTMSG_COLLECTED));
		ends_as(&run, OUTCOME_OK);
		CHECK_EQ_INT(run.execution.artifacts.bytes.len, 10);
		CHECK(check_ok());
		finish(&run);
	}
}

TEST(a_collector_that_sends_more_than_it_may_is_cut_off)
{
	struct run run;
	static char bytes[65536];
	int fd = collecting(&run);
	ssize_t sent = 0;

	CHECK(fd >= 0);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 10000 && (sent > 0 || run.execution.artifacts.pipe); i++) {
		sent = write(fd, bytes, sizeof(bytes));
		playing_turn(&run.alone.play, 0);
	}
	CHECK(write(fd, bytes, 1) < 0);
	CHECK(run.execution.artifacts.bytes.len <=
		ALONE_LIMITS.artifact_bytes + run.spec.code.len + ((size_t)4 << 20));
	CHECK(played_says(&run.alone.played, SLOTMSG_COLLECTED));
	ends_as(&run, OUTCOME_OK);
	close(fd);
	finish(&run);
}

TEST(a_slot_that_dies_while_it_collects_is_our_fault)
{
	struct run run;
	int fd = collecting(&run);

	CHECK(fd >= 0);
	close(run.alone.slot);
	run.alone.slot = -1;
	ends_as(&run, OUTCOME_SANDBOX_ERROR);
	close(fd);
	finish(&run);
}

TEST(who_leaves_while_artifacts_are_gathered_changes_nothing_any_more)
{
	struct run run;
	int fd = collecting(&run);

	CHECK(fd >= 0);
	execution_cancel(&run.execution, KILLED_CANCEL);
	close(fd);
	CHECK(played_says(&run.alone.played, SLOTMSG_COLLECTED));
	ends_as(&run, OUTCOME_OK);
	finish(&run);
}

/* ---- faults --------------------------------------------------------------------------------- */

TEST(whatever_allocation_fails_a_run_ends_once_and_loses_no_descriptor)
{
	unsigned before = alone_fd_count();

	FAULT_LOOP(FAULT_ALLOC) {
		struct run run;
		bool ready;

		ready = prepare(&run, NULL);
		if (ready) {
			execution_start(&run.execution, run.alone.worker);
			(void)played_sends(&run.alone.played, JOB_BEGUN, 0, "");
			(void)played_sends(&run.alone.played, JOB_ERROR, 0, "{\"type\":\"E\"}");
			(void)played_ended(&run.alone.played, EXITED(1));
			playing_turn(&run.alone.play, 0);
			CHECK_EQ_INT(run.ends, 1);
		}
		fault_disarm();
		finish(&run);
		CHECK_EQ_INT(alone_fd_count(), before);
	}
}
