/*
 * Reads lines from the terminal on stdin, with editing and a history, and draws them on `out`.
 *
 * The terminal sends single keys only while line_input_read() waits; a program that runs meanwhile
 * finds it as it was, so that Ctrl-C is a signal.  SIGINT, SIGTERM and SIGHUP end cectl after the
 * terminal has its own state again.
 */
#pragma once

#include <stdbool.h>

#include "cli/terminal/line_edit.h"
#include "cli/terminal/output.h"

struct line_input {
	const struct output *out;
	struct history history;
	struct line_edit edit;
	char ahead[1024]; /* keys that were read and belong to the next line */
	size_t ahead_len;
	bool is_begun;
};

/* Whether stdin and `out` are a terminal on which a line can be drawn. */
bool line_input_can(const struct output *out);

/* `history` is a path, or NULL. */
void line_input_init(struct line_input *input, const struct output *out, const char *history);
void line_input_done(struct line_input *input);

/*
 * LINE_DONE: the line is input->edit.text, without a newline, and in the history.  LINE_DROPPED,
 * LINE_ENDED as they say; the end of the terminal is LINE_ENDED.  LINE_GOES_ON: `other`, a
 * descriptor or -1, can be read; the next call goes on with the same line.
 */
enum line_event line_input_read(struct line_input *input, const char *prompt, int other);
