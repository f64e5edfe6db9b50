/* cectl runs: a list of runs, as a table for people, as CSV or as JSON. */
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/filters.h"
#include "cli/commands/record.h"
#include "cli/commands/words.h"
#include "cli/session/page.h"
#include "proto/base/container.h"
#include "proto/base/nearest.h"
#include "proto/fill.h"
#include "proto/job/language.h"

#define LIMIT_DEFAULT 20
#define PAGE_MOST     1000 /* of the protocol */
#define ARENA_BYTES   ((size_t)4 << 30)
#define NAME_MAX_LEN  32
#define USUAL         "run,when,outcome,language,time,uid,agent,task,reason"

/* ---- columns ------------------------------------------------------------------------------ */

/* Enough to distinguish programs; the CSV has the whole digest. */
static const char *short_hash(struct cli *cli, const struct value *run, const char *key)
{
	const char *hash = page_text(cli, run, key);
	const char *colon = strchr(hash, ':');
	const char *text = arena_printf(&cli->arena, "%.12s", colon ? colon + 1 : hash);

	return text ? text : "";
}

// clang-format off
static const struct {
	const char *name; /* as in --columns; the title of a CSV is the key */
	struct page_column column;
} all[] = {
	{ "run",      { { "RUN",      false, false, 0 },  "run_id",       PAINT_PLAIN, NULL,               NULL } },
	{ "when",     { { "WHEN",     false, false, 3 },  "received_us",  PAINT_PLAIN, page_ago,           NULL } },
	{ "received", { { "RECEIVED", false, false, 4 },  "received_us",  PAINT_PLAIN, page_moment,        NULL } },
	{ "ended",    { { "ENDED",    false, false, 10 }, "ended_us",     PAINT_PLAIN, page_moment,        NULL } },
	{ "outcome",  { { "OUTCOME",  false, false, 0 },  "outcome",      PAINT_PLAIN, page_outcome,       page_outcome_paint } },
	{ "language", { { "LANGUAGE", false, false, 5 },  "language",     PAINT_PLAIN, NULL,               NULL } },
	{ "time",     { { "TIME",     true,  false, 4 },  "total_us",     PAINT_PLAIN, page_unit,          NULL } },
	{ "exec",     { { "EXEC",     true,  false, 9 },  "exec_us",      PAINT_PLAIN, page_unit,          NULL } },
	{ "uid",      { { "UID",      true,  false, 6 },  "uid",          PAINT_PLAIN, NULL,               NULL } },
	{ "agent",    { { "AGENT",    false, true,  7 },  "agent",        PAINT_PLAIN, NULL,               NULL } },
	{ "task",     { { "TASK",     false, true,  8 },  "task",         PAINT_PLAIN, NULL,               NULL } },
	{ "id",       { { "ID",       false, true,  12 }, "id",           PAINT_PLAIN, NULL,               NULL } },
	{ "policy",   { { "POLICY",   false, true,  11 }, "policy",       PAINT_PLAIN, NULL,               NULL } },
	{ "cell",     { { "CELL",     true,  true,  15 }, "cell",         PAINT_PLAIN, NULL,               NULL } },
	{ "session",  { { "SESSION",  false, true,  16 }, "session",      PAINT_PLAIN, NULL,               NULL } },
	{ "code",     { { "CODE",     false, false, 13 }, "code_hash",    PAINT_PLAIN, short_hash,         NULL } },
	{ "stdout",   { { "STDOUT",   true,  false, 14 }, "stdout_bytes", PAINT_PLAIN, page_unit,          NULL } },
	{ "reason",   { { "REASON",   false, true,  2 },  "reason",       PAINT_DIM,   NULL,               NULL } },
};
// clang-format on

_Static_assert(COUNT_OF(all) <= TABLE_COLUMNS_MAX, "all of them fit into a table");

/* The list that is asked for, page after page. */
struct listing {
	struct cli *cli;
	struct value *filters; /* as params */
	struct page_column columns[TABLE_COLUMNS_MAX];
	size_t column_count;
	uint64_t wanted, count;
	struct value *runs; /* all that came; NULL: they are printed as CSV as they come */
	bool more;
	char last[64]; /* the last run that came */
};

static int refuse_column(const char *name, size_t len, struct err *err)
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

const char *runs_column(size_t index)
{
	return index < COUNT_OF(all) ? all[index].name : NULL;
}

/* Takes the columns of a name, or all of them for "all".  False: there is none. */
static bool take_column(struct listing *listing, const char *name, size_t len, bool everything)
{
	size_t before = listing->column_count;

	for (size_t i = 0; i < COUNT_OF(all) && listing->column_count < TABLE_COLUMNS_MAX; i++) {
		if (everything ||
			(strlen(all[i].name) == len && strncmp(all[i].name, name, len) == 0))
			listing->columns[listing->column_count++] = all[i].column;
	}
	return listing->column_count > before;
}

static int take_columns(struct listing *listing, const char *names, struct err *err)
{
	if (names && strcmp(names, "all") == 0)
		return take_column(listing, "", 0, true) ? 0 : -1;
	for (const char *at = names ? names : USUAL;; at++) {
		size_t len = strcspn(at, ",");

		if (listing->column_count == TABLE_COLUMNS_MAX)
			return err_set(err, ERR_TOO_BIG, "at most %d columns", TABLE_COLUMNS_MAX);
		if (!take_column(listing, at, len, false))
			return refuse_column(at, len, err);
		at += len;
		if (!*at)
			return 0;
	}
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
static bool is_repeated(const struct listing *listing, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (strcmp(listing->columns[i].key, listing->columns[at].key) == 0)
			return true;
	}
	return false;
}

/* A line of values, or of titles for NULL. */
static void print_csv(struct listing *listing, const struct value *run)
{
	const struct output *out = &listing->cli->out;

	for (size_t i = 0; i < listing->column_count; i++) {
		const char *key = listing->columns[i].key;
		const char *text = run ? page_text(listing->cli, run, key) : key;

		if (is_repeated(listing, i))
			continue;
		say(out, PAINT_PLAIN, "%s", i ? "," : "");
		if (!run || value_is(value_get(run, key), VALUE_INT))
			say(out, PAINT_PLAIN, "%s", text);
		else if (text[0])
			print_quoted(out, text);
	}
	say(out, PAINT_PLAIN, "\r\n");
}

/* ---- page after page ---------------------------------------------------------------------- */

/* The filters with where this page begins and how long it is. */
static struct value *page_params(struct listing *listing)
{
	uint64_t left = listing->wanted - listing->count;
	struct fill params = fill_start(&listing->cli->arena);

	for (size_t i = 0; i < listing->filters->map.count; i++)
		fill_shared(&params, listing->filters->map.entries[i].key,
			listing->filters->map.entries[i].value);
	fill_uint(&params, "limit", left < PAGE_MOST ? left : PAGE_MOST);
	if (listing->last[0])
		fill_text(&params, "before", listing->last);
	return fill_done(&params);
}

static int ask_page(struct listing *listing)
{
	struct cli *cli = listing->cli;
	const struct value *page = NULL;
	const struct value *runs;
	int status = cli_ask(cli, "runs.list", page_params(listing), NULL, &page);

	if (status != 0)
		return status;
	runs = value_get(page, "runs");
	for (size_t i = 0; value_at(runs, i); i++, listing->count++) {
		cut_printf(listing->last, sizeof(listing->last), "%s",
			page_text(cli, value_at(runs, i), "run_id"));
		if (!listing->runs)
			print_csv(listing, value_at(runs, i));
		else if (value_list_add(&cli->arena, listing->runs, value_at(runs, i)) < 0)
			return cli_no_memory(cli);
	}
	listing->more = value_at(runs, 0) && value_as_bool(value_get(page, "more"), false);
	return 0;
}

/* What a page of CSV took of memory goes with it, so there may be any number of them. */
static int ask_pages(struct listing *listing)
{
	struct cli *cli = listing->cli;
	int status;

	do {
		struct arena kept = cli->arena;

		if (!listing->runs)
			arena_init(&cli->arena, ARENA_BYTES);
		status = ask_page(listing);
		if (!listing->runs) {
			arena_done(&cli->arena);
			cli->arena = kept;
		}
	} while (status == 0 && listing->more && listing->count < listing->wanted);
	return status;
}

/* ---- the command -------------------------------------------------------------------------- */

static void show_none(struct listing *listing)
{
	struct cli *cli = listing->cli;
	const char *word = value_as_text(value_get(listing->filters, "language"));
	const char *language = word ? language_of_alias(word) : NULL;

	if (language) /* it may be a runtime's own name, too */
		say(&cli->err, PAINT_PLAIN,
			"cectl: no runs; those of %s are recorded as --language %s\n",
			output_safe(&cli->arena, word), language);
	else
		say(&cli->err, PAINT_PLAIN,
			"cectl: no runs; try `cectl run -c 'print(6 * 7)'`, or wider filters\n");
}

static int runs_show(struct listing *listing)
{
	struct cli *cli = listing->cli;

	if (!listing->count) {
		show_none(listing);
		return EXIT_OK;
	}
	page_table(cli, listing->columns, listing->column_count, listing->runs, 0);
	if (listing->more)
		say(&cli->err, PAINT_DIM, "older ones: the same with --before %s\n", listing->last);
	return EXIT_OK;
}

/* {runs, more}, as one page would be. */
static int runs_document(struct listing *listing)
{
	struct fill page = fill_start(&listing->cli->arena);

	fill_value(&page, "runs", listing->runs);
	fill_bool(&page, "more", listing->more);
	return cli_document(listing->cli, fill_done(&page), EXIT_OK);
}

static int runs_parse(struct listing *listing)
{
	struct cli *cli = listing->cli;
	const char *limit = cli_text(cli, "limit");
	struct err err = ERR_INIT;
	const char *before = NULL;
	int status = cli_put_options(cli, listing->filters);

	listing->wanted = cli_flag(cli, "all") ? UINT64_MAX : LIMIT_DEFAULT;
	if (status != 0)
		return status;
	if (cli_flag(cli, "csv") && cli->json)
		return cli_usage(cli, "--csv and --json: one of them");
	if (cli_flag(cli, "all") && limit)
		return cli_usage(cli, "--all and --limit: one of them");
	if (limit && units_parse_count(limit, &listing->wanted, &err) < 0)
		return cli_usage(cli, "--limit: %s", err.text);
	if (listing->wanted == 0)
		return cli_usage(cli, "--limit 0 shows nothing");
	if (take_columns(listing, cli_text(cli, "columns"), &err) < 0)
		return cli_usage(cli, "--columns: %s", err.text);
	/* The protocol needs the whole id; a person may write any name of the run. */
	if (cli_text(cli, "before"))
		status = record_resolve(cli, cli_text(cli, "before"), &before);
	cut_printf(listing->last, sizeof(listing->last), "%s", before ? before : "");
	return status;
}

static int runs_run(struct cli *cli)
{
	struct listing listing = { .cli = cli, .filters = value_map(&cli->arena) };
	int status = runs_parse(&listing);

	if (status != 0)
		return status;
	if (cli_flag(cli, "csv"))
		print_csv(&listing, NULL);
	else
		listing.runs = value_list(&cli->arena);
	status = ask_pages(&listing);
	if (status != 0 || cli_flag(cli, "csv"))
		return status;
	return cli->json ? runs_document(&listing) : runs_show(&listing);
}

// clang-format off
const struct command runs_command = {
	.name = "runs",
	.summary = "list recorded runs, newest first",
	.about = "Lists runs from the store, newest first: your own, or all runs if you are an "
		 "administrator.  A run is listed when it passes all filters.\n\n"
		 "--text searches for words: a run matches when all of them are in the program, "
		 "or all in its stdout, or all in its stderr.  \"Quoted words\" must be next to "
		 "each other.",
	.options = OPTIONS(
		FILTER_ROWS,
		{ 'n', "limit", "N", OPTION_TEXT, NULL, NULL, "how many; 20 unless said" },
		{ 0, "all", NULL, OPTION_FLAG, NULL, NULL, "every one, however many" },
		{ 0, "before", "RUN", OPTION_TEXT, NULL, NULL,
			"only runs older than this one: the next page" },
		{ 0, "columns", "NAMES", OPTION_TEXT, NULL, NULL,
			"what to show of each, by commas: run, when, received, ended, outcome, language, time, "
			"exec, uid, agent, task, id, policy, cell, session, code, stdout, reason; or all" },
		{ 0, "csv", NULL, OPTION_FLAG, NULL, NULL,
			"comma-separated values, as the protocol has them, under their keys" }),
	.examples = EXAMPLES(
		{ "cectl runs", "the newest twenty" },
		{ "cectl runs --since 1h --outcome memory_limit", "what ran out of memory in the last hour" },
		{ "cectl runs --agent planner --label env=prod -n 100", "one agent's, with a label" },
		{ "cectl runs --text 'connection refused' --since yesterday", "by words of program or output" },
		{ "cectl runs --rule python.import.denied --columns run,when,agent,code", "who tried what a rule finds" },
		{ "cectl runs --csv --all --since 2026-11-01 --until 2026-12-01 > november.csv", "a month for a spreadsheet" },
		{ "cectl runs --json --since today | jq -r '.runs[] | [.run_id, .outcome] | @tsv'",
			"for a script" }),
	.reads_copy = true,
	.run = runs_run,
};
// clang-format on
