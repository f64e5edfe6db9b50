/*
 * The whole terminal, for a command that draws again and again.
 *
 * screen_open() switches to the other screen, hides the cursor and reads keys as they are
 * typed.  screen_close() restores the terminal.  SIGINT, SIGTERM, SIGHUP and SIGQUIT restore it
 * before they end the program.  Ctrl-Z restores it until the program continues.  There is one
 * terminal, so there is one screen.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

struct screen_size {
	size_t columns, rows;
};

/* Fails when stdin and stdout are no terminal, or one that cannot be drawn on (TERM=dumb). */
int screen_open(struct err *err);
void screen_close(void); /* may be called twice, and without screen_open() */

struct screen_size screen_get_size(void);

/*
 * Shows `text`, whose lines end with newlines, from the top left; what does not fit is left
 * out.  Each control byte (other than colours) must have been escaped before.
 */
int screen_draw(const char *text, size_t len, struct err *err);

/*
 * Waits so long for a key: its character, 0 for none, or -1 when the input has ended.  A changed
 * size ends the wait, too.
 */
int screen_wait(int64_t wait_ms);
