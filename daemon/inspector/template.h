/*
 * Format templates that reach for attributes: "{0.__class__}".format(x) runs no code that a
 * parser would see.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/inspector/words.h"

/*
 * Does a replacement field in this source text of a template reach, by a dot, for a name that
 * begins with an underscore and is not among `allowed`?  The text is as it is written, quotes
 * and joins included: a name that is put together from pieces is not in the list either.
 */
bool template_reaches(const char *text, size_t len, const struct words *allowed);
