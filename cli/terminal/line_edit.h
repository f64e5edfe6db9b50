/*
 * One line that is being typed: bytes of keys change it, and it draws itself.  It knows no terminal;
 * line_input.h does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/terminal/history.h"
#include "proto/base/buf.h"

enum line_event {
	LINE_GOES_ON,
	LINE_DONE,    /* Enter */
	LINE_DROPPED, /* Ctrl-C */
	LINE_ENDED,   /* Ctrl-D in an empty line */
	LINE_STOPS,   /* Ctrl-Z */
	LINE_CLEARS,  /* Ctrl-L */
};

struct line_edit {
	struct buf text;
	size_t at; /* the cursor, in bytes */
	const struct history *history;
	size_t back;     /* which line of the history is shown; 0: none */
	struct buf kept; /* what was typed before the history was looked at */
	char escape[8];  /* the bytes of a key that sends several */
	size_t escape_len;
};

void line_edit_init(struct line_edit *edit, const struct history *history);
void line_edit_done(struct line_edit *edit);

/* An empty line. */
void line_edit_begin(struct line_edit *edit);

/* One byte that a key sent. */
enum line_event line_edit_key(struct line_edit *edit, unsigned char byte);

/*
 * Appends what draws prompt and line in a row of `columns`, of which a long line shows the part
 * around the cursor.  `before` and `after` colour the prompt.  -1: `frame` is full.
 */
struct line_prompt {
	const char *text, *before, *after;
};
int line_edit_draw(const struct line_edit *edit, const struct line_prompt *prompt, size_t columns,
	struct buf *frame);
