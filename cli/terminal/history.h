/*
 * Lines that a person has typed, newest last: in memory, and in a file for the next time.
 *
 * The file has mode 0600 and one line for each line.  history_open() cuts it to the newest
 * HISTORY_LINES.  Each line is appended when it comes, so several cectls share the file.  Whatever is
 * in its place and is no regular file of the user's own is left alone, and so is a file that cannot
 * be written: then the lines are in memory only.
 */
#pragma once

#include <stddef.h>

#include "proto/base/arena.h"

#define HISTORY_LINES      1000
#define HISTORY_LINE_BYTES ((size_t)4096) /* a longer line is not kept */

struct history {
	char *lines[HISTORY_LINES]; /* a ring */
	size_t begin, count;
	char *path; /* NULL: no file */
};

/* `path` may be NULL.  Makes its folders. */
void history_open(struct history *history, const char *path);
void history_close(struct history *history);

/* Adds a line, unless it is blank, has a newline or is the same as the newest. */
void history_add(struct history *history, const char *line, size_t len);

/* The newest is 1; NULL: there is none so far back. */
const char *history_line(const struct history *history, size_t back);

/* $XDG_STATE_HOME/ced/NAME, else ~/.local/state/ced/NAME; NULL: the user has no home. */
const char *history_place(struct arena *arena, const char *name);
