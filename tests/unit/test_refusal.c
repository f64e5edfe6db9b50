#include <string.h>

#include "cli/session/cli.h"
#include "tests/check.h"

extern const struct command run_command;
extern const struct command runs_command;
extern const struct command show_command;

struct row {
	const struct command *command;
	const char *pointer, *message, *text;
};

static const char *said(struct arena *arena, const struct row *row)
{
	struct cli cli = { .command = row->command, .arena = *arena };
	const char *text = cli_refusal(&cli, row->pointer, row->message);

	*arena = cli.arena;
	return text;
}

TEST(a_refusal_names_the_word_of_the_command_line)
{
	static const struct row rows[] = {
		{ &run_command, "/limits/memory_bytes",
			"/limits/memory_bytes: must be at most 1073741824",
			"--limit memory: must be at most 1 GiB" },
		{ &run_command, "/limits/wall_ms", "/limits/wall_ms: must be at least 10",
			"--limit wall: must be at least 10.0 ms" },
		{ &run_command, "/limits/cpu_percent", "/limits/cpu_percent: must be at most 400",
			"--limit cpu_percent: must be at most 400" },
		{ &run_command, "/on_output_limit", "/on_output_limit: must be x",
			"--on-output-limit: must be x" },
		{ &run_command, "/files/3/path", "/files/3/path: bad", "--file: bad" },
		{ &run_command, "/labels", "/labels: bad", "--label: bad" },
		{ &run_command, "/code", "/code: bad", "the program: bad" },
		{ &run_command, "/schema/type", "/schema/type: bad", "--schema, at /type: bad" },
		{ &run_command, "/args/1", "/args/1: bad", "the arguments behind --: bad" },
		{ &runs_command, "/outcome", "/outcome: bad", "--outcome: bad" },
		{ &show_command, "/run_id", "/run_id: bad", "RUN: bad" },
		{ &show_command, "/run_id", "/run_id: must match the pattern \"x\"",
			"RUN: not a name that a run can have" },
		{ &show_command, "/run_id", "\033[1m", "RUN: \\x1b[1m" },
	};
	struct arena arena;

	arena_init(&arena, 1 << 20);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_STR(said(&arena, &rows[i]), rows[i].text);
	arena_done(&arena);
}

TEST(a_timeout_is_named_as_it_was_written)
{
	struct cli cli = { .command = &run_command, .has_timeout = true };

	arena_init(&cli.arena, 1 << 20);
	CHECK_STR(cli_refusal(&cli, "/limits/wall_ms", "must be at most 60000"),
		"--timeout: must be at most 1 min 00 s");
	CHECK_STR(cli_refusal(&cli, "/limits/cpu_ms", "must be at most 60000"),
		"--limit cpu: must be at most 1 min 00 s");
	arena_done(&cli.arena);
}

TEST(what_no_word_of_the_line_means_stays_as_it_is)
{
	static const struct row rows[] = {
		{ &show_command, "/limits/memory_bytes", "x", NULL },
		{ &run_command, "", "x", NULL },
		{ &run_command, "/", "x", NULL },
		{ &run_command, "/odd", "x", NULL },
	};
	struct arena arena;

	arena_init(&arena, 1 << 20);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK(!said(&arena, &rows[i]));
	arena_done(&arena);
}

TEST(who_can_raise_a_ceiling_is_said)
{
	CHECK(strstr(cli_advice("/limits/pids", "/limits/pids: must be at most 256"),
		"an administrator can raise it"));
	CHECK(!cli_advice("/limits/pids", "/limits/pids: must be at least 1"));
	CHECK(!cli_advice("/policy", "x"));
	CHECK(strstr(cli_advice("", "say what is to be kept, by age"), "cectl gc --older-than"));
}
