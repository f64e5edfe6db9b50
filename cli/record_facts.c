#include <inttypes.h>
#include <string.h>

#include "cli/page.h"
#include "cli/record.h"
#include "cli/safe.h"
#include "cli/times.h"
#include "cli/units.h"
#include "proto/base/clock.h"

#define STDIN_COLUMNS 50

void record_show_head(struct cli *cli, const struct value *record)
{
	const char *outcome = page_text(cli, record, "outcome");
	const char *reason = page_text(cli, record, "reason");
	enum mark mark = strcmp(outcome, "ok") == 0 ? MARK_GOOD : MARK_BAD;

	say(&cli->out, PAINT_BOLD, "run %s  ", page_text(cli, record, "run_id"));
	if (outcome[0])
		say(&cli->out, output_outcome_paint(outcome), "%s %s\n",
			output_mark(&cli->out, mark), outcome);
	else
		say(&cli->out, PAINT_CYAN, "%s %s\n", output_mark(&cli->out, MARK_ARROW),
			page_text(cli, record, "state"));
	if (reason[0])
		page_wrapped(cli, PAINT_PLAIN, reason, 0);
}

/* ---- facts --------------------------------------------------------------------------------- */

static void show_when(struct cli *cli, const struct value *record)
{
	int64_t received_us = page_int(record, "received_us");
	char when[TIMES_TEXT_MAX];
	char ago[TIMES_TEXT_MAX];

	if (received_us <= 0)
		return;
	times_print_exact(when, received_us);
	times_print_ago(ago, received_us, clock_wall_us());
	page_field(cli, "when", arena_printf(&cli->arena, "%s  (%s)", when, ago));
}

/* " name value", or nothing. */
static const char *named(
	struct cli *cli, const char *before, const struct value *record, const char *key)
{
	const char *text = page_text(cli, record, key);
	const char *both = text[0] ? arena_printf(&cli->arena, "%s%s", before, text) : "";

	return both ? both : "";
}

static void show_who(struct cli *cli, const struct value *record)
{
	const struct value *caller = value_get(record, "caller");
	const struct value *request = value_get(record, "request");

	page_words(cli, "who",
		arena_printf(&cli->arena, "uid %s%s%s%s%s%s", page_text(cli, caller, "uid"),
			named(cli, ", pid ", caller, "pid"),
			named(cli, ", ", caller, page_text(cli, caller, "exe")[0] ? "exe" : "name"),
			named(cli, ", agent ", request, "agent"),
			named(cli, ", task ", request, "task"),
			named(cli, ", id ", request, "id")));
}

/* The hash of the code without its "sha256:", so that it fits on a line of 80. */
static void show_hash(struct cli *cli, const char *hash)
{
	const char *colon = strchr(hash, ':');

	page_field(cli, "sha256", colon ? colon + 1 : hash);
}

/* The first bytes of what it read; the whole is in --json. */
static void show_stdin(struct cli *cli, const struct value *input)
{
	char size[UNITS_TEXT_MAX];
	const char *text;
	size_t shown;

	if (!page_is_bytes(input))
		return;
	units_print_bytes(size, (int64_t)input->text.len);
	text = output_text(&cli->arena, input);
	shown = safe_fit(text, strlen(text), STDIN_COLUMNS);
	page_field(cli, "stdin",
		arena_printf(&cli->arena, "%s: %.*s%s", size, (int)shown, text,
			text[shown] ? output_mark(&cli->out, MARK_CUT) : ""));
}

static void show_files(struct cli *cli, const struct value *files)
{
	for (size_t i = 0; value_at(files, i); i++) {
		const struct value *file = value_at(files, i);

		page_field(cli, i == 0 ? "files" : "",
			arena_printf(&cli->arena, "%s, %s", page_text(cli, file, "path"),
				page_number(cli, "bytes", value_get(file, "bytes"))));
	}
}

/* What stands here is not what was run. */
static void show_masks(struct cli *cli, const struct value *record)
{
	const struct value *request = value_get(record, "request");
	int64_t masks = page_int(value_get(record, "masks") ? record : request, "masks");

	if (masks > 0)
		page_field(cli, "masks",
			arena_printf(&cli->arena, "%lld secrets are masked in this record",
				(long long)masks));
}

static void show_program(struct cli *cli, const struct value *record)
{
	const struct value *request = value_get(record, "request");
	const struct value *env = value_get(request, "env");
	const char *version = page_text(cli, value_get(record, "runtime"), "version");

	page_field(cli, "program",
		arena_printf(&cli->arena, "%s%s%s", page_text(cli, request, "language"),
			named(cli, ", as ", request, "entrypoint"),
			version[0] ? arena_printf(&cli->arena, ", on %s", version) : ""));
	show_hash(cli, page_text(cli, record, "code_hash"));
	show_masks(cli, record);
	page_value(cli, "args", value_get(request, "args"));
	show_stdin(cli, value_get(request, "stdin"));
	show_files(cli, value_get(request, "files"));
	if (value_is(env, VALUE_MAP) && env->map.count > 0)
		page_value(cli, "env", env);
}

static void show_end(struct cli *cli, const struct value *record)
{
	const char *ran = page_text(cli, record, "ran");
	const char *began = strcmp(ran, "no") == 0 ? "none of its code ran"
			    : strcmp(ran, "unknown") == 0
				    ? "it is not known whether any of its code ran"
				    : "";
	const char *signal = named(cli, "signal ", record, "signal");
	const char *code = named(cli, "exit code ", record, "exit_code");
	const char *end = signal[0] ? signal : code;

	page_field(cli, "end",
		arena_printf(&cli->arena, "%s%s%s", end, end[0] && began[0] ? ", " : "", began));
	page_field(cli, "told again",
		named(cli, "nothing ran for it; this is the result of run ", record,
			"cached_from"));
}

/* "approved by uid 0 (act 3): looked at it" */
static void show_approval(struct cli *cli, const struct value *record)
{
	const struct value *approval = value_get(record, "approval");

	if (!value_is(approval, VALUE_MAP))
		return;
	page_field(cli, "approval",
		arena_printf(&cli->arena, "%s%s%s%s", page_text(cli, approval, "decision"),
			named(cli, " by uid ", approval, "by"),
			named(cli, ", in act ", approval, "act"),
			named(cli, ": ", approval, "reason")));
}

static void show_error(struct cli *cli, const struct value *record)
{
	const struct value *error = value_get(record, "error");
	int64_t line = page_int(error, "line");

	if (!value_is(error, VALUE_MAP))
		return;
	page_field(cli, "error",
		arena_printf(&cli->arena, "%s: %s%s", page_text(cli, error, "type"),
			page_text(cli, error, "message"),
			line > 0 ? arena_printf(&cli->arena, "  (line %" PRId64 ")", line) : ""));
}

/* What retention took away is not shown as if it had been empty. */
static void show_pruned(struct cli *cli, const struct value *record)
{
	const struct value *pruned = value_get(record, "pruned");

	if (value_is(pruned, VALUE_MAP))
		page_field(cli, "contents",
			arena_printf(&cli->arena, "have left the store: act %s of cectl acts",
				page_text(cli, pruned, "act")));
}

void record_show_facts(struct cli *cli, const struct value *record)
{
	const struct value *labels = value_get(value_get(record, "request"), "labels");

	show_when(cli, record);
	show_who(cli, record);
	show_program(cli, record);
	if (value_is(labels, VALUE_MAP) && labels->map.count > 0)
		page_value(cli, "labels", labels);
	show_approval(cli, record);
	show_end(cli, record);
	show_error(cli, record);
	show_pruned(cli, record);
}
