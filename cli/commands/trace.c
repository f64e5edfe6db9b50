/* cectl trace: the timeline of a run, its calls of tools, its connections and its place in a session. */
#include <string.h>

#include "cli/base/exits.h"
#include "cli/commands/commands.h"
#include "cli/commands/record.h"
#include "cli/session/page.h"
#include "proto/base/container.h"

#define ARGS_SHOWN 120 /* bytes of arguments; `cectl show` has more of them */

/* ---- calls of tools ------------------------------------------------------------------------- */

/* "denied by tools.deny drop", "approved by uid 4002", "allowed" */
static const char *verdict_of(struct cli *cli, const struct value *call)
{
	const struct value *approval = value_get(call, "approval");
	const char *verdict = page_text(cli, call, "verdict");
	const char *by = page_text(cli, approval, "by");

	if (!verdict[0])
		return "unknown"; /* the daemon ended meanwhile */
	if (value_is(approval, VALUE_MAP))
		return arena_printf(&cli->arena, "%s%s%s", page_text(cli, approval, "decision"),
			by[0] ? " by uid " : "", by);
	if (strcmp(verdict, "denied") == 0)
		return arena_printf(&cli->arena, "denied by %s", page_text(cli, call, "rule"));
	return verdict;
}

static const char *outcome_of(struct cli *cli, const struct value *call)
{
	const char *code = page_text(cli, call, "code");

	return code[0] ? code : value_get(call, "took_us") ? "ok" : "lost";
}

static enum paint paint_outcome(const char *text)
{
	return strcmp(text, "ok") == 0 ? PAINT_GREEN : PAINT_RED;
}

static struct value *short_args(struct cli *cli, const struct value *call)
{
	const char *text = output_text(&cli->arena, value_get(call, "args"));
	size_t len = text ? strlen(text) : 0;

	if (len <= ARGS_SHOWN)
		return value_text(&cli->arena, text ? text : "");
	while (len > ARGS_SHOWN || ((unsigned char)text[len] & 0xc0U) == 0x80)
		len--;
	return value_text(&cli->arena, arena_printf(&cli->arena, "%.*s...", (int)len, text));
}

/* What the table shows of a call; `t_us` as in the timeline. */
static struct value *row_of(struct cli *cli, const struct value *call, int64_t received_us)
{
	struct arena *arena = &cli->arena;
	struct value *row = value_map(arena);
	int64_t began_us = page_int(call, "began_us");

	value_map_put(arena, row, "t_us",
		value_int(arena, began_us > received_us ? began_us - received_us : 0));
	value_map_put(arena, row, "call", value_get(call, "call"));
	value_map_put(arena, row, "tool", value_get(call, "tool"));
	value_map_put(arena, row, "verdict", value_text(arena, verdict_of(cli, call)));
	value_map_put(arena, row, "outcome", value_text(arena, outcome_of(cli, call)));
	value_map_put(arena, row, "took_us", value_get(call, "took_us"));
	value_map_put(arena, row, "args", short_args(cli, call));
	return row;
}

static void show_calls(struct cli *cli, const struct value *record)
{
	// clang-format off
	static const struct page_column columns[] = {
		{ { "AFTER",     true,  false, 0 }, "t_us",    PAINT_PLAIN, page_unit, NULL },
		{ { "CALL",      true,  false, 0 }, "call",    PAINT_DIM,   NULL, NULL },
		{ { "TOOL",      false, false, 0 }, "tool",    PAINT_BOLD,  NULL, NULL },
		{ { "VERDICT",   false, true,  0 }, "verdict", PAINT_PLAIN, NULL, NULL },
		{ { "OUTCOME",   false, false, 0 }, "outcome", PAINT_PLAIN, NULL, paint_outcome },
		{ { "TOOK",      true,  false, 1 }, "took_us", PAINT_PLAIN, page_unit, NULL },
		{ { "ARGUMENTS", false, true,  0 }, "args",    PAINT_DIM,   NULL, NULL },
	};
	// clang-format on
	const struct value *calls = value_get(record, "tool_calls");
	struct value *rows = value_list(&cli->arena);

	if (!value_at(calls, 0))
		return;
	for (size_t i = 0; value_at(calls, i); i++)
		value_list_add(&cli->arena, rows,
			row_of(cli, value_at(calls, i), page_int(record, "received_us")));
	output_heading(&cli->out, "calls of tools");
	page_table(cli, columns, COUNT_OF(columns), rows, 2);
}

/* ---- the place in its session --------------------------------------------------------------- */

static void show_session(struct cli *cli, const struct value *record)
{
	const struct value *session = value_get(record, "session");
	const char *id = page_text(cli, session, "id");
	const char *back = page_text(cli, session, "went_back");
	const char *state = page_text(cli, session, "state");

	if (!value_is(session, VALUE_MAP))
		return;
	output_heading(&cli->out, "session");
	say(&cli->out, PAINT_PLAIN, "  %s\n", id);
	say(&cli->out, PAINT_PLAIN, "  state %s\n", page_text(cli, session, "from"));
	say(&cli->out, PAINT_PLAIN, "    cell %s: ", page_text(cli, session, "cell"));
	if (back[0])
		say(&cli->out, PAINT_YELLOW, "undone, the session went back to state %s\n", back);
	else if (state[0])
		say(&cli->out, PAINT_GREEN, "state %s\n", state);
	else
		say(&cli->out, PAINT_RED, "the session ended: %s\n",
			page_text(cli, session, "why"));
	say(&cli->out, PAINT_DIM, "  all of its cells: %s\n", cli_more(cli, "session show", id));
}

/* ---- the command ---------------------------------------------------------------------------- */

/* The record's own words, without the rest. */
static int trace_document(struct cli *cli, const struct value *record)
{
	static const char *const keys[] = { "run_id", "outcome", "received_us", "metrics", "trace",
		"calls", "tool_calls", "connections", "connections_others",
		"connections_others_bytes", "connections_lost", "runtime", "session" };
	struct value *map = value_map(&cli->arena);

	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		struct value *value = value_get(record, keys[i]);

		if (value)
			(void)value_map_put(&cli->arena, map, keys[i], value);
	}
	return cli_document(cli, map, EXIT_OK);
}

static int trace_run(struct cli *cli)
{
	const struct value *record = NULL;
	int status = record_get(cli, cli_operand(cli, 0), &record);

	if (status != 0)
		return status;
	if (cli->json)
		return trace_document(cli, record);
	record_show_head(cli, record);
	say(&cli->out, PAINT_PLAIN, "\n");
	record_show_trace(cli, record);
	show_calls(cli, record);
	record_show_connections(cli, record);
	record_show_packages(cli, record);
	show_session(cli, record);
	return EXIT_OK;
}

// clang-format off
const struct command trace_command = {
	.name = "trace",
	.operands = "RUN",
	.summary = "the timeline of a run, step by step",
	.about =
		"Shows each step of a run with the time since its request was whole, and a bar for "
		"how long it took. Below are its calls of tools (when, verdict and who gave it, how "
		"it ended, arguments), its connections, its package sets, and its place in a session.",
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl trace last", "what happened when, in the newest run" },
		{ "cectl trace last --json | jq '.trace[] | select(.ok == false)'",
			"only what went wrong" },
		{ "cectl trace last --json | jq '.tool_calls[] | select(.code)'",
			"only calls that failed" }),
	.reads_copy = true,
	.run = trace_run,
};
// clang-format on
