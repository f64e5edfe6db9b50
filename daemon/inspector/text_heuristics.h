/*
 * What a text within a program may be about: an address in the network, or something that nobody
 * can read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/inspector/words.h"

/*
 * Whether there is a URL in it whose host is, or is not, in the list; `*.example.org` stands for
 * all hosts of that domain.  The URL's place comes back as [*ret_start, *ret_end).
 */
bool text_has_url(const char *text, size_t len, const struct words *hosts, bool in_list,
	size_t *ret_start, size_t *ret_end);

/*
 * Whether at least `least` bytes in a row look like code or data that was packed: base64,
 * hexadecimal, or \x escapes.  Digits alone, one letter again and again, or the letters of a genome
 * do not.
 */
bool text_is_opaque(const char *text, size_t len, uint32_t least);
