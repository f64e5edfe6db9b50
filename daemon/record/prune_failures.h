/*
 * The runs whose contents gc could not remove, because a page is damaged or the disk cannot read
 * it. gc prunes the other runs.  The status shows these.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/fill.h"
#include "proto/job/job.h"

#define PRUNE_FAILURES_NAMED    16  /* are named, and logged once each; the rest is counted */
#define PRUNE_FAILURES_IN_A_ROW 200 /* so many in a row mean that the whole store is damaged */

struct prune_failures {
	uint64_t runs;
	unsigned in_a_row;
	char names[PRUNE_FAILURES_NAMED]
		  [RUN_ID_LEN + 1]; /* a run's id, or its row where that is unknown */
	unsigned named;
	char why[ERR_TEXT_MAX]; /* the last one */
};

/* Starts to count from zero; `again`: keeps the names. */
void prune_failures_start(struct prune_failures *behind, bool again);

void prune_failures_add(struct prune_failures *behind, const char *name, const char *why);
/* Adds `runs` runs without a known id; `row` is the row of the last one in the table `runs`. */
void prune_failures_add_rows(
	struct prune_failures *behind, uint64_t runs, int64_t row, const char *why);
/* A run was pruned. */
void prune_failures_success(struct prune_failures *behind);

/* Whether to continue after this failure, which may concern one run only. */
bool prune_failures_may_continue(const struct prune_failures *behind, const struct err *err);

/* {runs, names, why} under "left_behind", when there is any. */
void prune_failures_describe(const struct prune_failures *behind, struct fill *fill);
