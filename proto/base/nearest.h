/*
 * Finds the known word most similar to a mistyped one, for "did you mean ...?".
 */
#pragma once

#include <stddef.h>

struct nearest {
	const char *word; /* the mistyped word */
	const char *best; /* NULL: no offered word is similar */
	size_t distance;  /* of the best */
};

#define NEAREST_OF(given)        \
	{                        \
		(given), NULL, 0 \
	}

/*
 * Compares one known word and remembers the nearest so far.  The nearest word is the one with the
 * fewest letters inserted, omitted, replaced or swapped.  A known word that begins with the
 * mistyped one has distance 0.  Words that differ in more than a third of their letters are not
 * similar.  `known` must stay valid while *nearest is in use.
 */
void nearest_offer(struct nearest *nearest, const char *known);

/* Returns how many pairs of letters nearest_offer() compares. */
size_t nearest_cost(const struct nearest *nearest, const char *known);

/*
 * Returns text for a message: "; did you mean BEST?", or "".  Valid until the next call on this
 * thread.
 */
const char *nearest_hint(const struct nearest *nearest);
