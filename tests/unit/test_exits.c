#include "cli/base/exits.h"
#include "proto/job/job.h"
#include "tests/check.h"

static struct arena arena;

static int status_of(const char *outcome, const char *key, struct value *value)
{
	struct value *result = value_map(&arena);

	(void)value_map_put(&arena, result, "outcome", value_text(&arena, outcome));
	if (key)
		(void)value_map_put(&arena, result, key, value);
	return exits_for_result(result);
}

static int error_status(const char *code, const char *pointer)
{
	struct value *error = value_map(&arena);
	struct value *data = value_map(&arena);

	(void)value_map_put(&arena, error, "code", value_text(&arena, code));
	(void)value_map_put(&arena, data, "pointer", value_text(&arena, pointer));
	(void)value_map_put(&arena, error, "data", data);
	return exits_for_error(error);
}

TEST(a_programs_own_exit_code_is_passed_on)
{
	arena_init(&arena, 1 << 20);
	CHECK_EQ_INT(status_of("ok", NULL, NULL), 0);
	CHECK_EQ_INT(status_of("exit", "exit_code", value_int(&arena, 3)), 3);
	CHECK_EQ_INT(status_of("exception", "exit_code", value_int(&arena, 1)), 1);
	CHECK_EQ_INT(status_of("syntax_error", NULL, NULL), 1);
	CHECK_EQ_INT(status_of("exit", "exit_code", value_int(&arena, 0)), 1);
	arena_done(&arena);
}

TEST(limits_refusals_and_faults_have_their_documented_statuses)
{
	static const struct {
		const char *outcome;
		int status;
	} rows[] = { { "wall_limit", 124 }, { "cpu_limit", 124 }, { "memory_limit", 137 },
		{ "output_limit", 123 }, { "disk_limit", 123 }, { "pids_limit", 123 },
		{ "syscall_denied", 123 }, { "output_invalid", 122 }, { "policy_denied", 126 },
		{ "canceled", 130 }, { "busy", 75 }, { "sandbox_error", 125 }, { "lost", 125 },
		{ "never heard of", 125 } };

	arena_init(&arena, 1 << 20);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_EQ_INT(status_of(rows[i].outcome, NULL, NULL), rows[i].status);
	arena_done(&arena);
}

TEST(every_outcome_of_the_protocol_has_a_row)
{
	arena_init(&arena, 1 << 20);
	for (unsigned i = OUTCOME_OK; i < OUTCOME_COUNT; i++) {
		int status = status_of(outcome_word((enum outcome)i), NULL, NULL);
		bool is_ours = i == OUTCOME_SANDBOX_ERROR || i == OUTCOME_LOST ||
			       i == OUTCOME_SIGNAL; /* without its number */

		CHECK(status >= 0 && (status != EXIT_SERVICE || is_ours));
	}
	arena_done(&arena);
}

TEST(a_signal_is_added_to_128)
{
	arena_init(&arena, 1 << 20);
	CHECK_EQ_INT(status_of("signal", "signal", value_text(&arena, "SIGSEGV")), 139);
	CHECK_EQ_INT(status_of("signal", "signal", value_text(&arena, "SIG34")), 162);
	CHECK_EQ_INT(status_of("signal", "signal", value_text(&arena, "what?")), 125);
	arena_done(&arena);
}

TEST(an_unknown_language_is_127_and_other_bad_requests_126)
{
	arena_init(&arena, 1 << 20);
	CHECK_EQ_INT(error_status("bad_request", "/language"), 127);
	CHECK_EQ_INT(error_status("bad_request", "/limits/wall_ms"), 126);
	CHECK_EQ_INT(error_status("too_large", ""), 126);
	CHECK_EQ_INT(error_status("busy", ""), 75);
	CHECK_EQ_INT(error_status("internal", ""), 125);
	arena_done(&arena);
}
