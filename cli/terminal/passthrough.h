/*
 * A program's stdout or stderr on its way to ours: byte for byte into a pipe or a file, and in
 * safe form onto a terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/safe.h"
#include "cli/terminal/output.h"

struct passthrough {
	const struct output *out;
	bool escape; /* in safe form */
	struct safe_stream safe;
	uint64_t passed; /* bytes so far: the offset of the next */
	bool mid_line;   /* the last byte was no newline */
};

/* Onto `out`, escaped when that is a terminal.  Keeps `out`; nothing to give back. */
void passthrough_init(struct passthrough *stream, const struct output *out);

void passthrough_write(struct passthrough *stream, const char *bytes, size_t len);

/* Writes the part of the stream at `offset`, without bytes that were written before. */
void passthrough_write_at(
	struct passthrough *stream, uint64_t offset, const char *bytes, size_t len);

/*
 * Writes the bytes that were held back.  On a terminal the cursor is then at the beginning of a
 * line.
 */
void passthrough_end(struct passthrough *stream);
