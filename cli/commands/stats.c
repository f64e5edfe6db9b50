#include <inttypes.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/times.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/filters.h"
#include "cli/session/page.h"
#include "cli/terminal/spark.h"
#include "proto/base/container.h"

#define SLOTS_MOST 60
#define BAR_FRAME  27 /* columns in front of the bars, and behind them */

static const char *percent(struct cli *cli, int64_t part, int64_t whole)
{
	const char *text = whole > 0 ? arena_printf(&cli->arena, "%.1f %%",
					       100.0 * (double)part / (double)whole)
				     : "";

	return text ? text : "";
}

static const char *ok_part(struct cli *cli, const struct value *group, const char *key)
{
	return percent(cli, page_int(group, key), page_int(group, "runs"));
}

/* "total_us.p50": a percentile of what a map in the group tells. */
static const char *percentile(struct cli *cli, const struct value *group, const char *key)
{
	const char *dot = strchr(key, '.');
	const struct value *number =
		value_get(value_get_len(group, key, (size_t)(dot - key)), dot + 1);

	return number ? page_number(cli, "_us", number) : "";
}

// clang-format off
static const struct page_column group_columns[] = {
	{ { "",         false, true,  0 }, "key",          PAINT_BOLD,  NULL,       NULL },
	{ { "RUNS",     true,  false, 0 }, "runs",         PAINT_PLAIN, page_unit,  NULL },
	{ { "OK",       true,  false, 3 }, "ok",           PAINT_PLAIN, ok_part,    NULL },
	{ { "p50",      true,  false, 0 }, "total_us.p50", PAINT_PLAIN, percentile, NULL },
	{ { "p90",      true,  false, 2 }, "total_us.p90", PAINT_PLAIN, percentile, NULL },
	{ { "p99",      true,  false, 0 }, "total_us.p99", PAINT_PLAIN, percentile, NULL },
	{ { "EXEC p50", true,  false, 4 }, "exec_us.p50",  PAINT_DIM,   percentile, NULL },
	{ { "EXEC p99", true,  false, 5 }, "exec_us.p99",  PAINT_DIM,   percentile, NULL },
};

static const struct page_column phase_columns[] = {
	{ { "phase", false, true,  0 }, "key",    PAINT_BOLD,  NULL,       NULL },
	{ { "RUNS",  true,  false, 0 }, "runs",   PAINT_PLAIN, page_unit,  NULL },
	{ { "p50",   true,  false, 0 }, "us.p50", PAINT_PLAIN, percentile, NULL },
	{ { "p90",   true,  false, 2 }, "us.p90", PAINT_PLAIN, percentile, NULL },
	{ { "p99",   true,  false, 0 }, "us.p99", PAINT_PLAIN, percentile, NULL },
};
// clang-format on

static void show_groups(struct cli *cli, const struct value *groups, const char *by)
{
	struct page_column columns[COUNT_OF(group_columns)];

	if (strcmp(by, "phase") == 0) {
		page_table(cli, phase_columns, COUNT_OF(phase_columns), groups, 0);
		return;
	}
	memcpy(columns, group_columns, sizeof(columns));
	columns[0].table.title = output_safe(&cli->arena, by);
	if (strcmp(by, "outcome") == 0)
		columns[0].paint_of = output_outcome_paint;
	page_table(cli, columns, COUNT_OF(columns), groups, 0);
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

static void stats_show(struct cli *cli, const struct value *stats)
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
		return;
	show_over(cli, stats);
	say(&cli->out, PAINT_PLAIN, "\n");
	show_groups(cli, groups, cli_text(cli, "by") ? cli_text(cli, "by") : "outcome");
}

static int stats_run(struct cli *cli)
{
	struct value *params = value_map(&cli->arena);
	const struct value *stats = NULL;
	int status = cli_put_options(cli, params);

	if (!cli_text(cli, "by"))
		(void)value_map_put(&cli->arena, params, "by", value_text(&cli->arena, "outcome"));
	if (status == 0)
		status = cli_ask(cli, "stats", params, NULL, &stats);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, stats, EXIT_OK);
	stats_show(cli, stats);
	return EXIT_OK;
}

// clang-format off
const struct command stats_command = {
	.name = "stats",
	.summary = "counts and percentiles over a window of time",
	.about = "Counts runs and shows how long they took: half of them at most p50, nine in "
		 "ten at most p90, all but one in a hundred at most p99.  Bars show the course "
		 "over time.  It reads at most the newest 300,000 runs that pass the filters.",
	.options = OPTIONS(
		{ 'b', "by", "WHAT", OPTION_TEXT, "by", NULL,
			"outcome (default), language, agent, task, policy, uid, or phase" },
		FILTER_ROWS),
	.examples = EXAMPLES(
		{ "cectl stats --since 1h", "how the last hour went" },
		{ "cectl stats --by phase --since today", "where the time goes" },
		{ "cectl stats --by agent --outcome memory_limit", "who runs out of memory" }),
	.reads_copy = true,
	.run = stats_run,
};
// clang-format on
