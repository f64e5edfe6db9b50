/*
 * What happens in the daemon just now: looked at, and laid out on a page of a given size.
 */
#pragma once

#include "cli/commands.h"
#include "cli/screen.h"

#define TOP_HISTORY 60 /* rates that the page remembers */

struct top {
	struct cli *cli;
	int64_t rates[TOP_HISTORY]; /* runs in ten seconds, the newest last */
	size_t rate_count;
};

/*
 * Asks the daemon.  *ret_seen is what `cectl top --json` prints: {at_us, window_us, runtimes, last, running,
 * slowest, refused}, and `status` for those who may know it.  0; 1 with the daemon's error in
 * *ret_seen; -1 when the conversation broke.
 */
int top_look(struct top *top, const struct value **ret_seen, struct err *err);

/* Prints it to the command's output, at most `size`. */
void top_print(struct top *top, const struct value *seen, struct screen_size size);
