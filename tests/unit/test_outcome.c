#include <signal.h>
#include <string.h>

#include "daemon/runs/outcome.h"
#include "proto/base/container.h"
#include "tests/check.h"

#define EXITED(code) ((code) << 8)

static const struct job_limits LIMITS = { .wall_ms = 5000,
	.cpu_ms = 5000,
	.memory_bytes = 256 << 20,
	.disk_bytes = 64 << 20,
	.file_bytes = 1 << 20,
	.open_files = 256,
	.inodes = 4096,
	.pids = 64,
	.stdout_bytes = 1 << 20,
	.stderr_bytes = 256 << 10 };

struct judged {
	struct arena arena;
	struct job_result result;
};

static struct facts running(void)
{
	return (struct facts){ .job_sent = true, .began = true, .has_memory_cgroup = true };
}

static struct judged judge(const struct facts *facts)
{
	struct judged judged;

	memset(&judged, 0, sizeof(judged));
	arena_init(&judged.arena, 1 << 20);
	outcome_decide(&judged.arena, &LIMITS, facts, &judged.result);
	return judged;
}

static void expect(const struct facts *facts, enum outcome outcome, enum ran ran)
{
	struct judged judged = judge(facts);

	CHECK_STR(outcome_word(judged.result.outcome), outcome_word(outcome));
	CHECK_EQ_INT(judged.result.ran, ran);
	CHECK(judged.result.reason && judged.result.reason[0]);
	arena_done(&judged.arena);
}

static const struct value *error_of(struct arena *arena, const char *type)
{
	struct value *map = value_map(arena);

	value_map_put(arena, map, "type", value_text(arena, type));
	value_map_put(arena, map, "message", value_text(arena, "m"));
	value_map_put(arena, map, "line", value_int(arena, 3));
	return map;
}

TEST(a_rule_that_was_broken_is_worse_than_any_end_and_no_better_than_a_limit)
{
	struct facts facts = running();

	facts.was_denied = true;
	facts.ended = true;
	facts.wait_status = EXITED(0);
	expect(&facts, OUTCOME_POLICY_DENIED, RAN_YES);
	facts.wait_status = SIGSYS;
	expect(&facts, OUTCOME_SYSCALL_DENIED, RAN_YES);
	facts.killed = KILLED_WALL;
	expect(&facts, OUTCOME_WALL_LIMIT, RAN_YES);
	facts = (struct facts){ .job_sent = true, .was_denied = true };
	expect(&facts, OUTCOME_POLICY_DENIED, RAN_NO);
	facts.is_later = true;
	expect(&facts, OUTCOME_POLICY_DENIED, RAN_UNKNOWN);
}

TEST(the_done_word_with_code_0_is_ok)
{
	struct facts facts = running();

	facts.done = true;
	expect(&facts, OUTCOME_OK, RAN_YES);
}

TEST(leaving_by_itself_with_code_0_is_ok_without_a_done_word)
{
	struct facts facts = running();

	facts.ended = true;
	facts.wait_status = EXITED(0);
	expect(&facts, OUTCOME_OK, RAN_YES);
}

TEST(a_code_other_than_0_is_exit_and_the_code_is_told)
{
	struct facts facts = running();
	struct judged judged;

	facts.done = true;
	facts.done_code = 7;
	facts.ended = true;
	facts.wait_status = SIGKILL; /* the daemon's kill, after DONE */
	judged = judge(&facts);
	CHECK_EQ_INT(judged.result.outcome, OUTCOME_EXIT);
	CHECK(judged.result.has_exit_code);
	CHECK_EQ_INT(judged.result.exit_code, 7);
	arena_done(&judged.arena);
}

TEST(an_error_report_with_a_bad_end_is_an_exception)
{
	struct facts facts = running();
	struct arena arena;

	arena_init(&arena, 65536);
	facts.error = error_of(&arena, "ValueError");
	facts.done = true;
	facts.done_code = 1;
	expect(&facts, OUTCOME_EXCEPTION, RAN_YES);
	arena_done(&arena);
}

TEST(a_syntax_error_counts_only_before_the_program_began)
{
	struct facts facts = running();
	struct arena arena;

	arena_init(&arena, 65536);
	facts.error = error_of(&arena, "SyntaxError");
	facts.error_is_syntax = true;
	facts.done = true;
	facts.done_code = 1;
	expect(&facts, OUTCOME_EXCEPTION, RAN_YES); /* forged by the program, so it did run */
	facts.began = false;
	expect(&facts, OUTCOME_SYNTAX_ERROR, RAN_NO);
	facts.is_later = true; /* an earlier cell may have said so */
	expect(&facts, OUTCOME_SYNTAX_ERROR, RAN_UNKNOWN);
	arena_done(&arena);
}

TEST(whether_a_later_cell_whose_files_cannot_be_written_ran_is_not_known)
{
	struct facts facts = running();
	struct value *message;
	struct arena arena;

	arena_init(&arena, 65536);
	facts.is_later = true;
	facts.began = false;
	facts.error = error_of(&arena, "FilesError");
	facts.done = true;
	facts.done_code = 1;
	expect(&facts, OUTCOME_EXCEPTION, RAN_UNKNOWN); /* an earlier cell may have said so */
	facts.began = true;
	expect(&facts, OUTCOME_EXCEPTION, RAN_YES);
	facts.began = false;
	message = value_map(&arena);
	value_map_put(
		&arena, message, "message", value_text(&arena, "stdin: No space left on device"));
	facts.error = message;
	expect(&facts, OUTCOME_DISK_LIMIT, RAN_UNKNOWN);
	arena_done(&arena);
}

TEST(a_limit_that_killed_outranks_whatever_was_said_inside)
{
	static const struct {
		enum kill_reason killed;
		enum outcome outcome;
	} rows[] = {
		{ KILLED_WALL, OUTCOME_WALL_LIMIT },
		{ KILLED_CPU, OUTCOME_CPU_LIMIT },
		{ KILLED_STDOUT, OUTCOME_OUTPUT_LIMIT },
		{ KILLED_STDERR, OUTCOME_OUTPUT_LIMIT },
		{ KILLED_DISPLAY, OUTCOME_OUTPUT_LIMIT },
		{ KILLED_CANCEL, OUTCOME_CANCELED },
		{ KILLED_ADMIN, OUTCOME_CANCELED },
		{ KILLED_LEFT, OUTCOME_CANCELED },
		{ KILLED_CLOSING, OUTCOME_CANCELED },
	};

	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		struct facts facts = running();

		facts.done = true; /* forged */
		facts.killed = rows[i].killed;
		expect(&facts, rows[i].outcome, RAN_YES);
	}
}

TEST(an_output_limit_names_the_stream_and_both_byte_counts)
{
	struct facts facts = running();
	struct judged judged;

	facts.killed = KILLED_STDERR;
	facts.stderr_total = LIMITS.stderr_bytes;
	facts.kill_us = 12;
	judged = judge(&facts);
	CHECK_STR(value_as_text(value_get(judged.result.evidence, "limit")), "stderr_bytes");
	CHECK_EQ_INT(value_as_int(value_get(judged.result.evidence, "limit_bytes"), 0), 256 << 10);
	CHECK_EQ_INT(value_as_int(value_get(judged.result.evidence, "read_bytes"), 0), 256 << 10);
	CHECK_EQ_INT(value_as_int(value_get(judged.result.evidence, "kill_us"), 0), 12);
	arena_done(&judged.arena);
}

TEST(a_flood_of_the_display_is_an_output_limit_of_its_own)
{
	struct facts facts = running();
	struct judged judged;

	facts.killed = KILLED_DISPLAY;
	facts.display_total = 77;
	judged = judge(&facts);
	CHECK_STR(value_as_text(value_get(judged.result.evidence, "limit")), "display_bytes");
	CHECK_EQ_INT(value_as_int(value_get(judged.result.evidence, "read_bytes"), 0), 77);
	CHECK(strstr(judged.result.reason, "to its display"));
	arena_done(&judged.arena);
}

TEST(an_oom_kill_is_a_memory_limit_even_when_the_rest_goes_on)
{
	struct facts facts = running();

	facts.after.oom_kills = 1;
	facts.ended = true;
	facts.wait_status = SIGKILL;
	expect(&facts, OUTCOME_MEMORY_LIMIT, RAN_YES);
	facts.wait_status =
		EXITED(0); /* a child of it was killed, so its result may be incomplete */
	expect(&facts, OUTCOME_MEMORY_LIMIT, RAN_YES);
}

TEST(who_is_killed_for_want_of_memory_above_its_jail_is_not_to_blame)
{
	struct facts facts = running();
	struct judged judged;

	facts.after.oom_kills = 1;
	facts.short_above = true;
	facts.short_where = "/ced.slice";
	facts.short_bytes = 1 << 30;
	facts.memory_peak = 13 << 20;
	facts.ended = true;
	facts.wait_status = SIGKILL;
	judged = judge(&facts);
	CHECK_EQ_INT(judged.result.outcome, OUTCOME_SANDBOX_ERROR);
	CHECK_EQ_INT(judged.result.ran, RAN_YES);
	CHECK_STR(value_as_text(value_get(judged.result.evidence, "cgroup")), "/ced.slice");
	CHECK_STR(value_as_text(value_get(judged.result.evidence, "cause")), "host_memory");
	CHECK(strstr(judged.result.reason, "13 of its 256 MiB") != NULL);
	arena_done(&judged.arena);
}

TEST(oom_kills_of_an_earlier_run_in_the_same_cgroup_do_not_count)
{
	struct facts facts = running();

	facts.before.oom_kills = 4;
	facts.after.oom_kills = 4;
	facts.ended = true;
	facts.wait_status = SIGKILL;
	expect(&facts, OUTCOME_SIGNAL, RAN_YES);
}

TEST(without_a_memory_cgroup_a_memory_error_is_a_memory_limit)
{
	struct facts facts = running();
	struct arena arena;

	arena_init(&arena, 65536);
	facts.error = error_of(&arena, "MemoryError");
	facts.done = true;
	facts.done_code = 1;
	expect(&facts, OUTCOME_EXCEPTION, RAN_YES);
	facts.has_memory_cgroup = false;
	expect(&facts, OUTCOME_MEMORY_LIMIT, RAN_YES);
	arena_done(&arena);
}

TEST(signals_have_their_outcomes)
{
	static const struct {
		int signal;
		enum outcome outcome;
	} rows[] = {
		{ SIGSEGV, OUTCOME_SIGNAL },
		{ SIGABRT, OUTCOME_SIGNAL },
		{ SIGKILL, OUTCOME_SIGNAL },
		{ SIGSYS, OUTCOME_SYSCALL_DENIED },
		{ SIGXCPU, OUTCOME_CPU_LIMIT },
		{ SIGXFSZ, OUTCOME_DISK_LIMIT },
	};

	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		struct facts facts = running();

		facts.ended = true;
		facts.wait_status = rows[i].signal;
		expect(&facts, rows[i].outcome, RAN_YES);
	}
}

/*
 * The slot also counts the cpu time of making the worker, so it may reach the limit a little
 * before our count does.
 */
TEST(a_program_that_its_slot_killed_for_its_cpu_time_has_passed_that_limit)
{
	struct facts facts = running();

	facts.ended = true;
	facts.wait_status = SIGKILL;
	facts.cpu_spent = true;
	expect(&facts, OUTCOME_CPU_LIMIT, RAN_YES);
	facts.done = true;
	facts.done_code = 0;
	expect(&facts, OUTCOME_OK, RAN_YES);
}

TEST(evidence_names_a_signal_as_the_result_does)
{
	struct facts facts = running();
	struct judged judged;

	facts.ended = true;
	facts.wait_status = SIGSEGV;
	judged = judge(&facts);
	CHECK_STR(value_as_text(value_get(judged.result.evidence, "signal")), "SIGSEGV");
	arena_done(&judged.arena);

	facts.wait_status = SIGRTMIN + 1;
	judged = judge(&facts);
	CHECK(strncmp(value_as_text(value_get(judged.result.evidence, "signal")), "SIG", 3) == 0);
	arena_done(&judged.arena);
}

TEST(a_full_disk_and_an_error_is_a_disk_limit_and_a_full_disk_alone_is_not)
{
	struct facts facts = running();
	struct arena arena;

	arena_init(&arena, 65536);
	facts.has_disk = true;
	facts.disk_full = true;
	facts.done = true;
	expect(&facts, OUTCOME_OK, RAN_YES);
	facts.done_code = 1;
	expect(&facts, OUTCOME_EXIT, RAN_YES);
	facts.error = error_of(&arena, "OSError");
	expect(&facts, OUTCOME_DISK_LIMIT, RAN_YES);
	facts.error = NULL; /* a bare interpreter cannot report the error that it failed with */
	facts.speechless = true;
	expect(&facts, OUTCOME_DISK_LIMIT, RAN_YES);
	arena_done(&arena);
}

TEST(a_disk_that_is_nearly_full_is_not_full)
{
	struct facts facts = running();
	struct arena arena;

	arena_init(&arena, 65536);
	facts.has_disk = true;
	facts.disk_bytes = LIMITS.disk_bytes - 4096;
	facts.inodes = LIMITS.inodes - 1;
	facts.done = true;
	facts.done_code = 1;
	facts.error = error_of(&arena, "ValueError");
	expect(&facts, OUTCOME_EXCEPTION, RAN_YES);
	arena_done(&arena);
}

TEST(a_disk_without_another_inode_says_that_it_is_the_inodes)
{
	struct facts facts = running();
	struct judged judged;
	struct arena arena;

	arena_init(&arena, 65536);
	facts.has_disk = true;
	facts.inodes_full = true;
	facts.done = true;
	facts.done_code = 1;
	facts.error = error_of(&arena, "OSError");
	judged = judge(&facts);
	CHECK_EQ_INT(judged.result.outcome, OUTCOME_DISK_LIMIT);
	CHECK_STR(value_as_text(value_get(judged.result.evidence, "limit")), "inodes");
	arena_done(&judged.arena);
	arena_done(&arena);
}

static struct judged judge_error(const char *type, const char *message, bool disk_full)
{
	struct facts facts = running();
	struct arena arena;
	struct value *error;
	struct judged judged;

	arena_init(&arena, 4096);
	error = value_map(&arena);
	value_map_put(&arena, error, "type", value_text(&arena, type));
	value_map_put(&arena, error, "message", value_text(&arena, message));
	facts.error = error;
	facts.disk_full = disk_full;
	facts.ended = true;
	facts.wait_status = EXITED(1);
	judged = judge(&facts);
	arena_done(&arena);
	return judged;
}

TEST(a_disk_that_was_full_before_a_cell_is_its_limit_only_if_its_error_says_so)
{
	static const char *const messages[] = {
		"[Errno 28] No space left on device",
		"ENOSPC: no space left on device, write",
		"database or disk is full",
		"1000 requested and 0 written",
	};
	struct facts facts = running();
	struct arena arena;

	arena_init(&arena, 65536);
	facts.disk_full = facts.disk_was_full = true;
	facts.done = true;
	facts.done_code = 1;
	facts.error = error_of(&arena, "ValueError");
	expect(&facts, OUTCOME_EXCEPTION, RAN_YES);
	for (size_t i = 0; i < COUNT_OF(messages); i++) {
		struct value *error = value_map(&arena);

		value_map_put(&arena, error, "message", value_text(&arena, messages[i]));
		facts.error = error;
		expect(&facts, OUTCOME_DISK_LIMIT, RAN_YES);
	}
	arena_done(&arena);
}

static const char *limit_of(const struct judged *judged)
{
	return value_as_text(value_get(judged->result.evidence, "limit"));
}

TEST(a_file_that_was_to_be_too_large_is_a_disk_limit_of_its_own)
{
	static const char *const messages[] = { "[Errno 27] File too large: 'f'",
		"EFBIG: file too large, write", "3 File size limit exceeded head -c 3 > f",
		"f: File too large" };

	for (size_t i = 0; i < COUNT_OF(messages); i++) {
		struct judged judged = judge_error("OSError", messages[i], false);

		CHECK_EQ_INT(judged.result.outcome, OUTCOME_DISK_LIMIT);
		CHECK_STR(limit_of(&judged), "file_bytes");
		CHECK_EQ_INT(
			value_as_int(value_get(judged.result.evidence, "limit_bytes"), 0), 1 << 20);
		arena_done(&judged.arena);
		judged = judge_error("OSError", messages[i], true);
		CHECK_EQ_INT(judged.result.outcome, OUTCOME_DISK_LIMIT);
		CHECK_STR(limit_of(&judged), "disk_bytes");
		arena_done(&judged.arena);
	}
}

TEST(an_exception_about_too_many_open_files_says_how_many_there_were)
{
	struct judged judged = judge_error("OSError", "[Errno 24] Too many open files", false);

	CHECK_EQ_INT(judged.result.outcome, OUTCOME_EXCEPTION);
	CHECK_STR(limit_of(&judged), "open_files");
	CHECK_EQ_INT(value_as_int(value_get(judged.result.evidence, "limit_files"), 0), 256);
	arena_done(&judged.arena);
	judged = judge_error("OSError", "[Errno 2] No such file or directory", false);
	CHECK(!judged.result.evidence);
	arena_done(&judged.arena);
}

TEST(a_counter_that_fell_back_is_no_evidence_and_no_time)
{
	struct facts facts = running();
	struct judged judged;

	facts.before = (struct knob_counts){
		.cpu_user_us = 1000, .cpu_sys_us = 1000, .oom_kills = 2, .pids_refused = 2
	};
	facts.ended = true;
	facts.wait_status = SIGSEGV;
	judged = judge(&facts);
	CHECK_EQ_INT(judged.result.outcome, OUTCOME_SIGNAL);
	CHECK_EQ_INT(judged.result.metrics.cpu_user_us, 0);
	CHECK_EQ_INT(judged.result.metrics.cpu_sys_us, 0);
	arena_done(&judged.arena);
}

TEST(a_worker_that_dies_by_a_signal_before_it_had_the_job_is_our_fault)
{
	struct facts facts = running();

	facts.began = false;
	facts.job_sent = false;
	facts.ended = true;
	facts.wait_status = SIGSEGV;
	expect(&facts, OUTCOME_SANDBOX_ERROR, RAN_NO);
	facts.job_sent = true; /* the program's text may have crashed the compiler */
	expect(&facts, OUTCOME_SIGNAL, RAN_UNKNOWN);
}

TEST(a_limit_that_killed_before_the_program_began_says_that_nothing_ran)
{
	struct facts facts = running();

	facts.began = false;
	facts.killed = KILLED_WALL;
	expect(&facts, OUTCOME_WALL_LIMIT, RAN_UNKNOWN); /* the daemon has not seen its death */
	facts.ended = true;
	facts.wait_status = SIGKILL;
	expect(&facts, OUTCOME_WALL_LIMIT, RAN_NO);
	facts.began = true;
	expect(&facts, OUTCOME_WALL_LIMIT, RAN_YES);
}

TEST(refused_processes_and_a_bad_end_is_a_pids_limit)
{
	struct facts facts = running();

	facts.after.pids_refused = 3;
	facts.done = true;
	expect(&facts, OUTCOME_OK, RAN_YES);
	facts.done_code = 1;
	expect(&facts, OUTCOME_PIDS_LIMIT, RAN_YES);
}

TEST(a_worker_that_was_lost_is_our_fault_and_what_ran_is_not_known)
{
	struct facts facts = running();

	facts.began = false;
	facts.worker_lost = true;
	facts.failure = "lost";
	expect(&facts, OUTCOME_SANDBOX_ERROR, RAN_UNKNOWN);
	facts.job_sent = false;
	expect(&facts, OUTCOME_SANDBOX_ERROR, RAN_NO);
}

TEST(a_worker_that_dies_before_the_program_began_is_our_fault)
{
	struct facts facts = running();

	facts.began = false;
	facts.ended = true;
	facts.wait_status = EXITED(0);
	expect(&facts, OUTCOME_SANDBOX_ERROR, RAN_UNKNOWN);
}

TEST(a_session_s_process_that_dies_before_a_later_cell_began_is_an_earlier_cell_s_fault)
{
	struct facts facts = running();
	struct judged judged;

	facts.began = false;
	facts.is_later = true;
	facts.ended = true;
	facts.wait_status = EXITED(1);
	judged = judge(&facts);
	CHECK_EQ_INT(judged.result.outcome, OUTCOME_SANDBOX_ERROR);
	CHECK_EQ_INT(judged.result.ran, RAN_UNKNOWN);
	CHECK(strstr(judged.result.reason, "an earlier cell has changed it") != NULL);
	arena_done(&judged.arena);
}
