/* cectl top: what happens in the daemon now, on a page that fits the screen. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/times.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/spark.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/fill.h"

#define TOP_HISTORY 60 /* rates that the page remembers */

struct top {
	struct cli *cli;
	int64_t rates[TOP_HISTORY]; /* runs in ten seconds, the newest last */
	size_t rate_count;
};

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

static const struct value *top_ask(
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
	return top_ask(looking, "runs.list", &params, "runs");
}

/* Administrators see the whole daemon; others see their own runs only. */
static void put_status(struct looking *looking, struct fill *seen)
{
	struct fill params = fill_start(&looking->top->cli->arena);
	const struct value *status = top_ask(looking, "admin.status", &params, NULL);

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
	stats = top_ask(looking, "stats", &params, NULL);
	fill_shared(seen, "last", stats);
	if (top->rate_count == TOP_HISTORY)
		memmove(top->rates, top->rates + 1, --top->rate_count * sizeof(*top->rates));
	top->rates[top->rate_count++] = page_int(stats, "runs");
}

static int top_look(struct top *top, const struct value **ret_seen, struct err *err)
{
	struct looking looking = { .top = top, .now_us = clock_wall_us(), .err = err };
	struct fill seen = fill_start(&top->cli->arena);
	struct fill none = fill_start(&top->cli->arena);

	fill_int(&seen, "at_us", looking.now_us);
	fill_int(&seen, "window_us", WINDOW_US);
	fill_shared(&seen, "runtimes", top_ask(&looking, "runtimes", &none, "runtimes"));
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
	// clang-format off
	static const struct page_column columns[] = {
		{ { "RUNTIME", false, false, 0 }, "name",    PAINT_BOLD,  NULL,      NULL },
		{ { "WARM",    true,  false, 0 }, "warm",    PAINT_PLAIN, page_unit, NULL },
		{ { "RUNNING", true,  false, 0 }, "running", PAINT_PLAIN, page_unit, NULL },
		{ { "MAKING",  true,  false, 3 }, "making",  PAINT_PLAIN, page_unit, NULL },
		{ { "WANTED",  true,  false, 2 }, "wanted",  PAINT_PLAIN, page_unit, NULL },
		{ { "RUNS",    true,  false, 1 }, "runs",    PAINT_PLAIN, page_unit, NULL },
		{ { "WAITED",  true,  false, 4 }, "waited",  PAINT_PLAIN, page_unit, NULL },
		{ { "TROUBLE", false, true,  5 }, "trouble", PAINT_RED,   NULL,      NULL },
	};
	// clang-format on

	say(&cli->out, PAINT_PLAIN, "\n");
	page_table(cli, columns, COUNT_OF(columns), runtimes, 0);
}

/* How long it has been running, or how long ago it was refused. */
static const char *age(struct cli *cli, const struct value *run, const char *key)
{
	return page_number(
		cli, "_us", value_int(&cli->arena, clock_wall_us() - page_int(run, key)));
}

// clang-format off
#define RUN_COLUMNS(time_title, time_key, time_text, last_title, last_key) { \
	{ { "RUN",      false, false, 0 }, "run_id",   PAINT_PLAIN, NULL,      NULL }, \
	{ { time_title, true,  false, 0 }, time_key,   PAINT_BOLD,  time_text, NULL }, \
	{ { "OUTCOME",  false, false, 0 }, "outcome",  PAINT_PLAIN, page_outcome, page_outcome_paint }, \
	{ { "LANGUAGE", false, false, 3 }, "language", PAINT_PLAIN, NULL,      NULL }, \
	{ { "UID",      true,  false, 2 }, "uid",      PAINT_PLAIN, NULL,      NULL }, \
	{ { "AGENT",    false, true,  1 }, "agent",    PAINT_PLAIN, NULL,      NULL }, \
	{ { last_title, false, true,  4 }, last_key,   PAINT_PLAIN, NULL,      NULL } }

/* Lists of runs under a heading. */
static const struct {
	const char *key;
	const char *heading;
	struct page_column columns[7];
} sections[] = {
	{ "running", "running, the oldest first",
		RUN_COLUMNS("TIME", "received_us", age, "TASK", "task") },
	{ "slowest", "the slowest of the last minute",
		RUN_COLUMNS("TIME", "total_us", page_unit, "TASK", "task") },
	{ "refused", "refused in the last minute",
		RUN_COLUMNS("AGO", "received_us", age, "REASON", "reason") },
};
// clang-format on

/* With room for `lines` in all. */
static void print_section(struct cli *cli, const struct value *seen, size_t section, size_t lines)
{
	const struct value *runs = value_get(seen, sections[section].key);
	struct value *shown = value_list(&cli->arena);

	if (!value_at(runs, 0) || lines <= SECTION_LINES)
		return;
	for (size_t i = 0; i < lines - SECTION_LINES && value_at(runs, i); i++)
		(void)value_list_add(&cli->arena, shown, value_at(runs, i));
	output_heading(&cli->out, sections[section].heading);
	page_table(cli, sections[section].columns, COUNT_OF(sections[section].columns), shown, 0);
}

static void top_print(struct top *top, const struct value *seen, struct screen_size size)
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
	for (size_t i = 0; i < COUNT_OF(sections); i++)
		print_section(cli, seen, i, left / COUNT_OF(sections));
}

#define INTERVAL_MS       1000
#define INTERVAL_MS_LEAST 100
#define INTERVAL_MS_MOST  3600000

/* ---- one frame ---------------------------------------------------------------------------- */

/* The page as text, in the style of the command's output. */
static int print_frame(struct top *top, const struct value *seen, char **ret_text, size_t *ret_len)
{
	struct output kept = top->cli->out;
	FILE *file = open_memstream(ret_text, ret_len);

	if (!file)
		return -1;
	top->cli->out.file = file;
	top_print(top, seen, screen_get_size());
	top->cli->out = kept;
	return fclose(file) == 0 ? 0 : -1;
}

static int draw(struct top *top, const struct value *seen, struct err *err)
{
	auto_free char *text = NULL;
	size_t len = 0;

	if (print_frame(top, seen, &text, &len) < 0)
		return err_set(err, ERR_MEMORY, "not enough memory to draw");
	return screen_draw(text, len, err);
}

/* A daemon that is gone may come back: the next look tries. */
static int draw_trouble(struct top *top, const struct err *why, struct err *err)
{
	struct cli *cli = top->cli;
	const char *text =
		arena_printf(&cli->arena, "cectl top: %s\n\nIt is tried again; q leaves.\n",
			output_safe(&cli->arena, why->text));

	client_close(cli->client);
	cli->client = NULL;
	return text ? screen_draw(text, strlen(text), err) : 0;
}

/* The arena's content is for this frame only. */
static int look_and_draw(struct top *top, struct err *err)
{
	struct arena kept = top->cli->arena;
	const struct value *seen = NULL;
	struct err why = ERR_INIT;
	int status;

	arena_init(&top->cli->arena, kept.ceiling);
	status = top_look(top, &seen, &why);
	if (status == 1)
		(void)err_set(&why, ERR_SYSTEM, "%s", page_text(top->cli, seen, "message"));
	status = status == 0 ? draw(top, seen, err) : draw_trouble(top, &why, err);
	arena_done(&top->cli->arena);
	top->cli->arena = kept;
	return status;
}

/* ---- again and again ---------------------------------------------------------------------- */

static int draw_until_left(struct top *top, uint64_t interval_ms, struct err *err)
{
	for (;;) {
		int64_t next_ms = clock_ms() + (int64_t)interval_ms;
		int key = 0;

		if (look_and_draw(top, err) < 0)
			return -1;
		while (key == 0 && clock_ms() < next_ms) {
			struct screen_size before = screen_get_size();
			struct screen_size after;

			key = screen_wait(next_ms - clock_ms());
			after = screen_get_size();
			if (after.columns != before.columns || after.rows != before.rows)
				break;
		}
		if (key == 'q' || key == 'Q' || key < 0)
			return 0;
	}
}

static int live(struct top *top, uint64_t interval_ms)
{
	struct err err = ERR_INIT;
	int status;

	if (screen_open(&err) < 0)
		return cli_usage(top->cli, "%s; --once prints one page", err.text);
	status = draw_until_left(top, interval_ms, &err);
	screen_close();
	return status < 0 ? cli_fail(top->cli, &err) : EXIT_OK;
}

static int once(struct top *top)
{
	struct cli *cli = top->cli;
	const struct value *seen = NULL;
	struct err err = ERR_INIT;
	int status = top_look(top, &seen, &err);

	if (status < 0)
		return cli_fail(cli, &err);
	if (status > 0)
		return cli_fail_with(cli, ERR_DENIED, "%s", page_text(cli, seen, "message"));
	if (cli->json)
		return cli_document(cli, seen, EXIT_OK);
	top_print(top, seen, (struct screen_size){ output_text_width(&cli->out), SIZE_MAX / 2 });
	return EXIT_OK;
}

static int top_run(struct cli *cli)
{
	const char *interval = cli_text(cli, "interval");
	struct top top = { .cli = cli };
	const struct value *hello = NULL;
	uint64_t interval_ms = INTERVAL_MS;
	struct err err = ERR_INIT;
	int status;

	if (interval && units_parse_ms(interval, &interval_ms, &err) < 0)
		return cli_usage(cli, "--interval: %s", err.text);
	if (interval_ms < INTERVAL_MS_LEAST || interval_ms > INTERVAL_MS_MOST)
		return cli_usage(cli, "--interval is from 100ms to 1h");
	/* A missing daemon is reported as usual, before the screen changes. */
	status = cli_ask(cli, "runtimes", value_map(&cli->arena), NULL, &hello);
	if (status != 0)
		return status;
	return cli_flag(cli, "once") || cli->json ? once(&top) : live(&top, interval_ms);
}

// clang-format off
const struct command top_command = {
	.name = "top",
	.summary = "runs, queue and workers, updated every second",
	.about = "Shows running and queued runs, workers, rates and times of the last ten "
		 "seconds, the slowest runs, and the refused runs of the last minute. "
		 "Administrators see all users, others their own runs.  The bars at the top are "
		 "runs per second since the start.  q quits.",
	.options = OPTIONS(
		{ 0, "interval", "TIME", OPTION_TEXT, NULL, NULL,
			"how often to look; 1s unless said" },
		{ 0, "once", NULL, OPTION_FLAG, NULL, NULL,
			"one page, and no more; no terminal needed" }),
	.examples = EXAMPLES(
		{ "cectl top", "q leaves" },
		{ "cectl top --interval 5s", "more quietly" },
		{ "cectl top --once", "for a mail or a log" },
		{ "cectl top --json | jq '.running[].run_id'", "for a script" }),
	.run = top_run,
};
// clang-format on
