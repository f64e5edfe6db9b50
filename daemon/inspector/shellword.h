/*
 * What a word of the shell says once its quotes are gone: e'v'al, \eval and "eval" are eval.
 *
 * A word that the shell would first expand (a variable, a substitution, a pattern, braces, a
 * tilde), that hides letters in $'...', or that a line continuation joins with what follows, is
 * open: LITERAL_HOLE stands for what cannot be told.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/inspector/literal.h"

/* `behind` is what follows the word, up to a NUL.  False when the word is open. */
bool shellword_read(const char *text, size_t len, const char *behind, struct name *ret_word);

/* Whether the delimiter of a here-document is one that every reader understands the same way. */
bool shellword_is_plain_delimiter(const char *text, size_t len);

/* Whether a substitution in backticks hides another, or escapes what it would expand. */
bool shellword_hides_backtick(const char *text, size_t len);

/* Whether the shell reads this as $((a sum)), in which nothing is substituted. */
bool shellword_is_sum(const char *text, size_t len);

/* Whether a text has a substitution where, used as a number or a name, it would be a subscript. */
bool shellword_hides_subscript(const char *text, size_t len);
