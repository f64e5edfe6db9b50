/*
 * The second file: one checkpoint a line, appended and never changed.  Nothing here knows what is in a
 * line.  All may wait for a disk.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

/* Appends the line and its end, behind a whole line, and waits until it is on the disk. */
int second_file_append(const char *path, const char *line, struct err *err);
/* The same, unless the line stands there already: among the last SECOND_PIECE bytes. */
int second_file_ensure(const char *path, const char *line, struct err *err);

/*
 * The last line that was appended is written down beside the store, in the place of the one before: a file
 * that ends before it was removed, emptied or cut off since.
 */
int second_file_note(const char *path, const char *line, struct err *err);
/* That line; "" where there is none. */
void second_file_noted(const char *path, char *ret_line, size_t size);

/* Whether the line stands in the file still: among its last SECOND_END bytes.  1, 0, -1. */
#define SECOND_END ((size_t)256 << 10)
int second_file_has(const char *path, const char *line, struct err *err);

/* A piece of the file. */
struct second_piece {
	char *text; /* given (free) */
	size_t len;
	int64_t at; /* where it begins */
	int64_t of; /* how long the file is */
};

/* At most SECOND_PIECE bytes from `at` on; negative: of its end.  Nothing when there is no such file. */
#define SECOND_PIECE ((size_t)16 << 20)
int second_file_read(const char *path, int64_t at, struct second_piece *ret_piece, struct err *err);
