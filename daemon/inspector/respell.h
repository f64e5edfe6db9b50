/*
 * Respells constructs that the shell reads and the grammar of bash does not.
 *
 * The copy has the length of the text, so every place in its tree is a place in the text.  Rules
 * read the text itself.  A change must not matter to the shell or to any rule:
 *
 *	3<>f          as 3>>f: a file is opened, for writing too
 *	m[a b]=c      as m[a_b]=c, where a command begins
 *	${m[a b]}     as ${m[a_b]}
 *
 * A text with a here-document whose delimiter is more than a name is not changed, since a changed
 * line could end the here-document elsewhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Changes `copy`, a copy of the text, in place.  Returns whether anything was changed. */
bool respell_bash(char *copy, size_t len);
