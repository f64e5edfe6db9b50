/*
 * "Did you mean ...?": the known word that a mistyped one was most likely meant to be.
 */
#pragma once

#include <stddef.h>

struct nearest {
	const char *word; /* the word that was given */
	const char *best; /* NULL: none of those offered is like it */
	size_t distance;  /* of the best */
};

#define NEAREST_OF(given)        \
	{                        \
		(given), NULL, 0 \
	}

/*
 * Looks at one known word.  It keeps the one with the fewest letters inserted, left out, replaced or
 * swapped; a word that begins with what was given is nearer than any other.  Words that differ in
 * more than a third of their letters are not alike.  Keeps `known`.
 */
void nearest_offer(struct nearest *nearest, const char *known);

/* For a message: "; did you mean BEST?", or "".  Valid until the next call on this thread. */
const char *nearest_hint(const struct nearest *nearest);
