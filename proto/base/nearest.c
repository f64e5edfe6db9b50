#include "proto/base/nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/err.h"

#define WORD_MAX  64 /* of longer words only the beginning is compared */
#define HINT_MAX  128
#define NOT_ALIKE SIZE_MAX

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int lower(char letter)
{
	return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter;
}

static bool same_letter(char a, char b)
{
	return lower(a) == lower(b);
}

/* The number of edits between two words (optimal string alignment). */
static size_t distance_between(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][WORD_MAX + 1];

	for (size_t k = 0; k <= b_len; k++)
		rows[0][k] = k;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3];

		row[0] = i;
		for (size_t k = 1; k <= b_len; k++) {
			row[k] = least(above[k], row[k - 1]) + 1;
			row[k] = least(
				row[k], above[k - 1] + (same_letter(a[i - 1], b[k - 1]) ? 0 : 1));
			if (i > 1 && k > 1 && same_letter(a[i - 1], b[k - 2]) &&
				same_letter(a[i - 2], b[k - 1]))
				row[k] = least(row[k], rows[(i + 1) % 3][k - 2] + 1);
		}
	}
	return rows[a_len % 3][b_len];
}

static size_t distance_to(const char *given, const char *known)
{
	size_t given_len = strnlen(given, WORD_MAX);
	size_t known_len = strnlen(known, WORD_MAX);
	size_t longer = given_len > known_len ? given_len : known_len;
	size_t distance;

	if (given_len > 1 && given_len < known_len && strncmp(given, known, given_len) == 0)
		return 0;
	distance = distance_between(given, given_len, known, known_len);
	return distance <= (longer + 2) / 3 && distance < longer ? distance : NOT_ALIKE;
}

size_t nearest_cost(const struct nearest *nearest, const char *known)
{
	return strnlen(nearest->word, WORD_MAX) * strnlen(known, WORD_MAX);
}

void nearest_offer(struct nearest *nearest, const char *known)
{
	size_t distance = distance_to(nearest->word, known);

	if (distance == NOT_ALIKE || (nearest->best && nearest->distance <= distance))
		return;
	nearest->best = known;
	nearest->distance = distance;
}

const char *nearest_hint(const struct nearest *nearest)
{
	static __thread char hint[HINT_MAX];

	hint[0] = '\0';
	if (nearest->best)
		cut_printf(hint, sizeof(hint), "; did you mean %s?", nearest->best);
	return hint;
}
