/* Where a cell ends that somebody types, line by line. */
#pragma once

#include <stdbool.h>

#include "proto/value.h"

/* Languages whose cells are read differently; every other is taken for Python. */
enum cell_language {
	CELL_PYTHON,
	CELL_JAVASCRIPT,
	CELL_BASH,
};

/* By the name of a runtime, or a part of it: a host may have another one, with a name of its own. */
enum cell_language cell_language_of(const char *runtime);

/*
 * Whether these lines of Python can run: no bracket and no text in three quotes is open, no line goes
 * on with a backslash, and a block (a line that ends with ":", or begins with "@") has an empty line
 * behind it.  The interpreter judges everything else, and at once what has a text without its end.
 *
 * Of JavaScript: no bracket, no text in backquotes and no comment is open.  Of bash: shell_text.h.
 */
bool cell_text_is_complete(struct bytes text, enum cell_language language);
