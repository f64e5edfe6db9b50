/*
 * A list of a policy as a hash set.
 *
 * A word stands for itself; `a.b.*` stands for a.b and every path below it; `*.a` for every path
 * of several names that ends in a, and `*._` for one whose last name begins with one underscore.
 * The set borrows the daemon's words for its life.  Only lookups are hostile, and the cost of a
 * lookup is linear in the length of its name.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/inspector/names.h"

struct words {
	const char **slots; /* open addressing; NULL is empty */
	uint32_t mask;
	bool has_stars; /* any word with one */
	bool has_trees; /* a.b.* */
	bool has_tails; /* *.a */
};

/* -1: no memory.  Nothing is kept then. */
int words_init(struct words *words, const char *const *list, uint32_t count);
void words_done(struct words *words);

/* For words_have_hashed(), if one word is looked up in several lists. */
uint32_t words_hash(const char *text, size_t len);
bool words_have_hashed(const struct words *words, const char *text, size_t len, uint32_t hash);

/* Whether exactly this word is in the list. */
bool words_have(const struct words *words, const char *text, size_t len);

/* Whether the path, or an entry with a star that matches it, is in the list. */
bool words_have_path(const struct words *words, const struct name *path);
