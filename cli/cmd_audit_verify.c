/* Has anybody touched the record? */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/bar.h"
#include "cli/commands.h"
#include "cli/exits.h"
#include "cli/page.h"
#include "cli/units.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define AT_ONCE      10000 /* links, blobs, lines in one question */
#define LISTED_MOST  200
#define SECOND_MAX   ((size_t)12 << 20) /* in one message */
#define KEY_FILE_MAX ((size_t)4096)

struct verify_options {
	const char *from;
	const char *to;
	const char *key;
	const char *checkpoints;
};

// clang-format off
static const struct option_row rows[] = {
	{ 0, "from", "LINK", OPTION_TEXT, offsetof(struct verify_options, from),
		"only the links of the chain from this one on" },
	{ 0, "to", "LINK", OPTION_TEXT, offsetof(struct verify_options, to),
		"and up to this one" },
	{ 0, "key", "KEY", OPTION_TEXT, offsetof(struct verify_options, key),
		"what `cectl audit key` printed once, or a file with that; else the daemon's own" },
	{ 0, "checkpoints", "FILE", OPTION_TEXT, offsetof(struct verify_options, checkpoints),
		"a copy of the second file; else the daemon's own" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct example examples[] = {
	{ "cectl audit verify", "everything, of the daemon that runs" },
	{ "cectl audit verify --from 1000 --to 2000", "a part of the chain" },
	{ "cectl --store copy.db audit verify --key ced.key --checkpoints kept.log",
		"a copy, by what was kept elsewhere" },
	{ NULL, NULL },
};

/* The parts, and how much of the bar each gets: as long as they take, roughly. */
static const struct {
	const char *name;
	const char *unit; /* what it counts */
	int64_t at_once;
	double weight;
} parts[] = {
	{ "chain",       "links",       AT_ONCE, 0.45 },
	{ "blobs",       "blobs",       AT_ONCE, 0.10 },
	{ "tables",      "checks",      1,       0.43 },
	{ "checkpoints", "checkpoints", AT_ONCE, 0.01 },
	{ "second",      "lines of the second file", AT_ONCE, 0.01 },
};
// clang-format on

struct verifying {
	struct cli *cli;
	struct bar bar;
	const char *key;
	const char *second;
	int64_t from, to; /* of the chain; 0: all */
	int64_t checked[COUNT_OF(parts)];
	int64_t found;
	struct value *problems;
	double done; /* of the bar, by parts that are over */
};

/* ---- what was given ------------------------------------------------------------------------- */

static int read_number(struct cli *cli, const char *name, const char *text, int64_t *ret)
{
	struct err err = ERR_INIT;
	uint64_t number = 0;

	if (!text)
		return 0;
	if (units_parse_count(text, &number, &err) < 0 || !number || number > INT64_MAX)
		return cli_usage(cli, "%s: %s is no number of a link", name, text);
	*ret = (int64_t)number;
	return 0;
}

/* The key itself, or the first line of a file. */
static int read_key(struct verifying *verifying, const char *given)
{
	char *text = NULL;
	size_t len = 0;
	struct err err = ERR_INIT;

	if (!given || strncmp(given, "ed25519:", 8) == 0) {
		verifying->key = given;
		return 0;
	}
	if (read_file(given, KEY_FILE_MAX, &text, &len, &err) < 0)
		return cli_fail(verifying->cli, &err);
	text[strcspn(text, "\n")] = '\0';
	verifying->key = arena_printf(&verifying->cli->arena, "%s", text);
	free(text);
	return verifying->key ? 0 : cli_no_memory(verifying->cli);
}

static int read_second(struct verifying *verifying, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	struct err err = ERR_INIT;

	if (!path)
		return 0;
	if (read_file(path, SECOND_MAX, &text, &len, &err) < 0)
		return cli_fail(verifying->cli, &err);
	verifying->second = arena_printf(&verifying->cli->arena, "%s", text);
	free(text);
	return verifying->second ? 0 : cli_no_memory(verifying->cli);
}

static int read_options(struct verifying *verifying, const struct verify_options *options)
{
	int status = read_number(verifying->cli, "--from", options->from, &verifying->from);

	if (status == 0)
		status = read_number(verifying->cli, "--to", options->to, &verifying->to);
	if (status == 0 && verifying->to && verifying->to < verifying->from)
		status = cli_usage(verifying->cli, "--to is before --from");
	if (status == 0)
		status = read_key(verifying, options->key);
	return status == 0 ? read_second(verifying, options->checkpoints) : status;
}

/* ---- asking --------------------------------------------------------------------------------- */

static struct value *params_of(
	struct verifying *verifying, size_t part, int64_t from, int64_t count)
{
	struct arena *arena = &verifying->cli->arena;
	struct value *params = value_map(arena);
	bool is_second = strcmp(parts[part].name, "second") == 0;

	value_map_put(arena, params, "part", value_text(arena, parts[part].name));
	value_map_put(arena, params, "from", value_int(arena, from));
	value_map_put(arena, params, "count", value_int(arena, count));
	if (verifying->key)
		value_map_put(arena, params, "key", value_text(arena, verifying->key));
	if (verifying->second && is_second)
		value_map_put(arena, params, "second", value_text(arena, verifying->second));
	return params;
}

static void take_problems(struct verifying *verifying, const struct value *report)
{
	const struct value *problems = value_get(report, "problems");

	verifying->found += page_int(report, "found");
	for (size_t i = 0; value_at(problems, i); i++) {
		struct value *copy = arena_new(&verifying->cli->arena, struct value);

		if (!copy || verifying->problems->list.count >= LISTED_MOST)
			return;
		*copy = *value_at(problems, i);
		(void)value_list_add(&verifying->cli->arena, verifying->problems, copy);
	}
}

static void show_progress(
	struct verifying *verifying, size_t part, const struct value *report, int64_t from)
{
	int64_t of = page_int(report, "of");
	int64_t next = value_as_int(value_get(report, "next"), of);
	double here = of > from ? (double)(next - from) / (double)(of - from + 1) : 1;
	char note[128];

	(void)snprintf(note, sizeof(note), "%" PRId64 " %s, %" PRId64 " problems",
		verifying->checked[part], parts[part].unit, verifying->found);
	bar_update(&verifying->bar, verifying->done + here * parts[part].weight, note);
}

/* As far as is wanted: the daemon records on, and what comes meanwhile is for the next time. */
static int verify_part(struct verifying *verifying, size_t part, int64_t first, int64_t last)
{
	int64_t from = first;

	while (from && (!last || from <= last)) {
		int64_t count = parts[part].at_once;
		const struct value *report = NULL;
		int status;

		if (last && last - from + 1 < count)
			count = last - from + 1;
		status = cli_ask(verifying->cli, "audit.verify",
			params_of(verifying, part, from, count), NULL, &report);
		if (status != 0)
			return status;
		if (!last)
			last = page_int(report, "of");
		verifying->checked[part] += page_int(report, "checked");
		take_problems(verifying, report);
		show_progress(verifying, part, report, first);
		from = page_int(report, "next");
	}
	verifying->done += parts[part].weight;
	return 0;
}

static int verify_parts(struct verifying *verifying)
{
	bool is_range = verifying->from || verifying->to;
	int status =
		verify_part(verifying, 0, verifying->from ? verifying->from : 1, verifying->to);

	for (size_t part = 1; status == 0 && !is_range && part < COUNT_OF(parts); part++)
		status = verify_part(verifying, part, 1, 0);
	bar_erase(&verifying->bar);
	return status;
}

/* ---- telling -------------------------------------------------------------------------------- */

static int tell_json(struct verifying *verifying, int status)
{
	struct arena *arena = &verifying->cli->arena;
	struct value *document = value_map(arena);
	struct value *checked = value_map(arena);

	for (size_t part = 0; part < COUNT_OF(parts); part++)
		value_map_put(arena, checked, parts[part].name,
			value_int(arena, verifying->checked[part]));
	value_map_put(arena, document, "ok", value_bool(arena, !verifying->found));
	value_map_put(arena, document, "checked", checked);
	value_map_put(arena, document, "found", value_int(arena, verifying->found));
	value_map_put(arena, document, "problems", verifying->problems);
	return cli_document(verifying->cli, document, status);
}

static void tell_problem(struct cli *cli, const struct value *problem)
{
	const char *run_id = page_text(cli, problem, "run_id");
	const char *table = page_text(cli, problem, "table");

	say(&cli->out, PAINT_RED, "%s ", output_mark(&cli->out, MARK_BAD));
	say(&cli->out, PAINT_PLAIN, "%s", page_text(cli, problem, "message"));
	if (run_id[0])
		say(&cli->out, PAINT_DIM, "  run %s", run_id);
	if (table[0])
		say(&cli->out, PAINT_DIM, "  %s, row %s", table, page_text(cli, problem, "row"));
	say(&cli->out, PAINT_PLAIN, "\n");
}

static int tell(struct verifying *verifying)
{
	struct cli *cli = verifying->cli;
	int status = verifying->found ? EXIT_FAILED : EXIT_OK;

	if (cli->json)
		return tell_json(verifying, status);
	for (size_t i = 0; value_at(verifying->problems, i); i++)
		tell_problem(cli, value_at(verifying->problems, i));
	if (verifying->found > (int64_t)verifying->problems->list.count)
		say(&cli->out, PAINT_DIM, "and %" PRId64 " more\n",
			verifying->found - (int64_t)verifying->problems->list.count);
	for (size_t part = 0; part < COUNT_OF(parts); part++)
		if (verifying->checked[part])
			say(&cli->out, PAINT_PLAIN, "%10" PRId64 " %s\n", verifying->checked[part],
				parts[part].unit);
	if (verifying->found)
		say(&cli->out, PAINT_RED, "%" PRId64 " problems\n", verifying->found);
	else
		say(&cli->out, PAINT_GREEN, "nobody has touched it\n");
	return status;
}

static int run(struct cli *cli, const void *given)
{
	struct verifying verifying = { .cli = cli,
		.bar = { .out = &cli->err, .what = "verifying" },
		.problems = value_list(&cli->arena) };
	int status = read_options(&verifying, given);

	if (status == 0)
		status = verify_parts(&verifying);
	return status == 0 ? tell(&verifying) : status;
}

const struct command audit_verify_command = {
	.name = "audit verify",
	.operands = "",
	.summary = "has anybody touched the record?",
	.about =
		"For administrators. Walks the chain of digests over all that was recorded, looks "
		"at every record, content and derived table behind it, and at the signed "
		"checkpoints, and says what was changed, taken out, put in or moved, and where. The "
		"daemon goes on meanwhile. With --store it looks at a copy, without a daemon.\n\n"
		"Exits with 0 when nothing was found, and with 1 when something was.",
	.options = rows,
	.options_size = sizeof(struct verify_options),
	.examples = examples,
	.run = run,
};
