#include <stddef.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/exits.h"
#include "cli/filters.h"
#include "cli/record.h"
#include "cli/table.h"
#include "cli/times.h"
#include "cli/units.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

#define LIMIT_DEFAULT 20

struct runs_options {
	struct filter_options filter;
	const char *limit;
	const char *before;
};

// clang-format off
static const struct option_row rows[] = {
	FILTER_ROWS(struct runs_options),
	FILTER_LABEL_ROW(struct runs_options),
	{ 'n', "limit", "N", OPTION_TEXT, offsetof(struct runs_options, limit),
		"how many, at most 1000; 20 unless said" },
	{ 0, "before", "RUN", OPTION_TEXT, offsetof(struct runs_options, before),
		"only runs older than this one: the next page" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct example examples[] = {
	{ "cectl runs", "the newest twenty" },
	{ "cectl runs --since 1h --outcome memory_limit", "what ran out of memory in the last hour" },
	{ "cectl runs --agent planner --label env=prod -n 100", "one agent's, with a label" },
	{ "cectl runs --json --since today | jq -r '.runs[] | [.run_id, .outcome] | @tsv'",
		"for a script" },
	{ NULL, NULL },
};

static const struct table_column columns[] = {
	{ "RUN",      false, false, 0 },
	{ "WHEN",     false, false, 4 },
	{ "OUTCOME",  false, false, 0 },
	{ "LANGUAGE", false, false, 5 },
	{ "TIME",     true,  false, 3 },
	{ "UID",      true,  false, 6 },
	{ "AGENT",    false, true,  7 },
	{ "TASK",     false, true,  8 },
	{ "REASON",   false, true,  2 },
};
// clang-format on

static const char *when_text(struct cli *cli, const struct value *run)
{
	int64_t received_us = value_as_int(value_get(run, "received_us"), 0);
	char text[TIMES_TEXT_MAX];

	if (received_us <= 0)
		return "";
	times_print_ago(text, received_us, clock_wall_us());
	return output_safe(&cli->arena, text);
}

static const char *time_text(struct cli *cli, const struct value *run)
{
	int64_t total_us = value_as_int(value_get(run, "total_us"), -1);
	char text[UNITS_TEXT_MAX];

	if (total_us < 0)
		return "";
	units_print_us(text, total_us);
	return output_safe(&cli->arena, text);
}

static void add_run(struct cli *cli, struct table *table, const struct value *run)
{
	struct arena *arena = &cli->arena;
	const char *outcome = output_text(arena, value_get(run, "outcome"));

	const struct table_cell cells[] = {
		{ output_text(arena, value_get(run, "run_id")), PAINT_PLAIN },
		{ when_text(cli, run), PAINT_PLAIN },
		{ outcome[0] ? outcome : "running",
			outcome[0] ? output_outcome_paint(outcome) : PAINT_CYAN },
		{ output_text(arena, value_get(run, "language")), PAINT_PLAIN },
		{ time_text(cli, run), PAINT_PLAIN },
		{ output_text(arena, value_get(run, "uid")), PAINT_PLAIN },
		{ output_text(arena, value_get(run, "agent")), PAINT_PLAIN },
		{ output_text(arena, value_get(run, "task")), PAINT_PLAIN },
		{ output_text(arena, value_get(run, "reason")), PAINT_DIM },
	};

	table_add(table, cells);
}

static int show(struct cli *cli, const struct value *page)
{
	const struct value *runs = value_get(page, "runs");
	const struct value *last = NULL;
	struct table table;

	if (!value_at(runs, 0)) {
		say(&cli->err, PAINT_PLAIN, "cectl: no runs%s\n",
			"; try `cectl run -c 'print(6 * 7)'`, or wider filters");
		return EXIT_OK;
	}
	table_init(&table, &cli->arena, columns, COUNT_OF(columns));
	for (size_t i = 0; value_at(runs, i); i++) {
		last = value_at(runs, i);
		add_run(cli, &table, last);
	}
	table_print(&table, &cli->out, 0);
	if (value_as_bool(value_get(page, "more"), false))
		say(&cli->err, PAINT_DIM, "older ones: the same with --before %s\n",
			output_text(&cli->arena, value_get(last, "run_id")));
	return EXIT_OK;
}

/* The protocol wants the whole id there; a person may write any name of the run. */
static int put_before(struct cli *cli, struct value *params, const char *name)
{
	const char *run_id = NULL;
	int status = record_resolve(cli, name, &run_id);

	if (status != 0)
		return status;
	if (value_map_put(&cli->arena, params, "before", value_text(&cli->arena, run_id)) < 0)
		return cli_no_memory(cli);
	return 0;
}

static int make_params(
	struct cli *cli, const struct runs_options *options, struct value **ret_params)
{
	struct arena *arena = &cli->arena;
	struct value *params = value_map(arena);
	struct err err = ERR_INIT;
	uint64_t limit = LIMIT_DEFAULT;
	int status = filters_put(cli, &options->filter, params);

	if (status != 0)
		return status;
	if (options->limit && units_parse_count(options->limit, &limit, &err) < 0)
		return cli_usage(cli, "--limit: %s", err.text);
	if (value_map_put(arena, params, "limit", value_uint(arena, limit)) < 0)
		return cli_no_memory(cli);
	*ret_params = params;
	return options->before ? put_before(cli, params, options->before) : 0;
}

static int run(struct cli *cli, const void *given)
{
	const struct value *page = NULL;
	struct value *params = NULL;
	int status = make_params(cli, given, &params);

	if (status != 0)
		return status;
	status = cli_ask(cli, "runs.list", params, NULL, &page);
	if (status != 0)
		return status;
	return cli->json ? cli_document(cli, page, EXIT_OK) : show(cli, page);
}

const struct command runs_command = {
	.name = "runs",
	.operands = "",
	.summary = "list recorded runs, newest first",
	.about = "Lists runs from the store, newest first: your own, or everybody's if you are an "
		 "administrator.  Filters narrow the list together.",
	.options = rows,
	.options_size = sizeof(struct runs_options),
	.examples = examples,
	.run = run,
};
