/*
 * Writes text of our tables as mdoc(7), the language of manual pages.  Errors of the stream stay in
 * it until the caller asks ferror().
 */
#pragma once

#include <stdio.h>

/*
 * Writes `text` as prose: nothing in it is a request of roff, words between backquotes are bold,
 * an empty line begins a paragraph, and each sentence begins a line.
 */
void roff_prose(FILE *out, const char *text);

/* Writes `text` as it is, for a line between .Bd -literal and .Ed. */
void roff_literal(FILE *out, const char *text);

/* Writes one argument of a macro, in quotes. */
void roff_argument(FILE *out, const char *text);
