/* cectl replay: runs a recorded program again and reports the differences. */
#include "cli/commands/replay.h"

#include <inttypes.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/option_values.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/record.h"
#include "cli/commands/results.h"
#include "cli/session/page.h"
#include "proto/base/container.h"
#include "proto/base/nearest.h"

#define TIMES_MAX   500
#define PRINTS_MAX  TIMES_MAX
#define PRINT_SHOWN 15 /* of a digest: "sha256:" and eight digits */

// clang-format off
static const struct page_column columns[] = {
	{ { "WHAT",     false, false, 0 }, "what",     PAINT_BOLD,  NULL, NULL },
	{ { "LINE",     true,  false, 2 }, "line",     PAINT_PLAIN, NULL, NULL },
	{ { "RECORDED", false, true,  0 }, "recorded", PAINT_PLAIN, NULL, NULL },
	{ { "REPLAYED", false, true,  0 }, "replayed", PAINT_PLAIN, NULL, NULL },
};
// clang-format on

/* All replays of one call. */
struct series {
	struct cli *cli;
	const struct value *replays; /* the answers */
	int64_t count, same;
	const char *prints[PRINTS_MAX]; /* fingerprints that are not alike */
	int64_t print_counts[PRINTS_MAX];
	size_t print_count;
};

static void count_print(struct series *series, const char *print)
{
	for (size_t i = 0; i < series->print_count; i++) {
		if (strcmp(series->prints[i], print) == 0) {
			series->print_counts[i]++;
			return;
		}
	}
	series->prints[series->print_count] = print;
	series->print_counts[series->print_count++] = 1;
}

/* ---- tools ---------------------------------------------------------------------------------- */

/* The names of tools that the records have, each once. */
static struct value *offered_tools(
	struct cli *cli, const struct value *const *records, size_t count)
{
	struct value *names = value_map(&cli->arena);

	for (size_t i = 0; i < count; i++) {
		const struct value *tools = value_get(value_get(records[i], "request"), "tools");

		for (size_t k = 0; value_at(tools, k); k++) {
			const char *name = page_text(cli, value_at(tools, k), "name");

			if (!value_get(names, name))
				(void)value_map_put(
					&cli->arena, names, name, value_bool(&cli->arena, true));
		}
	}
	return names;
}

static int refuse_tool(struct cli *cli, const char *name, const struct value *offered)
{
	struct nearest nearest = NEAREST_OF(name);
	const char *names = "";

	for (size_t i = 0; i < offered->map.count && names; i++) {
		nearest_offer(&nearest, offered->map.entries[i].key);
		names = arena_printf(
			&cli->arena, "%s%s%s", names, i ? ", " : "", offered->map.entries[i].key);
	}
	return cli_usage(cli, "--tool: what was recorded has no tool \"%s\"%s; it has: %s", name,
		nearest_hint(&nearest), names && *names ? names : "none");
}

int replay_check_tools(struct cli *cli, const struct value *const *records, size_t count)
{
	const struct words *tools = cli_words(cli, "tool");
	const struct value *offered = offered_tools(cli, records, count);

	for (size_t i = 0; i < count; i++)
		if (value_is(value_get(records[i], "pruned"), VALUE_MAP))
			return 0;
	for (size_t i = 0; i < tools->count; i++) {
		const char *word = tools->items[i];
		size_t len = strcspn(word, "=");

		if (!len || !word[len] || !word[len + 1])
			return cli_usage(cli, "--tool %s: it is written as NAME=COMMAND", word);
		if (!value_get_len(offered, word, len))
			return refuse_tool(cli, arena_copy(&cli->arena, word, len), offered);
	}
	return 0;
}

/* ---- asking --------------------------------------------------------------------------------- */

int replay_ask(struct cli *cli, struct value *params, const struct value **ret_answer)
{
	struct live live;

	live_init(&live, cli, false);
	live.answers = true;
	live_cancels(&live, params);
	if (cli_words(cli, "tool")->count && !value_get(params, "calls"))
		value_map_put(&cli->arena, params, "calls", value_text(&cli->arena, "client"));
	return live_ask(&live, "runs.replay", params, ret_answer);
}

static int replay_once(
	struct cli *cli, struct value *params, struct series *series, struct value *replays)
{
	const struct value *answer = NULL;
	int status = replay_ask(cli, params, &answer);

	if (status != 0)
		return status;
	if (value_list_add(&cli->arena, replays, (struct value *)(uintptr_t)answer) < 0)
		return cli_no_memory(cli);
	series->count++;
	series->same += value_as_bool(value_get(answer, "same"), false);
	count_print(series, page_text(cli, answer, "fingerprint"));
	return 0;
}

/* ---- for people ----------------------------------------------------------------------------- */

void replay_show_sides(struct cli *cli, const struct value *list)
{
	page_table(cli, columns, COUNT_OF(columns), list, 2);
}

static void show_circumstances(struct cli *cli, const struct value *answer)
{
	const struct value *list = value_get(answer, "circumstances");

	output_heading(&cli->out, "circumstances");
	if (value_at(list, 0))
		replay_show_sides(cli, list);
	else
		say(&cli->out, PAINT_DIM,
			"  as they were: runtime, kernel, ced, policy and limits\n");
}

/* The record does not hold the whole request then. */
static void show_masks(struct cli *cli, const struct value *answer)
{
	const char *masks = page_text(cli, answer, "masks");

	if (masks[0])
		say(&cli->out, PAINT_YELLOW,
			"%s secrets in the record are masked (%s): it did not get what it got then\n",
			output_mark(&cli->out, MARK_DOT), masks);
}

/* Calls of tools that were answered without anybody being asked. */
static void show_calls(struct cli *cli, const struct value *answer)
{
	const struct value *calls = value_get(value_get(answer, "result"), "calls");

	if (value_get(calls, "recorded"))
		say(&cli->out, PAINT_DIM,
			"  %s of %s calls of tools were answered from the record; no tool was asked\n",
			page_text(cli, calls, "recorded"), page_text(cli, calls, "count"));
}

static void show_one(struct cli *cli, const struct value *answer)
{
	bool same = value_as_bool(value_get(answer, "same"), false);
	const struct value *result = value_get(answer, "result");

	say(&cli->out, same ? PAINT_GREEN : PAINT_RED, "%s %s",
		output_mark(&cli->out, same ? MARK_GOOD : MARK_BAD), same ? "same" : "differs");
	say(&cli->out, PAINT_PLAIN, "  %s, as run %s of what %s was\n",
		page_text(cli, result, "outcome"), page_text(cli, result, "run_id"),
		page_text(cli, answer, "replay_of"));
	show_calls(cli, answer);
	if (same)
		return;
	output_heading(&cli->out, "differences");
	replay_show_sides(cli, value_get(answer, "differs"));
}

/* A row for each way in which it came out. */
static void show_ways(struct series *series, const char *recorded)
{
	const struct output *out = &series->cli->out;

	for (size_t i = 0; i < series->print_count; i++) {
		bool is_recorded = strcmp(series->prints[i], recorded) == 0;

		say(out, PAINT_PLAIN, "  %4" PRId64 "  %.*s  ", series->print_counts[i],
			PRINT_SHOWN, series->prints[i]);
		say(out, is_recorded ? PAINT_GREEN : PAINT_RED, "%s\n",
			is_recorded ? "as recorded" : "differs");
	}
}

static const struct value *first_other(const struct series *series)
{
	for (size_t i = 0; value_at(series->replays, i); i++) {
		const struct value *answer = value_at(series->replays, i);

		if (!value_as_bool(value_get(answer, "same"), false))
			return answer;
	}
	return NULL;
}

static void show_series(struct series *series)
{
	struct cli *cli = series->cli;
	const struct value *other = first_other(series);
	bool steady = series->print_count == 1;

	say(&cli->out, other ? PAINT_RED : PAINT_GREEN,
		"%s %" PRId64 " of %" PRId64 " are the same",
		output_mark(&cli->out, other ? MARK_BAD : MARK_GOOD), series->same, series->count);
	say(&cli->out, PAINT_PLAIN, "  %s\n",
		steady ? "it came out alike each time"
		       : "it comes out differently from time to time");
	show_ways(series, page_text(cli, value_at(series->replays, 0), "recorded_fingerprint"));
	if (!other)
		return;
	output_heading(&cli->out, "differences of the first that differs");
	replay_show_sides(cli, value_get(other, "differs"));
}

/* ---- the command ---------------------------------------------------------------------------- */

static struct value *series_document(struct series *series)
{
	struct arena *arena = &series->cli->arena;
	struct value *map = value_map(arena);

	value_map_put(arena, map, "times", value_int(arena, series->count));
	value_map_put(arena, map, "same", value_int(arena, series->same));
	value_map_put(arena, map, "ways", value_uint(arena, series->print_count));
	value_map_put(arena, map, "replays", (struct value *)(uintptr_t)series->replays);
	return map;
}

static int finish(struct series *series, bool has_times)
{
	struct cli *cli = series->cli;
	int status = series->same == series->count ? EXIT_OK : EXIT_FAILED;
	const struct value *first = value_at(series->replays, 0);

	if (cli->json)
		return cli_document(cli, has_times ? series_document(series) : first, status);
	if (has_times)
		show_series(series);
	else
		show_one(cli, first);
	show_masks(cli, first);
	show_circumstances(cli, first);
	return status;
}

static int replay_run(struct cli *cli)
{
	const char *given = cli_text(cli, "times");
	struct value *params = value_map(&cli->arena);
	struct value *replays = value_list(&cli->arena);
	struct series series = { .cli = cli, .replays = replays };
	const struct value *record = NULL;
	struct err err = ERR_INIT;
	uint64_t times = 1;
	int status;

	if (given && (units_parse_count(given, &times, &err) < 0 || times < 1 || times > TIMES_MAX))
		return cli_usage(cli, "--times: a number from 1 to %d", TIMES_MAX);
	status = cli_put_options(cli, params);
	if (status == 0) /* `last` is another run after the first replay */
		status = record_get(cli, cli_operand(cli, 0), &record);
	if (status == 0)
		status = replay_check_tools(cli, &record, 1);
	if (status != 0)
		return status;
	value_map_put(&cli->arena, params, "run_id",
		value_text(&cli->arena, value_as_text(value_get(record, "run_id"))));
	for (uint64_t i = 0; status == 0 && i < times; i++)
		status = replay_once(cli, params, &series, replays);
	return status == 0 ? finish(&series, given != NULL) : status;
}

static int print_more(struct buf *out)
{
	return buf_append_text(out,
		"\nExit status:\n"
		"  0        it came out as it was recorded, each time\n"
		"  1        it did not, or there is no such run, or the record cannot be run again\n"
		"  2        a wrong command line\n"
		"  125      no daemon, or a fault of the sandbox\n");
}

// clang-format off
const struct command replay_command = {
	.name = "replay",
	.operands = "RUN",
	.summary = "run a recorded program again and compare",
	.about = "Runs the recorded program with the recorded input, files, arguments, "
		 "environment, limits and policy, as a new run of yours. It is checked, limited "
		 "and recorded like any other, with `replay_of`. Reports the differences between "
		 "both results, and what has changed since in runtime, kernel, ced, policy and "
		 "limits.\n\n"
		 "RUN is a run's id, any unique beginning of it, `last`, or `last~N`.",
	.options = OPTIONS(
		{ 0, "times", "N", OPTION_TEXT, NULL, NULL,
			"so often, one after the other, to find what differs from time to time; at most 500" },
		{ 0, "deterministic", NULL, OPTION_FLAG, "deterministic", NULL,
			"with a fixed start of the clock and fixed seeds" },
		{ 0, "secret", "NAME", OPTION_LIST, "secrets", option_secret,
			"what this variable of cectl's own environment holds is masked again; a run that came with "
			"secrets wants as many" },
		{ 0, "tool", "NAME=COMMAND", OPTION_LIST, NULL, NULL,
			"the program asks tools again, and this one is answered by the command, as with `cectl run`; "
			"without it, calls get the answers that the record has" }),
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl replay last", "does it come out the same?" },
		{ "cectl replay 01M7YDZBQ7 --times 20", "is it deterministic?" },
		{ "cectl replay last --json | jq .circumstances", "what has changed since" }),
	.print_more = print_more,
	.run = replay_run,
};
// clang-format on
