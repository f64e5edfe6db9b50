/*
 * Which pages a worker touches between its fork and the end of a job, so that each worker can have
 * them made its own in a few calls, ahead of need.
 *
 * A page fault costs two to three microseconds, most of it for getting in and out of the kernel,
 * and a small job takes hundreds.  So the zygote lets one child, the learner, live the life of a
 * worker with a tiny program, and reads from its pagemap which pages it has written (copied from the
 * zygote's) and which pages of files it has looked at.  A worker then asks for the same pages by
 * madvise().  A tiny one, since what every job needs is worth having, and what a larger one needs
 * besides costs each worker as much whether its job comes or not.
 *
 * Nothing depends on this being complete or even right: a page that is missing faults as ever.
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

/* Reads the footprint of a child that was forked from the caller.  `proc` is a folder of a procfs. */
int footprint_read(struct footprint *footprint, int proc, pid_t child, struct err *err);

/*
 * Puts the caller's memory into huge pages where it fills them, which a fork then shares by one
 * entry each.  Nothing that is mapped or grows later is affected.
 */
void footprint_collapse(int proc);

/* Makes these pages the caller's own.  What fails is left for later. */
void footprint_touch(const struct footprint *footprint);
