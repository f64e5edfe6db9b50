/* cectl diff: compares two recorded runs and shows the differences. */
#include <inttypes.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/safe.h"
#include "cli/commands/commands.h"
#include "cli/commands/linediff.h"
#include "cli/commands/record.h"
#include "cli/session/page.h"
#include "cli/terminal/table.h"
#include "proto/base/container.h"
#include "proto/fill.h"

#define AROUND      3 /* lines that are the same, around those that are not */
#define DEPTH_MAX   8 /* of maps that are looked into; below, they are compared as they are */
#define SHOWN_LINES 60

// clang-format off
/* Keys that differ between any two runs, or have a place of their own below. */
static const char *const passed_over[] = { "run_id", "received_us", "ended_us", "metrics", "trace",
	"stdout", "stdout_tail", "stderr", "stderr_tail", "code_hash", "input_hash", "request.code",
	"request.stdin", "request.id", "request.limits", "caller.pid", "ok", "state", "pruned" };

static const struct {
	const char *title;
	const char *roof; /* the map that holds it, or NULL: the record */
	const char *key;
} texts[] = {
	{ "code",   "request", "code" },
	{ "stdin",  "request", "stdin" },
	{ "stdout", NULL,      "stdout" },
	{ "stderr", NULL,      "stderr" },
};

static const char *const phases[] = { "policy_us", "queue_us", "start_us", "exec_us", "collect_us",
	"total_us", "cpu_user_us", "cpu_sys_us", "memory_peak_bytes" };
// clang-format on

struct pair {
	struct cli *cli;
	const struct value *left, *right; /* the records */
	struct value *differs;            /* [{what, left, right}] */
};

/* ---- facts -------------------------------------------------------------------------------- */

static bool is_passed_over(const char *path)
{
	for (size_t i = 0; i < COUNT_OF(passed_over); i++) {
		if (strcmp(passed_over[i], path) == 0)
			return true;
	}
	return false;
}

static void diff_note(
	struct pair *pair, const char *path, const struct value *left, const struct value *right)
{
	struct fill fill = fill_start(&pair->cli->arena);

	fill_text(&fill, "what", path);
	fill_value(&fill, "left", value_nil(fill.arena));
	fill_value(&fill, "right", value_nil(fill.arena));
	if (left)
		*value_get(fill.map, "left") = *left;
	if (right)
		*value_get(fill.map, "right") = *right;
	(void)value_list_add(&pair->cli->arena, pair->differs, fill_done(&fill));
}

static bool is_nothing(const struct value *value)
{
	return !value || value_is(value, VALUE_NIL) ||
	       (value_is(value, VALUE_LIST) && value->list.count == 0) ||
	       (value_is(value, VALUE_MAP) && value->map.count == 0);
}

/* Contents that were removed from the store cannot be compared. */
static bool has_left(const struct pair *pair, const struct value *left, const struct value *right)
{
	return (is_nothing(left) && value_get(pair->left, "pruned")) ||
	       (is_nothing(right) && value_get(pair->right, "pruned"));
}

static void diff_compare(struct pair *pair, const char *path, const struct value *left,
	const struct value *right, int depth);

/* Each key of `map`; with `other_too` only those that the other one lacks. */
static void compare_keys(struct pair *pair, const char *path, const struct value *map,
	const struct value *other, bool only_new, int depth)
{
	for (size_t i = 0; value_is(map, VALUE_MAP) && i < map->map.count; i++) {
		const struct value_entry *entry = &map->map.entries[i];
		const struct value *twin = value_get(other, entry->key);
		const char *below =
			path[0] ? arena_printf(&pair->cli->arena, "%s.%s", path, entry->key)
				: entry->key;

		if (!below || (only_new && twin))
			continue;
		diff_compare(pair, below, only_new ? twin : entry->value,
			only_new ? entry->value : twin, depth);
	}
}

static void diff_compare(struct pair *pair, const char *path, const struct value *left,
	const struct value *right, int depth)
{
	bool maps = value_is(left, VALUE_MAP) || value_is(right, VALUE_MAP);
	bool open = (is_nothing(left) || value_is(left, VALUE_MAP)) &&
		    (is_nothing(right) || value_is(right, VALUE_MAP));

	if (is_passed_over(path) || (is_nothing(left) && is_nothing(right)) ||
		has_left(pair, left, right))
		return;
	if (maps && open && depth < DEPTH_MAX) {
		compare_keys(pair, path, left, right, false, depth + 1);
		compare_keys(pair, path, right, left, true, depth + 1);
		return;
	}
	if (strcmp(output_text(&pair->cli->arena, left), output_text(&pair->cli->arena, right)) !=
		0)
		diff_note(pair, path, left, right);
}

static const char *side(struct cli *cli, const struct value *fact, const char *key)
{
	return page_number(cli, page_text(cli, fact, "what"), value_get(fact, key));
}

static void show_facts(struct pair *pair)
{
	static const struct page_column columns[] = {
		{ { "WHAT", false, false, 0 }, "what", PAINT_BOLD, NULL, NULL },
		{ { "LEFT", false, true, 0 }, "left", PAINT_PLAIN, side, NULL },
		{ { "RIGHT", false, true, 0 }, "right", PAINT_PLAIN, side, NULL },
	};

	if (!value_at(pair->differs, 0))
		return;
	output_heading(&pair->cli->out, "differences");
	page_table(pair->cli, columns, COUNT_OF(columns), pair->differs, 2);
}

/* ---- times -------------------------------------------------------------------------------- */

/* "1.3 x", or nothing where it makes no sense. */
static const char *ratio(struct cli *cli, int64_t left, int64_t right)
{
	const char *text = "";

	if (left > 0 && right > 0)
		text = arena_printf(&cli->arena, "%.2f x", (double)right / (double)left);
	return text ? text : "";
}

static void show_times(struct pair *pair)
{
	static const struct table_column columns[] = {
		{ "TIME", false, false, 0 },
		{ "LEFT", true, false, 0 },
		{ "RIGHT", true, false, 0 },
		{ "", true, false, 1 },
	};
	const struct value *left = value_get(pair->left, "metrics");
	const struct value *right = value_get(pair->right, "metrics");
	struct cli *cli = pair->cli;
	struct table table;

	output_heading(&cli->out, "time and memory");
	table_init(&table, &cli->arena, columns, COUNT_OF(columns));
	for (size_t i = 0; i < COUNT_OF(phases); i++) {
		const char *key = phases[i];
		const struct table_cell cells[] = {
			{ page_name(cli, key), PAINT_PLAIN },
			{ page_number(cli, key, value_get(left, key)), PAINT_PLAIN },
			{ page_number(cli, key, value_get(right, key)), PAINT_PLAIN },
			{ ratio(cli, page_int(left, key), page_int(right, key)), PAINT_DIM },
		};

		table_add(&table, cells);
	}
	table_print(&table, &cli->out, 2);
}

/* ---- texts -------------------------------------------------------------------------------- */

static struct bytes text_of(const struct value *record, size_t which)
{
	const struct value *roof =
		texts[which].roof ? value_get(record, texts[which].roof) : record;
	const struct value *text = value_get(roof, texts[which].key);

	return page_is_bytes(text) ? (struct bytes){ text->text.bytes, text->text.len }
				   : (struct bytes){ "", 0 };
}

/* True for a line that is shown: it changed, or is near one that did. */
static bool is_near_a_change(const struct line_diff *diff, size_t at)
{
	size_t from = at > AROUND ? at - AROUND : 0;

	for (size_t i = from; i < diff->count && i <= at + AROUND; i++) {
		if (diff->lines[i].kind != LINE_SAME)
			return true;
	}
	return false;
}

static void show_number(struct cli *cli, size_t number)
{
	if (number)
		say(&cli->out, PAINT_DIM, "%5zu ", number);
	else
		say(&cli->out, PAINT_DIM, "      ");
}

static void show_line(struct cli *cli, const struct line *line)
{
	static const enum paint paints[] = { PAINT_PLAIN, PAINT_RED, PAINT_GREEN };

	show_number(cli, line->left);
	show_number(cli, line->right);
	say(&cli->out, paints[line->kind], "%c ", " -+"[line->kind]);
	page_line(cli, line->text, line->len, 14, paints[line->kind]);
}

static void show_lines(struct cli *cli, const struct line_diff *diff, bool full)
{
	size_t shown = 0;
	bool gap = false;

	for (size_t i = 0; i < diff->count; i++) {
		bool told = full || (shown < SHOWN_LINES && is_near_a_change(diff, i));

		if (told && gap)
			say(&cli->out, PAINT_DIM, "        ...\n");
		if (told)
			show_line(cli, &diff->lines[i]);
		shown += told;
		gap = !told;
	}
	if (gap)
		say(&cli->out, PAINT_DIM, "        ...%s\n",
			shown >= SHOWN_LINES ? " more: --full" : "");
}

/* Removed contents are not the same as empty ones. */
static bool has_texts(const struct pair *pair)
{
	return !value_get(pair->left, "pruned") && !value_get(pair->right, "pruned");
}

/* 0, or the exit status. */
static int show_texts(struct pair *pair, bool full)
{
	struct cli *cli = pair->cli;

	if (!has_texts(pair)) {
		say(&cli->out, PAINT_YELLOW,
			"\nprograms, output, policy and limits are not compared: contents of %s have left the store\n",
			value_get(pair->left, "pruned") ? page_text(cli, pair->left, "run_id")
							: page_text(cli, pair->right, "run_id"));
		return EXIT_OK;
	}
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct err err = ERR_INIT;
		struct line_diff diff;

		if (line_diff(&cli->arena, text_of(pair->left, i), text_of(pair->right, i), &diff,
			    &err) < 0)
			return cli_fail(cli, &err);
		if (!diff.changed)
			continue;
		output_heading(&cli->out, texts[i].title);
		show_lines(cli, &diff, full);
	}
	return EXIT_OK;
}

/* ---- for programs ------------------------------------------------------------------------- */

/* Lines with " ", "-" and "+" in front. */
static int put_text(
	struct pair *pair, struct fill *document, size_t which, bool *same, struct err *err)
{
	struct arena *arena = &pair->cli->arena;
	struct line_diff diff;
	struct value *lines;

	if (line_diff(arena, text_of(pair->left, which), text_of(pair->right, which), &diff, err) <
		0)
		return -1;
	if (!diff.changed)
		return 0;
	*same = false;
	lines = value_list(arena);
	for (size_t i = 0; i < diff.count; i++) {
		const struct line *line = &diff.lines[i];
		char *copy = arena_alloc(arena, line->len + 2);

		if (!copy)
			return -1;
		copy[0] = " -+"[line->kind];
		memcpy(copy + 1, line->text, line->len);
		if (value_list_add(arena, lines, value_blob_borrowed(arena, copy, line->len + 1)) <
			0)
			return -1;
	}
	fill_value(document, texts[which].title, lines);
	return 0;
}

static int diff_document(struct pair *pair)
{
	struct cli *cli = pair->cli;
	struct fill document = fill_start(&cli->arena);
	bool same = !value_at(pair->differs, 0) && has_texts(pair);
	struct err err = ERR_INIT;

	fill_shared(&document, "left", value_get(pair->left, "run_id"));
	fill_shared(&document, "right", value_get(pair->right, "run_id"));
	fill_value(&document, "differs", pair->differs);
	if (!has_texts(pair))
		fill_bool(&document, "pruned", true);
	for (size_t i = 0; has_texts(pair) && i < COUNT_OF(texts); i++) {
		if (put_text(pair, &document, i, &same, &err) < 0)
			return err.code ? cli_fail(cli, &err) : cli_no_memory(cli);
	}
	fill_bool(&document, "same", same);
	return cli_document(cli, fill_done(&document), EXIT_OK);
}

static int diff_show(struct pair *pair, bool full)
{
	record_show_head(pair->cli, pair->left);
	record_show_head(pair->cli, pair->right);
	show_facts(pair);
	show_times(pair);
	return show_texts(pair, full);
}

static int diff_run(struct cli *cli)
{
	struct pair pair = { .cli = cli, .differs = value_list(&cli->arena) };
	int status = record_get(cli, cli_operand(cli, 0), &pair.left);

	if (status == 0)
		status = record_get(cli, cli_operand(cli, 1), &pair.right);
	if (status != 0)
		return status;
	diff_compare(&pair, "", pair.left, pair.right, 0);
	return cli->json ? diff_document(&pair) : diff_show(&pair, cli_flag(cli, "full"));
}

// clang-format off
const struct command diff_command = {
	.name = "diff",
	.operands = "RUN RUN",
	.summary = "compare two runs",
	.about = "Compares two recorded runs: how they ended, their policies and limits, their "
		 "inputs, how long they took, and, line by line, programs, inputs and outputs "
		 "(the first 64 KiB of each). Equal parts are left out. Exits with 0 whether the "
		 "runs differ or not.",
	.options = OPTIONS(
		{ 0, "full", NULL, OPTION_FLAG, NULL, NULL,
			"every line of programs and outputs, also those that are the same" }),
	.operand_least = 2, .operand_most = 2,
	.examples = EXAMPLES(
		{ "cectl diff last~1 last", "what did the last change do?" },
		{ "cectl diff 01JD3 01JD7 --full | less -R", "with all lines" },
		{ "cectl diff last~1 last --json | jq '.differs[].what'", "the names of the differences" }),
	.reads_copy = true,
	.run = diff_run,
};
// clang-format on
