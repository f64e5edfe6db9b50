/*
 * The value of a constant string expression: 'con' + "structor" is constructor.
 *
 * The reader knows quoted strings with the escapes and prefixes of Python and JavaScript.  They may
 * be joined by +, stand side by side, or be in parentheses.  A part that is not constant becomes a
 * hole, which may stand for anything: `con${x}` is "con" and a hole.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/inspector/names.h"
#include "daemon/inspector/words.h"

#define LITERAL_HOLE '\x01'

/* Never fails.  A text that is too long is cut, and equals no word. */
void literal_read(const char *text, size_t len, struct name *ret_literal);

/* Whether it has a hole. */
bool literal_is_open(const struct name *literal);

/*
 * Whether it is a word of the list, or could be one if its holes were filled.  A word that ends
 * in * stands for every word with that beginning.  Returns false if only signs and single letters
 * are known: x[a + "_" + b] could be anything.
 */
bool literal_is_in(const struct name *literal, const struct words *words);
