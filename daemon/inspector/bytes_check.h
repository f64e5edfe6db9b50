/*
 * Looks at a program's bytes before anything parses them.
 *
 * The parser of the inspector and that of the interpreter must read the same text.  They do not
 * when it holds NUL bytes, lone carriage returns (a line end for Python, part of a comment for
 * tree-sitter), bytes that are not UTF-8, or a declaration of another encoding.  Deep brackets
 * and great length are refused for what they cost.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/inspector/findings.h"

#define BYTES_DEPTH_MAX 200U /* open brackets; CPython's own ceiling */

/* False when the program must not be parsed.  Each kind of finding is added once, at its first place. */
bool bytes_check(const char *code, size_t len, struct findings *findings);

/*
 * Does a line end stand in this text outside of brackets, strings and comments, and without a
 * backslash?  Then it is more than one statement, whatever a tree says.
 */
bool bytes_join_lines(const char *code, size_t len);
