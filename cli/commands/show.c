/* cectl show and trace: one run as a page, and its timeline. */
#include "cli/base/exits.h"
#include "cli/commands/commands.h"
#include "cli/commands/record.h"
#include "cli/session/page.h"
#include "proto/base/container.h"

static void show_record(struct cli *cli, const struct value *record)
{
	record_show(cli, record, cli_flag(cli, "full"));
	say(&cli->out, PAINT_DIM, "\nmore: %s\n",
		cli_more(cli, "trace", page_text(cli, record, "run_id")));
}

// clang-format off
const struct command show_command = {
	.name = "show",
	.operands = "RUN",
	.summary = "everything that is recorded about one run",
	.about =
		"Shows one recorded run as a page: how it ended and the evidence for it, what the "
		"policy found, limits and what held them, where the time went, the program with the "
		"lines in question marked, and its output.\n\n"
		"RUN is a run's id, any unique beginning of it, `last`, or `last~N`.",
	.options = OPTIONS(
		{ 0, "full", NULL, OPTION_FLAG, NULL, NULL,
			"all of the code and of the stored output" }),
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl show last", "the newest run" },
		{ "cectl show last~2", "the one two before it" },
		{ "cectl show 01JD3 --full | less", "a run by the beginning of its id, with everything" },
		{ "cectl show last --json | jq .evidence", "what the kernel said" }),
	.reads_copy = true,
	.method = "runs.get",
	.operand_param = "run_id",
	.show = show_record,
};
// clang-format on

/* {run_id, outcome, trace}: the record's own words, without the rest. */
static int trace_document(struct cli *cli, const struct value *record)
{
	static const char *const keys[] = { "run_id", "outcome", "received_us", "metrics",
		"trace" };
	struct value *map = value_map(&cli->arena);

	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		struct value *value = value_get(record, keys[i]);

		if (value)
			(void)value_map_put(&cli->arena, map, keys[i], value);
	}
	return cli_document(cli, map, EXIT_OK);
}

static int trace_run(struct cli *cli)
{
	const struct value *record = NULL;
	int status = record_get(cli, cli_operand(cli, 0), &record);

	if (status != 0)
		return status;
	if (cli->json)
		return trace_document(cli, record);
	record_show_head(cli, record);
	say(&cli->out, PAINT_PLAIN, "\n");
	record_show_trace(cli, record);
	return EXIT_OK;
}

// clang-format off
const struct command trace_command = {
	.name = "trace",
	.operands = "RUN",
	.summary = "the timeline of a run, step by step",
	.about =
		"Shows each step of a run with the time since its request was whole, and a bar for "
		"how long it took.",
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl trace last", "what happened when, in the newest run" },
		{ "cectl trace last --json | jq '.trace[] | select(.ok == false)'",
			"only what went wrong" }),
	.reads_copy = true,
	.run = trace_run,
};
// clang-format on
