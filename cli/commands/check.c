#include <string.h>

#include "cli/base/exits.h"
#include "cli/commands/job_options.h"
#include "cli/session/page.h"

/* The lines that findings point at, from the program as it was sent. */
static void show_lines(struct cli *cli, const struct value *params, const struct value *findings)
{
	const struct page_marks marks = { findings, 0 };

	say(&cli->out, PAINT_PLAIN, "\n");
	page_code(cli, value_get(params, "code"), &marks, false);
}

/* All that is wrong with the request. */
static void show_contract(struct cli *cli, const struct value *result)
{
	const struct value *errors = value_get(result, "contract_errors");

	for (size_t i = 0; value_at(errors, i); i++) {
		const char *message = page_text(cli, value_at(errors, i), "message");
		const char *in_words =
			cli_refusal(cli, page_text(cli, value_at(errors, i), "pointer"), message);

		say(&cli->out, PAINT_RED, "  %s ", output_mark(&cli->out, MARK_BAD));
		say(&cli->out, PAINT_PLAIN, "%s\n", in_words ? in_words : message);
	}
	if (value_as_bool(value_get(result, "contract_errors_more"), false))
		say(&cli->out, PAINT_PLAIN, "    and there is more\n");
}

static const struct {
	const char *would;
	const char *words;
	enum mark mark;
	enum paint paint;
} answers[] = {
	{ "run", "would run", MARK_GOOD, PAINT_GREEN },
	{ "ask", "would wait until a person has approved it", MARK_DOT, PAINT_YELLOW },
	{ "", "would not run", MARK_BAD, PAINT_RED },
};

/* "would run under policy standard  (sha256:...)" */
static void show_verdict(struct cli *cli, const struct value *result, const char *would)
{
	size_t row = 0;
	const char *policy =
		output_text(&cli->arena, value_get(value_get(result, "policy"), "name"));
	const char *code_hash = output_text(&cli->arena, value_get(result, "code_hash"));

	while (answers[row].would[0] && strcmp(answers[row].would, would) != 0)
		row++;
	say(&cli->out, answers[row].paint, "%s %s", output_mark(&cli->out, answers[row].mark),
		answers[row].words);
	if (policy[0])
		say(&cli->out, PAINT_PLAIN, " under policy %s", policy);
	if (code_hash[0])
		say(&cli->out, PAINT_DIM, "  (%s)", code_hash);
	say(&cli->out, PAINT_PLAIN, "\n");
}

static int check_show(struct cli *cli, const struct value *params, const struct value *result)
{
	const char *would = output_text(&cli->arena, value_get(result, "would"));
	const struct value *findings = value_get(value_get(result, "policy"), "findings");
	bool runs = strcmp(would, "run") == 0;

	if (cli->json)
		return cli_document(cli, result, runs ? EXIT_OK : EXIT_REFUSED);
	show_verdict(cli, result, would);
	show_contract(cli, result);
	page_findings(cli, findings);
	if (value_at(findings, 0))
		show_lines(cli, params, findings);
	return runs ? EXIT_OK : EXIT_REFUSED;
}

static int check_run(struct cli *cli)
{
	const struct value *result = NULL;
	struct value *params = NULL;
	int status = job_options_params(cli, &params);

	if (status == 0)
		status = cli_ask(cli, "check", params, NULL, &result);
	return status != 0 ? status : check_show(cli, params, result);
}

// clang-format off
const struct command check_command = {
	.name = "check",
	.operands = "[FILE | -c CODE | -] [-- ARG...]",
	.summary = "check a program against contract and policy without running it",
	.about = "Reports what `cectl run` with the same options would report: the contract and "
		 "the policy, with rule, line and column of every finding. Nothing is run. Exits "
		 "with 0 when the program would run, and with 126 when it would be refused or "
		 "would wait for a person.",
	.options = OPTIONS(
		JOB_OPTION_ROWS),
	.operand_most = 1,
	.instead = "code",
	.takes_rest = true,
	.examples = EXAMPLES(
		{ "cectl check agent.py --policy strict", "would this be allowed to run, and if not, why?" },
		{ "cectl check --json -c 'import os' | jq .would", "\"run\", \"ask\" or \"deny\"" }),
	.run_statuses = true,
	.run = check_run,
};
// clang-format on
