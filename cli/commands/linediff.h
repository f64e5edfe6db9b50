/*
 * Compares two texts line by line, with diff(1): each line is gone, new or the same.
 */
#pragma once

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/value.h"

enum line_kind {
	LINE_SAME,
	LINE_GONE,
	LINE_NEW
};

struct line {
	enum line_kind kind;
	const char *text; /* without its newline */
	size_t len;
	size_t left, right; /* its number there, from 1; 0: not there */
};

struct line_diff {
	struct line *lines;
	size_t count;
	size_t changed; /* of these gone or new */
};

/* The lines and their texts are in the arena. */
int line_diff(struct arena *arena, struct bytes left, struct bytes right,
	struct line_diff *ret_diff, struct err *err);
