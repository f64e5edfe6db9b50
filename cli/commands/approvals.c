/* Runs that wait for a person's word, and giving it. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/times.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/record.h"
#include "cli/session/page.h"
#include "cli/terminal/table.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

/* ---- what waits ------------------------------------------------------------------------------ */

static const char *from_now(struct cli *cli, int64_t at_us)
{
	char text[UNITS_TEXT_MAX];
	int64_t left_us = at_us - clock_wall_us();

	if (left_us <= 0)
		return "no more";
	units_print_us(text, left_us);
	return output_safe(&cli->arena, text);
}

static const char *ago(struct cli *cli, int64_t at_us)
{
	char text[TIMES_TEXT_MAX];

	times_print_ago(text, at_us, clock_wall_us());
	return output_safe(&cli->arena, text);
}

static void show_who(struct cli *cli, const struct value *run)
{
	const struct value *caller = value_get(run, "caller");
	const struct value *request = value_get(run, "request");

	page_field(cli, "who",
		arena_printf(&cli->arena, "uid %s, pid %s", page_text(cli, caller, "uid"),
			page_text(cli, caller, "pid")));
	page_value(cli, "agent", value_get(request, "agent"));
	page_value(cli, "task", value_get(request, "task"));
	page_value(cli, "labels", value_get(request, "labels"));
	page_field(cli, "asked", ago(cli, page_int(run, "since_us")));
	page_field(cli, "left", from_now(cli, page_int(run, "until_us")));
	page_field(cli, "policy",
		arena_printf(&cli->arena, "%s, which asks",
			page_text(cli, value_get(run, "policy"), "name")));
	page_value(cli, "language", value_get(request, "language"));
	page_value(cli, "program", value_get(run, "code_hash"));
	page_value(cli, "args", value_get(request, "args"));
	page_value(cli, "env", value_get(request, "env"));
}

/* The inputs of the program; those that may be code are shown like code. */
static void show_part(struct cli *cli, const char *title, const struct value *data, bool full)
{
	if (!page_is_bytes(data))
		return;
	if (!full) {
		page_field(cli, title,
			page_number(
				cli, "_bytes", value_uint(&cli->arena, (uint64_t)data->text.len)));
		return;
	}
	output_heading(&cli->out, title);
	(void)page_block(cli, data, SIZE_MAX);
}

static void show_inputs(struct cli *cli, const struct value *run, bool full)
{
	const struct value *request = value_get(run, "request");
	const struct value *files = value_get(request, "files");

	show_part(cli, "stdin", value_get(request, "stdin"), full);
	for (size_t i = 0; value_at(files, i); i++) {
		const struct value *file = value_at(files, i);

		show_part(cli, page_text(cli, file, "path"), value_get(file, "data"), full);
	}
}

/* Nothing of a program may hide behind the border of a terminal: lines are not cut here. */
static void show_run(struct cli *cli, const struct value *run, bool full)
{
	size_t width = cli->out.width;
	const char *run_id = page_text(cli, run, "run_id");

	cli->out.width = 0;
	say(&cli->out, PAINT_BOLD, "%s\n", run_id);
	show_who(cli, run);
	if (!full)
		show_inputs(cli, run, false);
	if (value_get(run, "changed"))
		say(&cli->out, PAINT_RED,
			"  this was changed in the store while it waited: see cectl audit "
			"verify, and deny it\n");
	page_findings(cli, value_get(value_get(run, "policy"), "findings"));
	record_show_code(cli, run, full);
	if (full)
		show_inputs(cli, run, true);
	cli->out.width = width;
	say(&cli->out, PAINT_DIM, "\n%s%s, or cectl deny %s --reason ...\n\n",
		full ? "" : "  all of it: cectl approvals RUN; ", cli_more(cli, "approve", run_id),
		run_id);
}

static const struct table_column grant_columns[] = {
	{ "GRANT", true, false, 0 },
	{ "OF UID", true, false, 0 },
	{ "LANGUAGE", false, false, 1 },
	{ "POLICY", false, false, 1 },
	{ "LEFT", true, false, 0 },
	{ "USES", true, false, 0 },
	{ "BY UID", true, false, 0 },
	{ "PROGRAM", false, true, 0 },
	{ "WHY", false, true, 2 },
};

static void show_grants(struct cli *cli, const struct value *grants)
{
	struct table table;

	if (!value_at(grants, 0))
		return;
	output_heading(&cli->out, "programs that are approved for a time: cectl revoke GRANT");
	table_init(&table, &cli->arena, grant_columns, COUNT_OF(grant_columns));
	for (size_t i = 0; value_at(grants, i); i++) {
		const struct value *grant = value_at(grants, i);
		const char *uses = page_text(cli, grant, "uses");

		table_add(
			&table, (const struct table_cell[]){
					{ page_text(cli, grant, "act"), PAINT_BOLD },
					{ page_text(cli, grant, "uid"), PAINT_PLAIN },
					{ page_text(cli, grant, "language"), PAINT_PLAIN },
					{ page_text(cli, grant, "policy"), PAINT_PLAIN },
					{ from_now(cli, page_int(grant, "until_us")), PAINT_PLAIN },
					{ uses[0] ? uses : "any", PAINT_PLAIN },
					{ page_text(cli, grant, "by"), PAINT_PLAIN },
					{ page_text(cli, grant, "code_hash"), PAINT_DIM },
					{ page_text(cli, grant, "reason"), PAINT_PLAIN },
				});
	}
	table_print(&table, &cli->out, 0);
}

static int run_approvals(struct cli *cli, const void *given)
{
	struct value *params = value_map(&cli->arena);
	bool one = cli->operands.count > 0;
	const struct value *page = NULL;
	const struct value *waiting;
	int status;

	(void)given;
	if (one && value_map_put(&cli->arena, params, "run_id",
			   value_text(&cli->arena, cli->operands.items[0])) < 0)
		return cli_no_memory(cli);
	status = cli_ask(cli, "approvals.list", params, NULL, &page);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, page, EXIT_OK);
	waiting = value_get(page, "waiting");
	if (!value_at(waiting, 0))
		say(&cli->err, PAINT_PLAIN, "cectl: %s\n",
			one ? "this run does not wait for approval" : "no run waits for approval");
	for (size_t i = 0; value_at(waiting, i); i++)
		show_run(cli, value_at(waiting, i), one);
	if (value_as_bool(value_get(page, "more"), false))
		say(&cli->out, PAINT_DIM, "... and more: decide about these first\n");
	if (!one)
		show_grants(cli, value_get(page, "grants"));
	return one && !value_at(waiting, 0) ? EXIT_FAILED : EXIT_OK;
}

/* ---- yes and no ------------------------------------------------------------------------------ */

struct approve_options {
	bool code;
	const char *ttl, *count, *reason;
};

// clang-format off
static const struct option_row approve_rows[] = {
	{ 0, "code-hash", NULL, OPTION_FLAG, offsetof(struct approve_options, code),
		"also this user's later runs of the same program under the same policy" },
	{ 0, "ttl", "TIME", OPTION_TEXT, offsetof(struct approve_options, ttl),
		"these for so long, as 30m, 12h, 7d; when not given, as the daemon is set" },
	{ 0, "count", "N", OPTION_TEXT, offsetof(struct approve_options, count),
		"these so many times, this run included" },
	{ 0, "reason", "TEXT", OPTION_TEXT, offsetof(struct approve_options, reason),
		"why, for the record" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct option_row reason_rows[] = {
	{ 0, "reason", "TEXT", OPTION_TEXT, 0, "why, for the record and for the user" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};
// clang-format on

static int approvals_put(
	struct cli *cli, struct value *params, const char *key, struct value *value)
{
	return value_map_put(&cli->arena, params, key, value) < 0 ? cli_no_memory(cli) : 0;
}

static int put_text(struct cli *cli, struct value *params, const char *key, const char *text)
{
	return text ? approvals_put(cli, params, key, value_text(&cli->arena, text)) : 0;
}

static int put_scope(struct cli *cli, struct value *params, const struct approve_options *options)
{
	struct err err = ERR_INIT;
	uint64_t ttl_ms = 0;
	uint64_t count = 0;
	int status = 0;

	if (options->code || options->ttl || options->count)
		status = put_text(cli, params, "for", "code");
	if (options->ttl && units_parse_ms(options->ttl, &ttl_ms, &err) < 0)
		return cli_usage(cli, "--ttl: %s", err.text);
	if (status == 0 && options->ttl)
		status = approvals_put(cli, params, "ttl_ms", value_uint(&cli->arena, ttl_ms));
	if (options->count && units_parse_count(options->count, &count, &err) < 0)
		return cli_usage(cli, "--count: %s", err.text);
	if (status == 0 && options->count)
		status = approvals_put(cli, params, "count", value_uint(&cli->arena, count));
	return status;
}

static int run_approve(struct cli *cli, const void *given)
{
	const struct approve_options *options = given;
	struct value *params = value_map(&cli->arena);
	const struct value *result = NULL;
	const char *uses;
	int status = put_text(cli, params, "run_id", cli->operands.items[0]);

	if (status == 0)
		status = put_scope(cli, params, options);
	if (status == 0)
		status = put_text(cli, params, "reason", options->reason);
	if (status == 0)
		status = cli_ask(cli, "approvals.approve", params, NULL, &result);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	uses = page_text(cli, result, "uses");
	say(&cli->out, PAINT_PLAIN, "%s of uid %s is approved and continues\n",
		page_text(cli, result, "run_id"), page_text(cli, result, "uid"));
	if (value_get(result, "until_us"))
		say(&cli->out, PAINT_PLAIN,
			"its program is approved for %s%s%s; cectl revoke %s ends that\n",
			from_now(cli, page_int(result, "until_us")), uses[0] ? ", more uses: " : "",
			uses, page_text(cli, result, "act"));
	return EXIT_OK;
}

static int run_deny(struct cli *cli, const void *given)
{
	const char *const *reason = given;
	struct value *params = value_map(&cli->arena);
	const struct value *result = NULL;
	int status = put_text(cli, params, "run_id", cli->operands.items[0]);

	if (status == 0)
		status = put_text(cli, params, "reason", *reason);
	if (status == 0)
		status = cli_ask(cli, "approvals.deny", params, NULL, &result);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	say(&cli->out, PAINT_PLAIN, "%s of uid %s is denied\n", page_text(cli, result, "run_id"),
		page_text(cli, result, "uid"));
	return EXIT_OK;
}

static int run_revoke(struct cli *cli, const void *given)
{
	const char *const *reason = given;
	struct value *params = value_map(&cli->arena);
	const struct value *result = NULL;
	struct err err = ERR_INIT;
	uint64_t grant = 0;
	int status;

	if (units_parse_count(cli->operands.items[0], &grant, &err) < 0)
		return cli_usage(
			cli, "%s is no grant: cectl approvals lists them", cli->operands.items[0]);
	status = approvals_put(cli, params, "grant", value_uint(&cli->arena, grant));
	if (status == 0)
		status = put_text(cli, params, "reason", *reason);
	if (status == 0)
		status = cli_ask(cli, "approvals.revoke", params, NULL, &result);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	say(&cli->out, PAINT_PLAIN, "%" PRIu64 " holds no more; runs of it are asked about again\n",
		grant);
	return EXIT_OK;
}

/* ---- the commands ---------------------------------------------------------------------------- */

// clang-format off
static const struct example approvals_examples[] = {
	{ "cectl approvals", "what waits, with the lines in question" },
	{ "cectl approvals 01JD3", "all of one: code, files, stdin" },
	{ "cectl watch -k asked", "see new ones as they come" },
	{ NULL, NULL },
};

static const struct example approve_examples[] = {
	{ "cectl approve 01JD3", "this run, and no other" },
	{ "cectl approve 01JD3 --code-hash --ttl 8h", "this program of this user, for a day's work" },
	{ "cectl approve 01JD3 --count 20 --reason 'nightly report'", "twenty runs of it" },
	{ NULL, NULL },
};

static const struct example deny_examples[] = {
	{ "cectl deny 01JD3 --reason 'use the file API instead'", "the user gets the reason" },
	{ NULL, NULL },
};

static const struct example revoke_examples[] = {
	{ "cectl revoke 17", "the grant of that number, as cectl approvals lists it" },
	{ NULL, NULL },
};
// clang-format on

const struct command approvals_command = {
	.name = "approvals",
	.operands = "[RUN]",
	.summary = "runs that wait for a person, with code and findings",
	.about = "For approvers. Shows the runs whose policy asks a person: who sent them, what "
		 "the policy found, and the program. Control characters are escaped and no line "
		 "is cut. With RUN it also shows files and stdin.",
	.operand_most = 1,
	.examples = approvals_examples,
	.run = run_approvals,
};

const struct command approve_command = {
	.name = "approve",
	.operands = "RUN",
	.summary = "approve a run that waits",
	.about = "For approvers. You cannot approve your own run. The run continues in its jail "
		 "and under its limits, and is checked against its policy once more. With "
		 "--code-hash, --ttl or --count, the same program of the same user is not asked "
		 "about again, even with other input. The decision is recorded.",
	.options = approve_rows,
	.options_size = sizeof(struct approve_options),
	.operand_least = 1,
	.operand_most = 1,
	.examples = approve_examples,
	.run = run_approve,
};

const struct command deny_command = {
	.name = "deny",
	.operands = "RUN",
	.summary = "deny a run that waits for approval",
	.about = "For approvers. You cannot deny your own run: use cectl cancel. The run ends as "
		 "`approval_denied`, with the reason. The decision is recorded.",
	.options = reason_rows,
	.options_size = sizeof(const char *),
	.operand_least = 1,
	.operand_most = 1,
	.examples = deny_examples,
	.run = run_deny,
};

const struct command revoke_command = {
	.name = "revoke",
	.operands = "GRANT",
	.summary = "take back the approval of a program",
	.about = "For approvers. Takes back an approval that cectl approve --code-hash gave. "
		 "Runs that have started are not affected. The act is recorded.",
	.options = reason_rows,
	.options_size = sizeof(const char *),
	.operand_least = 1,
	.operand_most = 1,
	.examples = revoke_examples,
	.run = run_revoke,
};
