#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/job_options.h"
#include "cli/session/page.h"
#include "proto/base/container.h"

static enum paint warm_paint(const char *text)
{
	return text[0] && strcmp(text, "0") != 0 ? PAINT_GREEN : PAINT_YELLOW;
}

// clang-format off
static const struct page_column columns[] = {
	{ { "LANGUAGE",  false, false, 0 }, "name",    PAINT_BOLD,  NULL, NULL },
	{ { "VERSION",   false, false, 0 }, "version", PAINT_PLAIN, NULL, NULL },
	{ { "WARM",      true,  false, 0 }, "warm",    PAINT_PLAIN, NULL, warm_paint },
	{ { "RUNNING",   true,  false, 3 }, "running", PAINT_PLAIN, NULL, NULL },
	{ { "DIGEST",    false, true,  4 }, "digest",  PAINT_DIM,   NULL, NULL },
	{ { "PRELOADED", false, true,  2 }, "preload", PAINT_PLAIN, NULL, NULL },
};
// clang-format on

/* The programs that jobs of a runtime may start. */
static void show_tools(struct cli *cli, const struct value *runtime)
{
	const char *tools = value_as_text(value_get(runtime, "tools"));
	const char *title =
		arena_printf(&cli->arena, "tools of %s", page_text(cli, runtime, "name"));

	if (!tools || !tools[0])
		return;
	output_heading(&cli->out, title ? title : "tools");
	page_wrapped(cli, PAINT_PLAIN, output_safe(&cli->arena, tools), 2);
}

/* The sets that runs can name, and why some are off. */
static void show_packages(struct cli *cli, const struct value *runtime)
{
	const struct value *sets = value_get(runtime, "packages");
	const char *title =
		arena_printf(&cli->arena, "package sets of %s", page_text(cli, runtime, "name"));

	if (!value_at(sets, 0))
		return;
	output_heading(&cli->out, title ? title : "package sets");
	for (size_t i = 0; value_at(sets, i); i++)
		page_field(cli, page_text(cli, value_at(sets, i), "name"),
			page_text(cli, value_at(sets, i), "state"));
}

static const struct table_column limit_columns[] = {
	{ "LIMIT", false, false, 0 },
	{ "DEFAULT", true, false, 0 },
	{ "AT MOST", true, false, 0 },
};

static const struct value *limits_at(const struct value *runtimes, size_t at)
{
	return value_get(value_at(runtimes, at), "limits");
}

static bool has_same_before(const struct value *runtimes, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (value_equal(limits_at(runtimes, i), limits_at(runtimes, at)))
			return true;
	}
	return false;
}

/* "limits of python, bash": of this one, and of all behind it that have the same. */
static void show_whose(struct cli *cli, const struct value *runtimes, size_t at)
{
	const char *title = "limits of ";

	for (size_t i = at; value_at(runtimes, i) && title; i++) {
		if (value_equal(limits_at(runtimes, i), limits_at(runtimes, at)))
			title = arena_printf(&cli->arena, "%s%s%s", title, i == at ? "" : ", ",
				page_text(cli, value_at(runtimes, i), "name"));
	}
	output_heading(&cli->out, title ? title : "limits");
}

/* The limits that the caller's runs get and may ask for. */
static void show_limits(struct cli *cli, const struct value *runtimes, size_t at)
{
	const struct value *standard = value_get(limits_at(runtimes, at), "standard");
	const struct value *most = value_get(limits_at(runtimes, at), "most");
	struct table table;

	if (!value_is(standard, VALUE_MAP) || has_same_before(runtimes, at))
		return;
	show_whose(cli, runtimes, at);
	table_init(&table, &cli->arena, limit_columns, COUNT_OF(limit_columns));
	for (size_t i = 0; i < standard->map.count; i++) {
		const struct value_entry *entry = &standard->map.entries[i];
		const struct table_cell cells[] = {
			{ limit_word(cli, entry->key), PAINT_PLAIN },
			{ page_number(cli, entry->key, entry->value), PAINT_PLAIN },
			{ page_number(cli, entry->key, value_get(most, entry->key)), PAINT_DIM },
		};

		table_add(&table, cells);
	}
	table_print(&table, &cli->out, 2);
}

static void tell_trouble(struct cli *cli, const struct value *runtime)
{
	const char *trouble = output_text(&cli->arena, value_get(runtime, "trouble"));

	if (trouble[0])
		say(&cli->out, PAINT_RED, "%s %s: %s\n", output_mark(&cli->out, MARK_BAD),
			output_text(&cli->arena, value_get(runtime, "name")), trouble);
}

static void runtimes_show(struct cli *cli, const struct value *result)
{
	const struct value *runtimes = value_get(result, "runtimes");

	page_table(cli, columns, COUNT_OF(columns), runtimes, 0);
	for (size_t i = 0; value_at(runtimes, i); i++)
		tell_trouble(cli, value_at(runtimes, i));
	for (size_t i = 0; value_at(runtimes, i); i++)
		show_tools(cli, value_at(runtimes, i));
	for (size_t i = 0; value_at(runtimes, i); i++)
		show_packages(cli, value_at(runtimes, i));
	for (size_t i = 0; value_at(runtimes, i); i++)
		show_limits(cli, runtimes, i);
}

// clang-format off
const struct command runtimes_command = {
	.name = "runtimes",
	.summary = "the languages that can run, and how many workers are warm",
	.about = "Lists the runtimes that the host has configured: version, warm workers, "
		 "modules that are imported ahead, the digest of the runtime, the tools that "
		 "programs may start (\"coreutils\" is all of them), and the limits that your "
		 "runs get and may ask for.",
	.examples = EXAMPLES(
		{ "cectl runtimes", "what can run here" },
		{ "cectl runtimes --json | jq -r '.runtimes[].name'", "only the names" }),
	.method = "runtimes",
	.show = runtimes_show,
};
// clang-format on
