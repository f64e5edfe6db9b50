/* `cectl call METHOD PARAMS`: any method of the protocol, for scripts and for tests. */
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/interrupt.h"
#include "cli/base/source.h"
#include "cli/commands/commands.h"

struct calling {
	struct cli *cli;
	bool shows_events;
	bool canceled;
};

/* {"event": method, "params": {...}} on a line of its own, as soon as it is there. */
static int on_notice(void *context, const char *method, const struct value *params, struct err *err)
{
	struct calling *calling = context;
	struct cli *cli = calling->cli;
	struct value *line;
	struct arena arena;
	int status;

	if (!calling->shows_events)
		return 0;
	arena_init(&arena, cli->arena.ceiling);
	line = value_map(&arena);
	(void)value_map_put(&arena, line, "event", value_text(&arena, method));
	(void)value_map_put(&arena, line, "params", value_copy(&arena, params));
	status = value_ok(&arena) ? output_line(&cli->out, line, err)
				  : err_set(err, ERR_MEMORY, "no memory");
	arena_done(&arena);
	return status < 0 || output_done(&cli->out, err) < 0 ? -1 : 0;
}

/* Ctrl-C cancels the request, and its answer still comes; a second one ends cectl. */
static void on_turn(void *context)
{
	struct calling *calling = context;
	struct err err = ERR_INIT;

	if (!interrupt_noted() || calling->canceled)
		return;
	calling->canceled = true;
	if (client_cancel(calling->cli->client, &err) < 0)
		interrupt_pass_on();
}

/* The params as they were written: JSON on the command line, or on stdin for "-". */
static int read_params(struct cli *cli, struct value **ret_params)
{
	const char *text = cli_operand(cli, 1);
	struct source source = { text, text ? strlen(text) : 0 };
	struct err err = ERR_INIT;

	*ret_params = value_map(&cli->arena);
	if (!text)
		return 0;
	if (strcmp(text, "-") == 0 && source_read(&cli->arena, "-", &source, &err) < 0)
		return cli_fail(cli, &err);
	if (source_json(&cli->arena, source.bytes, source.len, ret_params, &err) < 0)
		return cli_usage(cli, "PARAMS: %s", err.text);
	if (!value_is(*ret_params, VALUE_MAP))
		return cli_usage(cli, "PARAMS: they are a map, such as '{\"limit\": 3}'");
	return 0;
}

static int call_run(struct cli *cli)
{
	struct calling calling = { .cli = cli, .shows_events = cli_flag(cli, "events") };
	const struct client_watch watch = {
		.context = &calling, .on_notice = on_notice, .on_turn = on_turn
	};
	const struct value *result = NULL;
	struct value *params = NULL;
	struct err err = ERR_INIT;
	int status = read_params(cli, &params);

	if (status != 0)
		return status;
	interrupt_catch();
	status = cli_ask(cli, cli_operand(cli, 0), params, &watch, &result);
	interrupt_release();
	if (status != 0)
		return status;
	if (!calling.shows_events)
		return cli_document(cli, result, EXIT_OK);
	return output_line(&cli->out, result, &err) < 0 ? cli_fail(cli, &err) : EXIT_OK;
}

// clang-format off
const struct command call_command = {
	.name = "call",
	.operands = "METHOD [PARAMS]",
	.summary = "send any request of the protocol and print its answer as JSON",
	.about = "Sends the method with PARAMS, a JSON map, or - to read it from stdin. Prints the "
		 "result as JSON. An error goes to stderr, and with --json to stdout. Bytes in the "
		 "result are {\"base64\": ...}; PARAMS have only what JSON has. The exit status is 0 "
		 "when there is a result, also that of a program that failed. Ctrl-C cancels the "
		 "request. docs/PROTOCOL.md lists the methods.",
	.options = OPTIONS(
		{ 0, "events", NULL, OPTION_FLAG, NULL, NULL,
			"print each notification that comes before the answer, and the answer, as a line of JSON" }),
	.operand_least = 1, .operand_most = 2,
	.examples = EXAMPLES(
		{ "cectl call hello", "what this daemon is and offers" },
		{ "cectl call runs.list '{\"agent\": \"planner\", \"limit\": 3}'", "with params" },
		{ "cectl call run - <request.json", "a run as a program would send it" }),
	.reads_copy = true,
	.run = call_run,
};
// clang-format on
