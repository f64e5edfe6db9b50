/*
 * A bar that fills on stderr while something of known length goes on; erased afterwards.  Silent
 * unless stderr is a terminal that can erase.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/terminal/output.h"

struct bar {
	const struct output *out;
	const char *what; /* "verifying" */
	int64_t shown_ms; /* when it was last drawn, 0: never */
};

/* `done` of the whole, followed by `note`.  Draws a few times a second at most. */
void bar_update(struct bar *bar, double done, const char *note);

/* Call before anything else is printed to the terminal. */
void bar_erase(struct bar *bar);
