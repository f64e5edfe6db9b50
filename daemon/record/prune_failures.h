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

#define PRUNE_FAILURES_NAMED    16  /* and told in the log, each once; the rest is counted */
#define PRUNE_FAILURES_IN_A_ROW 200 /* so many one after the other, and it is the store that ails */

struct prune_failures {
	uint64_t runs;
	unsigned in_a_row;
	char names[PRUNE_FAILURES_NAMED]
		  [RUN_ID_LEN + 1]; /* a run's id, or its row where that is unknown */
	unsigned named;
	char why[ERR_TEXT_MAX]; /* the last one */
};

/* Nothing yet; when it is begun again, what was named stays named. */
void prune_failures_start(struct prune_failures *behind, bool again);

void prune_failures_add(struct prune_failures *behind, const char *name, const char *why);
/* Without a name: `runs` more, the last of which has that row in `runs`. */
void prune_failures_add_rows(
	struct prune_failures *behind, uint64_t runs, int64_t row, const char *why);
/* One has left. */
void prune_failures_success(struct prune_failures *behind);

/* Whether going on makes sense after this failure, which may be one run's alone. */
bool prune_failures_may_continue(const struct prune_failures *behind, const struct err *err);

/* {runs, names, why} under "left_behind", when there is any. */
void prune_failures_describe(const struct prune_failures *behind, struct fill *fill);
