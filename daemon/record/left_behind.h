/*
 * Runs whose contents were to leave the store and could not: a page under them is damaged, or the disk
 * cannot read it.  The others leave.  Of one going over the store, and for who asks about it later.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/fill.h"
#include "proto/job/job.h"

#define LEFT_BEHIND_NAMED 16  /* and told in the log, each once; the rest is counted */
#define LEFT_BEHIND_ROW   200 /* so many one after the other, and it is the store that ails */

struct left_behind {
	uint64_t runs;
	unsigned in_a_row;
	char names[LEFT_BEHIND_NAMED]
		  [RUN_ID_LEN + 1]; /* a run's id, or its row where that is unknown */
	unsigned named;
	char why[ERR_TEXT_MAX]; /* the last one */
};

/* Nothing yet; when it is begun again, what was named stays named. */
void left_behind_begin(struct left_behind *behind, bool again);

void left_behind_note(struct left_behind *behind, const char *name, const char *why);
/* Without a name: `runs` more, the last of which has that row in `runs`. */
void left_behind_note_rows(struct left_behind *behind, uint64_t runs, int64_t row, const char *why);
/* One has left. */
void left_behind_gone(struct left_behind *behind);

/* Whether going on makes sense after this failure, which may be one run's alone. */
bool left_behind_goes_on(const struct left_behind *behind, const struct err *err);

/* {runs, names, why} under "left_behind", when there is any. */
void left_behind_describe(const struct left_behind *behind, struct fill *fill);
