/*
 * Brings back what a program left in its working directory.
 *
 * Runs in a process of its own, forked by the slot when every process of the run is dead, so that
 * nothing moves under it.  It opens only regular files with one name, never through a link and
 * never across a mount, and believes no size.  Entries, depth, bytes, files and time have ceilings.
 */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"

#define COLLECT_ENTRIES_MAX 10000
#define COLLECT_DEPTH_MAX   32
#define COLLECT_SKIPS_MAX   256 /* entries reported as skipped; more are passed over in silence */
#define COLLECT_GLOBS_MAX   (64U << 10)
#define COLLECT_SECONDS     2
#define COLLECT_PATH_MAX    4096

struct collect_job {
	int files;           /* descriptor of the worker's tmpfs */
	int globs;           /* regular file or memfd: patterns, each ended by a NUL */
	int pipe;            /* gets struct artifact_head + path + data, entry after entry */
	uint32_t count_most; /* files taken */
	uint64_t bytes_most; /* of them together */
};

/*
 * Does a path match?  "*" and "**" alone match everything; a pattern without a slash matches the
 * file's own name in the top folder only; "**" followed by a slash matches any folders; the rest is
 * fnmatch(3) in which no wildcard matches a slash.
 */
int collect_matches(const char *glob, const char *path);

/* Takes everything.  The caller is the collector process; it leaves afterwards. */
int collect_run(const struct collect_job *job, struct err *err);
