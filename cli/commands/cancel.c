#include "cli/base/exits.h"
#include "cli/commands/commands.h"
#include "cli/commands/record.h"

static int cancel_run(struct cli *cli)
{
	struct arena *arena = &cli->arena;
	struct value *params = value_map(arena);
	const struct value *result = NULL;
	const char *run_id = NULL;
	int status = record_resolve(cli, cli_operand(cli, 0), &run_id);

	if (status != 0)
		return status;
	(void)value_map_put(arena, params, "run_id", value_text(arena, run_id));
	status = cli_ask(cli, "cancel", params, NULL, &result);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	say(&cli->out, PAINT_PLAIN, "canceled %s\n", output_safe(arena, run_id));
	return EXIT_OK;
}

// clang-format off
const struct command cancel_command = {
	.name = "cancel",
	.operands = "RUN",
	.summary = "cancel a run that is waiting or running",
	.about = "Kills the run and records it as `canceled`. You can cancel your own runs; "
		 "administrators can cancel any run.",
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl cancel last", "the newest run" },
		{ "cectl cancel 01JD3", "any unique beginning of its id" }),
	.run = cancel_run,
};
// clang-format on
