#include "cli/run_columns.h"

#include <string.h>

#include "cli/page.h"
#include "cli/times.h"
#include "cli/units.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/nearest.h"

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

/* Enough of it to tell programs apart, and for `--code-hash`'s eyes the CSV has the whole. */
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

int run_columns_parse(const char *names, struct run_columns *ret_columns, struct err *err)
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

void run_columns_table(struct cli *cli, const struct run_columns *columns,
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

/* "when" and "received" are one key, and a spreadsheet wants each title once. */
static bool is_repeated(const struct run_columns *columns, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (strcmp(columns->columns[i]->key, columns->columns[at]->key) == 0)
			return true;
	}
	return false;
}

void run_columns_csv_titles(struct cli *cli, const struct run_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++) {
		if (!is_repeated(columns, i))
			say(&cli->out, PAINT_PLAIN, "%s%s", i ? "," : "", columns->columns[i]->key);
	}
	say(&cli->out, PAINT_PLAIN, "\r\n");
}

void run_columns_csv(struct cli *cli, const struct run_columns *columns, const struct value *run)
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
