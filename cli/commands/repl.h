/* `cectl repl`, and its commands that begin with %. */
#pragma once

#include "cli/commands/cell_text.h"
#include "cli/commands/state_tree.h"
#include "cli/session/cli.h"
#include "cli/terminal/line_input.h"
#include "proto/base/buf.h"

struct repl {
	struct cli *cli;
	char session[32];
	const struct value *opened; /* the answer to session.open */
	enum cell_language language;
	bool is_typed; /* stdin and stderr are a terminal */
	bool can_draw; /* ... on which lines are edited */
	bool ended;
	int status;
	struct buf cell;         /* the lines of the next one */
	uint64_t from;           /* the next one begins in this state; 0: in the present one */
	uint64_t state;          /* where the session stands */
	struct state_row *cells; /* that have run; their texts are ours */
	size_t cell_count, cell_size;
	struct line_input input;
	char *line;
	size_t line_size;
};

/* The params of a cell. */
struct value *repl_params(struct repl *repl, struct bytes code);

/*
 * Runs a cell with these params and shows its result, without its artifacts, and returns it; NULL:
 * there is none.  What it leaves in the arena is the caller's.
 */
const struct value *repl_run(struct repl *repl, struct bytes code, struct value *params);

/* The session after a cell, which is in `result`. */
void repl_note(struct repl *repl, struct bytes code, const struct value *result);

/* Cells of a text, with a line %% between two, until one is not ok or the session has ended. */
void repl_run_text(struct repl *repl, struct bytes text);

/* Whether the line is one of the commands. */
bool repl_knows(const char *line, size_t len);

/* Obeys a line that begins with %. */
void repl_obey(struct repl *repl, const char *line, size_t len);
