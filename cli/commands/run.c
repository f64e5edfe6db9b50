#include "cli/base/exits.h"
#include "cli/commands/job_options.h"
#include "cli/commands/results.h"
#include "cli/commands/tool_commands.h"

static int show_detached(struct cli *cli, const struct value *result)
{
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	say(&cli->out, PAINT_PLAIN, "%s\n", output_text(&cli->arena, value_get(result, "run_id")));
	if (results_are_parked(result))
		results_note_parked(cli, result);
	return EXIT_OK;
}

/* --out alone asks for all files. */
static void put_all_artifacts(struct cli *cli, struct value *params)
{
	struct value *globs = value_list(&cli->arena);

	(void)value_list_add(&cli->arena, globs, value_text(&cli->arena, "*"));
	(void)value_map_put(&cli->arena, params, "artifacts", globs);
}

static int run_run(struct cli *cli)
{
	const char *out_dir = cli_text(cli, "out");
	bool detach = cli_flag(cli, "detach");
	bool stream = cli_flag(cli, "stream");
	struct value *params = NULL;
	const struct value *result = NULL;
	struct live live;
	int status;

	if (detach && (stream || out_dir))
		return cli_usage(
			cli, "--detach answers before there is output; use `cectl wait RUN`");
	status = job_options_params(cli, &params);
	if (status == 0)
		status = tool_commands_put(cli, params);
	if (status == 0)
		status = job_options_piped(cli, params);
	if (status == 0)
		status = results_prepare_out(cli, out_dir);
	if (status != 0)
		return status;
	if (out_dir && !value_get(params, "artifacts"))
		put_all_artifacts(cli, params);
	live_init(&live, cli, stream && !cli->json);
	live.answers = true;
	if (!detach)
		live_cancels(&live, params);
	status = live_ask(&live, "run", params, &result);
	if (status != 0)
		return status;
	return detach ? show_detached(cli, result) : results_show(&live, result, out_dir);
}

// clang-format off
const struct command run_command = {
	.name = "run",
	.operands = "[FILE | -c CODE | -] [-- ARG...]",
	.summary = "run a program in a jail and pass its output through",
	.about =
		"Runs a program in a jail.  Its stdout and stderr become those of cectl, and so does "
		"its exit code.  Into a pipe or a file every byte goes as it is; on a terminal, "
		"control characters are shown escaped.  A run that did not end well adds one line on "
		"stderr: what happened, why, the run's id, and the command that tells more.\n\n"
		"What is piped into cectl, or stands behind <, is the program's stdin, read to its end "
		"(at most 16 MiB) before the run begins; --stdin and --input come before it, and "
		"without FILE and -c it is the program itself.  A terminal and /dev/null are not read. "
		"A pipe that is open and silent for 10 seconds ends cectl with 125, so that a job of "
		"cron or CI does not hang; --stdin - waits as long as it takes, --stdin /dev/null reads "
		"nothing.  Where stdin is somebody else's, in a `while read` loop or in a script that "
		"bash reads from a pipe, write </dev/null, or cectl reads it.\n\n"
		"Ctrl-C cancels the run: what it has written so far and its id are shown.  A second "
		"Ctrl-C ends cectl at once; the daemon then cancels the run.",
	.options = OPTIONS(
		JOB_OPTION_ROWS,
		{ 'o', "out", "DIR", OPTION_TEXT, NULL, NULL,
			"writes artifacts below DIR; without --artifact, all files" },
		{ 0, "tool", "NAME=COMMAND", OPTION_LIST, NULL, NULL,
			"a function of the program: cectl runs COMMAND outside of the jail for each call, with the arguments as JSON on stdin; what it prints is the result, as JSON or text" },
		{ 0, "tool-schema", "NAME=FILE|JSON", OPTION_LIST, NULL, NULL,
			"JSON Schema of a tool's arguments; without it any" },
		{ 0, "tools-as", "HOW", OPTION_TEXT, "tools_as", NULL,
			"module (default): tools.NAME(); functions: NAME() too; async: await NAME()" },
		{ 0, "stream", NULL, OPTION_FLAG, "stream", NULL,
			"pass output on while the program runs" },
		{ 'd', "detach", NULL, OPTION_FLAG, "detach", NULL,
			"print the run's id at once; `cectl wait RUN` fetches the result" }),
	.operand_most = 1,
	.instead = "code",
	.takes_rest = true,
	.examples = EXAMPLES(
		{ "cectl run -c 'print(6 * 7)'", "a first program" },
		{ "cectl run report.py --input @numbers.json --schema report.schema.json",
			"a program that reads JSON and must answer with JSON of a certain shape" },
		{ "cectl run --limit wall=2s --limit memory=64M job.py -- --fast",
			"tighter limits; words after -- are for the program" },
		{ "cectl run --allow-host api.example.org fetch.py", "with a network that leads to one host" },
		{ "cectl run plot.py -f data.csv -a '*.png' --out plots/",
			"a file in, pictures out" },
		{ "cectl run -c 'print(tools.size(path=\"a.csv\"))' --tool 'size=jq -r .path | xargs wc -c'",
			"a program that calls a command of yours" },
		{ "cectl run --display -c '[6 * 7, \"x\"]'",
			"the value of the last expression; of a figure, `cectl output last --display 1 > plot.png`" },
		{ "sort words.txt | cectl run count.py", "the pipe is the program's stdin" },
		{ "echo 'print(input())' | cectl run - --stdin words.txt",
			"the program from a pipe, its stdin from a file" },
		{ "cectl run --session 01JD3H3V6T6Q2Y4N8C5R7W9XZA -c 'print(x)'",
			"the next cell of a session: cectl session open" },
		{ "cectl run --json -c 'import socket' --policy strict | jq .policy.findings",
			"the whole answer for a program to read" }),
	.print_more = exits_help,
	.run_statuses = true,
	.run = run_run,
};
// clang-format on
