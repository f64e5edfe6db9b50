/*
 * The elapsed time on stderr while something takes longer than a second; erased afterwards.
 * Silent unless stderr is a terminal that can erase.
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
