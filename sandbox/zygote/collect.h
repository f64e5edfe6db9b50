/*
 * Collects the artifacts: files that a program left in its working directory.
 *
 * It runs in a process of its own, which the slot forks when every process of the run is dead, so
 * that nothing changes meanwhile.  It opens only regular files with one link, never follows a
 * symbolic link, never crosses a mount and trusts no size.  Entries, depth, bytes, files and time
 * are limited.
 */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"

#define COLLECT_GLOBS_MAX (64U << 10)

struct collect_job {
	int files;           /* descriptor of the worker's tmpfs */
	int globs;           /* regular file or memfd: patterns, each ended by a NUL */
	int pipe;            /* gets struct artifact_head + path + data, entry after entry */
	uint32_t count_most; /* the most files */
	uint64_t bytes_most; /* the most bytes of all files together */
};

/*
 * Whether a path matches.  "*" and "**" alone match everything.  A pattern without a slash matches
 * only a file in the top folder.  "**" followed by a slash matches any folders.  The rest is
 * fnmatch(3), in which no wildcard matches a slash.
 */
int collect_matches(const char *glob, const char *path);

/* Collects everything.  The caller is the collector process and exits afterwards. */
int collect_run(const struct collect_job *job, struct err *err);
