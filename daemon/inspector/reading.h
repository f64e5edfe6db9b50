/*
 * Reads along the text of a query's pattern, such as tree-sitter has taken it: blanks, comments,
 * names, texts in quotes.  A part of roots.c and shape.c.
 */
#pragma once

#include <stddef.h>

struct reading {
	const char *text;
	size_t len;
	size_t at;
};

/* NUL behind the end: a pattern has none. */
char reading_here(const struct reading *reading);

/* Blanks and comments. */
void reading_skip_blanks(struct reading *reading);

/* Behind the text in quotes at hand. */
void reading_skip_quotes(struct reading *reading);

/* Behind the bracket that closes the one before the place at hand. */
void reading_skip_inside(struct reading *reading);

/* The length of the name at hand. */
size_t reading_name_len(const struct reading *reading);

/* The name at hand, skipped; its length comes back. */
const char *reading_name(struct reading *reading, size_t *ret_len);
