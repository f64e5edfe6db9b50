#include <unistd.h>

#include "cli/base/exits.h"
#include "cli/base/option_values.h"
#include "cli/commands/commands.h"
#include "cli/mcp/config.h"
#include "cli/mcp/server.h"

static int mcp_run(struct cli *cli)
{
	const char *client = cli_text(cli, "config");
	const char *socket = client_socket_path(cli->socket, &cli->arena);
	struct value *defaults = value_map(&cli->arena);
	struct err err = ERR_INIT;
	int status;

	status = cli_put_options(cli, defaults);
	if (status != 0)
		return status;
	if (client)
		return config_print(cli, client, defaults);
	if (isatty(STDIN_FILENO))
		say(&cli->err, PAINT_DIM,
			"cectl mcp waits for JSON-RPC on stdin, as MCP clients send it. "
			"cectl mcp --config CLIENT prints their settings.\n");
	return server_run(socket, defaults, &err) < 0 ? cli_fail(cli, &err) : EXIT_OK;
}

// clang-format off
const struct command mcp_command = {
	.name = "mcp",
	.summary = "serve MCP on stdin and stdout, for agents and editors",
	.about = "An MCP server (Model Context Protocol) for agents and editors that start it. Its "
		 "tools run programs, check them, and look up runs, outputs and runtimes. It is a "
		 "client of the daemon like any other: your limits, policies and budgets apply, "
		 "and every run is recorded as yours.\n\n"
		 "--config prints the settings by which a client starts it. At the end of stdin "
		 "it cancels what runs, closes the sessions that it opened, and ends.",
	.options = OPTIONS(
		{ 0, "config", "CLIENT", OPTION_TEXT, NULL, NULL, "print the settings for this client, and end" },
		{ 0, "policy", "NAME", OPTION_TEXT, "policy", NULL, "the policy that judges all programs" },
		{ 0, "agent", "NAME", OPTION_TEXT, "agent", NULL, "the agent under which all runs are recorded" },
		{ 0, "label", "NAME=VALUE", OPTION_MAP, "labels", NULL, "a label of all runs" }),
	.examples = EXAMPLES(
		{ "cectl mcp --config claude-desktop", "what to put into its settings" },
		{ "claude mcp add ced -- cectl mcp", "Claude Code reads it from its own command" },
		{ "cectl mcp --policy strict --agent editor", "as an editor starts it, under one policy" }),
	.print_more = config_help,
	.run = mcp_run,
};
// clang-format on
