#include <inttypes.h>
#include <string.h>

#include "cli/page.h"
#include "cli/record.h"
#include "cli/table.h"
#include "cli/units.h"
#include "proto/base/container.h"
#include "proto/job/job.h"

#define BAR_LEAST     8
#define BAR_MOST      60
#define TIMES_COLUMNS 24 /* before the bars of phases */
#define TRACE_COLUMNS 60 /* beside those of steps */
#define STREAM_LINES  16

/* ---- verdicts ------------------------------------------------------------------------------ */

void record_show_policy(struct cli *cli, const struct value *record)
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

void record_show_evidence(struct cli *cli, const struct value *record)
{
	const struct value *evidence = value_get(record, "evidence");

	if (!value_is(evidence, VALUE_MAP) || evidence->map.count == 0)
		return;
	output_heading(&cli->out, "evidence");
	page_evidence(cli, evidence);
}

/* "tried to open an internet socket 3 times, first after 12 ms" */
void record_show_refused(struct cli *cli, const struct value *record)
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

/* "/work/out.txt  created, written" */
void record_show_files(struct cli *cli, const struct value *record)
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

void record_show_output_errors(struct cli *cli, const struct value *record)
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

static const char *const limit_names[] = {
#define LIMIT_NAME(name, meaning) #name,
	JOB_LIMITS(LIMIT_NAME)
#undef LIMIT_NAME
};

/* What was used of a limit, where the metrics say so. */
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

void record_show_limits(struct cli *cli, const struct value *record)
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
	for (size_t i = 0; i < COUNT_OF(limit_names); i++) {
		const char *name = limit_names[i];

		if (!value_get(limits, name))
			continue;
		const struct table_cell cells[] = {
			{ page_name(cli, name), PAINT_PLAIN },
			{ used(cli, record, name), PAINT_PLAIN },
			{ page_number(cli, name, value_get(limits, name)), PAINT_PLAIN },
			{ page_text(cli, enforced_by, name), PAINT_DIM },
		};

		table_add(&table, cells);
	}
	table_print(&table, &cli->out, 2);
}

/* What is left of a line that others have begun, within what reads well. */
static size_t bar_columns(const struct cli *cli, size_t taken)
{
	size_t width = output_text_width(&cli->out);

	if (width < taken + BAR_LEAST)
		return BAR_LEAST;
	return width - taken < BAR_MOST ? width - taken : BAR_MOST;
}

/* One after the other, as they were. */
void record_show_times(struct cli *cli, const struct value *record)
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
	const struct page_marks marks = {
		.findings = value_get(value_get(record, "policy"), "findings"),
		.error_line = page_int(value_get(record, "error"), "line"),
	};
	const struct value *code = value_get(value_get(record, "request"), "code");

	if (!page_is_bytes(code))
		return;
	output_heading(&cli->out, "code");
	page_code(cli, code, &marks, full);
}

static void show_stream(struct cli *cli, const struct value *record, const char *name, bool full)
{
	const struct value *head = value_get(record, name);
	const char *total_key = arena_printf(&cli->arena, "%s_bytes", name);
	const struct value *total = total_key ? value_get(record, total_key) : NULL;
	const char *title = arena_printf(
		&cli->arena, "%s, %s", name, total ? page_number(cli, total_key, total) : "");
	size_t left_out;

	if (!page_is_bytes(head) || value_get(record, "pruned"))
		return; /* what has left the store is not there to be asked for */
	if (head->text.len == 0 && value_as_int(total, 0) == 0)
		return;
	output_heading(&cli->out, title ? title : name);
	left_out = page_block(cli, head, full ? SIZE_MAX : STREAM_LINES);
	if (left_out > 0 || (size_t)value_as_int(total, 0) > head->text.len)
		say(&cli->out, PAINT_DIM, "  ... more: %s --stream %s\n",
			cli_more(cli, "output", page_text(cli, record, "run_id")), name);
}

void record_show_streams(struct cli *cli, const struct value *record, bool full)
{
	show_stream(cli, record, "stdout", full);
	show_stream(cli, record, "stderr", full);
}

void record_show_artifacts(struct cli *cli, const struct value *record)
{
	static const struct table_column columns[] = {
		{ "BYTES", true, false, 0 },
		{ "KIND", false, false, 1 },
		{ "PATH", false, true, 0 },
	};
	const struct value *artifacts = value_get(record, "artifacts");
	struct table table;

	if (!value_at(artifacts, 0))
		return;
	output_heading(&cli->out, "artifacts");
	table_init(&table, &cli->arena, columns, COUNT_OF(columns));
	for (size_t i = 0; value_at(artifacts, i); i++) {
		const struct value *artifact = value_at(artifacts, i);

		const struct table_cell cells[] = {
			{ page_number(cli, "bytes", value_get(artifact, "bytes")), PAINT_PLAIN },
			{ page_text(cli, artifact, "mime"), PAINT_DIM },
			{ page_text(cli, artifact, "path"), PAINT_PLAIN },
		};

		table_add(&table, cells);
	}
	table_print(&table, &cli->out, 2);
}

/* ---- the timeline -------------------------------------------------------------------------- */

static const char *us_text(struct cli *cli, int64_t us)
{
	char text[UNITS_TEXT_MAX];

	units_print_us(text, us);
	return output_safe(&cli->arena, text);
}

/* A step took the time since the one before it. */
static void show_step(
	struct cli *cli, const struct value *step, int64_t before_us, int64_t total_us)
{
	int64_t at_us = page_int(step, "t_us");
	bool ok = value_as_bool(value_get(step, "ok"), true);
	const char *note = page_text(cli, step, "note");

	say(&cli->out, PAINT_PLAIN, "  %9s  ", us_text(cli, at_us));
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
