/*
 * cectl: a person's and a script's hand on the daemon.  It uses only the public protocol.
 */
#include <locale.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/interrupt.h"
#include "cli/commands/commands.h"
#include "cli/session/offline.h"
#include "proto/base/container.h"
#include "proto/base/nearest.h"
#include "proto/base/standard_fds.h"
#include "proto/version.h"

#define ERROR_LINE_BYTES 8192
#define ARENA_BYTES      ((size_t)4 << 30) /* a ceiling, not a need */

static const struct {
	const char *heading; /* NULL: as the one before */
	const struct command *command;
} commands[] = {
#define COMMAND_ROW(heading, name) { heading, &name##_command },
	COMMANDS(COMMAND_ROW)
#undef COMMAND_ROW
};

/* Names that people know from other programs, and ours. */
static const struct {
	const char *typed, *meant;
} habits[] = {
	{ "kill", "cancel" },
	{ "stop", "cancel" },
	{ "abort", "cancel" },
	{ "ps", "runs" },
	{ "ls", "runs" },
	{ "list", "runs" },
	{ "jobs", "runs" },
	{ "log", "runs" },
	{ "logs", "runs" },
	{ "history", "runs" },
	{ "exec", "run" },
	{ "version", "--version" },
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		if (strcmp(commands[i].command->name, name) == 0)
			return commands[i].command;
	}
	return strcmp(name, complete_command.name) == 0 ? &complete_command : NULL;
}

/* A command of two words, such as `audit export`; *ret_words says how many were taken. */
static const struct command *find_words(int argc, char **argv, int *ret_words)
{
	char both[64];

	*ret_words = 2;
	if (argc > 1) {
		const struct command *command;

		cut_printf(both, sizeof(both), "%s %s", argv[0], argv[1]);
		command = find_command(both);
		if (command)
			return command;
	}
	*ret_words = 1;
	return argc > 0 ? find_command(argv[0]) : NULL;
}

static void print_overview(const struct output *out)
{
	say(out, PAINT_PLAIN, "Usage: cectl COMMAND [OPTION]...\n");
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		if (commands[i].heading)
			say(out, PAINT_BOLD, "\n%s\n", commands[i].heading);
		say(out, PAINT_PLAIN, "  %-16s %s\n", commands[i].command->name,
			commands[i].command->summary);
	}
	say(out, PAINT_PLAIN,
		"\nRUN is a run's id, any unique beginning of it, `last`, or `last~N`.\n"
		"Every command takes --json, --socket PATH, and --help with examples.\n"
		"Try:  cectl demo      cectl run -c 'print(6 * 7)'      cectl show last\n");
}

static int print_help(const struct command *command, const struct output *out)
{
	struct buf page;
	int status;

	buf_init(&page, (size_t)1 << 20);
	status = options_help(command, output_text_width(out), &page);
	if (status == 0)
		say(out, PAINT_PLAIN, "%.*s", (int)page.len, page.bytes);
	buf_done(&page);
	return status < 0 ? EXIT_FAILED : EXIT_OK;
}

/* True when a command line that cannot be parsed asks for --json. */
static bool names_json(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--json") == 0)
			return true;
	}
	return false;
}

static int run_command_line(struct cli *cli, int argc, char **argv)
{
	struct err err = ERR_INIT;
	struct parsed *given = &cli->given;

	given->common = (struct common_options){
		.json = cli->json, .socket = cli->socket, .store = cli->store
	};
	if (options_parse(cli->command, &cli->arena, argc, argv, given, &err) < 0) {
		cli->json = given->common.json || names_json(argc, argv);
		return cli_usage(cli, "%s", err.text);
	}
	if (given->common.help)
		return print_help(cli->command, &cli->out);
	cli->json = given->common.json;
	cli->socket = given->common.socket;
	cli->store = given->common.store;
	return cli_run(cli);
}

/* The second words of a command with two. */
static void print_group(const struct output *out, const char *first)
{
	size_t len = strlen(first);

	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		const struct command *command = commands[i].command;

		if (strncmp(command->name, first, len) != 0 || command->name[len] != ' ')
			continue;
		say(out, PAINT_PLAIN, "  cectl %-18s %s\n", command->name, command->summary);
	}
}

static bool is_group(const char *first)
{
	size_t len = strlen(first);

	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		if (strncmp(commands[i].command->name, first, len) == 0 &&
			commands[i].command->name[len] == ' ')
			return true;
	}
	return false;
}

/* Candidates for a mistyped command; the first word of a group is none. */
static const char *words_given(struct cli *cli, int argc, char **argv, bool group)
{
	const char *words =
		group && argc > 1 ? arena_printf(&cli->arena, "%s %s", argv[0], argv[1]) : argv[0];

	return words ? words : "";
}

/* The emergency switch ends all runs: suggest it only for a word with "all". */
static bool may_be_suggested(const struct command *command, const char *given)
{
	return command != &kill_all_command || strstr(given, "all");
}

static void find_meant(struct nearest *nearest)
{
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		if (may_be_suggested(commands[i].command, nearest->word))
			nearest_offer(nearest, commands[i].command->name);
	}
	for (size_t i = 0; i < COUNT_OF(habits); i++)
		nearest_offer(nearest, habits[i].typed);
	for (size_t i = 0; i < COUNT_OF(habits); i++) {
		if (nearest->best == habits[i].typed)
			nearest->best = habits[i].meant;
	}
}

static int no_such_command(struct cli *cli, int argc, char **argv)
{
	bool group = is_group(argv[0]);
	const char *given = words_given(cli, argc, argv, group);
	struct nearest nearest = NEAREST_OF(given);

	find_meant(&nearest);
	cli->json = cli->json || names_json(argc, argv);
	if (group && (argc < 2 || argv[1][0] == '-'))
		(void)cli_usage(cli, "%s needs one more word", argv[0]);
	else
		(void)cli_usage(cli, "there is no command %s%s", given, nearest_hint(&nearest));
	if (group)
		print_group(&cli->err, argv[0]);
	return EXIT_USAGE;
}

static bool asks_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int help_on(struct cli *cli, int argc, char **argv)
{
	int words;
	const struct command *command = find_words(argc, argv, &words);

	if (command)
		return print_help(command, &cli->out);
	if (argc > 0 && (!is_group(argv[0]) || (argc > 1 && !asks_help(argv[1]))))
		return no_such_command(cli, argc, argv);
	if (argc > 0)
		print_group(&cli->out, argv[0]);
	else
		print_overview(&cli->out);
	return EXIT_OK;
}

static int dispatch(struct cli *cli, int argc, char **argv)
{
	struct common_options front = { .json = false };
	struct err err = ERR_INIT;
	int at = options_parse_front(argc - 1, argv + 1, &front, &err);
	int words = 1;

	if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
		say(&cli->out, PAINT_PLAIN, "cectl %s\n", CED_VERSION);
		return EXIT_OK;
	}
	cli->json = front.json || (at < 0 && names_json(argc - 1, argv + 1));
	if (at < 0)
		return cli_usage(cli, "%s", err.text);
	argc -= at + 1;
	argv += at + 1;
	if (argc < 1 || front.help || strcmp(argv[0], "help") == 0)
		return help_on(cli, argc - 1, argv + 1);
	cli->command = find_words(argc, argv, &words);
	if (!cli->command && argc > 1 && asks_help(argv[1]))
		return help_on(cli, argc, argv);
	if (!cli->command)
		return no_such_command(cli, argc, argv);
	cli->socket = front.socket;
	cli->store = front.store;
	return run_command_line(cli, argc - words, argv + words);
}

int main(int argc, char **argv)
{
	struct cli cli = { 0 };
	struct err err = ERR_INIT;
	int status;

	if (standard_fds_hold() < 0)
		return EXIT_SERVICE;
	(void)setlocale(LC_CTYPE, "C.UTF-8"); /* widths of characters, whatever the user's locale */
	/* Lines of several cectls on one stderr do not mix. */
	(void)setvbuf(stderr, NULL, _IOLBF, ERROR_LINE_BYTES);
	arena_init(&cli.arena, ARENA_BYTES);
	output_init(&cli.out, stdout);
	output_init(&cli.err, stderr);
	status = dispatch(&cli, argc, argv);
	if (output_done(&cli.out, &err) < 0) {
		say(&cli.err, PAINT_PLAIN, "cectl: %s\n", output_safe(&cli.arena, err.text));
		status = status == EXIT_OK ? EXIT_SERVICE : status;
	}
	client_close(cli.client);
	offline_close(cli.copy);
	arena_done(&cli.arena);
	interrupt_pass_on();
	return status;
}
