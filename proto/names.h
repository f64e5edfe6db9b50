/*
 * Checks whether a name from outside can be shown, stored or used as a file name.  All functions
 * take valid UTF-8.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NAME_PART_MAX 255 /* bytes of one file name */

/* Has no control characters, and nothing that reorders or hides text on a terminal. */
bool name_is_printable(const char *text, size_t len);

/* Is a bare file name, which could be one part of a clean path. */
bool name_is_file(const char *text, size_t len);

/* Is relative, and no part is empty, ".", ".." or longer than NAME_PART_MAX. */
bool name_is_path(const char *text, size_t len);

#define PACKAGE_NAME_MAX 31

/*
 * Is the name of a package set: up to PACKAGE_NAME_MAX small letters, digits, ".", "_" and "-", and
 * first a letter or digit.
 */
bool name_is_package(const char *text);

/* Is [A-Za-z_][A-Za-z0-9_]*, at most 128 bytes: the name of a shell variable. */
bool name_is_variable(const char *text, size_t len);
