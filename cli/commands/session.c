#include "cli/commands/session.h"

#include <inttypes.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/language.h"
#include "cli/base/option_values.h"
#include "cli/commands/commands.h"
#include "cli/commands/job_options.h"
#include "cli/session/page.h"
#include "proto/base/container.h"

int session_params(struct cli *cli, struct value **ret_params)
{
	struct arena *arena = &cli->arena;
	struct value *params = value_map(arena);
	const char *language = cli_text(cli, "language");
	struct err err = ERR_INIT;
	int status;

	if (language && language_check(language, &err) < 0)
		return cli_usage(cli, "--language: %s", err.text);
	(void)value_map_put(
		arena, params, "language", value_text(arena, language ? language : "python"));
	job_options_network(cli, params);
	status = job_options_limits(cli, params);
	*ret_params = params;
	return status ? status : cli_put_options(cli, params);
}

static int open_one(struct cli *cli)
{
	const struct value *result = NULL;
	struct value *params = NULL;
	int status = session_params(cli, &params);

	if (status == 0)
		status = cli_ask(cli, "session.open", params, NULL, &result);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	say(&cli->out, PAINT_PLAIN, "%s\n", page_text(cli, result, "session"));
	return EXIT_OK;
}

static const char *state_text(struct cli *cli, const struct value *session, const char *key)
{
	(void)cli;
	return value_as_bool(value_get(session, key), false) ? "runs" : "waits";
}

/* "3 5 7": the numbers of the states. */
static const char *kept_text(struct cli *cli, const struct value *session, const char *key)
{
	const struct value *kept = value_get(session, key);
	const char *text = "";

	for (size_t i = 0; value_at(kept, i) && text; i++)
		text = arena_printf(&cli->arena, "%s%s%" PRId64, text, i ? " " : "",
			value_as_int(value_at(kept, i), 0));
	return text && *text ? text : "-";
}

// clang-format off
static const struct page_column columns[] = {
	{ { "SESSION",  false, false, 0 }, "session",      PAINT_PLAIN, NULL,        NULL },
	{ { "OPENED",   false, false, 3 }, "opened_us",    PAINT_PLAIN, page_ago,    NULL },
	{ { "LANGUAGE", false, false, 4 }, "language",     PAINT_PLAIN, NULL,        NULL },
	{ { "STATE",    false, false, 0 }, "busy",         PAINT_PLAIN, state_text,  NULL },
	{ { "CELLS",    true,  false, 0 }, "cells",        PAINT_PLAIN, NULL,        NULL },
	{ { "KEPT",     false, false, 3 }, "kept",         PAINT_PLAIN, kept_text,   NULL },
	{ { "MEMORY",   true,  false, 5 }, "memory_bytes", PAINT_PLAIN, page_unit,   NULL },
	{ { "ENDS",     false, false, 2 }, "expires_us",   PAINT_PLAIN, page_moment, NULL },
	{ { "UID",      true,  false, 6 }, "uid",          PAINT_PLAIN, NULL,        NULL },
	{ { "AGENT",    false, true,  7 }, "agent",        PAINT_PLAIN, NULL,        NULL },
	{ { "TASK",     false, true,  8 }, "task",         PAINT_PLAIN, NULL,        NULL },
};
// clang-format on

static int list_all(struct cli *cli)
{
	const struct value *result = NULL;
	const struct value *sessions;
	int status = cli_ask(cli, "session.list", value_map(&cli->arena), NULL, &result);

	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	sessions = value_get(result, "sessions");
	if (!value_at(sessions, 0))
		say(&cli->err, PAINT_DIM, "cectl: no session is open\n");
	else
		page_table(cli, columns, COUNT_OF(columns), sessions, 0);
	return EXIT_OK;
}

int session_find(struct cli *cli, const char *session, const struct value **ret_row)
{
	const struct value *result = NULL;
	const struct value *sessions;
	int status = cli_ask(cli, "session.list", value_map(&cli->arena), NULL, &result);

	*ret_row = NULL;
	sessions = status == 0 ? value_get(result, "sessions") : NULL;
	for (size_t i = 0; value_at(sessions, i) && !*ret_row; i++)
		if (strcmp(page_text(cli, value_at(sessions, i), "session"), session) == 0)
			*ret_row = value_at(sessions, i);
	return status;
}

bool session_has_kept(const struct value *row, uint64_t state)
{
	const struct value *kept = value_get(row, "kept");

	for (size_t i = 0; value_at(kept, i); i++)
		if (value_as_int(value_at(kept, i), 0) == (int64_t)state)
			return true;
	return false;
}

const char *session_pin(struct cli *cli, const struct value *row, uint64_t state)
{
	const struct value *pinned = value_get(row, "pinned");

	for (size_t i = 0; value_at(pinned, i); i++)
		if (value_as_int(value_get(value_at(pinned, i), "state"), 0) == (int64_t)state)
			return page_text(cli, value_at(pinned, i), "name");
	return NULL;
}

struct value *session_close_params(struct cli *cli, const char *session)
{
	struct value *params = value_map(&cli->arena);

	(void)value_map_put(&cli->arena, params, "session", value_text(&cli->arena, session));
	return params;
}

int session_close(struct cli *cli, const char *session, const struct value **ret_result)
{
	return cli_ask(cli, "session.close", session_close_params(cli, session), NULL, ret_result);
}

static int close_one(struct cli *cli)
{
	const struct value *result = NULL;
	const char *session = cli_operand(cli, 1);
	int status;

	if (!session)
		return cli_usage(cli, "session close: which one? cectl session list shows them");
	status = session_close(cli, session, &result);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	say(&cli->out, PAINT_PLAIN, "closed %s after %s cell%s\n",
		page_text(cli, result, "session"), page_text(cli, result, "cells"),
		page_int(result, "cells") == 1 ? "" : "s");
	return EXIT_OK;
}

static int show_one(struct cli *cli)
{
	const char *session = cli_operand(cli, 1);

	if (!session)
		return cli_usage(cli,
			"session show: which one? cectl session list shows those that are "
			"open, and cectl runs --columns session,when,cell those of the past");
	return session_show(cli, session);
}

/* ---- kept states ---------------------------------------------------------------------------- */

/* The state that the second operand names; 0 or the exit status. */
static int take_state(struct cli *cli, const char *act, struct value **ret_state)
{
	const char *word = cli_operand(cli, 2);
	struct err err = ERR_INIT;

	if (!word)
		return cli_usage(cli,
			"session %s: which session, and which state? cectl session "
			"list shows both",
			act);
	*ret_state = option_count(&cli->arena, word, &err);
	return *ret_state
		       ? 0
		       : cli_usage(cli, "session %s: the state is a number, not \"%s\"", act, word);
}

/* "TEXT 7", or the result as JSON. */
static int show_state(struct cli *cli, const struct value *result, const char *text, int64_t state)
{
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	say(&cli->out, PAINT_PLAIN, "%s %" PRId64 "\n", text, state);
	return EXIT_OK;
}

static int go_back(struct cli *cli)
{
	const struct value *result = NULL;
	struct value *params;
	struct value *state = NULL;
	int status = take_state(cli, "rollback", &state);

	if (status != 0)
		return status;
	params = session_close_params(cli, cli_operand(cli, 1));
	(void)value_map_put(&cli->arena, params, "state", state);
	status = cli_ask(cli, "session.rollback", params, NULL, &result);
	return status ? status : show_state(cli, result, "back in state", value_as_int(state, 0));
}

int session_drop(
	struct cli *cli, const char *session, struct value *state, const struct value **ret_result)
{
	struct value *params = session_close_params(cli, session);

	(void)value_map_put(&cli->arena, params, "state", state);
	return cli_ask(cli, "session.drop", params, NULL, ret_result);
}

static int drop_one(struct cli *cli)
{
	const struct value *result = NULL;
	struct value *state = NULL;
	int status = take_state(cli, "drop", &state);

	if (status == 0)
		status = session_drop(cli, cli_operand(cli, 1), state, &result);
	return status ? status
		      : show_state(cli, result, "no longer kept: state", value_as_int(state, 0));
}

int session_keep(
	struct cli *cli, const char *session, const char *name, const struct value **ret_result)
{
	struct value *params = session_close_params(cli, session);

	if (name)
		(void)value_map_put(&cli->arena, params, "name", value_text(&cli->arena, name));
	return cli_ask(cli, "session.keep", params, NULL, ret_result);
}

static int keep_here(struct cli *cli)
{
	const struct value *result = NULL;
	const char *session = cli_operand(cli, 1);
	int status;

	if (!session)
		return cli_usage(cli, "session keep: which one? cectl session list shows them");
	status = session_keep(cli, session, cli_operand(cli, 2), &result);
	return status ? status : show_state(cli, result, "pinned state", page_int(result, "state"));
}

static int replay_one(struct cli *cli)
{
	const char *session = cli_operand(cli, 1);

	if (!session)
		return cli_usage(cli, "session replay: which one? cectl runs --session finds its "
				      "cells, and cectl session list those that are open");
	return session_replay(cli, session, cli_operand(cli, 2));
}

static int run_session(struct cli *cli)
{
	static const struct {
		const char *word;
		int (*run)(struct cli *cli);
		size_t operands; /* the most, with the word */
	} words[] = { { "open", open_one, 1 }, { "list", list_all, 1 }, { "show", show_one, 2 },
		{ "close", close_one, 2 }, { "rollback", go_back, 3 }, { "keep", keep_here, 3 },
		{ "drop", drop_one, 3 }, { "replay", replay_one, 3 } };
	const char *word = cli_operand(cli, 0);

	for (size_t i = 0; i < COUNT_OF(words); i++) {
		if (strcmp(word, words[i].word) != 0)
			continue;
		if (cli_operand(cli, words[i].operands))
			return cli_usage(cli, "session %s takes no other word", word);
		return words[i].run(cli);
	}
	return cli_usage(cli,
		"session open, list, show, rollback, keep, drop, replay or close; not \"%s\"",
		word);
}

// clang-format off
const struct command session_command = {
	.name = "session",
	.operands = "open | list | show SESSION | rollback SESSION STATE | keep SESSION [NAME] | drop SESSION STATE | replay SESSION [STATE] | close SESSION",
	.summary = "sessions: programs that build on one another",
	.about = "A session keeps one worker for several programs, its cells: variables, imports and "
		 "files of one are there in the next.  `open` prints the id of a new session; `cectl run "
		 "--session ID` runs a cell; `close` ends it.  `show` prints the cells of one that is open or over, as the "
		 "tree of its states.  `rollback` goes back to a kept state, with variables and files.  `keep` pins the state in which the session stands: newer ones do not replace it; `drop` gives one up.  `replay` opens a new session with the settings of one that is open or over, runs the cells again that led to a state, and compares; calls of tools are answered from the record.  Between two cells nothing of it runs.  The options are for `open` and `replay`.",
	.options = OPTIONS(SESSION_OPTION_ROWS,
		{ 0, "leave-open", NULL, OPTION_FLAG, NULL, NULL,
			"replay: the new session stays open, and its id is printed" },
		{ 0, "tool", "NAME=COMMAND", OPTION_LIST, NULL, NULL,
			"replay: cells ask tools again, and this one is answered by the command" }),
	.operand_least = 1, .operand_most = 3,
	.examples = EXAMPLES(
		{ "cectl session open --limit memory=512M --idle 1h", "prints the session's id" },
		{ "cectl session open --language javascript", "a session of node" },
		{ "cectl session open --language bash", "a shell" },
		{ "cectl run --session 01JD3H3V6T6Q2Y4N8C5R7W9XZA -c 'x = 6 * 7'", "a cell" },
		{ "cectl session list", "those that are open" },
		{ "cectl session show 01JD3H3V6T6Q2Y4N8C5R7W9XZA", "its cells, as the tree of its states" },
		{ "cectl session rollback 01JD3H3V6T6Q2Y4N8C5R7W9XZA 3", "back to what the third cell left" },
		{ "cectl session keep 01JD3H3V6T6Q2Y4N8C5R7W9XZA loaded", "pins the present state, as \"loaded\"" },
		{ "cectl session drop 01JD3H3V6T6Q2Y4N8C5R7W9XZA 3", "gives up state 3 and its memory" },
		{ "cectl session replay 01JD3H3V6T6Q2Y4N8C5R7W9XZA", "its cells again, in a new session: do they come out the same?" },
		{ "cectl session replay 01JD3H3V6T6Q2Y4N8C5R7W9XZA --leave-open", "to go on with one that was lost" },
		{ "cectl session close 01JD3H3V6T6Q2Y4N8C5R7W9XZA", "the end" }),
	.run = run_session,
};
// clang-format on
