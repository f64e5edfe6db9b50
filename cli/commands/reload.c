/* cectl reload: the daemon reads its settings and policies again. */
#include "cli/base/exits.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"
#include "proto/base/container.h"

static const char *old_value(struct cli *cli, const struct value *change, const char *key)
{
	const char *text = page_text(cli, change, key);

	return text[0] ? text : "-";
}

// clang-format off
static const struct page_column columns[] = {
	{ { "SETTING", false, false, 0 }, "key",  PAINT_BOLD,  NULL,      NULL },
	{ { "FROM",    false, true,  0 }, "from", PAINT_PLAIN, old_value, NULL },
	{ { "TO",      false, true,  0 }, "to",   PAINT_PLAIN, old_value, NULL },
};
// clang-format on

static void show_refused(struct cli *cli, const struct value *fault)
{
	const char *file = page_text(cli, fault, "file");
	const char *line = page_text(cli, fault, "line");

	say(&cli->err, PAINT_PLAIN, "cectl: refused; the settings in force stay as they were\n");
	if (file[0])
		say(&cli->err, PAINT_BOLD, "%s%s%s: ", file, line[0] ? ":" : "", line);
	say(&cli->err, PAINT_PLAIN, "%s\n", page_text(cli, fault, "message"));
}

static void show_reloaded(struct cli *cli, const struct value *result)
{
	const struct value *changed = value_get(result, "changed");
	const struct value *waits = value_get(result, "waits");
	bool policies = value_as_bool(value_get(result, "policies"), false);
	bool patterns = value_as_bool(value_get(result, "patterns"), false);

	if (value_get(result, "refused")) {
		show_refused(cli, value_get(result, "refused"));
		return;
	}
	if (value_at(changed, 0))
		page_table(cli, columns, COUNT_OF(columns), changed, 0);
	if (value_at(waits, 0)) {
		output_heading(&cli->out, "these need a restart, and stay as they were");
		page_table(cli, columns, COUNT_OF(columns), waits, 0);
		say(&cli->out, PAINT_DIM,
			"  systemctl restart ced; end a private daemon and start it again\n");
	}
	if (policies)
		say(&cli->out, PAINT_PLAIN, "the policies have changed: cectl policy list\n");
	if (patterns)
		say(&cli->out, PAINT_PLAIN, "the patterns of secrets have changed\n");
	say(&cli->out, PAINT_GREEN, "%s reloaded%s\n", output_mark(&cli->out, MARK_GOOD),
		value_at(changed, 0) || value_at(waits, 0) || policies || patterns
			? ""
			: ": nothing has changed");
}

static int reload_status(const struct value *result)
{
	return value_as_bool(value_get(result, "reloaded"), false) ? EXIT_OK : EXIT_FAILED;
}

// clang-format off
const struct command reload_command = {
	.name = "reload",
	.summary = "reads settings and policies again, without ending a run",
	.about =
		"The daemon reads its files of settings, its folder of policies and its patterns of "
		"secrets.  With a mistake in them it refuses all of it, says where the mistake is, "
		"and goes on as before.  Runs in progress keep their policy, limits and budgets.  What "
		"only a restart can change is listed and stays as it was.  The act is recorded: cectl "
		"acts.\n"
		"Exits with 1 when the daemon refused.",
	.options = OPTIONS(
		{ 0, "reason", "TEXT", OPTION_TEXT, "reason", NULL, "why, for the record" }),
	.examples = EXAMPLES(
		{ "cectl config check && sudo cectl reload", "after a change" },
		{ "systemctl reload ced", "the same" }),
	.method = "admin.reload",
	.takes_long = true,
	.show = show_reloaded,
	.status = reload_status,
};
// clang-format on
