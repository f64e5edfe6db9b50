/*
 * cectl session replay: runs the recorded cells of a session again, in a new one.
 *
 * Only the cells on the path to one state run: those that were undone, and those of other branches,
 * are left out.  Each is a `runs.replay` into the new session.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/units.h"
#include "cli/commands/record.h"
#include "cli/commands/replay.h"
#include "cli/commands/results.h"
#include "cli/commands/session.h"
#include "cli/session/page.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/fill.h"

#define PAGE_CELLS 1000 /* as many as one answer of runs.list has */
#define CELLS_MAX  10000

struct cell {
	uint64_t number;
	const char *run_id;
};

struct again {
	struct cli *cli;
	const char *session; /* the recorded one */
	const char *fresh;   /* where its cells run again, or NULL */
	uint64_t state;
	struct cell *cells; /* all that are recorded */
	size_t count;
	const struct value **path; /* records of the cells to run, the last one first */
	size_t path_count;
	struct value *answers;
	size_t same;
};

/* ---- what is recorded ----------------------------------------------------------------------- */

/* Cells that never began have no number. */
static void note_cells(struct again *again, const struct value *runs)
{
	for (size_t i = 0; value_at(runs, i) && again->count < CELLS_MAX; i++) {
		const struct value *run = value_at(runs, i);
		const uint64_t number = (uint64_t)page_int(run, "cell");
		const char *run_id = value_as_text(value_get(run, "run_id"));

		if (number && run_id)
			again->cells[again->count++] = (struct cell){ number, run_id };
	}
}

static int list_cells(struct again *again)
{
	struct cli *cli = again->cli;
	const char *before = NULL;
	bool more = true;

	while (more && again->count < CELLS_MAX) {
		struct value *params = session_close_params(cli, again->session);
		const struct value *result = NULL;
		const struct value *runs;
		int status;

		(void)value_map_put(
			&cli->arena, params, "limit", value_uint(&cli->arena, PAGE_CELLS));
		if (before)
			(void)value_map_put(
				&cli->arena, params, "before", value_text(&cli->arena, before));
		status = cli_ask(cli, "runs.list", params, NULL, &result);
		if (status != 0)
			return status;
		runs = value_get(result, "runs");
		note_cells(again, runs);
		more = value_as_bool(value_get(result, "more"), false) && value_at(runs, 0);
		if (more)
			before = value_as_text(
				value_get(value_at(runs, runs->list.count - 1), "run_id"));
	}
	return 0;
}

static const char *run_of(const struct again *again, uint64_t number)
{
	for (size_t i = 0; i < again->count; i++)
		if (again->cells[i].number == number)
			return again->cells[i].run_id;
	return NULL;
}

static uint64_t newest_cell(const struct again *again)
{
	uint64_t newest = 0;

	for (size_t i = 0; i < again->count; i++)
		if (again->cells[i].number > newest)
			newest = again->cells[i].number;
	return newest;
}

static int get_cell(struct again *again, uint64_t number, const struct value **ret_record)
{
	const char *run_id = run_of(again, number);

	if (!run_id)
		return cli_fail_with(again->cli, ERR_MISSING,
			"the record has no cell %" PRIu64
			" of session %s, and later ones build on it",
			number, again->session);
	return record_get(again->cli, run_id, ret_record);
}

/* Where an open session stands; of one that is over, where its last cell left it. */
static int find_end(struct again *again)
{
	const struct value *open = NULL;
	const struct value *record = NULL;
	const struct value *session;
	int status = session_find(again->cli, again->session, &open);

	if (status == 0 && open) {
		again->state = (uint64_t)page_int(open, "state");
		return 0;
	}
	if (status == 0)
		status = get_cell(again, newest_cell(again), &record);
	if (status != 0)
		return status;
	session = value_get(record, "session");
	again->state = (uint64_t)page_int(
		session, value_is(value_get(session, "state"), VALUE_NIL) ? "from" : "state");
	return 0;
}

/* From the last cell of the path to the first. */
static int find_path(struct again *again)
{
	uint64_t at = again->state;

	while (at) {
		const struct value *record = NULL;
		const struct value *session;
		int status = get_cell(again, at, &record);

		if (status != 0)
			return status;
		session = value_get(record, "session");
		if ((uint64_t)page_int(session, "state") != at ||
			(uint64_t)page_int(session, "from") >= at)
			return cli_fail_with(again->cli, ERR_MISSING,
				"cell %" PRIu64
				" of session %s made no state: cectl session show has its states",
				at, again->session);
		again->path[again->path_count++] = record;
		at = (uint64_t)page_int(session, "from");
	}
	return 0;
}

/* ---- the new session ------------------------------------------------------------------------ */

/* What the first cell got from its session, unless an option says otherwise. */
static void add_recorded(
	struct cli *cli, struct value *params, const struct value *request, const char *key)
{
	const struct value *value = value_get(request, key);

	if (value && !value_is(value, VALUE_NIL) && !value_get(params, key))
		(void)value_map_put(&cli->arena, params, key, (struct value *)(uintptr_t)value);
}

static struct value *limits_of(struct cli *cli, const struct value *request)
{
	static const char *const of_session[] = { "memory_bytes", "disk_bytes", "inodes", "pids",
		"open_files", "file_bytes", "cpu_percent" };
	struct value *limits = value_map(&cli->arena);

	for (size_t i = 0; i < COUNT_OF(of_session); i++)
		add_recorded(cli, limits, value_get(request, "limits"), of_session[i]);
	return limits;
}

static int open_fresh(struct again *again)
{
	static const char *const of_session[] = { "language", "policy", "env", "packages",
		"network", "agent", "task", "labels" };
	struct cli *cli = again->cli;
	const struct value *request = value_get(again->path[again->path_count - 1], "request");
	struct value *params = value_map(&cli->arena);
	const struct value *result = NULL;
	int status = cli_put_options(cli, params);

	if (status != 0)
		return status;
	for (size_t i = 0; i < COUNT_OF(of_session); i++)
		add_recorded(cli, params, request, of_session[i]);
	(void)value_map_put(&cli->arena, params, "limits", limits_of(cli, request));
	status = cli_ask(cli, "session.open", params, NULL, &result);
	if (status == 0)
		again->fresh = value_as_text(value_get(result, "session"));
	return status;
}

static bool is_over(const struct value *answer)
{
	return value_is(
		value_get(value_get(value_get(answer, "result"), "session"), "state"), VALUE_NIL);
}

/* "stdout, error" */
static const char *differing(struct cli *cli, const struct value *answer)
{
	const struct value *list = value_get(answer, "differs");
	const char *text = "";

	for (size_t i = 0; value_at(list, i) && text; i++)
		text = arena_printf(&cli->arena, "%s%s%s", text, i ? ", " : "",
			page_text(cli, value_at(list, i), "what"));
	return text ? text : "";
}

/* One line for each cell, when it is over. */
static void show_cell(struct again *again, const struct value *record, const struct value *answer)
{
	const struct output *out = &again->cli->out;
	const bool same = value_as_bool(value_get(answer, "same"), false);

	if (again->cli->json)
		return;
	say(out, same ? PAINT_GREEN : PAINT_RED, "%s %s",
		output_mark(out, same ? MARK_GOOD : MARK_BAD), same ? "same   " : "differs");
	say(out, PAINT_PLAIN, "  cell %" PRId64 "  %s",
		page_int(value_get(record, "session"), "cell"),
		page_text(again->cli, value_get(answer, "result"), "outcome"));
	say(out, PAINT_PLAIN, same ? "\n" : "  %s\n", differing(again->cli, answer));
	if (!same)
		replay_show_sides(again->cli, value_get(answer, "differs"));
}

static int run_cell(
	struct again *again, const struct value *record, const struct value **ret_answer)
{
	struct cli *cli = again->cli;
	struct value *params = session_close_params(cli, again->fresh);
	const char *run_id = value_as_text(value_get(record, "run_id"));
	int status;

	(void)value_map_put(&cli->arena, params, "run_id", value_text(&cli->arena, run_id));
	status = replay_ask(cli, params, ret_answer);
	if (status != 0)
		return status;
	if (value_list_add(&cli->arena, again->answers, (struct value *)(uintptr_t)*ret_answer) < 0)
		return cli_no_memory(cli);
	again->same += value_as_bool(value_get(*ret_answer, "same"), false);
	show_cell(again, record, *ret_answer);
	return 0;
}

static int run_path(struct again *again)
{
	const struct value *answer = NULL;
	int status = 0;

	for (size_t left = again->path_count; left > 0 && status == 0; left--) {
		if (answer && is_over(answer))
			return 0; /* the rest has nothing to build on */
		status = run_cell(again, again->path[left - 1], &answer);
	}
	return status;
}

/* ---- the answer ----------------------------------------------------------------------------- */

static int finish(struct again *again, bool is_left_open)
{
	struct cli *cli = again->cli;
	struct arena *arena = &cli->arena;
	const size_t ran = again->answers->list.count;
	const bool same = again->same == again->path_count;
	const int status = same ? EXIT_OK : EXIT_FAILED;
	struct fill fill = fill_start(arena);

	if (cli->json) {
		fill_text(&fill, "replay_of", again->session);
		fill_uint(&fill, "state", again->state);
		fill_text(&fill, "session", again->fresh);
		fill_bool(&fill, "open", is_left_open);
		fill_bool(&fill, "same", same);
		fill_uint(&fill, "cells", again->path_count);
		fill_value(&fill, "replays", again->answers);
		return cli_document(cli, fill_done(&fill), status);
	}
	if (ran < again->path_count)
		say(&cli->out, PAINT_RED,
			"the new session ended with that cell: %zu more were not run\n",
			again->path_count - ran);
	say(&cli->out, PAINT_BOLD, "%zu of %zu cells came out the same\n", again->same,
		again->path_count);
	if (is_left_open)
		say(&cli->out, PAINT_PLAIN, "session %s is open, in state %" PRIu64 "\n",
			again->fresh, again->state);
	return status;
}

static int run_again(struct again *again)
{
	struct cli *cli = again->cli;
	const bool is_left_open = cli_flag(cli, "leave-open");
	const struct value *closed = NULL;
	bool is_open;
	int status = open_fresh(again);

	if (status != 0)
		return status;
	status = run_path(again);
	is_open = status == 0 && is_left_open && again->answers->list.count == again->path_count &&
		  !is_over(value_at(again->answers, again->path_count - 1));
	if (!is_open) {
		struct err err = ERR_INIT;

		/* it may have ended with a cell */
		(void)cli_ask_quietly(cli, "session.close", session_close_params(cli, again->fresh),
			NULL, &closed, &err);
	}
	return status == 0 ? finish(again, is_open) : status;
}

static int find_cells(struct again *again, const char *state)
{
	struct err err = ERR_INIT;
	int status = list_cells(again);

	if (status == 0 && !again->count)
		return cli_fail_with(
			again->cli, ERR_MISSING, "no cell of session %s is known", again->session);
	if (status == 0 && state && units_parse_count(state, &again->state, &err) < 0)
		return cli_usage(
			again->cli, "session replay: the state is a number, not \"%s\"", state);
	if (status == 0 && !state)
		status = find_end(again);
	if (status == 0)
		status = find_path(again);
	if (status == 0 && !again->path_count)
		return cli_fail_with(again->cli, ERR_MISSING,
			"session %s has no cell that happened", again->session);
	return status;
}

static int check_options(struct cli *cli)
{
	static const char *const refused[] = { "language", "limit", "timeout", "allow-host" };

	for (size_t i = 0; i < COUNT_OF(refused); i++)
		if (cli_words(cli, refused[i])->count)
			return cli_usage(cli,
				"session replay takes language, limits and network from the "
				"record: leave --%s out",
				refused[i]);
	return 0;
}

int session_replay(struct cli *cli, const char *session, const char *state)
{
	auto_free struct cell *cells = calloc(CELLS_MAX, sizeof(*cells));
	auto_free const struct value **path = calloc(CELLS_MAX, sizeof(*path));
	struct again again = { .cli = cli,
		.session = session,
		.cells = cells,
		.path = path,
		.answers = value_list(&cli->arena) };
	int status = check_options(cli);

	if (status == 0 && (!cells || !path || !again.answers))
		return cli_no_memory(cli);
	if (status == 0)
		status = find_cells(&again, state);
	if (status == 0)
		status = replay_check_tools(cli, again.path, again.path_count);
	return status == 0 ? run_again(&again) : status;
}
