/*
 * Explains how a run ended, what the evidence is and what to change, from its record alone.
 * The sentences are a table; this is what picks and fills them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/session/cli.h"

enum explain_part {
	EXPLAIN_HAPPENED,
	EXPLAIN_KNOWN,  /* and from what */
	EXPLAIN_CHANGE, /* the next time */
	EXPLAIN_PARTS,
};

#define EXPLAIN_SENTENCES_MAX 64 /* of each part */

/*
 * A sentence of the table.  {a.b} is what the record holds under /a/b, numbers with the unit that
 * the name's end says; a sentence with a hole in it, since the record has nothing there, is left
 * left out.
 *
 * A condition is made of clauses, with && between those of a group and || between groups:
 *
 *	error.type=EOFError|OSError	the record has one of these words there
 *	error.message~Read-only		it has a text there with one of these in it
 *	error.file			it has something there, and no 0
 *	!outcome			the opposite of a clause
 */
struct explain_text {
	const char *outcome; /* NULL: any */
	enum explain_part part;
	const char *when; /* a condition on the record; NULL: always */
	const char *text;
};

extern const struct explain_text explain_texts[]; /* ends with a row without a text */

struct explanation {
	const char *sentences[EXPLAIN_PARTS][EXPLAIN_SENTENCES_MAX]; /* safe to print */
	size_t counts[EXPLAIN_PARTS];
};

/* -1: no memory. */
int explain(struct cli *cli, const struct value *record, struct explanation *ret_explanation);
