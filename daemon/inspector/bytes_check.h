/*
 * Checks a program's bytes before anything parses them.
 *
 * The inspector's parser and the interpreter must read the same text.  They differ on NUL bytes,
 * lone carriage returns (a line end for Python, part of a comment for tree-sitter), bytes that are
 * not UTF-8, and a declaration of another encoding.  Deep brackets and long texts cost too much.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/inspector/findings.h"

#define BYTES_DEPTH_MAX 200U /* open brackets; CPython has the same limit */

/* False if the program must not be parsed.  Adds each kind of finding once, at its first place. */
bool bytes_check(const char *code, size_t len, struct findings *findings);

/*
 * Whether the text has a line end outside of brackets, strings and comments and without a
 * backslash.  Then it is more than one statement, whatever the tree says.
 */
bool bytes_join_lines(const char *code, size_t len);
