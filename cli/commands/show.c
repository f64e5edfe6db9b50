#include <stddef.h>

#include "cli/base/exits.h"
#include "cli/commands/commands.h"
#include "cli/commands/record.h"

struct show_options {
	bool full;
};

// clang-format off
static const struct option_row rows[] = {
	{ 0, "full", NULL, OPTION_FLAG, offsetof(struct show_options, full),
		"all of the code and of the stored output" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct example examples[] = {
	{ "cectl show last", "the newest run" },
	{ "cectl show last~2", "the one two before it" },
	{ "cectl show 01JD3 --full | less", "a run by the beginning of its id, with everything" },
	{ "cectl show last --json | jq .evidence", "what the kernel said" },
	{ NULL, NULL },
};
// clang-format on

static int show_run(struct cli *cli, const void *given)
{
	const struct show_options *options = given;
	const struct value *record = NULL;
	int status = record_get(cli, cli->operands.items[0], &record);

	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, record, EXIT_OK);
	record_show_head(cli, record);
	say(&cli->out, PAINT_PLAIN, "\n");
	record_show_facts(cli, record);
	record_show_policy(cli, record);
	record_show_evidence(cli, record);
	record_show_refused(cli, record);
	record_show_files(cli, record);
	record_show_output_errors(cli, record);
	record_show_limits(cli, record);
	record_show_times(cli, record);
	record_show_code(cli, record, options->full);
	record_show_streams(cli, record, options->full);
	record_show_artifacts(cli, record);
	say(&cli->out, PAINT_DIM, "\nmore: %s\n",
		cli_more(cli, "trace", output_text(&cli->arena, value_get(record, "run_id"))));
	return EXIT_OK;
}

const struct command show_command = {
	.name = "show",
	.operands = "RUN",
	.summary = "everything that is recorded about one run",
	.about =
		"Shows one recorded run as a page: how it ended and the evidence for it, what the "
		"policy found, limits and what held them, where the time went, the program with the "
		"lines in question marked, and its output.\n\n"
		"RUN is a run's id, any unique beginning of it, `last`, or `last~N`.",
	.options = rows,
	.options_size = sizeof(struct show_options),
	.operand_least = 1,
	.operand_most = 1,
	.examples = examples,
	.reads_copy = true,
	.run = show_run,
};
