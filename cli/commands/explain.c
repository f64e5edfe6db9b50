#include "cli/base/exits.h"
#include "cli/commands/commands.h"
#include "cli/commands/record.h"
#include "cli/session/explanation.h"
#include "cli/session/page.h"
#include "proto/fill.h"

// clang-format off
static const struct {
	const char *title, *key;
} parts[EXPLAIN_PARTS] = {
	[EXPLAIN_HAPPENED] = { "what happened", "happened" },
	[EXPLAIN_KNOWN] =    { "how that is known", "known" },
	[EXPLAIN_CHANGE] =   { "what to change", "change" },
};
// clang-format on

static struct value *explain_list_of(
	struct cli *cli, const struct explanation *explanation, enum explain_part part)
{
	struct value *list = value_list(&cli->arena);

	for (size_t i = 0; i < explanation->counts[part]; i++)
		value_list_add(&cli->arena, list,
			value_text(&cli->arena, explanation->sentences[part][i]));
	return list;
}

static int explain_document(
	struct cli *cli, const struct value *record, const struct explanation *explanation)
{
	struct fill fill = fill_start(&cli->arena);

	fill_shared(&fill, "run_id", value_get(record, "run_id"));
	fill_value(&fill, "outcome",
		value_text(fill.arena, value_as_text(value_get(record, "outcome"))));
	for (enum explain_part part = 0; part < EXPLAIN_PARTS; part++)
		fill_value(&fill, parts[part].key, explain_list_of(cli, explanation, part));
	return cli_document(cli, fill_done(&fill), EXIT_OK);
}

static void explain_show(struct cli *cli, const struct explanation *explanation)
{
	for (enum explain_part part = 0; part < EXPLAIN_PARTS; part++) {
		if (!explanation->counts[part])
			continue;
		output_heading(&cli->out, parts[part].title);
		for (size_t i = 0; i < explanation->counts[part]; i++)
			page_wrapped(cli, PAINT_PLAIN, explanation->sentences[part][i], 2);
	}
}

static int explain_run(struct cli *cli)
{
	const struct value *record = NULL;
	struct explanation explanation;
	const char *outcome;
	int status = record_get(cli, cli_operand(cli, 0), &record);

	if (status != 0)
		return status;
	if (explain(cli, record, &explanation) < 0)
		return cli_no_memory(cli);
	if (cli->json)
		return explain_document(cli, record, &explanation);
	outcome = page_text(cli, record, "outcome");
	say(&cli->out, PAINT_BOLD, "run %s  ", page_text(cli, record, "run_id"));
	if (outcome[0])
		say(&cli->out, output_outcome_paint(outcome), "%s\n", outcome);
	else
		say(&cli->out, PAINT_CYAN, "%s\n", page_text(cli, record, "state"));
	explain_show(cli, &explanation);
	say(&cli->out, PAINT_DIM, "\nmore: %s\n",
		cli_more(cli, "show", page_text(cli, record, "run_id")));
	return EXIT_OK;
}

// clang-format off
const struct command explain_command = {
	.name = "explain",
	.operands = "RUN",
	.summary = "why a run ended as it did, and what to change",
	.about = "Explains in sentences how a run ended, what the evidence is, and what to "
		 "change. It uses only the record of the run. With --json the sentences come as "
		 "lists, for agents.\n\n"
		 "RUN is a run's id, any unique beginning of it, `last`, or `last~N`.",
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl explain last", "the newest run" },
		{ "cectl explain 01JD3 --json | jq -r '.change[]'", "what an agent may do about it" }),
	.reads_copy = true,
	.run = explain_run,
};
// clang-format on
