#include <stddef.h>

#include "cli/commands.h"
#include "cli/exits.h"
#include "cli/explain.h"
#include "cli/page.h"
#include "cli/record.h"

// clang-format off
static const struct example examples[] = {
	{ "cectl explain last", "the newest run" },
	{ "cectl explain 01JD3 --json | jq -r '.change[]'", "what an agent may do about it" },
	{ NULL, NULL },
};

static const struct {
	const char *title, *key;
} parts[EXPLAIN_PARTS] = {
	[EXPLAIN_HAPPENED] = { "what happened", "happened" },
	[EXPLAIN_KNOWN] =    { "how that is known", "known" },
	[EXPLAIN_CHANGE] =   { "what to change", "change" },
};
// clang-format on

static struct value *list_of(
	struct cli *cli, const struct explanation *explanation, enum explain_part part)
{
	struct value *list = value_list(&cli->arena);

	for (size_t i = 0; i < explanation->counts[part]; i++)
		value_list_add(&cli->arena, list,
			value_text(&cli->arena, explanation->sentences[part][i]));
	return list;
}

static int document(
	struct cli *cli, const struct value *record, const struct explanation *explanation)
{
	static const char *const kept[] = { "run_id", "outcome" };
	struct value *map = value_map(&cli->arena);

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		value_map_put(&cli->arena, map, kept[i],
			value_text(&cli->arena, value_as_text(value_get(record, kept[i]))));
	for (enum explain_part part = 0; part < EXPLAIN_PARTS; part++)
		value_map_put(&cli->arena, map, parts[part].key, list_of(cli, explanation, part));
	return value_ok(&cli->arena) ? cli_document(cli, map, EXIT_OK) : cli_no_memory(cli);
}

static void show(struct cli *cli, const struct explanation *explanation)
{
	for (enum explain_part part = 0; part < EXPLAIN_PARTS; part++) {
		if (!explanation->counts[part])
			continue;
		output_heading(&cli->out, parts[part].title);
		for (size_t i = 0; i < explanation->counts[part]; i++)
			page_wrapped(cli, PAINT_PLAIN, explanation->sentences[part][i], 2);
	}
}

static int run(struct cli *cli, const void *given)
{
	const struct value *record = NULL;
	struct explanation explanation;
	const char *outcome;
	int status = record_get(cli, cli->operands.items[0], &record);

	(void)given;
	if (status != 0)
		return status;
	if (explain(cli, record, &explanation) < 0)
		return cli_no_memory(cli);
	if (cli->json)
		return document(cli, record, &explanation);
	outcome = page_text(cli, record, "outcome");
	say(&cli->out, PAINT_BOLD, "run %s  ", page_text(cli, record, "run_id"));
	if (outcome[0])
		say(&cli->out, output_outcome_paint(outcome), "%s\n", outcome);
	else
		say(&cli->out, PAINT_CYAN, "%s\n", page_text(cli, record, "state"));
	show(cli, &explanation);
	say(&cli->out, PAINT_DIM, "\nmore: %s\n",
		cli_more(cli, "show", page_text(cli, record, "run_id")));
	return EXIT_OK;
}

const struct command explain_command = {
	.name = "explain",
	.operands = "RUN",
	.summary = "why a run ended as it did, and what to change",
	.about =
		"Says in sentences what became of a run, how that is known, and what to do about it, "
		"from its record alone. With --json the sentences come as lists, for agents.\n\n"
		"RUN is a run's id, any unique beginning of it, `last`, or `last~N`.",
	.operand_least = 1,
	.operand_most = 1,
	.examples = examples,
	.reads_copy = true,
	.run = run,
};
