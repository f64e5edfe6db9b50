/* cectl audit export: the record as lines of JSON, a page at a time, in bounded memory. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exits.h"
#include "cli/base/safe.h"
#include "cli/base/times.h"
#include "cli/commands/commands.h"
#include "cli/commands/ocsf.h"
#include "cli/commands/otlp.h"
#include "cli/terminal/progress.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/digest.h"
#include "proto/fill.h"
#include "proto/json.h"
#include "proto/version.h"

#define PAGE_ARENA  ((size_t)512 << 20) /* a ceiling, not a need */
#define LINE_BYTES  ((size_t)512 << 20)
#define WHOLE_BYTES ((int64_t)32 << 20)
#define ACTS_PAGE   1000

/* The forms of --format.  Other forms than our own have runs alone, a line for each. */
static const struct form {
	const char *name;
	struct value *(*line)(struct arena *arena, const struct value *record);
} forms[] = {
	{ "json", NULL },
	{ "ocsf", ocsf_event },
	{ "otlp", otlp_line },
};

/* One export on its way. */
struct export
{
	struct cli *cli;
	const struct form *form;
	int64_t since, until;   /* 0: open */
	int64_t runs, acts, of; /* written so far; runs that there were at the start */
	struct digest digest;
	struct buf json, line; /* as it is written, nothing in it works on a terminal */
	struct bar bar;        /* not among the lines themselves */
	bool tells;
};

/* ---- lines ---------------------------------------------------------------------------------- */

static int write_line(struct export *export, const struct value *value)
{
	struct err err = ERR_INIT;

	export->json.len = 0;
	export->line.len = 0;
	if (json_write(&export->json, value, JSON_WRITE_BASE64, &err) < 0 ||
		safe_json(&export->line, export->json.bytes, export->json.len) < 0 ||
		buf_append_byte(&export->line, '\n') < 0)
		return err.code ? cli_fail(export->cli, &err) : cli_no_memory(export->cli);
	digest_add(&export->digest, export->line.bytes, export->line.len);
	if (write_all(STDOUT_FILENO, export->line.bytes, export->line.len, &err) == 0)
		return 0;
	if (err.sys_errno == EPIPE)
		(void)raise(SIGPIPE); /* whose reader has gone ends as other commands do */
	(void)cli_fail(export->cli, &err);
	return EXIT_SERVICE; /* as for every command whose output cannot be written */
}

/* `map`, with its kind as the first key. */
static int write_kind(
	struct export *export, struct arena *arena, const char *kind, const struct value *map)
{
	struct fill fill = fill_start(arena);
	struct value *line;

	fill_text(&fill, "kind", kind);
	for (size_t i = 0; i < map->map.count; i++)
		fill_shared(&fill, map->map.entries[i].key, map->map.entries[i].value);
	line = fill_done(&fill);
	return line ? write_line(export, line) : cli_no_memory(export->cli);
}

static int write_head(struct export *export)
{
	struct fill fill = fill_start(&export->cli->arena);

	fill_int(&fill, "version", 1);
	fill_text(&fill, "ced", CED_VERSION);
	fill_int(&fill, "at_us", clock_wall_us());
	if (export->since)
		fill_int(&fill, "since", export->since);
	if (export->until)
		fill_int(&fill, "until", export->until);
	fill_bool(&fill, "contents", !cli_flag(export->cli, "no-contents"));
	return write_kind(export, &export->cli->arena, "export", fill_done(&fill));
}

static int write_end(struct export *export)
{
	struct fill fill = fill_start(&export->cli->arena);
	char digest[DIGEST_TEXT_LEN + 1];

	digest_end_text(&export->digest, digest);
	fill_int(&fill, "runs", export->runs);
	fill_int(&fill, "acts", export->acts);
	fill_text(&fill, "sha256", digest);
	return write_kind(export, &export->cli->arena, "end", fill_done(&fill));
}

/* ---- pages ---------------------------------------------------------------------------------- */

/*
 * Asks in an arena of its own, which `take` may use.  It is freed afterwards, because written
 * lines need not be kept.
 */
static int with_page(struct export *export, const char *method,
	struct value *(*params)(struct export *, void *cursor),
	int (*take)(struct export *, const struct value *page, void *cursor), void *cursor)
{
	struct cli *cli = export->cli;
	struct arena kept = cli->arena;
	const struct value *page = NULL;
	struct value *asked;
	int status;

	arena_init(&cli->arena, PAGE_ARENA);
	asked = params(export, cursor);
	status = asked ? cli_ask(cli, method, asked, NULL, &page) : cli_no_memory(cli);
	if (status == 0)
		status = take(export, page, cursor);
	arena_done(&cli->arena);
	cli->arena = kept;
	return status;
}

/* How far the runs are. */
struct run_cursor {
	char after[64]; /* "": at the beginning */
	bool more;
};

static struct value *run_params(struct export *export, void *at)
{
	const struct run_cursor *cursor = at;
	struct fill fill = fill_start(&export->cli->arena);

	if (export->since)
		fill_int(&fill, "since", export->since);
	if (export->until)
		fill_int(&fill, "until", export->until);
	if (cursor->after[0])
		fill_text(&fill, "after", cursor->after);
	else
		fill_bool(&fill, "count", true);
	if (cli_flag(export->cli, "no-contents"))
		fill_bool(&fill, "contents", false);
	if (cli_flag(export->cli, "whole"))
		fill_int(&fill, "stream_bytes", WHOLE_BYTES);
	return fill_done(&fill);
}

static int write_run(struct export *export, const struct value *record)
{
	struct arena *arena = &export->cli->arena;
	struct value *line;

	export->runs++;
	if (!export->form->line)
		return write_kind(export, arena, "run", record);
	line = export->form->line(arena, record);
	return line ? write_line(export, line) : cli_no_memory(export->cli);
}

static int take_runs(struct export *export, const struct value *page, void *at)
{
	const struct value *records = value_get(page, "records");
	const char *next = value_as_text(value_get(page, "next"));
	struct run_cursor *cursor = at;
	char note[64];
	/* Not before there is an answer: who may not read the record gets no line of it. */
	int status = !export->form->line && !cursor->after[0] ? write_head(export) : 0;

	export->of += value_as_int(value_get(page, "left"), 0);
	for (size_t i = 0; status == 0 && value_at(records, i); i++)
		status = write_run(export, value_at(records, i));
	cut_printf(cursor->after, sizeof(cursor->after), "%s", next ? next : "");
	cursor->more = next && value_as_bool(value_get(page, "more"), false);
	if (export->tells) {
		cut_printf(note, sizeof(note), "%" PRId64 " of %" PRId64 " runs", export->runs,
			export->of);
		bar_update(&export->bar, (double)export->runs / (double)(export->of + 1), note);
	}
	return status;
}

/* Acts come newest first, and go out so. */
struct act_cursor {
	int64_t before;
	bool more;
};

static struct value *act_params(struct export *export, void *at)
{
	const struct act_cursor *cursor = at;
	struct fill fill = fill_start(&export->cli->arena);

	fill_int(&fill, "limit", ACTS_PAGE);
	if (cursor->before)
		fill_int(&fill, "before", cursor->before);
	return fill_done(&fill);
}

static int take_acts(struct export *export, const struct value *page, void *at)
{
	const struct value *acts = value_get(page, "acts");
	struct act_cursor *cursor = at;
	int status = 0;

	cursor->more = value_as_bool(value_get(page, "more"), false);
	for (size_t i = 0; status == 0 && value_at(acts, i); i++) {
		const struct value *act = value_at(acts, i);
		int64_t at_us = value_as_int(value_get(act, "at_us"), 0);

		cursor->before = value_as_int(value_get(act, "act"), 0);
		if (at_us < export->since || (export->until && at_us >= export->until))
			continue;
		export->acts++;
		status = write_kind(export, &export->cli->arena, "act", act);
	}
	/* A copy may have acts before the first; they would lead back to the newest. */
	cursor->more = cursor->more && cursor->before > 0;
	return status;
}

static int write_all_of_it(struct export *export)
{
	struct run_cursor runs = { "", true };
	struct act_cursor acts = { 0, true };
	bool is_ours = !export->form->line;
	int status = 0;

	while (status == 0 && runs.more)
		status = with_page(export, "audit.export", run_params, take_runs, &runs);
	while (status == 0 && acts.more && is_ours)
		status = with_page(export, "admin.acts", act_params, take_acts, &acts);
	bar_erase(&export->bar);
	if (status == 0 && is_ours)
		status = write_end(export);
	return status;
}

/* ---- the command ---------------------------------------------------------------------------- */

static int read_time(struct cli *cli, const char *name, const char *text, int64_t *ret_us)
{
	struct err err = ERR_INIT;

	if (text && times_parse(text, clock_wall_us(), ret_us, &err) < 0)
		return cli_usage(cli, "%s: %s", name, err.text);
	return 0;
}

/* NULL: there is none of this name. */
static const struct form *find_form(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(forms); i++)
		if (strcmp(forms[i].name, name ? name : forms[0].name) == 0)
			return &forms[i];
	return NULL;
}

static int audit_export_run(struct cli *cli)
{
	struct export export = { .cli = cli, .bar = { .out = &cli->err, .what = "exporting" } };
	int status = read_time(cli, "--since", cli_text(cli, "since"), &export.since);

	if (status == 0)
		status = read_time(cli, "--until", cli_text(cli, "until"), &export.until);
	if (status != 0)
		return status;
	export.form = find_form(cli_text(cli, "format"));
	if (!export.form)
		return cli_usage(
			cli, "--format %s: there are json, ocsf and otlp", cli_text(cli, "format"));
	export.tells = !cli->out.terminal;
	digest_start(&export.digest);
	buf_init(&export.json, LINE_BYTES);
	buf_init(&export.line, LINE_BYTES);
	status = write_all_of_it(&export);
	buf_done(&export.json);
	buf_done(&export.line);
	return status;
}

// clang-format off
const struct command export_command = {
	.name = "audit export",
	.summary = "the record as lines of JSON",
	.about = "For administrators. Writes each run and each act of an administrator as one "
		 "line of JSON, oldest runs first. The first line describes the export; the last "
		 "one has counts and the SHA-256 of all lines before it. Memory stays bounded, "
		 "because the record is read page by page. Control and direction characters are "
		 "written as \\uXXXX, so that no output of a program can act on a terminal. "
		 "proto/method/schemas/export.line.json is the schema of a line.\n\n"
		 "--format ocsf writes runs alone, as events of OCSF 1.3. --format otlp writes "
		 "them as spans of OpenTelemetry; the label traceparent of a run says to which "
		 "trace it belongs. With --store it reads a copy.",
	.options = OPTIONS(
		{ 0, "since", "TIME", OPTION_TEXT, NULL, NULL,
			"only from then on: 1h, yesterday, 2026-11-20T10:30" },
		{ 0, "until", "TIME", OPTION_TEXT, NULL, NULL, "only before then" },
		{ 0, "format", "FORM", OPTION_TEXT, NULL, NULL,
			"json (default); ocsf: runs as events of class 1007, Process Activity; "
			"otlp: runs as spans, in lines of JSON" },
		{ 0, "no-contents", NULL, OPTION_FLAG, NULL, NULL,
			"leaves out programs, inputs and outputs; digests and facts stay" },
		{ 0, "whole", NULL, OPTION_FLAG, NULL, NULL,
			"streams, inputs and artifacts up to 32 MiB each; else the first 64 KiB" }),
	.examples = EXAMPLES(
		{ "cectl audit export >ced.jsonl", "everything" },
		{ "cectl audit export --since yesterday --until today --format ocsf | gzip >ocsf.gz",
			"a day's, for a SIEM" },
		{ "cectl audit export --since 1h --format otlp >>spans.jsonl",
			"for a collector that reads files" },
		{ "cectl --store ced.db audit export --no-contents", "facts and digests, from a copy" }),
	.reads_copy = true,
	.run = audit_export_run,
};
// clang-format on
