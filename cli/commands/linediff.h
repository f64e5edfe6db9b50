/*
 * Two texts, line by line: which lines are gone, which are new, which are the same.
 *
 * diff(1) finds the fewest changes.
 */
#pragma once

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/value.h"

enum line_kind {
	LINE_SAME,
	LINE_GONE,
	LINE_NEW
};

struct line {
	enum line_kind kind;
	const char *text; /* into the texts, without its newline */
	size_t len;
	size_t left, right; /* its number there, from 1; 0: not there */
};

struct line_diff {
	struct line *lines;
	size_t count;
	size_t changed; /* of these gone or new */
};

/* The lines are in the arena and point into the texts.  -1: no memory. */
int line_diff(
	struct arena *arena, struct bytes left, struct bytes right, struct line_diff *ret_diff);
