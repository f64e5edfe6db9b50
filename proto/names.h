/*
 * Names that come from outside: is this one we can show, store and use as a file name?
 * All of them take valid UTF-8.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NAME_PART_MAX 255 /* bytes of one file name */

/* No control characters, and nothing that reorders or hides text on a terminal. */
bool name_is_printable(const char *text, size_t len);

/* A bare file name: one part of a clean path. */
bool name_is_file(const char *text, size_t len);

/* Relative, and no part is empty, ".", ".." or longer than NAME_PART_MAX. */
bool name_is_path(const char *text, size_t len);

/* [A-Za-z_][A-Za-z0-9_]*, at most 128 bytes: what a shell would call a variable. */
bool name_is_variable(const char *text, size_t len);
