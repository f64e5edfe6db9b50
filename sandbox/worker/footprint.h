/*
 * The footprint: the pages that a worker touches between its fork and the end of a job.  Each
 * worker makes these pages its own with a few calls, before a job comes.
 *
 * A page fault costs two to three microseconds, mostly for entering and leaving the kernel, and a
 * small job takes hundreds.  So the zygote forks one child, the learner, which runs a tiny program
 * as a worker would.  The zygote reads from its pagemap which pages it has written, and which pages
 * of files it has read.  Workers then ask for the same pages by madvise().  The program is tiny
 * because every worker pays for each page, whether its job needs the page or not.
 *
 * Nothing depends on this being complete or right: a missing page faults as usual.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"

#define FOOTPRINT_RANGES_MAX 512

struct footprint_range {
	uintptr_t start;
	size_t len;
	int advice; /* MADV_POPULATE_WRITE or MADV_POPULATE_READ */
};

struct footprint {
	size_t count;
	struct footprint_range ranges[FOOTPRINT_RANGES_MAX];
};

/*
 * Reads the footprint of a child that was forked from the caller.  `proc` is a folder of a procfs.
 */
int footprint_read(struct footprint *footprint, int proc, pid_t child, struct err *err);

/*
 * Puts the caller's memory into huge pages where it fills them.  A fork then copies one entry for
 * each.  Later mappings are not affected.
 */
void footprint_collapse(int proc);

/* Makes these pages the caller's own.  Pages that fail are left alone. */
void footprint_touch(const struct footprint *footprint);
