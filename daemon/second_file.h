/*
 * The second file: one checkpoint a line, appended and never changed.  Nothing here knows what is in a
 * line.  All may wait for a disk.
 */
#pragma once

#include <stddef.h>

#include "proto/base/err.h"

/* Appends the line and its end, behind a whole line, and waits until it is on the disk. */
int second_file_append(const char *path, const char *line, struct err *err);

/* All of it, given (free); an empty text when there is no such file. */
int second_file_read(
	const char *path, size_t most, char **ret_text, size_t *ret_len, struct err *err);
