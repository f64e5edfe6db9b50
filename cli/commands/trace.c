#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/record.h"
#include "cli/session/page.h"

static const struct example examples[] = {
	{ "cectl trace last", "what happened when, in the newest run" },
	{ "cectl trace last --json | jq '.trace[] | select(.ok == false)'",
		"only what went wrong" },
	{ NULL, NULL },
};

/* {run_id, outcome, trace}: the record's own words, without the rest. */
static int trace_document(struct cli *cli, const struct value *record)
{
	static const char *const keys[] = { "run_id", "outcome", "received_us", "metrics",
		"trace" };
	struct value *map = value_map(&cli->arena);

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct value *value = value_get(record, keys[i]);

		if (value && value_map_put(&cli->arena, map, keys[i], value) < 0)
			return cli_no_memory(cli);
	}
	return cli_document(cli, map, EXIT_OK);
}

static int trace_run(struct cli *cli, const void *given)
{
	const struct value *record = NULL;
	int status = record_get(cli, cli->operands.items[0], &record);

	(void)given;
	if (status != 0)
		return status;
	if (cli->json)
		return trace_document(cli, record);
	record_show_head(cli, record);
	say(&cli->out, PAINT_PLAIN, "\n");
	record_show_trace(cli, record);
	return EXIT_OK;
}

const struct command trace_command = {
	.name = "trace",
	.operands = "RUN",
	.summary = "the timeline of a run, step by step",
	.about =
		"Shows each step of a run with the time since its request was whole, and a bar for "
		"how long it took.",
	.operand_least = 1,
	.operand_most = 1,
	.examples = examples,
	.reads_copy = true,
	.run = trace_run,
};
