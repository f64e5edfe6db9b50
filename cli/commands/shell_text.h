/* Where a cell of bash ends that somebody types, line by line. */
#pragma once

#include <stdbool.h>

#include "proto/value.h"

/*
 * Whether no quote, bracket, here-document and no `if`, `case`, `for`, `while` or `until` is open, and no
 * line ends with a backslash, `|` or `&&`.  Bash judges everything else.
 */
bool shell_text_is_complete(struct bytes text);
