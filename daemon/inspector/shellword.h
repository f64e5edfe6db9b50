/*
 * A word of the shell without its quotes: e'v'al, \eval and "eval" are eval.
 *
 * A word is open if the shell would expand it (a variable, a substitution, a pattern, braces, a
 * tilde), if it hides letters in $'...', or if a line continuation joins it with the next word.
 * LITERAL_HOLE then stands for the unknown part.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/inspector/literal.h"

/* `behind` is what follows the word, up to a NUL.  False when the word is open. */
bool shellword_read(const char *text, size_t len, const char *behind, struct name *ret_word);

/* Whether every shell reads the delimiter of a here-document in the same way. */
bool shellword_is_plain_delimiter(const char *text, size_t len);

/* Whether a substitution in backticks hides another, or escapes what it would expand. */
bool shellword_hides_backtick(const char *text, size_t len);

/* Whether the shell reads this as $((a sum)), in which nothing is substituted. */
bool shellword_is_sum(const char *text, size_t len);

/* Whether a text, used as a number or a name, would run a substitution in a subscript. */
bool shellword_hides_subscript(const char *text, size_t len);
