/* Finds the language of a program from its file's name and its first line. */
#pragma once

#include <stddef.h>

#include "proto/base/err.h"

/* A program that was read: where it came from, and how it begins. */
struct language_hints {
	const char *path; /* of a file; NULL: it was piped, or stood on the command line */
	const char *code;
	size_t code_len;
};

/*
 * By the file's suffix, else by the interpreter that its first line names ("#!/bin/bash"); a
 * program without a name and without such a line is python.  NULL when neither is known or the
 * two contradict each other; the message says what to type.
 */
const char *language_guess(const struct language_hints *hints, struct err *err);

/*
 * -1 for a name that no language can have, such as "Python", with the one that is most likely
 * meant.
 */
int language_check(const char *name, struct err *err);
