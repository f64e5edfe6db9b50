/* The admin operations drain, resume, kill-all, block, unblock, and the list of their uses. */
#include <inttypes.h>

#include "cli/base/exits.h"
#include "cli/base/option_values.h"
#include "cli/base/units.h"
#include "cli/base/users.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"
#include "proto/base/container.h"

static void show_drained(struct cli *cli, const struct value *result)
{
	say(&cli->out, PAINT_PLAIN,
		"%s runs are in progress and continue; no new ones are taken: cectl resume\n",
		page_text(cli, result, "in_progress"));
}

static void show_resumed(struct cli *cli, const struct value *result)
{
	say(&cli->out, PAINT_PLAIN, "%s runs are in progress; new ones are taken\n",
		page_text(cli, result, "in_progress"));
}

static void show_killed(struct cli *cli, const struct value *result)
{
	say(&cli->out, PAINT_PLAIN, "%s runs were killed; no new ones are taken: cectl resume\n",
		page_text(cli, result, "killed"));
}

/* The user as the daemon got it: cli_put_options() has read the operand already. */
static uint32_t user_of(struct cli *cli)
{
	struct err err = ERR_INIT;
	uint32_t uid = 0;

	(void)users_parse(cli_operand(cli, 0), &uid, &err);
	return uid;
}

static void show_blocked(struct cli *cli, const struct value *result)
{
	(void)result;
	say(&cli->out, PAINT_PLAIN,
		"uid %" PRIu32 " gets no new runs; its runs in progress continue\n", user_of(cli));
}

/* A user who was not blocked may be a typing error, with another user still blocked. */
static int unblock_status(const struct value *result)
{
	return value_as_bool(value_get(result, "was_blocked"), true) ? EXIT_OK : EXIT_FAILED;
}

static void show_unblocked(struct cli *cli, const struct value *result)
{
	if (unblock_status(result) == EXIT_OK)
		say(&cli->out, PAINT_PLAIN, "uid %" PRIu32 " gets runs again\n", user_of(cli));
	else
		say(&cli->err, PAINT_PLAIN,
			"cectl: uid %" PRIu32 " was not blocked; cectl status lists who is\n",
			user_of(cli));
}

/* ---- acts ------------------------------------------------------------------------------------ */

// clang-format off
static const struct page_column columns[] = {
	{ { "ACT",    true,  false, 0 }, "act",    PAINT_PLAIN, NULL,     NULL },
	{ { "WHEN",   false, false, 0 }, "at_us",  PAINT_PLAIN, page_ago, NULL },
	{ { "UID",    true,  false, 0 }, "uid",    PAINT_PLAIN, NULL,     NULL },
	{ { "WHAT",   false, false, 0 }, "method", PAINT_BOLD,  NULL,     NULL },
	{ { "WITH",   false, true,  0 }, "params", PAINT_PLAIN, NULL,     NULL },
	{ { "RESULT", false, true,  1 }, "result", PAINT_DIM,   NULL,     NULL },
};
// clang-format on

static struct value *act_number(struct arena *arena, const char *word, struct err *err)
{
	uint64_t number = 0;

	if (units_parse_count(word, &number, err) == 0 && number)
		return value_uint(arena, number);
	(void)err_set(err, ERR_INVALID, "%s is no number from 1 on", word);
	return NULL;
}

static void show_acts(struct cli *cli, const struct value *page)
{
	const struct value *acts = value_get(page, "acts");

	if (!value_at(acts, 0)) {
		say(&cli->err, PAINT_PLAIN, "cectl: %s\n",
			cli_text(cli, "before") ? "nothing was done before that"
						: "no act is recorded yet");
		return;
	}
	page_table(cli, columns, COUNT_OF(columns), acts, 0);
	if (value_as_bool(value_get(page, "more"), false)) /* older acts are on another page */
		say(&cli->err, PAINT_DIM, "older ones: the same with --before %s\n",
			page_text(cli, value_at(acts, acts->list.count - 1), "act"));
}

/* ---- the commands ---------------------------------------------------------------------------- */

// clang-format off
static const struct option_row reason[] = {
	{ 0, "reason", "TEXT", OPTION_TEXT, "reason", NULL,
		"why, for the record and for those who are refused" },
	{ 0 },
};

const struct command drain_command = {
	.name = "drain",
	.summary = "take no new runs; runs in progress continue",
	.about = "For administrators. New runs are refused as `draining` until `cectl resume` or "
		 "the next start of the daemon. The act is recorded.",
	.options = reason,
	.examples = EXAMPLES(
		{ "cectl drain --reason 'kernel update at noon'", "before maintenance" }),
	.method = "admin.drain",
	.show = show_drained,
};

const struct command resume_command = {
	.name = "resume",
	.summary = "take runs again",
	.about = "For administrators. Undoes `cectl drain` and `cectl kill-all`. The act is "
		 "recorded.",
	.options = reason,
	.examples = EXAMPLES(
		{ "cectl resume", "after it" }),
	.method = "admin.resume",
	.show = show_resumed,
};

const struct command kill_all_command = {
	.name = "kill-all",
	.summary = "kill all runs, and take no new ones",
	.about = "For administrators: the emergency switch. All waiting and running runs are "
		 "killed now and recorded as `canceled`, and new runs are refused until `cectl "
		 "resume`. The act is recorded.",
	.options = reason,
	.examples = EXAMPLES(
		{ "cectl kill-all --reason 'an agent ran wild'", "at once" }),
	.method = "admin.kill_all",
	.show = show_killed,
};

const struct command block_command = {
	.name = "block",
	.operands = "USER",
	.summary = "refuse new runs of one user",
	.about = "For administrators. USER is a name or a uid. New runs of the user are refused "
		 "as `forbidden`, with the reason, until `cectl unblock`, also after a restart. "
		 "Runs in progress continue; `cectl cancel` ends them. The act is recorded.",
	.options = reason,
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl block alice --reason 'see ticket 7'", "no new runs of this user" }),
	.method = "admin.block",
	.operand_param = "uid",
	.operand_value = option_user,
	.show = show_blocked,
};

const struct command unblock_command = {
	.name = "unblock",
	.operands = "USER",
	.summary = "accept runs of a blocked user again",
	.about = "For administrators. USER is a name or a uid. Undoes `cectl block`; exits with "
		 "1 when the user was not blocked. The act is recorded.",
	.options = reason,
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl unblock 1001", "again" }),
	.method = "admin.unblock",
	.operand_param = "uid",
	.operand_value = option_user,
	.status = unblock_status,
	.show = show_unblocked,
};

const struct command acts_command = {
	.name = "acts",
	.summary = "what administrators did to the daemon",
	.about = "For administrators. Lists each use of drain, resume, kill-all, block, unblock, "
		 "gc and budgets reset, each decision of an approver, and what the daemon itself "
		 "did to the record: who, when, why, and the result.",
	.options = OPTIONS(
		{ 'n', "limit", "N", OPTION_TEXT, "limit", act_number,
			"how many, at most 1000; 50 unless said" },
		{ 0, "before", "ACT", OPTION_TEXT, "before", act_number,
			"only acts before this one: the next page" }),
	.examples = EXAMPLES(
		{ "cectl acts", "the newest first" },
		{ "cectl acts -n 1000 --before 4711", "and the acts before that one" },
		{ "cectl acts --json | jq '.acts[0]'", "the last one, whole" }),
	.reads_copy = true,
	.method = "admin.acts",
	.show = show_acts,
};
// clang-format on
