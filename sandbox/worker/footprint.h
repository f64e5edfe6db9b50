/*
 * The footprint: the pages that a worker touches between its fork and the end of a job.  Each
 * worker makes these pages its own with one call, before a job comes.
 *
 * A page fault costs two to three microseconds, mostly for entering and leaving the kernel, and a
 * small job takes hundreds.  So the zygote forks learners, each of which runs one sample program as
 * a worker would.  The zygote reads from a learner's pagemap which pages it has written, and which
 * pages of files it has read.  What at least three of five learners have touched is the footprint: a
 * page costs every worker something, whether its job needs the page or not.
 *
 * The worker also reads a byte of each, and writes it back to those that it will write to.  In some
 * virtual machines the first access to a page costs much, even if the kernel has made it.
 *
 * Nothing depends on this being complete or right: a missing page faults as usual.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "proto/base/err.h"

#define FOOTPRINT_RANGES_MAX 1024 /* of each kind, as many as one system call takes */

struct footprint_ranges {
	size_t count;
	struct iovec ranges[FOOTPRINT_RANGES_MAX];
};

struct footprint {
	struct footprint_ranges writes;
	struct footprint_ranges reads; /* of files */
	struct footprint_ranges cells; /* what later cells of a session write to beside `writes` */
};

/* What the learners have touched.  Begins as zeros. */
struct footprint_survey {
	struct footprint_page {
		uintptr_t at;
		int advice; /* MADV_POPULATE_WRITE or MADV_POPULATE_READ */
	} * pages;
	size_t count;
	unsigned learners;
};

/*
 * Adds the pages of a child that was forked from the caller.  `proc` is a folder of a procfs.  After
 * an error nothing was added.
 */
int footprint_survey_add(struct footprint_survey *survey, int proc, pid_t child, struct err *err);

/* Takes the pages that at least three of five learners have touched, and empties the survey. */
void footprint_choose(struct footprint *ret_footprint, struct footprint_survey *survey);

/* After it, the same of learners that have run a cell after a fork; sets only `cells`. */
void footprint_choose_cells(struct footprint *footprint, struct footprint_survey *survey);

/*
 * Puts the caller's memory into huge pages where it fills them.  A fork then copies one entry for
 * each.  Later mappings are not affected.
 */
void footprint_collapse(int proc);

/*
 * Makes these pages the caller's own.  Pages that fail are left alone.  Returns how many system calls
 * it took: at most two where the kernel takes all ranges at once, since Linux 6.14.
 */
unsigned footprint_touch(const struct footprint *footprint);

/* Whether footprint_touch() has found pages to touch in this process, or in one that it was forked from. */
bool footprint_is_known(void);

/*
 * After a fork, for a state, which runs nothing now: copies the pages of the footprint and of cells.  It
 * takes one call for each range, since the job's filter permits only plain madvise().
 */
void footprint_copy(void);

/* Then, for the worker: makes them its own again, and touches them. */
void footprint_touch_again(void);
