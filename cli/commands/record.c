/* A record as runs.get answers it: how it is fetched, and its sections for people. */
#include "cli/commands/record.h"

#include <inttypes.h>
#include <string.h>

#include "cli/base/safe.h"
#include "cli/base/times.h"
#include "cli/base/units.h"
#include "cli/commands/job_options.h"
#include "cli/session/page.h"
#include "cli/terminal/table.h"
#include "proto/base/buf.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/fill.h"
#include "proto/job/job.h"

#define PAGE_BYTES ((uint64_t)1 << 20)
#define STREAM_MAX ((size_t)1 << 30)

int record_get(struct cli *cli, const char *name, const struct value **ret_record)
{
	struct arena *arena = &cli->arena;
	struct value *params = value_map(arena);

	(void)value_map_put(arena, params, "run_id", value_text(arena, name));
	return cli_ask(cli, "runs.get", params, NULL, ret_record);
}

int record_resolve(struct cli *cli, const char *name, const char **ret_run_id)
{
	const struct value *record = NULL;
	int status;

	if (strlen(name) == RUN_ID_LEN) {
		*ret_run_id = name;
		return 0;
	}
	status = record_get(cli, name, &record);
	if (status != 0)
		return status;
	*ret_run_id = output_text(&cli->arena, value_get(record, "run_id"));
	return 0;
}

int record_page(struct cli *cli, const char *name, const char *stream, uint64_t offset,
	uint64_t len, const struct value **ret_page)
{
	struct fill params = fill_start(&cli->arena);

	fill_text(&params, "run_id", name);
	fill_text(&params, "stream", stream);
	fill_uint(&params, "offset", offset);
	fill_uint(&params, "length", len);
	return cli_ask(cli, "runs.output", fill_done(&params), NULL, ret_page);
}

int record_fetch(struct cli *cli, const char *name, const char *stream, uint64_t *offset,
	uint64_t to, struct buf *out)
{
	bool eof = false;

	while (!eof && *offset < to) {
		uint64_t len = to - *offset < PAGE_BYTES ? to - *offset : PAGE_BYTES;
		const struct value *page = NULL;
		const struct value *data;
		int status = record_page(cli, name, stream, *offset, len, &page);

		if (status != 0)
			return status;
		data = value_get(page, "data");
		if (!page_is_bytes(data) || data->text.len == 0)
			return 0;
		if (buf_append(out, data->text.bytes, data->text.len) < 0)
			return cli_no_memory(cli);
		*offset += data->text.len;
		eof = value_as_bool(value_get(page, "eof"), false);
	}
	return 0;
}

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

/* The beginning of its stdin; --json has all of it. */
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

/* The record shows masked text, not the program that ran. */
static void show_masks(struct cli *cli, const struct value *record)
{
	const struct value *request = value_get(record, "request");
	int64_t masks = page_int(value_get(record, "masks") ? record : request, "masks");

	if (masks > 0)
		page_field(cli, "masks",
			arena_printf(&cli->arena, "%lld secrets are masked in this record",
				(long long)masks));
}

/* "01M8..., cell 3, began in state 1, kept 1 3" */
static void show_session(struct cli *cli, const struct value *record)
{
	const struct value *session = value_get(record, "session");

	if (!value_is(session, VALUE_MAP))
		return;
	page_words(cli, "session",
		arena_printf(&cli->arena, "%s%s%s%s%s", page_text(cli, session, "id"),
			named(cli, ", cell ", session, "cell"),
			named(cli, ", began in state ", session, "from"),
			named(cli, ", undone: went back to state ", session, "went_back"),
			named(cli, ", and ended with it: ", session, "why")));
}

/* ", as main.py"; of a cell ", as cell-3.py", which is its name in a traceback. */
static const char *named_file(struct cli *cli, const struct value *record)
{
	const struct value *request = value_get(record, "request");
	const char *cell = page_text(cli, value_get(record, "session"), "cell");
	const char *suffix = strrchr(page_text(cli, request, "entrypoint"), '.');

	if (!cell[0])
		return named(cli, ", as ", request, "entrypoint");
	return arena_printf(&cli->arena, ", as cell-%s%s", cell, suffix ? suffix : "");
}

static void show_program(struct cli *cli, const struct value *record)
{
	const struct value *request = value_get(record, "request");
	const struct value *env = value_get(request, "env");
	const char *version = page_text(cli, value_get(record, "runtime"), "version");

	page_field(cli, "program",
		arena_printf(&cli->arena, "%s%s%s", page_text(cli, request, "language"),
			named_file(cli, record),
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
	page_field(cli, "from cache",
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
			line > 0 ? arena_printf(&cli->arena, "  (line %" PRId64 "%s)", line,
					   named(cli, " of ", error, "file"))
				 : ""));
}

/* Contents that retention has removed are not shown as empty. */
static void show_pruned(struct cli *cli, const struct value *record)
{
	const struct value *pruned = value_get(record, "pruned");

	if (value_is(pruned, VALUE_MAP))
		page_field(cli, "contents",
			arena_printf(&cli->arena, "have left the store: act %s of cectl acts",
				page_text(cli, pruned, "act")));
}

static void show_facts(struct cli *cli, const struct value *record)
{
	const struct value *labels = value_get(value_get(record, "request"), "labels");

	show_when(cli, record);
	show_who(cli, record);
	show_session(cli, record);
	show_program(cli, record);
	if (value_is(labels, VALUE_MAP) && labels->map.count > 0)
		page_value(cli, "labels", labels);
	show_approval(cli, record);
	show_end(cli, record);
	show_error(cli, record);
	show_pruned(cli, record);
}

#define BAR_LEAST     8
#define BAR_MOST      60
#define TIMES_COLUMNS 24 /* before the bars of phases */
#define TRACE_COLUMNS 60 /* beside those of steps */
#define STREAM_LINES  16

/* ---- verdicts ------------------------------------------------------------------------------ */

static void show_policy(struct cli *cli, const struct value *record)
{
	const struct value *policy = value_get(record, "policy");
	const struct value *findings = value_get(policy, "findings");
	const char *decision = page_text(cli, policy, "decision");
	bool denied = strcmp(decision, "deny") == 0;

	if (!value_is(policy, VALUE_MAP))
		return;
	output_heading(&cli->out, "policy");
	say(&cli->out, PAINT_PLAIN, "  %s: ", page_text(cli, policy, "name"));
	say(&cli->out, denied ? PAINT_RED : PAINT_GREEN, "%s", decision);
	say(&cli->out, PAINT_PLAIN, "%s\n", value_at(findings, 0) ? "" : ", nothing found");
	page_findings(cli, findings);
}

static void show_evidence(struct cli *cli, const struct value *record)
{
	const struct value *evidence = value_get(record, "evidence");

	if (!value_is(evidence, VALUE_MAP) || evidence->map.count == 0)
		return;
	output_heading(&cli->out, "evidence");
	page_evidence(cli, evidence);
}

/* "tried to open an internet socket 3 times, first after 12 ms" */
static void show_refused(struct cli *cli, const struct value *record)
{
	const struct value *calls = value_get(record, "refused_calls");
	const struct value *others = value_get(record, "refused_others");

	if (!value_at(calls, 0))
		return;
	output_heading(&cli->out, "refused");
	for (size_t i = 0; value_at(calls, i); i++) {
		const struct value *call = value_at(calls, i);
		bool ended = value_as_bool(value_get(call, "ended"), false);

		say(&cli->out, ended ? PAINT_RED : PAINT_PLAIN, "  %s %s\n",
			output_mark(&cli->out, ended ? MARK_BAD : MARK_DOT),
			page_refused(cli, call));
	}
	if (others)
		say(&cli->out, PAINT_DIM, "  and %s calls of other kinds\n",
			output_text(&cli->arena, others));
}

#define CALLS_SHOWN 50 /* a run may make thousands */

static void show_call_json(struct cli *cli, const char *name, const struct value *value)
{
	const char *text = output_text(&cli->arena, value);

	if (!value)
		return;
	say(&cli->out, PAINT_DIM, "      %-10s", name);
	page_line(cli, text, strlen(text), 16, PAINT_PLAIN);
}

/* "tools.ask send_*: approved by uid 4002, in act 7: known" */
static void show_call_policy(struct cli *cli, const struct value *call)
{
	const struct value *approval = value_get(call, "approval");
	const char *text = page_text(cli, call, "rule");

	if (value_is(approval, VALUE_MAP))
		text = arena_printf(&cli->arena, "%s: %s%s%s%s", text,
			page_text(cli, approval, "decision"),
			named(cli, " by uid ", approval, "by"),
			named(cli, ", in act ", approval, "act"),
			named(cli, ": ", approval, "reason"));
	if (!text || !text[0])
		return;
	say(&cli->out, PAINT_DIM, "      %-10s", "policy");
	page_line(cli, text, strlen(text), 16, PAINT_PLAIN);
}

/* "3  search  {\"query\": \"x\"}  bad_arguments  12 ms" */
static void show_call(struct cli *cli, const struct value *call)
{
	const struct value *code = value_get(call, "code");
	const struct value *answer = value_get(call, code ? "error" : "result");

	say(&cli->out, PAINT_PLAIN, "  %s %s  %s",
		output_mark(&cli->out, code ? MARK_BAD : MARK_DOT),
		output_text(&cli->arena, value_get(call, "call")), page_text(cli, call, "tool"));
	say(&cli->out, PAINT_DIM, "  %s", page_number(cli, "took_us", value_get(call, "took_us")));
	if (code)
		say(&cli->out, PAINT_RED, "  %s", page_text(cli, call, "code"));
	say(&cli->out, PAINT_PLAIN, "\n");
	show_call_policy(cli, call);
	show_call_json(cli, "arguments", value_get(call, "args"));
	show_call_json(cli, code ? "error" : "result", answer);
}

static void show_calls(struct cli *cli, const struct value *record)
{
	const struct value *calls = value_get(record, "tool_calls");

	if (!value_at(calls, 0))
		return;
	output_heading(&cli->out, "calls of tools");
	for (size_t i = 0; value_at(calls, i) && i < CALLS_SHOWN; i++)
		show_call(cli, value_at(calls, i));
	if (calls->list.count > CALLS_SHOWN)
		say(&cli->out, PAINT_DIM, "  and %zu more: --json shows them\n",
			calls->list.count - CALLS_SHOWN);
}

/* "api.example.org:443  allowed, 3 times, 1.2 KiB up, 40 KiB down" */
static void show_connection(struct cli *cli, const struct value *row)
{
	const bool allowed = strcmp(page_text(cli, row, "verdict"), "allowed") == 0;
	const char *why = page_text(cli, row, "why");
	const char *address = page_text(cli, row, "address");

	say(&cli->out, allowed ? PAINT_PLAIN : PAINT_RED, "  %s %s:%s%s%s  %s%s%s, %s",
		output_mark(&cli->out, allowed ? MARK_GOOD : MARK_BAD), page_text(cli, row, "host"),
		page_text(cli, row, "port"), address[0] ? " at " : "", address,
		page_text(cli, row, "verdict"), why[0] ? ", " : "", why,
		page_number(cli, "count", value_get(row, "count")));
	say(&cli->out, PAINT_DIM, "  (%s up, %s down)\n",
		page_number(cli, "up_bytes", value_get(row, "up")),
		page_number(cli, "down_bytes", value_get(row, "down")));
}

/* "and 3 connections of other kinds, 12 KiB" */
static void show_other_connections(struct cli *cli, const struct value *record)
{
	const struct value *others = value_get(record, "connections_others");
	const struct value *bytes = value_get(record, "connections_others_bytes");

	if (!others)
		return;
	say(&cli->out, PAINT_DIM, "  and %s connections of other kinds",
		output_text(&cli->arena, others));
	if (bytes)
		say(&cli->out, PAINT_DIM, ", %s", page_number(cli, "up_bytes", bytes));
	say(&cli->out, PAINT_DIM, "\n");
}

void record_show_connections(struct cli *cli, const struct value *record)
{
	const struct value *rows = value_get(record, "connections");

	if (!value_is(rows, VALUE_LIST))
		return;
	output_heading(&cli->out, "network");
	if (!value_at(rows, 0))
		say(&cli->out, PAINT_DIM, "  no connections\n");
	for (size_t i = 0; value_at(rows, i); i++)
		show_connection(cli, value_at(rows, i));
	show_other_connections(cli, record);
	if (value_as_bool(value_get(record, "connections_lost"), false))
		say(&cli->out, PAINT_RED,
			"  the process that makes connections ended: some may be missing\n");
}

void record_show_packages(struct cli *cli, const struct value *record)
{
	static const struct page_column columns[] = {
		{ { "NAME", false, false, 0 }, "name", PAINT_PLAIN, NULL, NULL },
		{ { "DIGEST", false, true, 0 }, "digest", PAINT_DIM, NULL, NULL },
	};
	const struct value *sets = value_get(value_get(record, "runtime"), "packages");

	if (!value_at(sets, 0))
		return;
	output_heading(&cli->out, "package sets");
	page_table(cli, columns, COUNT_OF(columns), sets, 2);
}

/* "/work/out.txt  created, written" */
static void show_opened(struct cli *cli, const struct value *record)
{
	static const char *const ways[] = { "created", "read", "written", "deleted" };
	const struct value *files = value_get(record, "files");
	const struct value *opened = value_get(files, "opened");

	if (!value_is(files, VALUE_MAP))
		return;
	output_heading(&cli->out, "files");
	for (size_t i = 0; value_at(opened, i); i++) {
		const struct value *file = value_at(opened, i);
		const char *before = "  ";

		say(&cli->out, PAINT_PLAIN, "  %s", page_text(cli, file, "path"));
		for (size_t way = 0; way < COUNT_OF(ways); way++)
			if (value_as_bool(value_get(file, ways[way]), false)) {
				say(&cli->out, PAINT_DIM, "%s%s", before, ways[way]);
				before = ", ";
			}
		say(&cli->out, PAINT_PLAIN, "\n");
	}
	if (!value_at(opened, 0))
		say(&cli->out, PAINT_DIM, "  it opened none\n");
	if (!value_as_bool(value_get(files, "complete"), true))
		say(&cli->out, PAINT_DIM, "  and more, which found no room\n");
}

static void show_output_errors(struct cli *cli, const struct value *record)
{
	const struct value *errors = value_get(record, "output_errors");

	if (!value_at(errors, 0))
		return;
	output_heading(&cli->out, "what its output breaks");
	for (size_t i = 0; value_at(errors, i); i++) {
		const struct value *error = value_at(errors, i);
		const char *pointer = page_text(cli, error, "pointer");

		say(&cli->out, PAINT_RED, "  %s ", output_mark(&cli->out, MARK_BAD));
		say(&cli->out, PAINT_BOLD, "%s", pointer[0] ? pointer : "(the whole)");
		say(&cli->out, PAINT_PLAIN, "  %s\n", page_text(cli, error, "message"));
	}
}

/* ---- limits and times ---------------------------------------------------------------------- */

/* The part of a limit that was used, if the metrics have it. */
static const struct {
	const char *limit;
	const char *metric; /* of metrics, else of the record */
} usages[] = {
	{ "memory_bytes", "memory_peak_bytes" },
	{ "disk_bytes", "disk_bytes" },
	{ "stdout_bytes", "stdout_bytes" },
	{ "stderr_bytes", "stderr_bytes" },
};

static const char *used(struct cli *cli, const struct value *record, const char *limit)
{
	const struct value *metrics = value_get(record, "metrics");

	if (strcmp(limit, "wall_ms") == 0 && page_int(metrics, "exec_us") > 0)
		return page_number(cli, "_us", value_get(metrics, "exec_us"));
	if (strcmp(limit, "cpu_ms") == 0 && page_int(metrics, "exec_us") > 0)
		return page_number(cli, "_us",
			value_int(&cli->arena, page_int(metrics, "cpu_user_us") +
						       page_int(metrics, "cpu_sys_us")));
	for (size_t i = 0; i < COUNT_OF(usages); i++) {
		const struct value *number;

		if (strcmp(usages[i].limit, limit) != 0)
			continue;
		number = value_get(metrics, usages[i].metric);
		if (!number)
			number = value_get(record, usages[i].metric);
		return number && value_as_int(number, 0) > 0
			       ? page_number(cli, usages[i].metric, number)
			       : "";
	}
	return "";
}

static void show_limits(struct cli *cli, const struct value *record)
{
	static const struct table_column columns[] = {
		{ "LIMIT", false, false, 0 },
		{ "USED", true, false, 0 },
		{ "OF", true, false, 0 },
		{ "HELD BY", false, true, 1 },
	};
	const struct value *limits = value_get(record, "limits");
	const struct value *enforced_by = value_get(limits, "enforced_by");
	struct table table;

	if (!value_is(limits, VALUE_MAP))
		return;
	output_heading(&cli->out, "limits");
	table_init(&table, &cli->arena, columns, COUNT_OF(columns));
	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++) {
		const char *name = job_limit_names[i];

		if (!value_get(limits, name))
			continue;
		const struct table_cell cells[] = {
			{ limit_word(cli, name), PAINT_PLAIN },
			{ used(cli, record, name), PAINT_PLAIN },
			{ page_number(cli, name, value_get(limits, name)), PAINT_PLAIN },
			{ page_text(cli, enforced_by, name), PAINT_DIM },
		};

		table_add(&table, cells);
	}
	table_print(&table, &cli->out, 2);
}

/* The rest of the width of a line, at most the width of running text. */
static size_t bar_columns(const struct cli *cli, size_t taken)
{
	size_t width = output_text_width(&cli->out);

	if (width < taken + BAR_LEAST)
		return BAR_LEAST;
	return width - taken < BAR_MOST ? width - taken : BAR_MOST;
}

/* One after the other, as they were. */
static void show_times(struct cli *cli, const struct value *record)
{
	static const char *const phases[] = { "policy_us", "queue_us", "start_us", "exec_us",
		"collect_us", "record_us" };
	const struct value *metrics = value_get(record, "metrics");
	struct page_span span = { .whole = page_int(metrics, "total_us") };

	if (!value_is(metrics, VALUE_MAP))
		return;
	output_heading(&cli->out, "time");
	span.columns = bar_columns(cli, TIMES_COLUMNS);
	for (size_t i = 0; i < COUNT_OF(phases); i++) {
		const struct value *number = value_get(metrics, phases[i]);

		if (value_as_int(number, 0) <= 0)
			continue;
		say(&cli->out, PAINT_PLAIN, "  %-8s %9s  ", page_name(cli, phases[i]),
			page_number(cli, phases[i], number));
		span.from = span.to;
		span.to += value_as_int(number, 0);
		page_span(cli, PAINT_CYAN, &span);
		say(&cli->out, PAINT_PLAIN, "\n");
	}
	say(&cli->out, PAINT_BOLD, "  %-8s %9s", "total",
		page_number(cli, "total_us", value_get(metrics, "total_us")));
	if (value_get(value_get(record, "limits"), "enforced_by")) /* it had one */
		say(&cli->out, PAINT_DIM, "  %s worker",
			value_as_bool(value_get(metrics, "warm"), false) ? "warm" : "cold");
	say(&cli->out, PAINT_PLAIN, "\n");
}

/* ---- program and output -------------------------------------------------------------------- */

void record_show_code(struct cli *cli, const struct value *record, bool full)
{
	const struct value *error = value_get(record, "error");
	const struct page_marks marks = {
		.findings = value_get(value_get(record, "policy"), "findings"),
		.error_line = value_get(error, "file") ? 0 : page_int(error, "line"),
	};
	const struct value *code = value_get(value_get(record, "request"), "code");

	if (!page_is_bytes(code))
		return;
	output_heading(&cli->out, "code");
	page_code(cli, code, &marks, full);
}

bool record_is_truncated(const struct value *record, const char *stream)
{
	const struct value *truncated = value_get(record, "truncated");

	for (size_t i = 0; value_at(truncated, i); i++) {
		const char *cut = value_as_text(value_at(truncated, i));

		if (cut && strcmp(cut, stream) == 0)
			return true;
	}
	return false;
}

int64_t record_bytes(const struct value *record, const char *stream)
{
	char key[32];

	cut_printf(key, sizeof(key), "%s_bytes", stream);
	return page_int(record, key);
}

/* A record holds only the beginning of a long stream; the store has the rest. */
static const struct value *whole_stream(
	struct cli *cli, const struct value *record, const char *name)
{
	const struct value *head = value_get(record, name);
	uint64_t total = (uint64_t)record_bytes(record, name);
	struct value *whole = NULL;
	uint64_t at = 0;
	struct buf buf;

	if (!page_is_bytes(head) || head->text.len >= total || record_is_truncated(record, name))
		return head;
	buf_init(&buf, STREAM_MAX);
	if (record_fetch(cli, page_text(cli, record, "run_id"), name, &at, total, &buf) == 0 &&
		buf.len > head->text.len) {
		const char *bytes = arena_copy(&cli->arena, buf.bytes, buf.len);

		whole = bytes ? value_blob_borrowed(&cli->arena, bytes, buf.len) : NULL;
	}
	buf_done(&buf);
	return whole ? whole : head;
}

static void show_stream(struct cli *cli, const struct value *record, const char *name, bool full)
{
	const struct value *head = full ? whole_stream(cli, record, name) : value_get(record, name);
	int64_t total = record_bytes(record, name);
	const char *title = arena_printf(&cli->arena, "%s, %s", name,
		page_number(cli, "bytes", value_int(&cli->arena, total)));
	size_t left_out;

	if (!page_is_bytes(head) || value_get(record, "pruned"))
		return; /* removed contents cannot be asked for */
	if (head->text.len == 0 && total == 0)
		return;
	output_heading(&cli->out, title ? title : name);
	left_out = page_block(cli, head, full ? SIZE_MAX : STREAM_LINES);
	if (left_out > 0 || (size_t)total > head->text.len)
		say(&cli->out, PAINT_DIM, "  ... more: %s --stream %s\n",
			cli_more(cli, "output", page_text(cli, record, "run_id")), name);
}

static void show_streams(struct cli *cli, const struct value *record, bool full)
{
	show_stream(cli, record, "stdout", full);
	show_stream(cli, record, "stderr", full);
}

static void show_artifacts(struct cli *cli, const struct value *record)
{
	static const struct page_column columns[] = {
		{ { "BYTES", true, false, 0 }, "bytes", PAINT_PLAIN, page_unit, NULL },
		{ { "KIND", false, false, 1 }, "mime", PAINT_DIM, NULL, NULL },
		{ { "PATH", false, true, 0 }, "path", PAINT_PLAIN, NULL, NULL },
	};
	const struct value *artifacts = value_get(record, "artifacts");

	if (!value_at(artifacts, 0))
		return;
	output_heading(&cli->out, "artifacts");
	page_table(cli, columns, COUNT_OF(columns), artifacts, 2);
}

static int64_t display_bytes(const struct value *item, const char *type)
{
	const struct value *bytes = value_get(value_get(item, "bytes"), type);
	const struct value *content = value_get(value_get(item, "data"), type);

	if (bytes)
		return value_as_int(bytes, 0);
	return page_is_bytes(content) ? (int64_t)content->text.len : 0; /* of a result */
}

static void add_display_rows(
	struct cli *cli, struct value *rows, const struct value *item, size_t number)
{
	struct arena *arena = &cli->arena;
	const struct value *types = value_get(item, "bytes");

	if (!types)
		types = value_get(item, "data");
	for (size_t i = 0; value_is(types, VALUE_MAP) && i < types->map.count; i++) {
		const char *type = types->map.entries[i].key;
		struct fill row = fill_start(arena);
		bool is_main = value_as_bool(value_get(item, "main"), false);

		fill_uint(&row, "number", number);
		fill_text(&row, "main", is_main ? "main" : "");
		fill_int(&row, "bytes", display_bytes(item, type));
		fill_text(&row, "type", type);
		(void)value_list_add(arena, rows, fill_done(&row));
	}
}

/* Only names and sizes: what a program displays may be meant for a browser, not for a terminal. */
static void show_display(struct cli *cli, const struct value *record)
{
	static const struct page_column columns[] = {
		{ { "N", true, false, 0 }, "number", PAINT_PLAIN, NULL, NULL },
		{ { "", false, false, 1 }, "main", PAINT_DIM, NULL, NULL },
		{ { "BYTES", true, false, 0 }, "bytes", PAINT_PLAIN, page_unit, NULL },
		{ { "TYPE", false, true, 0 }, "type", PAINT_PLAIN, NULL, NULL },
	};
	const struct value *display = value_get(record, "display");
	struct value *rows = value_list(&cli->arena);

	if (!value_at(display, 0))
		return;
	for (size_t i = 0; value_at(display, i); i++)
		add_display_rows(cli, rows, value_at(display, i), i + 1);
	output_heading(&cli->out, "display");
	page_table(cli, columns, COUNT_OF(columns), rows, 2);
	if (value_get(record, "display_broken"))
		say(&cli->out, PAINT_DIM, "  what followed could not be read\n");
	say(&cli->out, PAINT_DIM, "  more: %s --display 1\n",
		cli_more(cli, "output", page_text(cli, record, "run_id")));
}

/* ---- the timeline -------------------------------------------------------------------------- */

/* A step took the time since the one before it. */
static void show_step(
	struct cli *cli, const struct value *step, int64_t before_us, int64_t total_us)
{
	int64_t at_us = page_int(step, "t_us");
	bool ok = value_as_bool(value_get(step, "ok"), true);
	const char *note = page_text(cli, step, "note");

	say(&cli->out, PAINT_PLAIN, "  %9s  ", page_unit(cli, step, "t_us"));
	say(&cli->out, PAINT_DIM, "%-9s ", page_text(cli, step, "phase"));
	say(&cli->out, ok ? PAINT_PLAIN : PAINT_RED, "%s %-18s ",
		output_mark(&cli->out, ok ? MARK_DOT : MARK_BAD), page_text(cli, step, "step"));
	page_span(cli, ok ? PAINT_CYAN : PAINT_RED,
		&(struct page_span){ before_us, at_us, total_us, bar_columns(cli, TRACE_COLUMNS),
			note[0] != 0 });
	if (note[0])
		say(&cli->out, PAINT_DIM, " %s", note);
	say(&cli->out, PAINT_PLAIN, "\n");
}

void record_show_trace(struct cli *cli, const struct value *record)
{
	const struct value *trace = value_get(record, "trace");
	int64_t total_us = page_int(value_get(record, "metrics"), "total_us");
	int64_t before_us = 0;

	if (!value_at(trace, 0)) {
		say(&cli->out, PAINT_DIM, "  %s\n",
			value_get(record, "pruned") ? "its timeline has left the store"
			: page_text(cli, record, "outcome")[0]
				? "no timeline was recorded"
				: "it has not ended: its timeline comes with its end");
		return;
	}
	for (size_t i = 0; value_at(trace, i); i++) {
		const struct value *step = value_at(trace, i);

		if (total_us <= 0)
			total_us = page_int(value_at(trace, trace->list.count - 1), "t_us");
		show_step(cli, step, before_us, total_us);
		before_us = page_int(step, "t_us");
	}
}

void record_show(struct cli *cli, const struct value *record, bool full)
{
	record_show_head(cli, record);
	say(&cli->out, PAINT_PLAIN, "\n");
	show_facts(cli, record);
	record_show_packages(cli, record);
	show_policy(cli, record);
	show_evidence(cli, record);
	show_refused(cli, record);
	show_calls(cli, record);
	record_show_connections(cli, record);
	show_opened(cli, record);
	show_output_errors(cli, record);
	show_limits(cli, record);
	show_times(cli, record);
	record_show_code(cli, record, full);
	show_streams(cli, record, full);
	show_display(cli, record);
	show_artifacts(cli, record);
}
