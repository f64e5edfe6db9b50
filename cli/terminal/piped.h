/*
 * Reads cectl's own stdin for a program whose options name no other.
 *
 * A file, a pipe or a socket is read to its end.  A terminal and a device such as /dev/null are
 * not read.  A pipe that stays open without data must not block cectl without end: after a
 * silence cectl gives up, and its message says what to type.
 */
#pragma once

#include <stdbool.h>

#include "cli/base/source.h"
#include "cli/terminal/output.h"

#define PIPED_NOTE_MS    2000  /* of silence: then it reports what it waits for */
#define PIPED_SILENCE_MS 10000 /* of silence: it gives up */

/* Whether `fd` is something that is read. */
bool piped_is_there(int fd);

/* A folder cannot be read, and `< FOLDER` is a mistake that must be reported. */
bool piped_is_folder(int fd);

/* Reads `fd` to its end; gives up after `silence_ms` in which neither a byte nor the end came. */
int piped_read(int fd, int silence_ms, const struct output *notes, struct arena *arena,
	struct source *ret_source, struct err *err);
