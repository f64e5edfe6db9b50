/* cectl budgets: lists what was spent, and resets it for administrators. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/units.h"
#include "cli/base/users.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"
#include "cli/terminal/table.h"
#include "proto/base/container.h"

struct budgets_options {
	const char *uid, *agent, *task, *reason;
};

// clang-format off
static const struct option_row rows[] = {
	{ 0, "uid", "USER", OPTION_TEXT, offsetof(struct budgets_options, uid),
		"whose, a name or a uid; for administrators" },
	{ 0, "agent", "NAME", OPTION_TEXT, offsetof(struct budgets_options, agent),
		"reset: the budget of this agent" },
	{ 0, "task", "NAME", OPTION_TEXT, offsetof(struct budgets_options, task),
		"reset: the budget of this task" },
	{ 0, "reason", "TEXT", OPTION_TEXT, offsetof(struct budgets_options, reason),
		"reset: why, for the record" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct table_column columns[] = {
	{ "UID", true, false, 0 },
	{ "OF", false, false, 0 },
	{ "NAME", false, true, 0 },
	{ "RUNNING", true, false, 0 },
	{ "LAST MINUTE", true, false, 2 },
	{ "CPU", true, false, 0 },
	{ "WALL", true, false, 3 },
	{ "STORED", true, false, 1 },
	{ "ATTEMPTS", true, false, 4 },
	{ "FAILED IN A ROW", true, false, 0 },
};
// clang-format on

static int budgets_put(struct cli *cli, struct value *params, const char *key, const char *text)
{
	return text ? value_map_put(&cli->arena, params, key, value_text(&cli->arena, text)) : 0;
}

static const char *duration(struct cli *cli, const struct value *map, const char *key)
{
	char text[UNITS_TEXT_MAX];

	units_print_us(text, page_int(map, key) * 1000);
	return arena_strdup(&cli->arena, text);
}

static const char *size(struct cli *cli, const struct value *map, const char *key)
{
	char text[UNITS_TEXT_MAX];

	units_print_bytes(text, page_int(map, key));
	return arena_strdup(&cli->arena, text);
}

static void add_entry(struct cli *cli, struct table *table, const struct value *entry)
{
	enum paint failed = page_int(entry, "failures") > 0 ? PAINT_RED : PAINT_PLAIN;

	table_add(table, (const struct table_cell[]){
				 { page_text(cli, entry, "uid"), PAINT_PLAIN },
				 { page_text(cli, entry, "scope"), PAINT_PLAIN },
				 { page_text(cli, entry, "name"), PAINT_BOLD },
				 { page_text(cli, entry, "running"), PAINT_PLAIN },
				 { page_text(cli, entry, "runs_per_minute"), PAINT_PLAIN },
				 { duration(cli, entry, "cpu_ms"), PAINT_PLAIN },
				 { duration(cli, entry, "wall_ms"), PAINT_PLAIN },
				 { size(cli, entry, "stored_bytes"), PAINT_PLAIN },
				 { page_text(cli, entry, "attempts"), PAINT_PLAIN },
				 { page_text(cli, entry, "failures"), failed },
			 });
}

static int list(struct cli *cli, struct value *params)
{
	const struct value *page = NULL;
	const struct value *entries;
	struct table table;
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
	table_init(&table, &cli->arena, columns, COUNT_OF(columns));
	for (size_t i = 0; value_at(entries, i); i++)
		add_entry(cli, &table, value_at(entries, i));
	table_print(&table, &cli->out, 0);
	say(&cli->out, PAINT_DIM, "cpu, wall and stored: within %s\n",
		duration(cli, page, "window_ms"));
	return EXIT_OK;
}

/* The users that have an agent or task of this name, by `budgets.list`. */
struct owners {
	const char *scope, *name;
	const char *uids; /* "1001, 1002" */
	size_t count;
	int64_t last;
};

static int find_owners(struct cli *cli, struct owners *owners)
{
	const struct value *page = NULL;
	const struct value *entries;
	int status = cli_ask(cli, "budgets.list", value_map(&cli->arena), NULL, &page);

	if (status != 0)
		return status;
	entries = value_get(page, "budgets");
	owners->uids = "";
	for (size_t i = 0; value_at(entries, i); i++) {
		const struct value *entry = value_at(entries, i);
		const char *name = value_as_text(value_get(entry, "name"));

		if (strcmp(page_text(cli, entry, "scope"), owners->scope) != 0 || !name ||
			strcmp(name, owners->name) != 0)
			continue;
		owners->last = page_int(entry, "uid");
		owners->uids = arena_printf(&cli->arena, "%s%s%" PRId64,
			owners->uids ? owners->uids : "", owners->count ? ", " : "", owners->last);
		owners->count++;
	}
	return 0;
}

/* A name without a user is accepted when only one user has it. */
static int put_owner(struct cli *cli, const struct budgets_options *options, struct value *params)
{
	struct owners owners = { .scope = options->agent ? "agent" : "task",
		.name = options->agent ? options->agent : options->task };
	int status;

	if (options->uid || !owners.name)
		return 0;
	status = find_owners(cli, &owners);
	if (status != 0)
		return status;
	if (owners.count > 1)
		return cli_usage(cli, "several users have %s \"%s\": name one, --uid %s",
			owners.scope, owners.name, owners.uids ? owners.uids : "UID");
	if (owners.count == 1 &&
		value_map_put(&cli->arena, params, "uid", value_int(&cli->arena, owners.last)) < 0)
		return cli_no_memory(cli);
	return 0;
}

/* "task nightly of uid 1001", "uid 1001", "you". */
static const char *reset_whom(
	struct cli *cli, const struct budgets_options *options, const struct value *params)
{
	const char *name = options->agent ? options->agent : options->task;
	const struct value *uid = value_get(params, "uid");
	const char *user =
		uid ? arena_printf(&cli->arena, "uid %s", output_text(&cli->arena, uid)) : "you";
	const char *whom = user;

	if (name)
		whom = arena_printf(&cli->arena, "%s %s of %s", options->agent ? "agent" : "task",
			output_safe(&cli->arena, name), user ? user : "");
	return whom ? whom : "";
}

static int tell_reset(struct cli *cli, const struct budgets_options *options,
	const struct value *params, bool was)
{
	const char *whom = reset_whom(cli, options, params);

	if (was)
		say(&cli->out, PAINT_PLAIN, "the budget of %s is reset\n", whom);
	else
		say(&cli->err, PAINT_PLAIN,
			"cectl: nothing was spent by %s; cectl budgets lists who has\n", whom);
	return was ? EXIT_OK : EXIT_FAILED;
}

static int reset(struct cli *cli, const struct budgets_options *options, struct value *params)
{
	const struct value *result = NULL;
	bool was;
	int status;

	if (options->agent && options->task)
		return cli_usage(cli, "one of --agent and --task");
	if (budgets_put(cli, params, "agent", options->agent) < 0 ||
		budgets_put(cli, params, "task", options->task) < 0 ||
		budgets_put(cli, params, "reason", options->reason) < 0)
		return cli_no_memory(cli);
	status = put_owner(cli, options, params);
	if (status == 0)
		status = cli_ask(cli, "admin.reset_budget", params, NULL, &result);
	if (status != 0)
		return status;
	was = value_as_bool(value_get(result, "reset"), false);
	if (cli->json)
		return cli_document(cli, result, was ? EXIT_OK : EXIT_FAILED);
	return tell_reset(cli, options, params, was);
}

static int run_budgets(struct cli *cli, const void *given)
{
	const struct budgets_options *options = given;
	struct value *params = value_map(&cli->arena);
	struct err err = ERR_INIT;
	uint32_t uid = 0;

	if (options->uid && users_parse(options->uid, &uid, &err) < 0)
		return cli_usage(cli, "--uid: %s", err.text);
	if (options->uid &&
		value_map_put(&cli->arena, params, "uid", value_uint(&cli->arena, uid)) < 0)
		return cli_no_memory(cli);
	if (!cli->operands.count)
		return list(cli, params);
	if (strcmp(cli->operands.items[0], "reset") != 0)
		return cli_usage(cli, "budgets takes no word but reset; \"%s\" is none",
			cli->operands.items[0]);
	return reset(cli, options, params);
}

// clang-format off
static const struct example examples[] = {
	{ "cectl budgets", "what you, your agents and your tasks have spent" },
	{ "cectl budgets reset --task nightly --reason 'bug is fixed'", "a task that failed too often" },
	{ "cectl budgets reset --uid 1001 --agent planner", "of another user" },
	{ NULL, NULL },
};
// clang-format on

const struct command budgets_command = {
	.name = "budgets",
	.operands = "[reset]",
	.summary = "what users have spent of their budgets",
	.about = "Lists users, their agents and their tasks with what they have spent; "
		 "administrators see all users. `reset` is for administrators: it clears what a "
		 "user, agent or task has spent and failed, and is recorded. Without --uid it "
		 "finds the agent or task by its name, and asks when several users have one; it "
		 "exits with 1 when there is none.",
	.options = rows,
	.options_size = sizeof(struct budgets_options),
	.operand_most = 1,
	.examples = examples,
	.run = run_budgets,
};
