/*
 * A session in a terminal.  Without a terminal, cells come from stdin, and a line "%%" is between
 * two of them.
 */
#include "cli/commands/repl.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exits.h"
#include "cli/base/interrupt.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/results.h"
#include "cli/commands/session.h"
#include "cli/session/page.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"

#define CELL_BYTES  ((size_t)16 << 20)
#define ARENA_BYTES ((size_t)256 << 20) /* of one cell with its result */
#define CELLS_MAX   100000              /* later ones are not in %states */
#define SEPARATOR   "%%"
#define HISTORY     "history"

static volatile sig_atomic_t pipe_broke;

/* ---- the end of the session ----------------------------------------------------------------- */

// clang-format off
static const struct {
	const char *why;
	const char *words;
	const char *time;  /* which of session.open's answers is behind them */
	const char *advice;
} ends[] = {
	{ "closed", "somebody closed it",                                      NULL,      "" },
	{ "admin",  "an administrator closed it",                              NULL,      "" },
	{ "idle",   "no cell ran in it for ",                                  "idle_ms", "; --idle TIME allows more" },
	{ "age",    "it was open for ",                                        "age_ms",  ", and no session may be open longer" },
	{ "killed", "its process was killed, and the state before is not kept", NULL,     "" },
	{ "lost",   "its process died between two cells",                      NULL,      "" },
	{ "daemon", "the daemon is stopping",                                  NULL,      "" },
};
// clang-format on

static void tell_end(struct repl *repl, const char *why)
{
	struct cli *cli = repl->cli;
	char time[UNITS_TEXT_MAX] = "";

	repl->ended = true;
	say(&cli->err, PAINT_YELLOW, "cectl: the session has ended");
	for (size_t i = 0; i < COUNT_OF(ends); i++) {
		if (strcmp(ends[i].why, why) != 0)
			continue;
		if (ends[i].time)
			units_print_us(time, page_int(repl->opened, ends[i].time) * 1000);
		say(&cli->err, PAINT_PLAIN, ": %s%s%s\n", ends[i].words, time, ends[i].advice);
		return;
	}
	say(&cli->err, PAINT_PLAIN, " (%s)\n", why);
}

/* ---- one cell ------------------------------------------------------------------------------- */

struct value *repl_params(struct repl *repl, struct bytes code)
{
	struct arena *arena = &repl->cli->arena;
	struct value *params = value_map(arena);

	(void)value_map_put(arena, params, "session", value_text(arena, repl->session));
	(void)value_map_put(arena, params, "code", value_blob_borrowed(arena, code.data, code.len));
	if (repl->from)
		(void)value_map_put(arena, params, "from", value_uint(arena, repl->from));
	if (repl->is_typed)
		(void)value_map_put(arena, params, "stream", value_bool(arena, true));
	if (repl->is_typed && repl->language != CELL_BASH)
		(void)value_map_put(arena, params, "display", value_bool(arena, true));
	return params;
}

static bool has_room(struct repl *repl)
{
	size_t size = repl->cell_size ? repl->cell_size * 2 : 64;
	struct state_row *grown;

	if (repl->cell_count < repl->cell_size)
		return true;
	if (size > CELLS_MAX)
		return false;
	grown = reallocarray(repl->cells, size, sizeof(*grown));
	if (!grown)
		return false;
	repl->cells = grown;
	repl->cell_size = size;
	return true;
}

static void forget_cells(struct repl *repl)
{
	for (size_t i = 0; i < repl->cell_count; i++)
		free(repl->cells[i].owned);
	repl->cell_count = 0;
}

static void remember_cell(struct repl *repl, struct bytes code, const struct value *result)
{
	const struct value *session = value_get(result, "session");
	const char *outcome = page_text(repl->cli, result, "outcome");
	auto_free char *owned = malloc(code.len + strlen(outcome) + 1);

	if (!owned || !page_int(session, "cell") || !has_room(repl))
		return;
	memcpy(owned, code.data, code.len);
	memcpy(owned + code.len, outcome, strlen(outcome) + 1);
	repl->cells[repl->cell_count++] = (struct state_row){
		.cell = (uint64_t)page_int(session, "cell"),
		.from = (uint64_t)page_int(session, "from"),
		.is_undone = page_int(session, "state") != page_int(session, "cell"),
		.text = owned,
		.len = code.len,
		.outcome = owned + code.len,
		.owned = owned,
	};
	owned = NULL;
}

static void note_state(struct repl *repl, const struct value *result)
{
	const struct value *session = value_get(result, "session");
	const char *why = page_text(repl->cli, session, "why");

	repl->state = (uint64_t)page_int(session, "state");
	if (why[0])
		tell_end(repl, why);
}

void repl_note(struct repl *repl, struct bytes code, const struct value *result)
{
	repl->from = 0;
	if (!value_get(result, "session"))
		return;
	remember_cell(repl, code, result);
	note_state(repl, result);
}

/* It was for what is over.  Other signals end cectl, after the session. */
static void forget_ctrl_c(const struct repl *repl)
{
	if (repl->is_typed && interrupt_noted() == SIGINT)
		interrupt_forget();
}

const struct value *repl_run(struct repl *repl, struct bytes code, struct value *params)
{
	struct cli *cli = repl->cli;
	const struct value *result = NULL;
	struct live live;

	forget_ctrl_c(repl);
	live_init(&live, cli, repl->is_typed);
	live.json_is_text = true;
	live.leaves_artifacts = true;
	live_cancels(&live, params);
	repl->status = live_ask(&live, "run", params, &result);
	forget_ctrl_c(repl);
	if (repl->status != 0) {
		repl->ended = repl->status == EXIT_SERVICE || !repl->is_typed;
		if (live.ended[0])
			tell_end(repl, live.ended);
		return NULL;
	}
	repl->status = results_show(&live, result, NULL);
	repl_note(repl, code, result);
	return result;
}

static void run_cell(struct repl *repl, struct bytes code)
{
	(void)repl_run(repl, code, repl_params(repl, code));
}

static void obey(struct repl *repl, struct bytes line)
{
	repl_obey(repl, line.data, line.len);
}

/* What a cell or a command leaves in the arena goes with it. */
static void with_own_arena(
	struct repl *repl, void (*run)(struct repl *repl, struct bytes text), struct bytes text)
{
	struct arena kept = repl->cli->arena;

	arena_init(&repl->cli->arena, ARENA_BYTES);
	run(repl, text);
	(void)fflush(repl->cli->out.file);
	arena_done(&repl->cli->arena);
	repl->cli->arena = kept;
}

/* ---- a text of several cells ------------------------------------------------------------------ */

static bool is_separator(const char *line, size_t len)
{
	while (len && strchr("\n\r \t", line[len - 1]))
		len--;
	return len == strlen(SEPARATOR) && strncmp(line, SEPARATOR, len) == 0;
}

static bool is_blank(struct bytes text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!strchr(" \t\r\n", text.data[i]))
			return false;
	return true;
}

void repl_run_text(struct repl *repl, struct bytes text)
{
	size_t begin = 0;

	repl->status = 0;
	for (size_t at = 0; at < text.len && !repl->ended && !pipe_broke && repl->status == 0;) {
		const char *end = memchr(text.data + at, '\n', text.len - at);
		size_t next = end ? (size_t)(end - text.data) + 1 : text.len;
		bool is_between = is_separator(text.data + at, next - at);
		struct bytes cell = { text.data + begin, (is_between ? at : next) - begin };

		if ((is_between || next == text.len) && !is_blank(cell))
			with_own_arena(repl, run_cell, cell);
		at = next;
		begin = is_between ? next : begin;
	}
}

/* ---- reading -------------------------------------------------------------------------------- */

static const char *prompt(const struct repl *repl)
{
	return repl->cell.len ? "... " : ">>> ";
}

static int on_notice(void *context, const char *method, const struct value *params, struct err *err)
{
	struct repl *repl = context;

	(void)err;
	if (strcmp(method, "session.ended") == 0 &&
		strcmp(page_text(repl->cli, params, "session"), repl->session) == 0)
		tell_end(repl, page_text(repl->cli, params, "why"));
	return 0;
}

/* The daemon says something while the next cell is awaited: the session has ended, or the daemon. */
static void hear(struct repl *repl)
{
	const struct client_watch watch = { .context = repl, .on_notice = on_notice };
	struct err err = ERR_INIT;

	if (client_hear(repl->cli->client, &watch, &err) >= 0 || repl->ended)
		return;
	repl->ended = true;
	repl->status = EXIT_SERVICE;
	say(&repl->cli->err, PAINT_YELLOW,
		"cectl: the session has ended: the daemon has stopped\n");
}

/* Until a line came on a terminal that gives whole lines.  False: Ctrl-C, or the session's end. */
static bool wait_for_line(struct repl *repl)
{
	struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = client_fd(repl->cli->client), .events = POLLIN } };
	bool came;

	forget_ctrl_c(repl);
	say(&repl->cli->err, PAINT_CYAN, "%s", prompt(repl));
	(void)fflush(repl->cli->err.file);
	do
		came = interrupt_poll(fds, COUNT_OF(fds), -1) > 0;
	while (!came && !interrupt_noted());
	if (came && fds[0].revents)
		return true;
	say(&repl->cli->err, PAINT_PLAIN, "\n");
	if (came)
		hear(repl);
	return false;
}

/* 1 a line, 0 the end, -1: what was typed is dropped. */
static int read_plain(struct repl *repl, struct bytes *ret_line)
{
	ssize_t len;

	if (repl->is_typed && !wait_for_line(repl))
		return -1;
	len = getline(&repl->line, &repl->line_size, stdin);
	*ret_line = (struct bytes){ repl->line, len > 0 ? (size_t)len : 0 };
	return len > 0;
}

/* The same from an editor, which keeps a line while the daemon is heard. */
static int read_edited(struct repl *repl, struct bytes *ret_line)
{
	enum line_event event = LINE_GOES_ON;

	forget_ctrl_c(repl);
	while (event == LINE_GOES_ON && !repl->ended) {
		event = line_input_read(&repl->input, prompt(repl), client_fd(repl->cli->client));
		if (event == LINE_GOES_ON) {
			say(&repl->cli->err, PAINT_PLAIN, "\n");
			hear(repl);
		}
	}
	if (event != LINE_DONE)
		return event == LINE_ENDED ? 0 : -1;
	if (buf_append_byte(&repl->input.edit.text, '\n') < 0)
		return 0;
	*ret_line = (struct bytes){ repl->input.edit.text.bytes, repl->input.edit.text.len };
	return 1;
}

/* What ends other prompts, and is a cell here. */
static bool is_farewell(struct bytes code)
{
	static const char *const words[] = { "exit\n", "quit\n", "exit()\n", "quit()\n",
		".exit\n" };

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (code.len == strlen(words[i]) && memcmp(code.data, words[i], code.len) == 0)
			return true;
	return false;
}

static void run_what_came(struct repl *repl)
{
	struct bytes code = { repl->cell.bytes, repl->cell.len };

	if (code.len && !is_blank(code))
		with_own_arena(repl, run_cell, code);
	if (repl->is_typed && !repl->ended && is_farewell(code))
		say(&repl->cli->err, PAINT_DIM, "cectl: %%exit or Ctrl-D ends the session\n");
	buf_consume(&repl->cell, repl->cell.len);
	repl->ended |= !repl->is_typed && repl->status != 0;
}

/* Returns false when there is no memory for it. */
static bool take_line(struct repl *repl, struct bytes line)
{
	if (!repl->is_typed && is_separator(line.data, line.len)) {
		run_what_came(repl);
		return true;
	}
	if (repl->is_typed && !repl->cell.len && line.data[0] == '%') {
		with_own_arena(repl, obey, line);
		return true;
	}
	if (repl->is_typed && repl->cell.len && repl_knows(line.data, line.len))
		say(&repl->cli->err, PAINT_DIM,
			"cectl: this line is part of the cell, which is not whole; Ctrl-C drops "
			"it\n");
	if (buf_append(&repl->cell, line.data, line.len) < 0)
		return false;
	if (repl->is_typed &&
		cell_text_is_complete(
			(struct bytes){ repl->cell.bytes, repl->cell.len }, repl->language))
		run_what_came(repl);
	return true;
}

static int open_it(struct repl *repl)
{
	struct value *params = NULL;
	int status = session_params(repl->cli, &params);

	if (status == 0)
		status = cli_ask(repl->cli, "session.open", params, NULL, &repl->opened);
	if (status != 0)
		return status;
	cut_printf(repl->session, sizeof(repl->session), "%s",
		page_text(repl->cli, repl->opened, "session"));
	repl->language = cell_language_of(page_text(repl->cli, repl->opened, "language"));
	return 0;
}

/* By SIGTERM, or SIGHUP when the terminal has gone. */
static bool is_told_to_leave(const struct repl *repl)
{
	return repl->is_typed && interrupt_noted() && interrupt_noted() != SIGINT;
}

static bool is_left(const struct repl *repl)
{
	return repl->ended || pipe_broke || is_told_to_leave(repl);
}

/* 1: go on, 0: nothing more comes, -1: there is no memory for the line. */
static int take_next(struct repl *repl)
{
	struct bytes line = { NULL, 0 };
	int r;

	if (repl->is_typed)
		hear(repl); /* what came with the answer to the last cell */
	if (repl->ended)
		return 1;
	r = repl->can_draw ? read_edited(repl, &line) : read_plain(repl, &line);
	if (r == 0)
		return 0;
	if (r > 0)
		return take_line(repl, line) ? 1 : -1;
	buf_consume(&repl->cell, repl->cell.len);
	return 1;
}

static int read_cells(struct repl *repl)
{
	int r = 1;

	while (r > 0 && !is_left(repl))
		r = take_next(repl);
	if (r < 0)
		return cli_fail_with(repl->cli, ERR_TOO_BIG, "the cell is too large");
	if (!is_left(repl))
		run_what_came(repl);
	if (repl->is_typed && !repl->can_draw && r == 0)
		say(&repl->cli->err, PAINT_PLAIN, "\n");
	return repl->is_typed && repl->status != EXIT_SERVICE ? EXIT_OK : repl->status;
}

static void repl_begin(struct repl *repl)
{
	struct cli *cli = repl->cli;

	buf_init(&repl->cell, CELL_BYTES);
	if (repl->is_typed)
		say(&cli->err, PAINT_DIM, "session %s; %%help lists commands, Ctrl-D closes it\n",
			repl->session);
	repl->can_draw = repl->is_typed && line_input_can(&cli->err);
	if (repl->can_draw)
		line_input_init(&repl->input, &cli->err, history_place(&cli->arena, HISTORY));
}

static void repl_end(struct repl *repl)
{
	if (repl->can_draw)
		line_input_done(&repl->input);
	forget_cells(repl);
	free(repl->cells);
	free(repl->line);
	buf_done(&repl->cell);
}

static int run_session(struct repl *repl)
{
	const struct value *closed = NULL;
	int status = open_it(repl);

	if (status != 0)
		return status;
	repl_begin(repl);
	status = read_cells(repl);
	repl_end(repl);
	if (!repl->ended || (!repl->is_typed && repl->status != 0))
		(void)cli_ask_quietly(repl->cli, "session.close",
			session_close_params(repl->cli, repl->session), NULL, &closed,
			&(struct err)ERR_INIT);
	return status;
}

static void on_broken_pipe(int number)
{
	(void)number;
	pipe_broke = 1;
}

/* What ends cectl comes after the end of the session. */
static int run_repl(struct cli *cli)
{
	struct repl repl = { .cli = cli, .is_typed = isatty(STDIN_FILENO) && cli->err.terminal };
	const struct sigaction action = { .sa_handler = on_broken_pipe, .sa_flags = SA_RESTART };
	struct sigaction before;
	int status;

	(void)sigaction(SIGPIPE, &action, &before);
	if (repl.is_typed)
		interrupt_catch();
	status = run_session(&repl);
	if (repl.is_typed)
		interrupt_release();
	(void)sigaction(SIGPIPE, &before, NULL);
	if (pipe_broke)
		(void)raise(SIGPIPE); /* as other commands end */
	return status;
}

// clang-format off
const struct command repl_command = {
	.name = "repl",
	.summary = "a session in a terminal",
	.about = "Opens a session and runs what is typed, cell by cell: a line, or a block up to an empty "
		 "line; an open bracket goes on until it is closed.  %help lists its own commands, which "
		 "go back, branch, save and load.  Ctrl-C cancels the cell that runs, and drops one that "
		 "is not whole; Ctrl-D closes the session.  Arrow keys edit the line and bring back "
		 "earlier ones.\n\n"
		 "Without a terminal, cells come from stdin, with a line %% between two of them.  Only "
		 "what they print is shown, no values, and there are no commands with %.  The first cell "
		 "that is not ok is the last, and its exit status is that of cectl.",
	.options = OPTIONS(SESSION_OPTION_ROWS),
	.examples = EXAMPLES(
		{ "cectl repl", "type away" },
		{ "cectl repl --language javascript", "in node" },
		{ "cectl repl --language bash", "in a shell" },
		{ "cectl repl --policy strict --limit memory=256M < cells.py", "cells from a file" }),
	.run_statuses = true,
	.run = run_repl,
};
// clang-format on
