#include "cli/top.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page.h"
#include "cli/spark.h"
#include "cli/table.h"
#include "cli/times.h"
#include "cli/units.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/fill.h"

#define SECOND_US     INT64_C(1000000)
#define WINDOW_US     (10 * SECOND_US) /* rates and percentiles are of the last ten seconds */
#define SLOW_US       (60 * SECOND_US) /* the slowest and the refused of the last minute */
#define RUNNING_MOST  200
#define RECENT_MOST   1000
#define SHOWN_MOST    10 /* of the slowest and the refused */
#define HEAD_COLUMNS  68 /* before the bars */
#define SECTION_LINES 3  /* a blank one, the heading, the titles */

static const char *const refusals[] = { "policy_denied", "refused", "budget_exceeded",
	"approval_denied", "approval_expired" };

/* ---- looking ------------------------------------------------------------------------------ */

/* One question after the other, until one is not answered. */
struct looking {
	struct top *top;
	int64_t now_us;
	const struct value *answer; /* to the last question */
	int status;                 /* as cli_ask_quietly() */
	struct err *err;
};

static const struct value *ask(
	struct looking *looking, const char *method, struct fill *params, const char *key)
{
	struct value *whole = fill_done(params);

	if (looking->status != 0 || !whole)
		return NULL;
	looking->status = cli_ask_quietly(
		looking->top->cli, method, whole, NULL, &looking->answer, looking->err);
	if (looking->status != 0)
		return NULL;
	return key ? value_get(looking->answer, key) : looking->answer;
}

static const struct value *ask_list(
	struct looking *looking, const char *outcome, int64_t since_us, int64_t limit)
{
	struct fill params = fill_start(&looking->top->cli->arena);

	fill_optional_text(&params, "outcome", outcome);
	fill_int(&params, "since", since_us);
	fill_int(&params, "limit", limit);
	return ask(looking, "runs.list", &params, "runs");
}

/* Only for those who may: others see their runs, and nothing of the house. */
static void put_status(struct looking *looking, struct fill *seen)
{
	struct fill params = fill_start(&looking->top->cli->arena);
	const struct value *status = ask(looking, "admin.status", &params, NULL);

	if (looking->status == 1)
		looking->status = 0;
	else
		fill_shared(seen, "status", status);
}

static int longest_first(const void *a, const void *b)
{
	int64_t left = page_int(*(const struct value *const *)a, "total_us");
	int64_t right = page_int(*(const struct value *const *)b, "total_us");

	return left < right ? 1 : -(left > right);
}

static int oldest_first(const void *a, const void *b)
{
	int64_t left = page_int(*(const struct value *const *)a, "received_us");
	int64_t right = page_int(*(const struct value *const *)b, "received_us");

	return left < right ? -1 : left > right;
}

static int newest_first(const void *a, const void *b)
{
	return oldest_first(b, a);
}

/* The first `most` of the runs in an order, which leaves out those that have no such number. */
static void put_first(struct looking *looking, struct fill *seen, const char *key,
	const struct value *runs, int (*order)(const void *, const void *), size_t most)
{
	struct arena *arena = &looking->top->cli->arena;
	struct value *list = value_list(arena);

	if (value_is(runs, VALUE_LIST) && runs->list.count > 1)
		qsort(runs->list.items, runs->list.count, sizeof(struct value *), order);
	for (size_t i = 0; i < most && value_at(runs, i); i++) {
		if (order != longest_first || page_int(value_at(runs, i), "total_us") > 0)
			(void)value_list_add(arena, list, value_at(runs, i));
	}
	fill_value(seen, key, list);
}

static void put_refused(struct looking *looking, struct fill *seen)
{
	struct arena *arena = &looking->top->cli->arena;
	struct value *all = value_list(arena);

	for (size_t i = 0; i < COUNT_OF(refusals); i++) {
		const struct value *runs =
			ask_list(looking, refusals[i], looking->now_us - SLOW_US, SHOWN_MOST);

		for (size_t k = 0; value_at(runs, k); k++)
			(void)value_list_add(arena, all, value_at(runs, k));
	}
	put_first(looking, seen, "refused", all, newest_first, SHOWN_MOST);
}

static void put_last(struct looking *looking, struct fill *seen)
{
	struct fill params = fill_start(&looking->top->cli->arena);
	struct top *top = looking->top;
	const struct value *stats;

	fill_int(&params, "since", looking->now_us - WINDOW_US);
	fill_text(&params, "by", "outcome");
	stats = ask(looking, "stats", &params, NULL);
	fill_shared(seen, "last", stats);
	if (top->rate_count == TOP_HISTORY)
		memmove(top->rates, top->rates + 1, --top->rate_count * sizeof(*top->rates));
	top->rates[top->rate_count++] = page_int(stats, "runs");
}

int top_look(struct top *top, const struct value **ret_seen, struct err *err)
{
	struct looking looking = { .top = top, .now_us = clock_wall_us(), .err = err };
	struct fill seen = fill_start(&top->cli->arena);
	struct fill none = fill_start(&top->cli->arena);

	fill_int(&seen, "at_us", looking.now_us);
	fill_int(&seen, "window_us", WINDOW_US);
	fill_shared(&seen, "runtimes", ask(&looking, "runtimes", &none, "runtimes"));
	put_status(&looking, &seen);
	put_last(&looking, &seen);
	put_first(&looking, &seen, "running", ask_list(&looking, "running", 0, RUNNING_MOST),
		oldest_first, RUNNING_MOST);
	put_first(&looking, &seen, "slowest",
		ask_list(&looking, NULL, looking.now_us - SLOW_US, RECENT_MOST), longest_first,
		SHOWN_MOST);
	put_refused(&looking, &seen);
	*ret_seen = looking.status == 1 ? looking.answer : fill_done(&seen);
	if (!*ret_seen)
		return err_set(err, ERR_MEMORY, "not enough memory to look");
	return looking.status;
}

/* ---- the page ----------------------------------------------------------------------------- */

static void print_head(struct top *top, const struct value *seen)
{
	struct cli *cli = top->cli;
	size_t room = cli->out.width > HEAD_COLUMNS ? cli->out.width - HEAD_COLUMNS : 0;
	size_t bars = top->rate_count < room ? top->rate_count : room;
	const struct value *status = value_get(seen, "status");
	const char *trouble = page_text(cli, status, "trouble");
	char when[TIMES_TEXT_MAX];
	char uptime[UNITS_TEXT_MAX];

	times_print(when, page_int(seen, "at_us"));
	units_print_us(uptime, page_int(status, "uptime_s") * SECOND_US);
	say(&cli->out, PAINT_BOLD, "ced %s", page_text(cli, status, "version"));
	if (status)
		say(&cli->out, PAINT_PLAIN, "  pid %s, up %s", page_text(cli, status, "pid"),
			uptime);
	else
		say(&cli->out, PAINT_PLAIN, " your own runs");
	say(&cli->out, PAINT_DIM, "  %s", when);
	say(&cli->out, PAINT_CYAN, "  %s\n",
		spark_text(&cli->arena, &cli->out, top->rates + top->rate_count - bars, bars));
	if (trouble[0])
		say(&cli->out, PAINT_RED, "%s %s\n", output_mark(&cli->out, MARK_BAD), trouble);
	if (value_as_bool(value_get(status, "drained"), false))
		say(&cli->out, PAINT_YELLOW, "%s drained: it takes no new runs\n",
			output_mark(&cli->out, MARK_DOT));
}

static void print_rates(struct top *top, const struct value *seen)
{
	struct cli *cli = top->cli;
	const struct value *status = value_get(seen, "status");
	const struct value *last = value_get(seen, "last");
	const struct value *total = value_get(last, "total_us");
	const struct value *running = value_get(seen, "running");

	say(&cli->out, PAINT_BOLD, "%zu", running ? running->list.count : 0);
	say(&cli->out, PAINT_PLAIN, " running");
	if (status)
		say(&cli->out, PAINT_PLAIN, ", %s queued, %s connections",
			page_text(cli, status, "queued"), page_text(cli, status, "connections"));
	say(&cli->out, PAINT_PLAIN, "   ");
	say(&cli->out, PAINT_BOLD, "%.1f", (double)page_int(last, "runs") / 10);
	say(&cli->out, PAINT_PLAIN, " runs/s");
	if (page_int(last, "runs") > 0)
		say(&cli->out, PAINT_PLAIN, ", half in %s, 99 %% in %s",
			page_number(cli, "_us", value_get(total, "p50")),
			page_number(cli, "_us", value_get(total, "p99")));
	say(&cli->out, PAINT_PLAIN, "\n");
}

static void print_outcomes(struct cli *cli, const struct value *last)
{
	const struct value *groups = value_get(last, "by");

	for (size_t i = 0; value_at(groups, i); i++) {
		const struct value *group = value_at(groups, i);
		const char *outcome = page_text(cli, group, "key");

		say(&cli->out, output_outcome_paint(outcome), "%s%s", i ? "   " : "", outcome);
		say(&cli->out, PAINT_PLAIN, " %.1f/s", (double)page_int(group, "runs") / 10);
	}
	say(&cli->out, PAINT_PLAIN, "%s\n",
		value_at(groups, 0) ? "" : "nothing ended in the last ten seconds");
}

static void print_runtimes(struct cli *cli, const struct value *runtimes)
{
	static const struct table_column columns[] = {
		{ "RUNTIME", false, false, 0 },
		{ "WARM", true, false, 0 },
		{ "RUNNING", true, false, 0 },
		{ "MAKING", true, false, 3 },
		{ "WANTED", true, false, 2 },
		{ "RUNS", true, false, 1 },
		{ "WAITED", true, false, 4 },
		{ "TROUBLE", false, true, 5 },
	};
	static const char *const keys[] = { "name", "warm", "running", "making", "wanted", "runs",
		"waited", "trouble" };
	struct table table;

	table_init(&table, &cli->arena, columns, COUNT_OF(columns));
	for (size_t i = 0; value_at(runtimes, i); i++) {
		const struct value *runtime = value_at(runtimes, i);
		struct table_cell cells[COUNT_OF(keys)];

		for (size_t k = 0; k < COUNT_OF(keys); k++)
			cells[k] = (struct table_cell){
				page_number(cli, keys[k], value_get(runtime, keys[k])), PAINT_PLAIN
			};
		cells[0].paint = PAINT_BOLD;
		cells[COUNT_OF(keys) - 1].paint = PAINT_RED;
		table_add(&table, cells);
	}
	say(&cli->out, PAINT_PLAIN, "\n");
	table_print(&table, &cli->out, 0);
}

/* What a section tells of its runs beside who they are. */
enum telling {
	TELLING_AGE, /* how long it has been running */
	TELLING_TIME,
	TELLING_REASON
};

static const char *time_of(
	struct cli *cli, const struct value *run, enum telling telling, int64_t now_us)
{
	char text[UNITS_TEXT_MAX];

	if (telling == TELLING_TIME)
		return page_number(cli, "_us", value_get(run, "total_us"));
	units_print_us(text, now_us - page_int(run, "received_us"));
	return output_safe(&cli->arena, text);
}

static void add_run(struct cli *cli, struct table *table, const struct value *run,
	enum telling telling, int64_t now_us)
{
	const char *outcome = page_text(cli, run, "outcome");
	const struct table_cell cells[] = {
		{ page_text(cli, run, "run_id"), PAINT_PLAIN },
		{ time_of(cli, run, telling, now_us), PAINT_BOLD },
		{ outcome[0] ? outcome : "running",
			outcome[0] ? output_outcome_paint(outcome) : PAINT_CYAN },
		{ page_text(cli, run, "language"), PAINT_PLAIN },
		{ page_text(cli, run, "uid"), PAINT_PLAIN },
		{ page_text(cli, run, "agent"), PAINT_PLAIN },
		{ page_text(cli, run, telling == TELLING_REASON ? "reason" : "task"), PAINT_PLAIN },
	};

	table_add(table, cells);
}

/* A list of runs under a heading, with room for `lines` in all. */
static void print_section(struct cli *cli, const struct value *seen, const char *key,
	const char *heading, enum telling telling, size_t lines)
{
	const struct table_column columns[] = {
		{ "RUN", false, false, 0 },
		{ telling == TELLING_REASON ? "AGO" : "TIME", true, false, 0 },
		{ "OUTCOME", false, false, 0 },
		{ "LANGUAGE", false, false, 3 },
		{ "UID", true, false, 2 },
		{ "AGENT", false, true, 1 },
		{ telling == TELLING_REASON ? "REASON" : "TASK", false, true, 4 },
	};
	const struct value *runs = value_get(seen, key);
	struct table table;

	if (!value_at(runs, 0) || lines <= SECTION_LINES)
		return;
	table_init(&table, &cli->arena, columns, COUNT_OF(columns));
	for (size_t i = 0; i < lines - SECTION_LINES && value_at(runs, i); i++)
		add_run(cli, &table, value_at(runs, i), telling, page_int(seen, "at_us"));
	output_heading(&cli->out, heading);
	table_print(&table, &cli->out, 0);
}

void top_print(struct top *top, const struct value *seen, struct screen_size size)
{
	struct cli *cli = top->cli;
	const struct value *runtimes = value_get(seen, "runtimes");
	size_t used = 6 + (runtimes ? runtimes->list.count : 0);
	size_t left = size.rows > used ? size.rows - used : 0;

	cli->out.width = size.columns;
	print_head(top, seen);
	print_rates(top, seen);
	print_outcomes(cli, value_get(seen, "last"));
	print_runtimes(cli, runtimes);
	print_section(cli, seen, "running", "running, the oldest first", TELLING_AGE, left / 3);
	print_section(
		cli, seen, "slowest", "the slowest of the last minute", TELLING_TIME, left / 3);
	print_section(cli, seen, "refused", "refused in the last minute", TELLING_REASON, left / 3);
}
