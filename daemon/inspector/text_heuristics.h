/*
 * Looks into string literals: whether one holds a URL, packed code or data, or a format template
 * that reads attributes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/inspector/words.h"

/*
 * Whether the text has a URL whose host is (or is not) in the list.  `*.example.org` stands for all
 * hosts of that domain.  Returns the place of the URL as [*ret_start, *ret_end).
 */
bool text_has_url(const char *text, size_t len, const struct words *hosts, bool in_list,
	size_t *ret_start, size_t *ret_end);

/*
 * Whether at least `least` bytes in a row look like packed code or data: base64, hexadecimal, or \x
 * escapes.  Digits alone, one repeated letter, or the letters of a genome do not count.
 */
bool text_is_opaque(const char *text, size_t len, uint32_t least);

/*
 * Whether a replacement field in this template reads an attribute whose name begins with an
 * underscore and is not among `allowed`: "{0.__class__}".format(x) has no code for a parser to see.
 * `text` is source text with its quotes and joins, so a name in pieces is not in the list.
 */
bool template_reaches(const char *text, size_t len, const struct words *allowed);
