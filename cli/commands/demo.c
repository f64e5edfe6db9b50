/* cectl demo: starts the script of the tour, which runs cectl itself. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/libexec.h"
#include "cli/commands/commands.h"
#include "proto/base/container.h"

static int demo_run(struct cli *cli)
{
	char script[LIBEXEC_PATH_MAX + 32];
	char own[LIBEXEC_PATH_MAX];
	const char *argv[] = { "python3", script, NULL, NULL, NULL };
	size_t count = 2;
	struct err err = ERR_INIT;
	union {
		const char *const *in;
		char *const *out;
	} words = { argv };

	if (libexec_find(own, script, LIBEXEC_PATH_MAX, &err) < 0)
		return cli_fail(cli, &err);
	cut_printf(script + strlen(script), sizeof(script) - strlen(script), "/demo/demo.py");
	if (cli_flag(cli, "passing"))
		argv[count++] = "--passing";
	if (cli->json)
		argv[count] = "--json";
	if (setenv("CECTL", own, 1) < 0 ||
		(cli->socket && setenv("CED_SOCKET", cli->socket, 1) < 0))
		return cli_no_memory(cli);
	(void)execv("/usr/bin/python3", words.out);
	(void)err_sys(&err, "/usr/bin/python3");
	return cli_fail(cli, &err);
}

// clang-format off
const struct command demo_command = {
	.name = "demo",
	.summary = "a short guided tour that really runs",
	.about =
		"Runs four programs and shows how each ends: one whose JSON answer is checked "
		"against a schema, one refused by policy, one killed for flooding its output, one "
		"for memory; then the record and the timeline of the first.  Exits with 1 when one "
		"of them did not end as the tour says.",
	.options = OPTIONS(
		{ 0, "passing", NULL, OPTION_FLAG, NULL, NULL,
			"the daemon ends with the tour (./dev demo): say how to start one" }),
	.examples = EXAMPLES(
		{ "cectl demo", "four programs, half a second" },
		{ "cectl demo --json | jq '.acts[].result.outcome'", "the same for a script" }),
	.run = demo_run,
};
// clang-format on
