#include <inttypes.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/exits.h"
#include "cli/page.h"
#include "cli/table.h"
#include "cli/units.h"

#define NAME_COLUMNS 11

static const struct example examples[] = {
	{ "cectl status", "is it up, and what is it doing?" },
	{ "cectl status --json | jq .queued", "one figure for a script" },
	{ NULL, NULL },
};

static void show_head(struct cli *cli, const struct value *status)
{
	int64_t uptime_s = value_as_int(value_get(status, "uptime_s"), 0);
	bool draining = value_as_bool(value_get(status, "draining"), false);
	char uptime[UNITS_TEXT_MAX];

	if (uptime_s < 60)
		cut_printf(uptime, sizeof(uptime), "%" PRId64 " s", uptime_s);
	else
		units_print_us(uptime, uptime_s * 1000000);
	say(&cli->out, draining ? PAINT_YELLOW : PAINT_GREEN, "%s ced %s",
		output_mark(&cli->out, draining ? MARK_DOT : MARK_GOOD),
		output_text(&cli->arena, value_get(status, "version")));
	say(&cli->out, PAINT_PLAIN, "  pid %s, up %s%s\n",
		output_text(&cli->arena, value_get(status, "pid")), uptime,
		draining ? ", draining: takes no new work" : "");
}

/* Something to say, on a line; what nests is for --json. */
static bool is_plain(const struct value *value)
{
	if (value_is(value, VALUE_TEXT))
		return value->text.len > 0;
	return !value_is(value, VALUE_MAP) && !value_is(value, VALUE_LIST) &&
	       !value_is(value, VALUE_NIL);
}

/* "key value, key value" for the plain members of a map. */
static void show_members(struct cli *cli, const char *name, const struct value *map)
{
	bool begun = false;

	if (!value_is(map, VALUE_MAP) || map->map.count == 0)
		return;
	say(&cli->out, PAINT_DIM, "  %-*s ", NAME_COLUMNS, name);
	for (size_t i = 0; i < map->map.count; i++) {
		const struct value_entry *entry = &map->map.entries[i];

		if (!is_plain(entry->value))
			continue;
		say(&cli->out, PAINT_PLAIN, "%s%s ", begun ? ", " : "", page_name(cli, entry->key));
		say(&cli->out, PAINT_BOLD, "%s", page_number(cli, entry->key, entry->value));
		begun = true;
	}
	say(&cli->out, PAINT_PLAIN, "\n");
}

/* One runtime is a map with a name; its figures follow. */
static void show_runtimes(struct cli *cli, const struct value *runtimes)
{
	for (size_t i = 0; value_at(runtimes, i); i++) {
		const struct value *runtime = value_at(runtimes, i);
		const struct value *name = value_get(runtime, "name");

		say(&cli->out, PAINT_DIM, "  %-*s ", NAME_COLUMNS, i == 0 ? "runtimes" : "");
		say(&cli->out, PAINT_BOLD, "%s",
			output_text(&cli->arena, name ? name : value_get(runtime, "language")));
		for (size_t j = 0; value_is(runtime, VALUE_MAP) && j < runtime->map.count; j++) {
			const struct value_entry *entry = &runtime->map.entries[j];

			if (value_is(entry->value, VALUE_INT))
				say(&cli->out, PAINT_PLAIN, "  %s %s", page_name(cli, entry->key),
					page_number(cli, entry->key, entry->value));
		}
		say(&cli->out, PAINT_PLAIN, "\n");
	}
}

/* "runtime python  wall 4 s (at most 8 s), pids at most 20" */
static void show_allowance(struct cli *cli, const struct value *allowance)
{
	const struct value *limits = value_get(allowance, "limits");
	const struct value *most = value_get(allowance, "most");

	say(&cli->out, PAINT_BOLD, "%s %s", page_text(cli, allowance, "for"),
		page_text(cli, allowance, "name"));
	for (size_t i = 0; value_is(limits, VALUE_MAP) && i < limits->map.count; i++) {
		const struct value_entry *entry = &limits->map.entries[i];

		say(&cli->out, PAINT_PLAIN, "  %s %s", page_name(cli, entry->key),
			page_number(cli, entry->key, entry->value));
	}
	for (size_t i = 0; value_is(most, VALUE_MAP) && i < most->map.count; i++) {
		const struct value_entry *entry = &most->map.entries[i];

		say(&cli->out, PAINT_PLAIN, "  %s at most %s", page_name(cli, entry->key),
			page_number(cli, entry->key, entry->value));
	}
	say(&cli->out, PAINT_PLAIN, "\n");
}

static void show_allowances(struct cli *cli, const struct value *allowances)
{
	for (size_t i = 0; value_at(allowances, i); i++) {
		say(&cli->out, PAINT_DIM, "  %-*s ", NAME_COLUMNS, i == 0 ? "limits for" : "");
		show_allowance(cli, value_at(allowances, i));
	}
}

static bool is_in_head(const char *key)
{
	static const char *const shown[] = { "version", "pid", "uptime_s", "draining", "drained",
		"runtimes", "trouble" };

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		if (strcmp(shown[i], key) == 0)
			return true;
	}
	return false;
}

/* What administrators have set. */
static void show_levers(struct cli *cli, const struct value *status)
{
	const struct value *blocked = value_get(status, "blocked");

	if (value_as_bool(value_get(status, "drained"), false))
		say(&cli->out, PAINT_YELLOW, "%s drained: takes no new runs until cectl resume\n",
			output_mark(&cli->out, MARK_DOT));
	for (size_t i = 0; value_at(blocked, i); i++) {
		const char *reason = page_text(cli, value_at(blocked, i), "reason");

		say(&cli->out, PAINT_YELLOW, "%s uid %s is shut out%s%s\n",
			output_mark(&cli->out, MARK_DOT),
			page_text(cli, value_at(blocked, i), "uid"), reason[0] ? ": " : "", reason);
	}
}

/* What keeps it from its work, where nobody overlooks it. */
static void show_trouble(struct cli *cli, const struct value *status)
{
	const char *trouble = page_text(cli, status, "trouble");

	if (trouble[0])
		say(&cli->out, PAINT_RED, "%s %s\n", output_mark(&cli->out, MARK_BAD), trouble);
}

static int show(struct cli *cli, const struct value *status)
{
	show_head(cli, status);
	show_levers(cli, status);
	show_trouble(cli, status);
	show_runtimes(cli, value_get(status, "runtimes"));
	show_allowances(cli, value_get(status, "allowances"));
	for (size_t i = 0; value_is(status, VALUE_MAP) && i < status->map.count; i++) {
		const struct value_entry *entry = &status->map.entries[i];

		if (is_in_head(entry->key) || value_is(entry->value, VALUE_LIST))
			continue;
		if (value_is(entry->value, VALUE_MAP))
			show_members(cli, page_name(cli, entry->key), entry->value);
		else if (is_plain(entry->value))
			page_field(cli, page_name(cli, entry->key),
				page_number(cli, entry->key, entry->value));
	}
	return EXIT_OK;
}

static int run(struct cli *cli, const void *given)
{
	const struct value *result = NULL;
	int status = cli_ask(cli, "admin.status", value_map(&cli->arena), NULL, &result);

	(void)given;
	if (status != 0)
		return status;
	return cli->json ? cli_document(cli, result, EXIT_OK) : show(cli, result);
}

const struct command status_command = {
	.name = "status",
	.operands = "",
	.summary = "is the daemon up, and what is it doing",
	.about = "Shows the daemon's version, its workers and queue, what runs, and how large the "
		 "store is.  For administrators.",
	.examples = examples,
	.run = run,
};
