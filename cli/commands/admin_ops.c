/* The admin operations drain, resume, kill-all, block, unblock, and the list of their uses. */
#include <inttypes.h>
#include <stddef.h>

#include "cli/base/exits.h"
#include "cli/base/times.h"
#include "cli/base/units.h"
#include "cli/base/users.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"
#include "cli/terminal/table.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/fill.h"

struct admin_op_options {
	const char *reason;
};

struct acts_options {
	const char *limit;
	const char *before;
};

// clang-format off
static const struct option_row rows[] = {
	{ 0, "reason", "TEXT", OPTION_TEXT, offsetof(struct admin_op_options, reason),
		"why, for the record and for those who are refused" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct option_row acts_rows[] = {
	{ 'n', "limit", "N", OPTION_TEXT, offsetof(struct acts_options, limit),
		"how many, at most 1000; 50 unless said" },
	{ 0, "before", "ACT", OPTION_TEXT, offsetof(struct acts_options, before),
		"only acts before this one: the next page" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};
// clang-format on

static int admin_op_ask(struct cli *cli, const char *method, struct value *params,
	const char *reason, const struct value **ret_result)
{
	if (reason &&
		value_map_put(&cli->arena, params, "reason", value_text(&cli->arena, reason)) < 0)
		return cli_no_memory(cli);
	return cli_ask(cli, method, params, NULL, ret_result);
}

/* An operation on the whole daemon.  Prints `said` with the number under `key` of the answer. */
static int admin_op_whole(
	struct cli *cli, const void *given, const char *method, const char *said, const char *key)
{
	const struct admin_op_options *options = given;
	const struct value *result = NULL;
	int status = admin_op_ask(cli, method, value_map(&cli->arena), options->reason, &result);

	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	say(&cli->out, PAINT_PLAIN, "%s%s\n", page_text(cli, result, key), said);
	return EXIT_OK;
}

static int run_drain(struct cli *cli, const void *given)
{
	return admin_op_whole(cli, given, "admin.drain",
		" runs are in progress and continue; no new ones are taken: cectl resume",
		"in_progress");
}

static int run_resume(struct cli *cli, const void *given)
{
	return admin_op_whole(cli, given, "admin.resume",
		" runs are in progress; new ones are taken", "in_progress");
}

static int run_kill_all(struct cli *cli, const void *given)
{
	return admin_op_whole(cli, given, "admin.kill_all",
		" runs were killed; no new ones are taken: cectl resume", "killed");
}

/* The user that the operand names, and what the daemon answers. */
static int admin_op_user(struct cli *cli, const void *given, const char *method, uint32_t *ret_uid,
	const struct value **ret_result)
{
	const struct admin_op_options *options = given;
	struct value *params = value_map(&cli->arena);
	struct err err = ERR_INIT;

	if (users_parse(cli->operands.items[0], ret_uid, &err) < 0)
		return cli_usage(cli, "%s", err.text);
	if (value_map_put(&cli->arena, params, "uid", value_uint(&cli->arena, *ret_uid)) < 0)
		return cli_no_memory(cli);
	return admin_op_ask(cli, method, params, options->reason, ret_result);
}

static int run_block(struct cli *cli, const void *given)
{
	const struct value *result = NULL;
	uint32_t uid = 0;
	int status = admin_op_user(cli, given, "admin.block", &uid, &result);

	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	say(&cli->out, PAINT_PLAIN,
		"uid %" PRIu32 " gets no new runs; its runs in progress continue\n", uid);
	return EXIT_OK;
}

/* A user who was not blocked may be a typing error, with another user still blocked. */
static int run_unblock(struct cli *cli, const void *given)
{
	const struct value *result = NULL;
	uint32_t uid = 0;
	int status = admin_op_user(cli, given, "admin.unblock", &uid, &result);
	bool was_blocked;

	if (status != 0)
		return status;
	was_blocked = value_as_bool(value_get(result, "was_blocked"), true);
	if (cli->json)
		return cli_document(cli, result, was_blocked ? EXIT_OK : EXIT_FAILED);
	if (was_blocked)
		say(&cli->out, PAINT_PLAIN, "uid %" PRIu32 " gets runs again\n", uid);
	else
		say(&cli->err, PAINT_PLAIN,
			"cectl: uid %" PRIu32 " was not blocked; cectl status lists who is\n", uid);
	return was_blocked ? EXIT_OK : EXIT_FAILED;
}

/* ---- acts ------------------------------------------------------------------------------------ */

static const struct table_column columns[] = {
	{ "ACT", true, false, 0 },
	{ "WHEN", false, false, 0 },
	{ "UID", true, false, 0 },
	{ "WHAT", false, false, 0 },
	{ "WITH", false, true, 0 },
	{ "RESULT", false, true, 1 },
};

static void add_act(struct cli *cli, struct table *table, const struct value *act)
{
	char when[TIMES_TEXT_MAX];

	times_print_ago(when, page_int(act, "at_us"), clock_wall_us());
	table_add(table, (const struct table_cell[]){
				 { page_text(cli, act, "act"), PAINT_PLAIN },
				 { output_safe(&cli->arena, when), PAINT_PLAIN },
				 { page_text(cli, act, "uid"), PAINT_PLAIN },
				 { page_text(cli, act, "method"), PAINT_BOLD },
				 { page_text(cli, act, "params"), PAINT_PLAIN },
				 { page_text(cli, act, "result"), PAINT_DIM },
			 });
}

static int put_number(struct cli *cli, struct fill *params, const char *key, const char *text)
{
	uint64_t number = 0;
	struct err err = ERR_INIT;

	if (!text)
		return 0;
	if (units_parse_count(text, &number, &err) < 0 || !number)
		return cli_usage(cli, "--%s: %s is no number from 1 on", key, text);
	fill_uint(params, key, number);
	return 0;
}

static int ask_acts(
	struct cli *cli, const struct acts_options *options, const struct value **ret_page)
{
	struct fill params = fill_start(&cli->arena);
	int status = put_number(cli, &params, "limit", options->limit);
	struct value *asked;

	if (status == 0)
		status = put_number(cli, &params, "before", options->before);
	if (status != 0)
		return status;
	asked = fill_done(&params);
	return asked ? cli_ask(cli, "admin.acts", asked, NULL, ret_page) : cli_no_memory(cli);
}

/* Older acts are on another page. */
static void tell_more(struct cli *cli, const struct value *page, const struct value *last)
{
	if (value_as_bool(value_get(page, "more"), false))
		say(&cli->err, PAINT_DIM, "older ones: the same with --before %s\n",
			page_text(cli, last, "act"));
}

static int run_acts(struct cli *cli, const void *given)
{
	const struct acts_options *options = given;
	const struct value *page = NULL;
	const struct value *acts;
	struct table table;
	int status = ask_acts(cli, options, &page);

	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, page, EXIT_OK);
	acts = value_get(page, "acts");
	if (!value_at(acts, 0)) {
		say(&cli->err, PAINT_PLAIN, "cectl: %s\n",
			options->before ? "nothing was done before that"
					: "no act is recorded yet");
		return EXIT_OK;
	}
	table_init(&table, &cli->arena, columns, COUNT_OF(columns));
	for (size_t i = 0; value_at(acts, i); i++)
		add_act(cli, &table, value_at(acts, i));
	table_print(&table, &cli->out, 0);
	tell_more(cli, page, value_at(acts, acts->list.count - 1));
	return EXIT_OK;
}

/* ---- the commands ---------------------------------------------------------------------------- */

// clang-format off
static const struct example drain_examples[] = {
	{ "cectl drain --reason 'kernel update at noon'", "before maintenance" },
	{ NULL, NULL },
};

static const struct example resume_examples[] = {
	{ "cectl resume", "after it" },
	{ NULL, NULL },
};

static const struct example kill_all_examples[] = {
	{ "cectl kill-all --reason 'an agent ran wild'", "at once" },
	{ NULL, NULL },
};

static const struct example block_examples[] = {
	{ "cectl block alice --reason 'see ticket 7'", "no new runs of this user" },
	{ NULL, NULL },
};

static const struct example unblock_examples[] = {
	{ "cectl unblock 1001", "again" },
	{ NULL, NULL },
};

static const struct example acts_examples[] = {
	{ "cectl acts", "the newest first" },
	{ "cectl acts -n 1000 --before 4711", "and the acts before that one" },
	{ "cectl acts --json | jq '.acts[0]'", "the last one, whole" },
	{ NULL, NULL },
};
// clang-format on

const struct command drain_command = {
	.name = "drain",
	.operands = "",
	.summary = "take no new runs; runs in progress continue",
	.about = "For administrators. New runs are refused as `draining` until `cectl resume` or "
		 "the next start of the daemon. The act is recorded.",
	.options = rows,
	.options_size = sizeof(struct admin_op_options),
	.examples = drain_examples,
	.run = run_drain,
};

const struct command resume_command = {
	.name = "resume",
	.operands = "",
	.summary = "take runs again",
	.about = "For administrators. Undoes `cectl drain` and `cectl kill-all`. The act is "
		 "recorded.",
	.options = rows,
	.options_size = sizeof(struct admin_op_options),
	.examples = resume_examples,
	.run = run_resume,
};

const struct command kill_all_command = {
	.name = "kill-all",
	.operands = "",
	.summary = "kill all runs, and take no new ones",
	.about = "For administrators: the emergency switch. All waiting and running runs are "
		 "killed now and recorded as `canceled`, and new runs are refused until `cectl "
		 "resume`. The act is recorded.",
	.options = rows,
	.options_size = sizeof(struct admin_op_options),
	.examples = kill_all_examples,
	.run = run_kill_all,
};

const struct command block_command = {
	.name = "block",
	.operands = "USER",
	.summary = "refuse new runs of one user",
	.about = "For administrators. USER is a name or a uid. New runs of the user are refused "
		 "as `forbidden`, with the reason, until `cectl unblock`, also after a restart. "
		 "Runs in progress continue; `cectl cancel` ends them. The act is recorded.",
	.options = rows,
	.options_size = sizeof(struct admin_op_options),
	.operand_least = 1,
	.operand_most = 1,
	.examples = block_examples,
	.run = run_block,
};

const struct command unblock_command = {
	.name = "unblock",
	.operands = "USER",
	.summary = "accept runs of a blocked user again",
	.about = "For administrators. USER is a name or a uid. Undoes `cectl block`; exits with "
		 "1 when the user was not blocked. The act is recorded.",
	.options = rows,
	.options_size = sizeof(struct admin_op_options),
	.operand_least = 1,
	.operand_most = 1,
	.examples = unblock_examples,
	.run = run_unblock,
};

const struct command acts_command = {
	.name = "acts",
	.operands = "",
	.summary = "what administrators did to the daemon",
	.about = "For administrators. Lists each use of drain, resume, kill-all, block, unblock, "
		 "gc and budgets reset, each decision of an approver, and what the daemon itself "
		 "did to the record: who, when, why, and the result.",
	.options = acts_rows,
	.options_size = sizeof(struct acts_options),
	.examples = acts_examples,
	.reads_copy = true,
	.run = run_acts,
};
