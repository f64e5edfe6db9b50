/*
 * Makes text of a program safe for a terminal: it can be read and do nothing else.
 *
 * Every control character, C1 code, bidirectional override, invisible tag and byte that is not
 * UTF-8 becomes a visible escape: "\x1b" for a byte, "\u{202e}" for a character.  A backslash
 * stays a backslash, so the result is for eyes; programs take the bytes from a pipe or --json.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/buf.h"

enum safe_form {
	SAFE_BLOCK, /* newlines and tabs pass */
	SAFE_LINE,  /* one line: they are written as \n and \t */
};

/* Appends `len` bytes in their safe form.  -1 when `out` is full; it then holds a prefix. */
int safe_append(struct buf *out, enum safe_form form, const char *bytes, size_t len);

/* Bytes that come in pieces: a character cut by the border of two pieces stays whole. */
struct safe_stream {
	char held[4];
	size_t held_len;
};

/* Appends complete characters; keeps at most three bytes of an incomplete one. */
int safe_feed(struct safe_stream *stream, struct buf *out, const char *bytes, size_t len);

/* Appends the incomplete rest as plain bytes. */
int safe_flush(struct safe_stream *stream, struct buf *out);

/*
 * JSON text as our writer made it, with the characters that a terminal or a reader could be
 * fooled by written as \uXXXX.  It stays the same document: such characters stand only in strings.
 */
int safe_json(struct buf *out, const char *json, size_t len);

/* Columns that safe text fills on a terminal: wide characters count 2, combining marks 0. */
size_t safe_columns(const char *text, size_t len);

/* The longest prefix of safe text that fits into `columns`, in bytes. */
size_t safe_fit(const char *text, size_t len, size_t columns);
