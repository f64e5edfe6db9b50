/*
 * The checkpoint file: one checkpoint per line, appended and never changed.  This module does not
 * interpret the lines.  All functions may wait for a disk.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

/*
 * Opens the file for appending, creates it if it is missing, and locks it for this process.
 * Returns the descriptor; closing it unlocks the file.  -1: ERR_BUSY if another process has locked
 * it.
 */
int checkpoint_file_hold(const char *path, struct err *err);

/* Appends the line, after the end of the last line, and waits until it is on the disk. */
int checkpoint_file_append(const char *path, const char *line, struct err *err);
/* The same, unless the last CHECKPOINT_PIECE_MAX bytes contain the line already. */
int checkpoint_file_ensure(const char *path, const char *line, struct err *err);

/*
 * Saves the last line in another file, beside the store.  A checkpoint file that ends before this
 * line was removed, emptied or cut off.
 */
int checkpoint_file_save_last(const char *path, const char *line, struct err *err);
/* The saved line; "": there is none. */
void checkpoint_file_last_line(const char *path, char *ret_line, size_t size);

/* Whether the last CHECKPOINT_END_MAX bytes of the file contain the line: 1, 0, -1. */
#define CHECKPOINT_END_MAX ((size_t)256 << 10)
int checkpoint_file_has(const char *path, const char *line, struct err *err);

/* A piece of the file. */
struct checkpoint_piece {
	char *text; /* the caller frees it */
	size_t len;
	int64_t at; /* where it begins */
	int64_t of; /* how long the file is */
};

/*
 * Reads at most CHECKPOINT_PIECE_MAX bytes from `at` on, or the last ones if `at` is negative.  A
 * missing file reads as empty.
 */
#define CHECKPOINT_PIECE_MAX ((size_t)16 << 20)
int checkpoint_file_read(
	const char *path, int64_t at, struct checkpoint_piece *ret_piece, struct err *err);
