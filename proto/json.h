/*
 * Converts JSON text to values and back.  Only json.c uses jansson.
 *
 * Reading is strict (RFC 8259) and loses nothing.  Integers are exact from -2^63 to 2^64-1.  The
 * parser rejects larger ones, because a double would be another number.  Reals are doubles; the
 * parser rejects those that overflow.  It also rejects duplicate keys, NaN and Infinity, lone
 * surrogates, invalid UTF-8, a NUL in a key, and anything after the document.  It keeps U+0000
 * inside a text value.  -0 is the integer 0; -0.0 stays -0.0.
 *
 * Error messages have the line and column (in characters, from 1) and never repeat the text.
 */
#pragma once

#include <stddef.h>

#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/value.h"

/* Limits for one document.  jansson allocates about 250 bytes for the two bytes of an empty map. */
struct json_bounds {
	size_t bytes;
	size_t depth; /* at most JSON_DEPTH_MAX */
	size_t nodes; /* values and keys together */
};

#define JSON_DEPTH_MAX 128

#define JSON_BOUNDS ((struct json_bounds){ 16U << 20, 64, 1U << 18 })

/*
 * Reads one document into `arena`.  A NULL `bounds` means JSON_BOUNDS.  Fails with ERR_INVALID for
 * text that is not JSON, ERR_TOO_BIG past a bound, or ERR_MEMORY.
 */
int json_parse(struct arena *arena, const char *text, size_t len, const struct json_bounds *bounds,
	struct value **ret_value, struct err *err);

/* How to write.  Flags can be combined with |. */
enum json_style {
	JSON_WRITE_COMPACT = 0,
	JSON_WRITE_PRETTY = 1, /* two spaces a level; no newline at the end */
	/* bytes become {"base64": "..."}; without this flag they are an error */
	JSON_WRITE_BASE64 = 2,
	/* U+0000 in a key is an error: json_parse() does not read it */
	JSON_WRITE_READABLE = 4,
};

/*
 * Appends the value to `buf`.  json_parse() reads the text back to an equal value, with integers
 * and reals exact, unless a key has U+0000.  On failure it appends nothing.  ERR_INVALID: bytes,
 * NaN, Infinity, such a key, or nesting beyond JSON_DEPTH_MAX.  ERR_TOO_BIG: the buffer is full.
 * ERR_MEMORY: no memory.
 */
int json_write(struct buf *buf, const struct value *value, unsigned style, struct err *err);

/*
 * Writes only the start of the JSON: the text is truncated at the buffer's ceiling.  The time
 * depends on the bytes written, not on the size of the value.
 */
void json_write_start(struct buf *buf, const struct value *value, unsigned style);

/*
 * Writes the value as NUL-terminated text of at most `ceiling` bytes into the arena.  Fails as
 * json_write() does, and with ERR_MEMORY when the arena is full.
 */
int json_write_text(struct arena *arena, const struct value *value, unsigned style, size_t ceiling,
	struct bytes *ret_text, struct err *err);
