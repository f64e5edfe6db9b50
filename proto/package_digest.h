/*
 * A package set is a folder that an administrator built, for programs to read.  Its digest says what
 * is in it.  The daemon and cectl compute it with this function.
 *
 * The digest covers each entry below the folder: its kind, path, mode and size, and the SHA-256 of
 * its content or of a link's target.  The entries of a folder follow the folder, sorted by the bytes
 * of their names.  Times and owners do not count, so a copy has the same digest.
 *
 * A set has only folders, ordinary files, and links that stay inside it.  Everyone may read all of
 * it, and nothing has a setuid or setgid bit.  The function refuses every other set, with the name of
 * the entry.
 */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/digest.h"

#define PACKAGE_ENTRIES_MAX 200000
#define PACKAGE_BYTES_MAX   (UINT64_C(64) << 30)
#define PACKAGE_DEPTH_MAX   64

struct package_scan {
	uint64_t entries_most, bytes_most;
	/* Called for each entry and each piece of a file.  Nonzero stops with ERR_CLOSED.  Or NULL. */
	int (*on_progress)(const struct package_scan *scan);
	void *context;           /* of on_progress */
	uint64_t entries, bytes; /* so far */
};

#define PACKAGE_SCAN_USUAL                                                           \
	{                                                                            \
		.entries_most = PACKAGE_ENTRIES_MAX, .bytes_most = PACKAGE_BYTES_MAX \
	}

/* Reads all files, so the daemon calls it on a thread.  -1: *err has the reason, in ASCII. */
int package_digest(const char *path, struct package_scan *scan, char ret_text[DIGEST_TEXT_LEN + 1],
	struct err *err);
