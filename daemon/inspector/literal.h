/*
 * The value of a constant string expression: 'con' + "structor" is constructor.
 *
 * It reads quoted strings with the escapes and prefixes of Python and JavaScript.  They may be
 * joined by +, follow each other, or be in parentheses.  A part that is not constant becomes a
 * hole, which matches anything: `con${x}` is "con" and a hole.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/inspector/names.h"
#include "daemon/inspector/words.h"

#define LITERAL_HOLE '\x01'

/* Never fails.  A text that is too long is cut, and then equals no list entry. */
void literal_read(const char *text, size_t len, struct name *ret_literal);

/* Whether it has a hole. */
bool literal_is_open(const struct name *literal);

/*
 * Whether it is in the list, or could be if its holes were filled.  A list entry that ends in *
 * matches every text with that beginning.  Returns false if only signs and single letters are
 * known: x[a + "_" + b] could be anything.
 */
bool literal_is_in(const struct name *literal, const struct words *words);
