/*
 * Format templates that read attributes: "{0.__class__}".format(x) has no code for a parser to see.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/inspector/words.h"

/*
 * Whether a replacement field in this template reads an attribute whose name begins with an
 * underscore and is not among `allowed`.  `text` is source text with its quotes and joins, so a name
 * in pieces is not in the list.
 */
bool template_reaches(const char *text, size_t len, const struct words *allowed);
