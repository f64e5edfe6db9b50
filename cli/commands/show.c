/* cectl show: one run as a page. */
#include "cli/commands/commands.h"
#include "cli/commands/record.h"
#include "cli/session/page.h"

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
