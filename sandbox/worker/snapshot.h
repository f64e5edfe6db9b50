/*
 * What a kept state of a session remembers of its files.  It holds in memory everything below some
 * folders, and what is in deleted files that are open.  It also has the offset of each descriptor.
 *
 * The state's own process copies them when it is made, and puts them back when it goes on.  Files
 * are written in place, so what has them open or mapped sees the old contents.  All of this happens
 * inside the jail, with the rights and on the account of the program: a program that lies here
 * deceives itself alone.
 */
#pragma once

#include <stddef.h>

#include "proto/base/err.h"

struct snapshot;

/*
 * `roots`: paths of folders, which live as long as the snapshot; NULL ends them.  NULL: more than a
 * state may keep, or no memory.
 */
struct snapshot *snapshot_take(const char *const *roots, struct err *err);

/*
 * Puts everything back.  *ret_anew gets the paths of files that had gone and were made anew, each
 * with a NUL: open descriptors of the old ones do not follow.  It is cut to `size` bytes.
 */
int snapshot_put_back(const struct snapshot *snapshot, char *ret_anew, size_t size, size_t *ret_len,
	struct err *err);

void snapshot_free(struct snapshot *snapshot);
