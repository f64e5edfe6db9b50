/* Runs and calls of tools that wait for a person's word, and giving it. */
#include <string.h>
#include <unistd.h>

#include "cli/base/exits.h"
#include "cli/base/option_values.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/record.h"
#include "cli/session/page.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

/* ---- what waits ------------------------------------------------------------------------------ */

/* How long it is until a moment. */
static const char *from_now(struct cli *cli, const struct value *map, const char *key)
{
	char text[UNITS_TEXT_MAX];
	int64_t left_us = page_int(map, key) - clock_wall_us();

	if (left_us <= 0)
		return "no more";
	units_print_us(text, left_us);
	return output_safe(&cli->arena, text);
}

/* The names of what its client offers; `cectl show --json` has their schemas. */
static void show_tools(struct cli *cli, const struct value *tools)
{
	const char *names = NULL;

	for (size_t i = 0; value_at(tools, i); i++) {
		const char *name = page_text(cli, value_at(tools, i), "name");

		names = names ? arena_printf(&cli->arena, "%s, %s", names, name) : name;
	}
	if (names)
		page_field(cli, "tools", names);
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
	page_field(cli, "asked", page_ago(cli, run, "since_us"));
	page_field(cli, "left", from_now(cli, run, "until_us"));
	page_field(cli, "policy",
		arena_printf(&cli->arena, "%s, which asks",
			page_text(cli, value_get(run, "policy"), "name")));
	page_value(cli, "language", value_get(request, "language"));
	page_value(cli, "program", value_get(run, "code_hash"));
	page_value(cli, "args", value_get(request, "args"));
	page_value(cli, "env", value_get(request, "env"));
	page_value(cli, "network", value_get(request, "network"));
	page_value(cli, "packages", value_get(request, "packages"));
	show_tools(cli, value_get(request, "tools"));
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

/* What is behind a mask runs, and nobody who decides sees it. */
static void show_masked(struct cli *cli, const struct value *waiting)
{
	if (value_get(waiting, "masked"))
		say(&cli->out, PAINT_RED,
			"  masked places, where you cannot see what is there: %s; cectl approve wants "
			"--masked\n",
			page_text(cli, waiting, "masked"));
}

/* Nobody decides about what is his own. */
static const char *by_whom(const struct value *who)
{
	return page_int(who, "uid") == (int64_t)getuid() ? "as another user: " : "";
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
	show_masked(cli, run);
	page_findings(cli, value_get(value_get(run, "policy"), "findings"));
	record_show_code(cli, run, full);
	if (full)
		show_inputs(cli, run, true);
	cli->out.width = width;
	say(&cli->out, PAINT_DIM, "\n%s%s%s, or cectl deny %s --reason ...\n\n",
		full ? "" : "  all of it: cectl approvals RUN; ", by_whom(value_get(run, "caller")),
		cli_more(cli, "approve", run_id), run_id);
}

/* ---- calls of tools that wait ---------------------------------------------------------------- */

static void show_call_facts(struct cli *cli, const struct value *call)
{
	const char *rule = page_text(cli, call, "rule");

	page_value(cli, "uid", value_get(call, "uid"));
	page_value(cli, "agent", value_get(call, "agent"));
	page_value(cli, "task", value_get(call, "task"));
	page_field(cli, "asked", page_ago(cli, call, "since_us"));
	page_field(cli, "left", from_now(cli, call, "until_us"));
	page_field(cli, "policy",
		arena_printf(
			&cli->arena, "%s, which asks (%s)", page_text(cli, call, "policy"), rule));
	if (value_as_bool(value_get(call, "effects"), false))
		page_field(cli, "effects", "this tool changes something");
	if (value_get(call, "args"))
		page_value(cli, "arguments", value_get(call, "args"));
	else
		page_field(cli, "arguments",
			arena_printf(&cli->arena, "%s: cectl approvals %s --call %s shows them",
				page_number(cli, "_bytes", value_get(call, "args_bytes")),
				page_text(cli, call, "run_id"), page_text(cli, call, "call")));
}

/* As with runs, no line is cut: an approver sees all that the tool would get. */
static void show_asked_call(struct cli *cli, const struct value *call)
{
	const size_t width = cli->out.width;
	const char *run_id = page_text(cli, call, "run_id");
	const char *number = page_text(cli, call, "call");

	cli->out.width = 0;
	say(&cli->out, PAINT_BOLD, "%s call %s: %s\n", run_id, number,
		page_text(cli, call, "tool"));
	show_call_facts(cli, call);
	show_masked(cli, call);
	cli->out.width = width;
	say(&cli->out, PAINT_DIM, "\n%s%s --call %s, or cectl deny %s --call %s --reason ...\n\n",
		by_whom(call), cli_more(cli, "approve", run_id), number, run_id, number);
}

static const char *uses_left(struct cli *cli, const struct value *grant, const char *key)
{
	const char *uses = page_text(cli, grant, key);

	return uses[0] ? uses : "any";
}

// clang-format off
static const struct page_column grant_columns[] = {
	{ { "GRANT",    true,  false, 0 }, "act",       PAINT_BOLD,  NULL,      NULL },
	{ { "OF UID",   true,  false, 0 }, "uid",       PAINT_PLAIN, NULL,      NULL },
	{ { "LANGUAGE", false, false, 1 }, "language",  PAINT_PLAIN, NULL,      NULL },
	{ { "POLICY",   false, false, 1 }, "policy",    PAINT_PLAIN, NULL,      NULL },
	{ { "LEFT",     true,  false, 0 }, "until_us",  PAINT_PLAIN, from_now,  NULL },
	{ { "USES",     true,  false, 0 }, "uses",      PAINT_PLAIN, uses_left, NULL },
	{ { "BY UID",   true,  false, 0 }, "by",        PAINT_PLAIN, NULL,      NULL },
	{ { "PROGRAM",  false, true,  0 }, "code_hash", PAINT_DIM,   NULL,      NULL },
	{ { "WHY",      false, true,  2 }, "reason",    PAINT_PLAIN, NULL,      NULL },
};
// clang-format on

static void show_grants(struct cli *cli, const struct value *grants)
{
	if (!value_at(grants, 0))
		return;
	output_heading(&cli->out, "programs that are approved for a time: cectl revoke GRANT");
	page_table(cli, grant_columns, COUNT_OF(grant_columns), grants, 0);
}

static int run_approvals(struct cli *cli)
{
	struct value *params = value_map(&cli->arena);
	bool one = cli_operand(cli, 0) != NULL;
	const struct value *page = NULL;
	const struct value *waiting;
	const struct value *calls;
	int status = cli_put_options(cli, params);

	if (status == 0)
		status = cli_ask(cli, "approvals.list", params, NULL, &page);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, page, EXIT_OK);
	waiting = value_get(page, "waiting");
	calls = value_get(page, "calls");
	if (!value_at(waiting, 0) && !value_at(calls, 0))
		say(&cli->err, PAINT_PLAIN, "cectl: %s\n",
			one ? "neither this run nor a call of it waits for approval"
			    : "no run and no call of a tool waits for approval");
	for (size_t i = 0; value_at(waiting, i); i++)
		show_run(cli, value_at(waiting, i), one);
	for (size_t i = 0; value_at(calls, i); i++)
		show_asked_call(cli, value_at(calls, i));
	if (value_as_bool(value_get(page, "more"), false))
		say(&cli->out, PAINT_DIM, "... and more: decide about these first\n");
	if (!one)
		show_grants(cli, value_get(page, "grants"));
	return one && !value_at(waiting, 0) && !value_at(calls, 0) ? EXIT_FAILED : EXIT_OK;
}

/* ---- yes and no ------------------------------------------------------------------------------ */

/* "01JD3..., call 3 (send_mail)": what a decision was about. */
static const char *decided_of(struct cli *cli, const struct value *result)
{
	const char *run_id = page_text(cli, result, "run_id");

	if (!value_get(result, "call"))
		return run_id;
	return arena_printf(&cli->arena, "%s, call %s (%s),", run_id,
		page_text(cli, result, "call"), page_text(cli, result, "tool"));
}

static int run_approve(struct cli *cli)
{
	struct value *params = value_map(&cli->arena);
	const struct value *result = NULL;
	const char *uses;
	int status = cli_put_options(cli, params);

	if (cli_flag(cli, "code-hash") || cli_text(cli, "ttl") || cli_text(cli, "count"))
		(void)value_map_put(&cli->arena, params, "for", value_text(&cli->arena, "code"));
	if (status == 0)
		status = cli_ask(cli, "approvals.approve", params, NULL, &result);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	uses = page_text(cli, result, "uses");
	say(&cli->out, PAINT_PLAIN, "%s of uid %s is approved and continues\n",
		decided_of(cli, result), page_text(cli, result, "uid"));
	if (value_get(result, "until_us"))
		say(&cli->out, PAINT_PLAIN,
			"its program is approved for %s%s%s; cectl revoke %s ends that\n",
			from_now(cli, result, "until_us"), uses[0] ? ", more uses: " : "", uses,
			page_text(cli, result, "act"));
	return EXIT_OK;
}

static void show_denied(struct cli *cli, const struct value *result)
{
	say(&cli->out, PAINT_PLAIN, "%s of uid %s is denied\n", decided_of(cli, result),
		page_text(cli, result, "uid"));
}

static struct value *grant_value(struct arena *arena, const char *word, struct err *err)
{
	uint64_t grant = 0;

	if (units_parse_count(word, &grant, err) == 0)
		return value_uint(arena, grant);
	(void)err_set(err, ERR_INVALID, "%s is no grant: cectl approvals lists them", word);
	return NULL;
}

static void show_revoked(struct cli *cli, const struct value *result)
{
	(void)result;
	say(&cli->out, PAINT_PLAIN, "%s holds no more; runs of it are asked about again\n",
		output_safe(&cli->arena, cli_operand(cli, 0)));
}

/* ---- the commands ---------------------------------------------------------------------------- */

// clang-format off
const struct command approvals_command = {
	.name = "approvals",
	.operands = "[RUN]",
	.summary = "runs and calls of tools that wait for a person",
	.about = "For approvers. Shows the runs whose policy asks a person: who sent them, what "
		 "the policy found, and the program. Then the calls of tools that a policy asks "
		 "about, with their arguments. Control characters are escaped and no line is "
		 "cut. With RUN it also shows files and stdin.",
	.options = OPTIONS(
		{ 0, "call", "N", OPTION_TEXT, "call", option_count,
			"only this call of a tool by RUN, with all of its arguments" }),
	.operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl approvals", "what waits, with the lines in question" },
		{ "cectl approvals 01JD3", "all of one: code, files, stdin" },
		{ "cectl watch -k asked", "see new ones as they come" }),
	.operand_param = "run_id",
	.run = run_approvals,
};

const struct command approve_command = {
	.name = "approve",
	.operands = "RUN",
	.summary = "approve a run that waits, or a call of a tool",
	.about = "For approvers. You cannot approve your own run. The run continues in its jail "
		 "and under its limits, and is checked against its policy once more. With "
		 "--code-hash, --ttl or --count, the same program of the same user is not asked "
		 "about again, even with other input. With --call, the program gets the answer "
		 "of this one call, and the run goes on as before. The decision is recorded.",
	.options = OPTIONS(
		{ 0, "call", "N", OPTION_TEXT, "call", option_count,
			"a call of a tool by the run, as cectl approvals lists it" },
		{ 0, "code-hash", NULL, OPTION_FLAG, NULL, NULL,
			"also this user's later runs of the same program under the same policy" },
		{ 0, "ttl", "TIME", OPTION_TEXT, "ttl_ms", option_ms,
			"these for so long, as 30m, 12h, 7d; when not given, as the daemon is set" },
		{ 0, "count", "N", OPTION_TEXT, "count", option_count,
			"these so many times, this run included" },
		{ 0, "masked", NULL, OPTION_FLAG, "masked", NULL,
			"although parts of it are masked, which you cannot see" },
		{ 0, "reason", "TEXT", OPTION_TEXT, "reason", NULL, "why, for the record" }),
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl approve 01JD3", "this run, and no other" },
		{ "cectl approve 01JD3 --call 2", "the second call of a tool by this run" },
		{ "cectl approve 01JD3 --code-hash --ttl 8h", "this program of this user, for a day's work" },
		{ "cectl approve 01JD3 --count 20 --reason 'nightly report'", "twenty runs of it" }),
	.operand_param = "run_id",
	.run = run_approve,
};

const struct command deny_command = {
	.name = "deny",
	.operands = "RUN",
	.summary = "deny a run that waits for approval, or a call of a tool",
	.about = "For approvers. You cannot deny your own run: use cectl cancel. The run ends as "
		 "`approval_denied`, with the reason. With --call, the call fails with the code "
		 "`denied`, and the run goes on. The decision is recorded.",
	.options = OPTIONS(
		{ 0, "call", "N", OPTION_TEXT, "call", option_count,
			"a call of a tool by the run, as cectl approvals lists it" },
		{ 0, "reason", "TEXT", OPTION_TEXT, "reason", NULL, "why, for the record and for the user" }),
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl deny 01JD3 --reason 'use the file API instead'", "the user gets the reason" },
		{ "cectl deny 01JD3 --call 2 --reason 'not this address'",
			"the program gets an error, and goes on" }),
	.method = "approvals.deny",
	.operand_param = "run_id",
	.show = show_denied,
};

const struct command revoke_command = {
	.name = "revoke",
	.operands = "GRANT",
	.summary = "take back the approval of a program",
	.about = "For approvers. Takes back an approval that cectl approve --code-hash gave. "
		 "Runs that have started are not affected. The act is recorded.",
	.options = OPTIONS(
		{ 0, "reason", "TEXT", OPTION_TEXT, "reason", NULL, "why, for the record and for the user" }),
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl revoke 17", "the grant of that number, as cectl approvals lists it" }),
	.method = "approvals.revoke",
	.operand_param = "grant",
	.operand_value = grant_value,
	.show = show_revoked,
};
// clang-format on
