/* cectl runs: a list of runs, as a table for people, as CSV or as JSON. */
#include <stddef.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/times.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/filters.h"
#include "cli/commands/record.h"
#include "cli/session/cli.h"
#include "cli/session/page.h"
#include "cli/terminal/table.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/nearest.h"
#include "proto/fill.h"
#include "proto/job/language.h"

struct run_column {
	const char *name; /* as in --columns */
	const char *key;  /* of the row as runs.list answers it; the title of a CSV */
	struct table_column table;
	/* Safe text for a table; NULL: the key's value as it is. */
	const char *(*text)(struct cli *cli, const struct value *run, const char *key);
	enum paint (*paint)(const char *text); /* or NULL: plain */
};

struct run_columns {
	const struct run_column *columns[TABLE_COLUMNS_MAX];
	size_t count;
};

#define NAME_MAX_LEN 32
#define USUAL        "run,when,outcome,language,time,uid,agent,task,reason"

/* ---- how a value is shown ----------------------------------------------------------------- */

static const char *ago(struct cli *cli, const struct value *run, const char *key)
{
	int64_t wall_us = page_int(run, key);
	char text[TIMES_TEXT_MAX];

	if (wall_us <= 0)
		return "";
	times_print_ago(text, wall_us, clock_wall_us());
	return output_safe(&cli->arena, text);
}

static const char *moment(struct cli *cli, const struct value *run, const char *key)
{
	int64_t wall_us = page_int(run, key);
	char text[TIMES_TEXT_MAX];

	if (wall_us <= 0)
		return "";
	times_print(text, wall_us);
	return output_safe(&cli->arena, text);
}

static const char *with_unit(struct cli *cli, const struct value *run, const char *key)
{
	return page_number(cli, key, value_get(run, key));
}

static const char *outcome_or_running(struct cli *cli, const struct value *run, const char *key)
{
	const char *outcome = page_text(cli, run, key);

	return outcome[0] ? outcome : page_text(cli, run, "state");
}

static enum paint outcome_paint(const char *text)
{
	return !strcmp(text, "running") || !strcmp(text, "parked") ? PAINT_CYAN
								   : output_outcome_paint(text);
}

static enum paint dim(const char *text)
{
	(void)text;
	return PAINT_DIM;
}

/* Enough to distinguish programs; the CSV has the whole digest. */
static const char *short_hash(struct cli *cli, const struct value *run, const char *key)
{
	const char *hash = page_text(cli, run, key);
	const char *colon = strchr(hash, ':');
	const char *text = arena_printf(&cli->arena, "%.12s", colon ? colon + 1 : hash);

	return text ? text : "";
}

/* clang-format off */
static const struct run_column all[] = {
	{ "run",      "run_id",       { "RUN",      false, false, 0 },  NULL,               NULL },
	{ "when",     "received_us",  { "WHEN",     false, false, 3 },  ago,                NULL },
	{ "received", "received_us",  { "RECEIVED", false, false, 4 },  moment,             NULL },
	{ "ended",    "ended_us",     { "ENDED",    false, false, 10 }, moment,             NULL },
	{ "outcome",  "outcome",      { "OUTCOME",  false, false, 0 },  outcome_or_running, outcome_paint },
	{ "language", "language",     { "LANGUAGE", false, false, 5 },  NULL,               NULL },
	{ "time",     "total_us",     { "TIME",     true,  false, 4 },  with_unit,          NULL },
	{ "exec",     "exec_us",      { "EXEC",     true,  false, 9 },  with_unit,          NULL },
	{ "uid",      "uid",          { "UID",      true,  false, 6 },  NULL,               NULL },
	{ "agent",    "agent",        { "AGENT",    false, true,  7 },  NULL,               NULL },
	{ "task",     "task",         { "TASK",     false, true,  8 },  NULL,               NULL },
	{ "id",       "id",           { "ID",       false, true,  12 }, NULL,               NULL },
	{ "policy",   "policy",       { "POLICY",   false, true,  11 }, NULL,               NULL },
	{ "code",     "code_hash",    { "CODE",     false, false, 13 }, short_hash,         NULL },
	{ "stdout",   "stdout_bytes", { "STDOUT",   true,  false, 14 }, with_unit,          NULL },
	{ "reason",   "reason",       { "REASON",   false, true,  2 },  NULL,               dim },
};
/* clang-format on */

_Static_assert(COUNT_OF(all) <= TABLE_COLUMNS_MAX, "all of them fit into a table");

/* ---- which -------------------------------------------------------------------------------- */

static const struct run_column *find(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		if (strlen(all[i].name) == len && strncmp(all[i].name, name, len) == 0)
			return &all[i];
	}
	return NULL;
}

static int refuse(const char *name, size_t len, struct err *err)
{
	char known[ERR_TEXT_MAX] = "";
	char word[NAME_MAX_LEN + 1];
	struct nearest nearest = NEAREST_OF(word);
	size_t at = 0;

	cut_printf(
		word, sizeof(word), "%.*s", (int)(len < NAME_MAX_LEN ? len : NAME_MAX_LEN), name);
	for (size_t i = 0; i < COUNT_OF(all) && at < sizeof(known); i++) {
		nearest_offer(&nearest, all[i].name);
		cut_printf(known + at, sizeof(known) - at, " %s", all[i].name);
		at = strlen(known);
	}
	return err_set(err, ERR_INVALID, "there is no column \"%s\"%s%s are:%s, and all", word,
		nearest_hint(&nearest), nearest.best ? " There" : "; there", known);
}

static void take_all(struct run_columns *ret_columns)
{
	for (size_t i = 0; i < COUNT_OF(all); i++)
		ret_columns->columns[i] = &all[i];
	ret_columns->count = COUNT_OF(all);
}

static int run_columns_parse(const char *names, struct run_columns *ret_columns, struct err *err)
{
	struct run_columns columns = { .count = 0 };

	if (names && strcmp(names, "all") == 0) {
		take_all(ret_columns);
		return 0;
	}
	for (const char *at = names ? names : USUAL;; at++) {
		size_t len = strcspn(at, ",");
		const struct run_column *column = find(at, len);

		if (!column)
			return refuse(at, len, err);
		if (columns.count == TABLE_COLUMNS_MAX)
			return err_set(err, ERR_TOO_BIG, "at most %d columns", TABLE_COLUMNS_MAX);
		columns.columns[columns.count++] = column;
		at += len;
		if (!*at)
			break;
	}
	*ret_columns = columns;
	return 0;
}

/* ---- as a table --------------------------------------------------------------------------- */

static struct table_cell cell_of(
	struct cli *cli, const struct run_column *column, const struct value *run)
{
	const char *text = column->text ? column->text(cli, run, column->key)
					: page_text(cli, run, column->key);

	return (struct table_cell){ text, column->paint ? column->paint(text) : PAINT_PLAIN };
}

static void run_columns_table(struct cli *cli, const struct run_columns *columns,
	const struct value *const *runs, size_t count)
{
	struct table_column titles[TABLE_COLUMNS_MAX];
	struct table table;

	for (size_t i = 0; i < columns->count; i++)
		titles[i] = columns->columns[i]->table;
	table_init(&table, &cli->arena, titles, columns->count);
	for (size_t n = 0; n < count; n++) {
		struct table_cell cells[TABLE_COLUMNS_MAX] = { 0 };

		for (size_t i = 0; i < columns->count; i++)
			cells[i] = cell_of(cli, columns->columns[i], runs[n]);
		table_add(&table, cells);
	}
	table_print(&table, &cli->out, 0);
}

/* ---- as CSV ------------------------------------------------------------------------------- */

static void print_quoted(const struct output *out, const char *text)
{
	say(out, PAINT_PLAIN, "\"%s", text[0] && strchr("=+-@", text[0]) ? "'" : "");
	for (; *text; text++)
		say(out, PAINT_PLAIN, *text == '"' ? "\"\"" : "%c", *text);
	say(out, PAINT_PLAIN, "\"");
}

/* "when" and "received" are one key, and a spreadsheet needs unique titles. */
static bool is_repeated(const struct run_columns *columns, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (strcmp(columns->columns[i]->key, columns->columns[at]->key) == 0)
			return true;
	}
	return false;
}

static void run_columns_csv_titles(struct cli *cli, const struct run_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++) {
		if (!is_repeated(columns, i))
			say(&cli->out, PAINT_PLAIN, "%s%s", i ? "," : "", columns->columns[i]->key);
	}
	say(&cli->out, PAINT_PLAIN, "\r\n");
}

static void run_columns_csv(
	struct cli *cli, const struct run_columns *columns, const struct value *run)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct value *value = value_get(run, columns->columns[i]->key);
		const char *text = output_text(&cli->arena, value);

		if (is_repeated(columns, i))
			continue;
		say(&cli->out, PAINT_PLAIN, "%s", i ? "," : "");
		if (value_is(value, VALUE_INT))
			say(&cli->out, PAINT_PLAIN, "%s", text);
		else if (text[0])
			print_quoted(&cli->out, text);
	}
	say(&cli->out, PAINT_PLAIN, "\r\n");
}

#define LIMIT_DEFAULT 20
#define PAGE_MOST     1000 /* of the protocol */
#define ARENA_BYTES   ((size_t)4 << 30)

struct runs_options {
	struct filter_options filter;
	const char *limit;
	const char *before;
	const char *columns;
	bool all;
	bool csv;
};

// clang-format off
static const struct option_row rows[] = {
	FILTER_ROWS(struct runs_options),
	{ 'n', "limit", "N", OPTION_TEXT, offsetof(struct runs_options, limit),
		"how many; 20 unless said" },
	{ 0, "all", NULL, OPTION_FLAG, offsetof(struct runs_options, all),
		"every one, however many" },
	{ 0, "before", "RUN", OPTION_TEXT, offsetof(struct runs_options, before),
		"only runs older than this one: the next page" },
	{ 0, "columns", "NAMES", OPTION_TEXT, offsetof(struct runs_options, columns),
		"what to show of each, by commas: run, when, received, ended, outcome, language, time, "
		"exec, uid, agent, task, id, policy, code, stdout, reason; or all" },
	{ 0, "csv", NULL, OPTION_FLAG, offsetof(struct runs_options, csv),
		"comma-separated values, as the protocol has them, under their keys" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct example examples[] = {
	{ "cectl runs", "the newest twenty" },
	{ "cectl runs --since 1h --outcome memory_limit", "what ran out of memory in the last hour" },
	{ "cectl runs --agent planner --label env=prod -n 100", "one agent's, with a label" },
	{ "cectl runs --text 'connection refused' --since yesterday", "by words of program or output" },
	{ "cectl runs --rule python.import.denied --columns run,when,agent,code", "who tried what a rule finds" },
	{ "cectl runs --csv --all --since 2026-11-01 --until 2026-12-01 > november.csv", "a month for a spreadsheet" },
	{ "cectl runs --json --since today | jq -r '.runs[] | [.run_id, .outcome] | @tsv'",
		"for a script" },
	{ NULL, NULL },
};
// clang-format on

/* The list that is asked for, page after page. */
struct listing {
	struct cli *cli;
	struct value *filters; /* as params */
	struct run_columns columns;
	uint64_t wanted;
	const struct value **runs; /* all that came, unless they are printed as they come */
	size_t count;
	size_t size;
	bool more;
	char last[64]; /* the last run that came */
};

static int runs_keep(struct listing *listing, const struct value *run)
{
	struct arena *arena = &listing->cli->arena;

	if (listing->count == listing->size) {
		size_t size = listing->size ? 2 * listing->size : 64;
		const struct value **runs = arena_array(arena, const struct value *, size);

		if (!runs)
			return cli_no_memory(listing->cli);
		if (listing->count)
			memcpy(runs, listing->runs, listing->count * sizeof(*runs));
		listing->runs = runs;
		listing->size = size;
	}
	listing->runs[listing->count++] = run;
	return 0;
}

static int print_csv(struct listing *listing, const struct value *run)
{
	run_columns_csv(listing->cli, &listing->columns, run);
	listing->count++;
	return 0;
}

/* The filters with where this page begins and how long it is. */
static int page_params(struct listing *listing, struct value **ret_params)
{
	struct arena *arena = &listing->cli->arena;
	uint64_t left = listing->wanted - listing->count;
	struct fill params = fill_start(arena);

	for (size_t i = 0; i < listing->filters->map.count; i++)
		fill_shared(&params, listing->filters->map.entries[i].key,
			listing->filters->map.entries[i].value);
	fill_uint(&params, "limit", left < PAGE_MOST ? left : PAGE_MOST);
	if (listing->last[0])
		fill_text(&params, "before", listing->last);
	*ret_params = fill_done(&params);
	return *ret_params ? 0 : cli_no_memory(listing->cli);
}

/* One page: each of its runs goes to `take`. */
static int ask_page(
	struct listing *listing, int (*take)(struct listing *listing, const struct value *run))
{
	struct cli *cli = listing->cli;
	struct value *params = NULL;
	const struct value *page = NULL;
	const struct value *runs;
	int status = page_params(listing, &params);

	if (status == 0)
		status = cli_ask(cli, "runs.list", params, NULL, &page);
	if (status != 0)
		return status;
	runs = value_get(page, "runs");
	for (size_t i = 0; status == 0 && value_at(runs, i); i++) {
		cut_printf(listing->last, sizeof(listing->last), "%s",
			output_text(&cli->arena, value_get(value_at(runs, i), "run_id")));
		status = take(listing, value_at(runs, i));
	}
	listing->more = value_at(runs, 0) && value_as_bool(value_get(page, "more"), false);
	return status;
}

static int ask_pages(
	struct listing *listing, int (*take)(struct listing *listing, const struct value *run))
{
	int status;

	do {
		status = ask_page(listing, take);
	} while (status == 0 && listing->more && listing->count < listing->wanted);
	return status;
}

static int runs_show(struct listing *listing)
{
	struct cli *cli = listing->cli;

	if (!listing->count) {
		const char *word = value_as_text(value_get(listing->filters, "language"));
		const char *language = word ? language_of_alias(word) : NULL;

		if (language) /* it may be a runtime's own name, too */
			say(&cli->err, PAINT_PLAIN,
				"cectl: no runs; those of %s are recorded as --language %s\n",
				output_safe(&cli->arena, word), language);
		else
			say(&cli->err, PAINT_PLAIN,
				"cectl: no runs; try `cectl run -c 'print(6 * 7)'`, or wider "
				"filters\n");
		return EXIT_OK;
	}
	run_columns_table(cli, &listing->columns, listing->runs, listing->count);
	if (listing->more)
		say(&cli->err, PAINT_DIM, "older ones: the same with --before %s\n", listing->last);
	return EXIT_OK;
}

static struct value *item(struct arena *arena, const void *runs, size_t index)
{
	struct value *copy = arena_new(arena, struct value);

	if (copy)
		*copy = *((const struct value *const *)runs)[index];
	return copy;
}

/* {runs, more}, as one page would be. */
static int runs_document(struct listing *listing)
{
	struct fill page = fill_start(&listing->cli->arena);
	struct value *whole;

	fill_list(&page, "runs", listing->count, listing->runs, item);
	fill_bool(&page, "more", listing->more);
	whole = fill_done(&page);
	return whole ? cli_document(listing->cli, whole, EXIT_OK) : cli_no_memory(listing->cli);
}

/* Printed as they come; what a page took of memory goes with it, so there may be any number. */
static int print_all(struct listing *listing)
{
	struct arena kept = listing->cli->arena;
	int status;

	run_columns_csv_titles(listing->cli, &listing->columns);
	do {
		arena_init(&listing->cli->arena, ARENA_BYTES);
		status = ask_page(listing, print_csv);
		arena_done(&listing->cli->arena);
	} while (status == 0 && listing->more && listing->count < listing->wanted);
	listing->cli->arena = kept;
	return status;
}

static int runs_parse(struct listing *listing, const struct runs_options *options)
{
	struct cli *cli = listing->cli;
	struct err err = ERR_INIT;
	const char *before = NULL;
	int status = filters_put(cli, &options->filter, listing->filters);

	listing->wanted = options->all ? UINT64_MAX : LIMIT_DEFAULT;
	if (status != 0)
		return status;
	if (options->csv && cli->json)
		return cli_usage(cli, "--csv and --json: one of them");
	if (options->all && options->limit)
		return cli_usage(cli, "--all and --limit: one of them");
	if (options->limit && units_parse_count(options->limit, &listing->wanted, &err) < 0)
		return cli_usage(cli, "--limit: %s", err.text);
	if (listing->wanted == 0)
		return cli_usage(cli, "--limit 0 shows nothing");
	if (run_columns_parse(options->columns, &listing->columns, &err) < 0)
		return cli_usage(cli, "--columns: %s", err.text);
	/* The protocol needs the whole id; a person may write any name of the run. */
	if (options->before)
		status = record_resolve(cli, options->before, &before);
	if (status == 0 && before)
		cut_printf(listing->last, sizeof(listing->last), "%s", before);
	return status;
}

static int runs_run(struct cli *cli, const void *given)
{
	const struct runs_options *options = given;
	struct listing listing = { .cli = cli, .filters = value_map(&cli->arena) };
	int status = runs_parse(&listing, options);

	if (status != 0)
		return status;
	if (options->csv)
		return print_all(&listing);
	status = ask_pages(&listing, runs_keep);
	if (status != 0)
		return status;
	return cli->json ? runs_document(&listing) : runs_show(&listing);
}

const struct command runs_command = {
	.name = "runs",
	.operands = "",
	.summary = "list recorded runs, newest first",
	.about = "Lists runs from the store, newest first: your own, or all runs if you are an "
		 "administrator.  A run is listed when it passes all filters.\n\n"
		 "--text searches for words: a run matches when all of them are in the program, "
		 "or all in its stdout, or all in its stderr.  \"Quoted words\" must be next to "
		 "each other.",
	.options = rows,
	.options_size = sizeof(struct runs_options),
	.examples = examples,
	.reads_copy = true,
	.run = runs_run,
};
