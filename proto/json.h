/*
 * JSON text <-> value.  The only file that knows jansson is json.c.
 *
 * Reading is strict (RFC 8259) and loses nothing: integers are kept exactly from -2^63 to
 * 2^64-1 and refused beyond, since a double in their place would be another number; reals are
 * doubles, refused where they overflow.  Refused too: duplicate keys, NaN and Infinity, lone
 * surrogates, invalid UTF-8, a NUL in a key, anything behind the document.  U+0000 inside a text
 * value is kept.  -0 is the integer 0; -0.0 stays -0.0.
 *
 * Messages name line and column (in characters, from 1) and never repeat the text.
 */
#pragma once

#include <stddef.h>

#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/value.h"

/* What one document may cost: jansson takes some 250 bytes for the two bytes of an empty map. */
struct json_bounds {
	size_t bytes;
	size_t depth; /* at most JSON_DEPTH_MAX */
	size_t nodes; /* values and keys together */
};

#define JSON_DEPTH_MAX 128

#define JSON_BOUNDS ((struct json_bounds){ 16U << 20, 64, 1U << 18 })

/*
 * Reads one document into `arena`.  `bounds` may be NULL for JSON_BOUNDS.  Fails with ERR_INVALID
 * for what is not JSON, ERR_TOO_BIG past a bound, ERR_MEMORY.
 */
int json_parse(struct arena *arena, const char *text, size_t len, const struct json_bounds *bounds,
	struct value **ret_value, struct err *err);

/* How to write; may be joined with |. */
enum json_style {
	JSON_WRITE_COMPACT = 0,
	JSON_WRITE_PRETTY = 1, /* two spaces a level; no newline at the end */
	JSON_WRITE_BASE64 = 2, /* bytes become {"base64": "..."}; without it they are refused */
};

/*
 * Appends the value to `buf`.  What it writes json_parse() reads back to an equal value, integers
 * and reals exactly.  Fails, with nothing appended, with ERR_INVALID for bytes, NaN and Infinity
 * and for nesting beyond JSON_DEPTH_MAX, with ERR_TOO_BIG when the buffer is full, with ERR_MEMORY.
 */
int json_write(struct buf *buf, const struct value *value, unsigned style, struct err *err);

/*
 * json_write() for who wants only the start: what does not fit is cut off where the buffer ends.  Takes
 * the time of what is written, however large the value is.
 */
void json_write_start(struct buf *buf, const struct value *value, unsigned style);

/*
 * The value as NUL-terminated text of at most `ceiling` bytes, in the arena.  As json_write(), and
 * ERR_MEMORY when the arena is full.
 */
int json_write_text(struct arena *arena, const struct value *value, unsigned style, size_t ceiling,
	struct bytes *ret_text, struct err *err);
