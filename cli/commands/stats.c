#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/times.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/filters.h"
#include "cli/session/page.h"
#include "cli/terminal/spark.h"
#include "cli/terminal/table.h"
#include "proto/base/container.h"

#define SLOTS_MOST 60
#define BAR_FRAME  27 /* columns in front of the bars, and behind them */

struct stats_options {
	struct filter_options filter;
	const char *by;
};

// clang-format off
static const struct option_row rows[] = {
	{ 'b', "by", "WHAT", OPTION_TEXT, offsetof(struct stats_options, by),
		"outcome (default), language, agent, task, policy, uid, or phase" },
	FILTER_ROWS(struct stats_options),
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct example examples[] = {
	{ "cectl stats --since 1h", "how the last hour went" },
	{ "cectl stats --by phase --since today", "where the time goes" },
	{ "cectl stats --by agent --outcome memory_limit", "who runs out of memory" },
	{ NULL, NULL },
};

static const struct table_column group_columns[] = {
	{ "",          false, true,  0 },
	{ "RUNS",      true,  false, 0 },
	{ "OK",        true,  false, 3 },
	{ "p50",       true,  false, 0 },
	{ "p90",       true,  false, 2 },
	{ "p99",       true,  false, 0 },
	{ "EXEC p50",  true,  false, 4 },
	{ "EXEC p99",  true,  false, 5 },
};

static const struct table_column phase_columns[] = {
	{ "phase",     false, true,  0 },
	{ "RUNS",      true,  false, 0 },
	{ "p50",       true,  false, 0 },
	{ "p90",       true,  false, 2 },
	{ "p99",       true,  false, 0 },
};
// clang-format on

static const char *percent(struct cli *cli, int64_t part, int64_t whole)
{
	const char *text = whole > 0 ? arena_printf(&cli->arena, "%.1f %%",
					       100.0 * (double)part / (double)whole)
				     : "";

	return text ? text : "";
}

static const char *percentile(
	struct cli *cli, const struct value *group, const char *what, const char *which)
{
	const struct value *number = value_get(value_get(group, what), which);

	return number ? page_number(cli, "_us", number) : "";
}

static void add_group(struct cli *cli, struct table *table, const struct value *group, bool paints)
{
	const char *key = output_text(&cli->arena, value_get(group, "key"));
	int64_t runs = value_as_int(value_get(group, "runs"), 0);
	int64_t ok = value_as_int(value_get(group, "ok"), 0);
	const struct table_cell cells[] = {
		{ key, paints ? output_outcome_paint(key) : PAINT_BOLD },
		{ page_number(cli, "runs", value_get(group, "runs")), PAINT_PLAIN },
		{ percent(cli, ok, runs), PAINT_PLAIN },
		{ percentile(cli, group, "total_us", "p50"), PAINT_PLAIN },
		{ percentile(cli, group, "total_us", "p90"), PAINT_PLAIN },
		{ percentile(cli, group, "total_us", "p99"), PAINT_PLAIN },
		{ percentile(cli, group, "exec_us", "p50"), PAINT_DIM },
		{ percentile(cli, group, "exec_us", "p99"), PAINT_DIM },
	};

	table_add(table, cells);
}

static void add_phase(struct cli *cli, struct table *table, const struct value *phase)
{
	const struct table_cell cells[] = {
		{ output_text(&cli->arena, value_get(phase, "key")), PAINT_BOLD },
		{ page_number(cli, "runs", value_get(phase, "runs")), PAINT_PLAIN },
		{ percentile(cli, phase, "us", "p50"), PAINT_PLAIN },
		{ percentile(cli, phase, "us", "p90"), PAINT_PLAIN },
		{ percentile(cli, phase, "us", "p99"), PAINT_PLAIN },
	};

	table_add(table, cells);
}

static void show_phases(struct cli *cli, const struct value *phases)
{
	struct table table;

	table_init(&table, &cli->arena, phase_columns, COUNT_OF(phase_columns));
	for (size_t i = 0; value_at(phases, i); i++)
		add_phase(cli, &table, value_at(phases, i));
	table_print(&table, &cli->out, 0);
}

static void show_groups(struct cli *cli, const struct value *groups, const char *by)
{
	struct table_column columns[COUNT_OF(group_columns)];
	struct table table;

	memcpy(columns, group_columns, sizeof(columns));
	columns[0].title = output_safe(&cli->arena, by);
	table_init(&table, &cli->arena, columns, COUNT_OF(columns));
	for (size_t i = 0; value_at(groups, i); i++)
		add_group(cli, &table, value_at(groups, i), strcmp(by, "outcome") == 0);
	table_print(&table, &cli->out, 0);
}

/* ---- over time ----------------------------------------------------------------------------- */

/*
 * A line of bars for one number of each slot, and the highest bar; where nothing ran is a blank.
 * Where the terminal is too narrow one bar is of several slots; returns of how many.
 */
static int64_t show_bars(
	struct cli *cli, const struct value *over, const char *name, const char *key)
{
	size_t room = cli->out.width > BAR_FRAME ? cli->out.width - BAR_FRAME : 1;
	int64_t numbers[SLOTS_MOST] = { 0 };
	int64_t highest = 0;
	size_t count = 0;
	size_t each;

	for (; count < SLOTS_MOST && value_at(over, count); count++)
		numbers[count] = page_int(value_at(over, count), key);
	each = spark_join(
		numbers, &count, cli->out.width > 0 ? room : SLOTS_MOST, strcmp(key, "runs") == 0);
	for (size_t i = 0; i < count; i++) {
		if (numbers[i] > highest)
			highest = numbers[i];
	}
	say(&cli->out, PAINT_DIM, "  %-5s ", name);
	say(&cli->out, PAINT_CYAN, "%s", spark_text(&cli->arena, &cli->out, numbers, count));
	say(&cli->out, PAINT_DIM, "  at most %s\n",
		page_number(cli, key, value_int(&cli->arena, highest)));
	return (int64_t)each;
}

static void show_over(struct cli *cli, const struct value *stats)
{
	const struct value *over = value_get(stats, "over");
	const struct value *first = value_at(over, 0);
	char from[TIMES_TEXT_MAX];
	int64_t each;

	if (!value_at(over, 1))
		return;
	times_print(from, page_int(first, "from_us"));
	say(&cli->out, PAINT_PLAIN, "\n");
	each = show_bars(cli, over, "runs", "runs");
	(void)show_bars(cli, over, "p50", "p50_us");
	(void)show_bars(cli, over, "p99", "p99_us");
	say(&cli->out, PAINT_DIM, "  from %s, each bar %s\n", from,
		page_number(
			cli, "slot_us", value_int(&cli->arena, each * page_int(stats, "slot_us"))));
}

static int stats_show(struct cli *cli, const struct value *stats, const char *by)
{
	const struct value *groups = value_get(stats, "by");
	int64_t runs = value_as_int(value_get(stats, "runs"), 0);
	int64_t running = value_as_int(value_get(stats, "running"), 0);
	int64_t cached = value_as_int(value_get(stats, "cached"), 0);

	say(&cli->out, PAINT_BOLD, "%s", page_number(cli, "runs", value_get(stats, "runs")));
	say(&cli->out, PAINT_PLAIN, " run%s", runs == 1 ? "" : "s");
	if (runs > 0)
		say(&cli->out, PAINT_PLAIN, ", %s ok",
			percent(cli, value_as_int(value_get(stats, "ok"), 0), runs));
	if (cached > 0)
		say(&cli->out, PAINT_PLAIN, ", %" PRId64 " from cache", cached);
	if (running > 0)
		say(&cli->out, PAINT_PLAIN, ", %" PRId64 " running", running);
	say(&cli->out, PAINT_PLAIN, "\n");
	if (value_as_bool(value_get(stats, "more"), false))
		say(&cli->out, PAINT_YELLOW,
			"the newest that the filters let through: older ones are left out\n");
	if (runs == 0 || !value_at(groups, 0))
		return EXIT_OK;
	show_over(cli, stats);
	say(&cli->out, PAINT_PLAIN, "\n");
	if (strcmp(by, "phase") == 0)
		show_phases(cli, groups);
	else
		show_groups(cli, groups, by);
	return EXIT_OK;
}

static int stats_run(struct cli *cli, const void *given)
{
	const struct stats_options *options = given;
	const char *by = options->by ? options->by : "outcome";
	struct value *params = value_map(&cli->arena);
	const struct value *stats = NULL;
	int status = filters_put(cli, &options->filter, params);

	if (status != 0)
		return status;
	if (value_map_put(&cli->arena, params, "by", value_text(&cli->arena, by)) < 0)
		return cli_no_memory(cli);
	status = cli_ask(cli, "stats", params, NULL, &stats);
	if (status != 0)
		return status;
	return cli->json ? cli_document(cli, stats, EXIT_OK) : stats_show(cli, stats, by);
}

const struct command stats_command = {
	.name = "stats",
	.operands = "",
	.summary = "counts and percentiles over a window of time",
	.about = "Counts runs and shows how long they took: half of them at most p50, nine in "
		 "ten at most p90, all but one in a hundred at most p99.  Bars show the course "
		 "over time.  It reads at most the newest 300,000 runs that pass the filters.",
	.options = rows,
	.options_size = sizeof(struct stats_options),
	.examples = examples,
	.reads_copy = true,
	.run = stats_run,
};
