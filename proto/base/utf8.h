/* Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool utf8_is_valid(const char *bytes, size_t len);

/*
 * Returns the length of the longest prefix that does not end inside a character.  It is at most 3
 * bytes shorter than `len`.
 */
size_t utf8_whole_prefix(const char *bytes, size_t len);

/* Returns how many bytes at the front, at most 3, continue a character that began earlier. */
size_t utf8_skip_partial(const char *bytes, size_t len);

/* Returns the number of code points in a valid text. */
size_t utf8_count(const char *bytes, size_t len);

/*
 * Returns the code point at *at and advances *at past it.  Returns -1, and advances by 1, when the
 * bytes there are not UTF-8.
 */
int32_t utf8_next(const char *bytes, size_t len, size_t *at);
