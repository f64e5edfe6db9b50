/*
 * What the grammar of bash cannot read although the shell can, in a spelling that it reads.
 *
 * The copy has the length of the text, so every place in its tree is a place in the text; rules look at
 * the text itself.  Only signs are changed that mean the same to the shell and to every rule:
 *
 *	3<>f          as 3>>f: a file is opened, for writing too
 *	m[a b]=c      as m[a_b]=c, where a command begins
 *	${m[a b]}     as ${m[a_b]}
 *
 * A text with a here-document whose delimiter is more than a name stays as it is: a changed line could
 * end it elsewhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether anything was changed in `copy`, which begins as the text. */
bool respell_bash(char *copy, size_t len);
