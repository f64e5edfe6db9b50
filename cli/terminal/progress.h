/*
 * What takes long, on stderr: the elapsed time after the first second, or a bar that fills.  Both
 * are erased afterwards.  Silent unless stderr is a terminal that can erase.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/terminal/output.h"

struct progress {
	const struct output *out;
	const char *what;   /* "running" */
	const char *ctrl_c; /* the effect of Ctrl-C, as "cancels" */
	bool shown;
};

/* True for a terminal that can erase a line. */
bool progress_can_erase(const struct output *out);

void progress_update(struct progress *progress, int64_t elapsed_ms);

/* Call before anything else is printed to the terminal. */
void progress_erase(struct progress *progress);

struct bar {
	const struct output *out;
	const char *what; /* "verifying" */
	int64_t shown_ms; /* when it was last drawn, 0: never */
};

/* `done` of the whole, followed by `note`.  Draws a few times a second at most. */
void bar_update(struct bar *bar, double done, const char *note);

/* Call before anything else is printed to the terminal. */
void bar_erase(struct bar *bar);
