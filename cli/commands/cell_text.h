/* Where a cell ends that somebody types, line by line. */
#pragma once

#include <stdbool.h>

#include "proto/value.h"

/*
 * Whether these lines of Python can run: no bracket and no text in three quotes is open, no line goes
 * on with a backslash, and a block (a line that ends with ":", or begins with "@") has an empty line
 * behind it.  The interpreter judges everything else.
 *
 * Of JavaScript: no bracket, no text in backquotes and no comment is open.
 */
bool cell_text_is_complete(struct bytes text, bool is_javascript);
