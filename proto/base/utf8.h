/* Is this text?  Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool utf8_is_valid(const char *bytes, size_t len);

/* The longest prefix of `len` bytes that does not end inside a character.  At most 3 bytes less. */
size_t utf8_whole_prefix(const char *bytes, size_t len);

/* How many bytes at the front belong to a character begun before.  At most 3. */
size_t utf8_skip_partial(const char *bytes, size_t len);

/* Code points in a valid text. */
size_t utf8_count(const char *bytes, size_t len);

/* The next code point at *at, which moves on; -1 when the bytes there are not UTF-8 (moves 1). */
int32_t utf8_next(const char *bytes, size_t len, size_t *at);
