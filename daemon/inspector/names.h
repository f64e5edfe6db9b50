/*
 * Names as the language compares them, not as they are spelt.
 *
 * Python compares identifiers after NFKC normalisation, so `ｅｖａｌ` is eval; in JavaScript
 * `\u0065val` is.  A path is a sequence of names joined by dots.  White space, comments and line
 * continuations between its parts do not count.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NAME_BYTES_MAX 255

struct name {
	size_t len;
	bool cut; /* longer than fits: it equals no word, but its beginning still counts */
	char text[NAME_BYTES_MAX + 1];
};

/* How many bytes at the front belong to a name; JavaScript's \u escapes do. */
size_t name_span(const char *text, size_t len);

/* Reads one name and decodes its escapes.  Bytes that are not UTF-8 are kept as they are. */
void name_read(const char *text, size_t len, struct name *ret_name);

/*
 * Reads a path.  False if the text is something else, such as a call; *ret_name is undefined then.
 */
bool path_read(const char *text, size_t len, struct name *ret_name);

/* Appends bytes as they are. */
void path_append(struct name *name, const char *text, size_t len);

/* Appends "." and `part`, or `part` alone to an empty path. */
void path_join(struct name *path, const char *part, size_t len);

/* Where the last part begins. */
size_t path_tail(const struct name *path);

/* How long the first part is. */
size_t path_head_len(const struct name *path);
