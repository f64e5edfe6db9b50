/*
 * The second file: one checkpoint a line, appended and never changed.  Nothing here knows what is in a
 * line.  All may wait for a disk.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

/* Appends the line and its end, behind a whole line, and waits until it is on the disk. */
int checkpoint_file_append(const char *path, const char *line, struct err *err);
/* The same, unless the line stands there already: among the last CHECKPOINT_PIECE_MAX bytes. */
int checkpoint_file_ensure(const char *path, const char *line, struct err *err);

/*
 * The last line that was appended is written down beside the store, in the place of the one before: a file
 * that ends before it was removed, emptied or cut off since.
 */
int checkpoint_file_save_last(const char *path, const char *line, struct err *err);
/* That line; "" where there is none. */
void checkpoint_file_last_line(const char *path, char *ret_line, size_t size);

/* Whether the line stands in the file still: among its last CHECKPOINT_END_MAX bytes.  1, 0, -1. */
#define CHECKPOINT_END_MAX ((size_t)256 << 10)
int checkpoint_file_has(const char *path, const char *line, struct err *err);

/* A piece of the file. */
struct checkpoint_piece {
	char *text; /* given (free) */
	size_t len;
	int64_t at; /* where it begins */
	int64_t of; /* how long the file is */
};

/* At most CHECKPOINT_PIECE_MAX bytes from `at` on; negative: of its end.  Nothing when there is no such file. */
#define CHECKPOINT_PIECE_MAX ((size_t)16 << 20)
int checkpoint_file_read(
	const char *path, int64_t at, struct checkpoint_piece *ret_piece, struct err *err);
