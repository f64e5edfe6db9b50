/*
 * What the text of a constant expression says: 'con' + "structor" is constructor.
 *
 * Read are strings in quotes of any kind, with the escapes and prefixes of Python and JavaScript,
 * joined by +, by standing side by side, or in parentheses.  What is not constant leaves a hole,
 * for which anything may stand: `con${x}` is "con", then a hole.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/inspector/names.h"
#include "daemon/inspector/words.h"

#define LITERAL_HOLE '\x01'

/* Always reads something; a text that is too long is cut and equals no word. */
void literal_read(const char *text, size_t len, struct name *ret_literal);

/* Whether there is a hole in it. */
bool literal_is_open(const struct name *literal);

/*
 * Whether it is a word of the list, or with its holes filled might be one.  A word that ends in *
 * stands for all that begin so.  Where only signs and single letters are known nothing is said:
 * x[a + "_" + b] might be anything.
 */
bool literal_is_in(const struct name *literal, const struct words *words);
