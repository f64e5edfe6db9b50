#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/job_options.h"
#include "proto/json.h"
#include "tests/check.h"

static const struct option_row rows[] = {
	JOB_OPTION_ROWS,
	{ 0 },
};

static const struct command command = {
	.name = "sample",
	.operands = "[FILE]",
	.options = rows,
	.operand_most = 1,
	.takes_rest = true,
};

/* The words of a command line, and the params that they become, as JSON. */
struct trial {
	struct cli cli;
	char said[1024]; /* on stderr */
	int status;
	const char *json;
};

static void try_words(struct trial *trial, const char *const *words)
{
	struct err err = ERR_INIT;
	struct value *params = NULL;
	struct bytes text = { NULL, 0 };
	char *argv[24];
	int argc = 0;

	memset(trial, 0, sizeof(*trial));
	trial->cli.command = &command;
	trial->cli.err.file = fmemopen(trial->said, sizeof(trial->said) - 1, "w");
	arena_init(&trial->cli.arena, 8 << 20);
	for (; words[argc]; argc++)
		argv[argc] = arena_strdup(&trial->cli.arena, words[argc]);
	if (options_parse(&command, &trial->cli.arena, argc, argv, &trial->cli.given, &err) < 0)
		abort();
	trial->status = job_options_params(&trial->cli, &params);
	(void)fclose(trial->cli.err.file);
	if (trial->status == 0 && json_write_text(&trial->cli.arena, params, JSON_WRITE_BASE64,
					  1 << 20, &text, NULL) == 0)
		trial->json = text.data;
}

#define TRY(trial, ...) try_words((trial), (const char *const[]){ __VA_ARGS__, NULL })

/* Creates a file with this text in the folder that the test runs in. */
static char folder[PATH_MAX];

static void enter_folder(void)
{
	const char *base = getenv("TMPDIR");

	(void)snprintf(folder, sizeof(folder), "%s/ced-options-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(folder) || chdir(folder) < 0)
		abort();
}

static void leave_folder(const char *file)
{
	if (unlink(file) < 0 || chdir("/") < 0 || rmdir(folder) < 0)
		abort();
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		abort();
}

TEST(code_alone_is_python)
{
	struct trial trial;

	TRY(&trial, "-c", "print(1)");
	CHECK_STR(trial.json, "{\"language\":\"python\",\"code\":\"print(1)\"}");
	arena_done(&trial.cli.arena);
}

TEST(a_files_suffix_tells_the_language_and_its_name_the_entrypoint)
{
	struct trial trial;

	enter_folder();
	write_file("job_options_sample.js", "1");
	TRY(&trial, "./job_options_sample.js");
	CHECK_STR(trial.json, "{\"language\":\"javascript\",\"code\":\"1\","
			      "\"entrypoint\":\"job_options_sample.js\"}");
	arena_done(&trial.cli.arena);
	TRY(&trial, "-l", "python", "./job_options_sample.js", "--entrypoint", "x.py");
	CHECK_STR(trial.json, "{\"language\":\"python\",\"code\":\"1\",\"entrypoint\":\"x.py\"}");
	arena_done(&trial.cli.arena);
	leave_folder("job_options_sample.js");
}

TEST(limits_are_read_in_peoples_units_and_sent_in_the_protocols)
{
	struct trial trial;

	TRY(&trial, "-c", "", "--limit", "wall=2s", "--limit", "memory=64M", "--limit",
		"cpu_ms=1500", "--limit", "pids=8", "--limit", "stdout=4K");
	CHECK_STR(trial.json,
		"{\"language\":\"python\",\"code\":\"\",\"limits\":{\"wall_ms\":2000,"
		"\"memory_bytes\":67108864,\"cpu_ms\":1500,\"pids\":8,\"stdout_bytes\":4096}}");
	arena_done(&trial.cli.arena);
}

TEST(a_wrong_limit_is_refused_with_what_would_be_right)
{
	struct trial trial;

	TRY(&trial, "-c", "", "--limit", "memory");
	CHECK(trial.status != 0);
	CHECK(strstr(trial.said, "it is written as NAME=NUMBER"));
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "--limit", "heap=1M");
	CHECK(strstr(trial.said, "there is no limit \"heap\"; the limits are wall_ms, cpu_ms"));
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "--limit", "wall=1s", "--limit", "wall_ms=5");
	CHECK(strstr(trial.said, "--limit wall_ms is given twice"));
	arena_done(&trial.cli.arena);
}

TEST(a_time_limit_wants_a_unit_and_has_a_short_name)
{
	struct trial trial;

	TRY(&trial, "-c", "", "--limit", "wall=10");
	CHECK(trial.status != 0);
	CHECK(strstr(trial.said, "--limit wall: \"10\" has no unit: write 10ms, 10s or 10m"));
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "--timeout", "2s");
	CHECK_STR(trial.json,
		"{\"language\":\"python\",\"code\":\"\",\"limits\":{\"wall_ms\":2000}}");
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "--timeout", "2s", "--limit", "wall=3s");
	CHECK(strstr(trial.said, "--timeout and --limit wall: one of them"));
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "--limit", "memry=3M");
	CHECK(strstr(trial.said, "there is no limit \"memry\"; did you mean memory?"));
	arena_done(&trial.cli.arena);
}

TEST(a_size_that_nobody_can_mean_in_bytes_wants_a_unit)
{
	struct trial trial;

	TRY(&trial, "-c", "", "--limit", "memory=64");
	CHECK(trial.status != 0);
	CHECK(strstr(trial.said, "--limit memory: \"64\" has no unit: write 64k, 64m or 64g"));
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "--limit", "memory=67108864", "--limit", "stdout=64", "--limit",
		"disk_bytes=64");
	CHECK_STR(trial.json, "{\"language\":\"python\",\"code\":\"\",\"limits\":{"
			      "\"memory_bytes\":67108864,\"stdout_bytes\":64,\"disk_bytes\":64}}");
	arena_done(&trial.cli.arena);
}

TEST(a_file_where_json_was_wanted_is_told_how_to_be_named)
{
	struct trial trial;

	enter_folder();
	write_file("job_options_data.json", "[1, 2]");
	TRY(&trial, "-c", "", "--input", "job_options_data.json");
	CHECK(trial.status != 0);
	CHECK(strstr(trial.said, "did you mean the file, @job_options_data.json?"));
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "--input", "elsewhere.json");
	CHECK(strstr(trial.said, "write @FILE for a file"));
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "--schema", "{\"type\": \"object\"}");
	CHECK_STR(trial.json,
		"{\"language\":\"python\",\"code\":\"\",\"schema\":{\"type\":\"object\"}}");
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "--schema", "false");
	CHECK_STR(trial.json, "{\"language\":\"python\",\"code\":\"\",\"schema\":false}");
	arena_done(&trial.cli.arena);
	leave_folder("job_options_data.json");
}

TEST(pairs_words_and_rest_arrive_as_they_are)
{
	struct trial trial;

	TRY(&trial, "-c", "", "-e", "A=b=c", "-e", "EMPTY=", "--label", "env=test", "-a", "*.png",
		"--task", "t", "--agent", "a", "--id", "i", "-p", "strict", "--on-output-limit",
		"truncate", "--no-trace", "--", "-x", "");
	CHECK_STR(trial.json,
		"{\"language\":\"python\",\"code\":\"\",\"args\":[\"-x\",\"\"],\"trace\":\"off\","
		"\"policy\":\"strict\",\"env\":{\"A\":\"b=c\",\"EMPTY\":\"\"},"
		"\"artifacts\":[\"*.png\"],\"on_output_limit\":\"truncate\",\"id\":\"i\","
		"\"task\":\"t\",\"agent\":\"a\",\"labels\":{\"env\":\"test\"}}");
	arena_done(&trial.cli.arena);
}

TEST(files_keep_their_own_name_unless_another_is_given)
{
	struct trial trial;

	write_file("job_options_a.txt", "one");
	write_file("job_options:b.txt", "two");
	TRY(&trial, "-c", "", "-f", "./job_options_a.txt", "-f", "job_options_a.txt:in/x.txt", "-f",
		"job_options:b.txt");
	CHECK_STR(trial.json, "{\"language\":\"python\",\"code\":\"\",\"files\":["
			      "{\"path\":\"job_options_a.txt\",\"data\":\"one\"},"
			      "{\"path\":\"in/x.txt\",\"data\":\"one\"},"
			      "{\"path\":\"job_options:b.txt\",\"data\":\"two\"}]}");
	arena_done(&trial.cli.arena);
	(void)unlink("job_options_a.txt");
	(void)unlink("job_options:b.txt");
}

TEST(input_and_schema_are_json_and_a_mistake_has_its_place)
{
	struct trial trial;

	write_file("job_options_schema.json", "{\"type\": \"object\"}");
	TRY(&trial, "-c", "", "-i", "[1, 2.5]", "--schema", "job_options_schema.json");
	CHECK_STR(trial.json, "{\"language\":\"python\",\"code\":\"\",\"input\":[1,2.5],"
			      "\"schema\":{\"type\":\"object\"}}");
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "-i", "@job_options_schema.json");
	CHECK_STR(trial.json,
		"{\"language\":\"python\",\"code\":\"\",\"input\":{\"type\":\"object\"}}");
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "-i", "[1,");
	CHECK(trial.status != 0);
	CHECK(strstr(trial.said, "--input: "));
	CHECK(strstr(trial.said, "line 1"));
	arena_done(&trial.cli.arena);
	(void)unlink("job_options_schema.json");
}

TEST(bytes_that_are_no_text_travel_as_bytes)
{
	struct trial trial;

	write_file("job_options_bytes", "\xff\xfe");
	TRY(&trial, "-c", "", "--stdin", "job_options_bytes");
	CHECK_STR(trial.json,
		"{\"language\":\"python\",\"code\":\"\",\"stdin\":{\"base64\":\"//4=\"}}");
	arena_done(&trial.cli.arena);
	(void)unlink("job_options_bytes");
}

TEST(what_is_given_twice_or_without_a_name_is_said)
{
	static const char digest[] =
		"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct trial trial;

	TRY(&trial, "-c", "", "-e", "A=1", "-e", "A=2");
	CHECK(trial.status != 0);
	CHECK(strstr(trial.said, "--env A is given twice"));
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "--label", "a=1", "--label", "a=1");
	CHECK(strstr(trial.said, "--label a is given twice"));
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "-f", digest);
	CHECK(strstr(trial.said, "write SHA256:DEST"));
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "-l", "Python");
	CHECK(strstr(trial.said, "--language: \"Python\" is not a language; did you mean python?"));
	arena_done(&trial.cli.arena);
}

TEST(a_folder_or_a_missing_file_is_refused_by_name)
{
	struct trial trial;

	TRY(&trial, "/tmp");
	CHECK(strstr(trial.said, "cannot read /tmp: it is a folder"));
	arena_done(&trial.cli.arena);
	TRY(&trial, "-c", "", "-f", "no-such-file-here");
	CHECK(strstr(trial.said, "cannot read no-such-file-here"));
	arena_done(&trial.cli.arena);
}
