/* cectl budgets: lists what was spent, and resets it for administrators. */
#include <inttypes.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/option_values.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"
#include "proto/base/container.h"

// clang-format off
static enum paint failures_paint(const char *text)
{
	return strcmp(text, "0") != 0 && text[0] ? PAINT_RED : PAINT_PLAIN;
}

// clang-format off
static const struct page_column columns[] = {
	{ { "UID",             true,  false, 0 }, "uid",             PAINT_PLAIN, NULL,      NULL },
	{ { "OF",              false, false, 0 }, "scope",           PAINT_PLAIN, NULL,      NULL },
	{ { "NAME",            false, true,  0 }, "name",            PAINT_BOLD,  NULL,      NULL },
	{ { "RUNNING",         true,  false, 0 }, "running",         PAINT_PLAIN, NULL,      NULL },
	{ { "LAST MINUTE",     true,  false, 2 }, "runs_per_minute", PAINT_PLAIN, NULL,      NULL },
	{ { "CPU",             true,  false, 0 }, "cpu_ms",          PAINT_PLAIN, page_unit, NULL },
	{ { "WALL",            true,  false, 3 }, "wall_ms",         PAINT_PLAIN, page_unit, NULL },
	{ { "STORED",          true,  false, 1 }, "stored_bytes",    PAINT_PLAIN, page_unit, NULL },
	{ { "ATTEMPTS",        true,  false, 4 }, "attempts",        PAINT_PLAIN, NULL,      NULL },
	{ { "FAILED IN A ROW", true,  false, 0 }, "failures",        PAINT_PLAIN, NULL, failures_paint },
};
// clang-format on
// clang-format on

static int list(struct cli *cli, struct value *params)
{
	const struct value *page = NULL;
	const struct value *entries;
	int status = cli_ask(cli, "budgets.list", params, NULL, &page);

	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, page, EXIT_OK);
	entries = value_get(page, "budgets");
	if (!value_at(entries, 0)) {
		say(&cli->err, PAINT_PLAIN, "cectl: nothing was spent\n");
		return EXIT_OK;
	}
	page_table(cli, columns, COUNT_OF(columns), entries, 0);
	say(&cli->out, PAINT_DIM, "cpu, wall and stored: within %s\n",
		page_unit(cli, page, "window_ms"));
	return EXIT_OK;
}

/* The agent or task that is to be reset; neither: a user. */
struct target {
	const char *scope, *name; /* "task", "nightly" */
	const char *uids;         /* the users that have it, by `budgets.list`: "1001, 1002" */
	size_t count;
	int64_t last;
};

static int find_owners(struct cli *cli, struct target *target)
{
	const struct value *page = NULL;
	const struct value *entries;
	int status = cli_ask(cli, "budgets.list", value_map(&cli->arena), NULL, &page);

	if (status != 0)
		return status;
	entries = value_get(page, "budgets");
	for (size_t i = 0; value_at(entries, i); i++) {
		const struct value *entry = value_at(entries, i);
		const char *name = value_as_text(value_get(entry, "name"));

		if (strcmp(page_text(cli, entry, "scope"), target->scope) != 0 || !name ||
			strcmp(name, target->name) != 0)
			continue;
		target->last = page_int(entry, "uid");
		target->uids = arena_printf(&cli->arena, "%s%s%" PRId64,
			target->uids ? target->uids : "", target->count ? ", " : "", target->last);
		target->count++;
	}
	return 0;
}

/* A name without a user is accepted when only one user has it. */
static int put_owner(struct cli *cli, struct target *target, struct value *params)
{
	int status;

	if (cli_text(cli, "uid") || !target->name)
		return 0;
	status = find_owners(cli, target);
	if (status != 0)
		return status;
	if (target->count > 1)
		return cli_usage(cli, "several users have %s \"%s\": name one, --uid %s",
			target->scope, target->name, target->uids ? target->uids : "UID");
	if (target->count == 1)
		(void)value_map_put(
			&cli->arena, params, "uid", value_int(&cli->arena, target->last));
	return 0;
}

/* "task nightly of uid 1001", "uid 1001", "task nightly of you". */
static void show_reset(
	struct cli *cli, const struct target *target, const struct value *params, bool was)
{
	const char *uid = page_text(cli, params, "uid");
	const char *whom = arena_printf(&cli->arena, "%s%s%s%s%s%s",
		target->name ? target->scope : "", target->name ? " " : "",
		target->name ? output_safe(&cli->arena, target->name) : "",
		target->name ? " of " : "", uid[0] ? "uid " : "you", uid);

	if (was)
		say(&cli->out, PAINT_PLAIN, "the budget of %s is reset\n", whom ? whom : "");
	else
		say(&cli->err, PAINT_PLAIN,
			"cectl: nothing was spent by %s; cectl budgets lists who has\n",
			whom ? whom : "");
}

static int reset(struct cli *cli, struct value *params)
{
	const char *agent = cli_text(cli, "agent");
	const char *task = cli_text(cli, "task");
	struct target target = { .scope = agent ? "agent" : "task", .name = agent ? agent : task };
	const struct value *result = NULL;
	bool was;
	int status;

	if (agent && task)
		return cli_usage(cli, "one of --agent and --task");
	if (!target.name && !cli_text(cli, "uid"))
		return cli_usage(cli, "budgets reset: whose? name --uid, --agent or --task");
	status = put_owner(cli, &target, params);
	if (status == 0)
		status = cli_ask(cli, "admin.reset_budget", params, NULL, &result);
	if (status != 0)
		return status;
	was = value_as_bool(value_get(result, "reset"), false);
	if (cli->json)
		return cli_document(cli, result, was ? EXIT_OK : EXIT_FAILED);
	show_reset(cli, &target, params, was);
	return was ? EXIT_OK : EXIT_FAILED;
}

static int run_budgets(struct cli *cli)
{
	struct value *params = value_map(&cli->arena);
	const char *word = cli_operand(cli, 0);
	int status;

	if (word && strcmp(word, "reset") != 0)
		return cli_usage(cli, "budgets takes no word but reset; \"%s\" is none", word);
	status = cli_put_options(cli, params);
	if (status != 0)
		return status;
	return word ? reset(cli, params) : list(cli, params);
}

// clang-format off
const struct command budgets_command = {
	.name = "budgets",
	.operands = "[reset]",
	.summary = "what users have spent of their budgets",
	.about = "Lists users, their agents and their tasks with what they have spent; "
		 "administrators see all users. `reset` is for administrators: it clears what a "
		 "user, agent or task has spent and failed, and is recorded. Without --uid it "
		 "finds the agent or task by its name, and asks when several users have one; it "
		 "exits with 1 when there is none. A reset names at least one of --uid, --agent "
		 "and --task.",
	.options = OPTIONS(
		{ 0, "uid", "USER", OPTION_TEXT, "uid", option_user,
			"whose, a name or a uid; for administrators" },
		{ 0, "agent", "NAME", OPTION_TEXT, "agent", NULL,
			"reset: the budget of this agent" },
		{ 0, "task", "NAME", OPTION_TEXT, "task", NULL, "reset: the budget of this task" },
		{ 0, "reason", "TEXT", OPTION_TEXT, "reason", NULL, "reset: why, for the record" }),
	.operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl budgets", "what you, your agents and your tasks have spent" },
		{ "cectl budgets reset --task nightly --reason 'bug is fixed'", "a task that failed too often" },
		{ "cectl budgets reset --uid 1001 --agent planner", "of another user" }),
	.run = run_budgets,
};
// clang-format on
