/*
 * Searches for any of many short texts at once: encodings of secrets, and the words of patterns. A table of
  * two bytes excludes most places, so a text without matches costs about a nanosecond per byte.
 *
 * Read-only once it is made; any thread may search in it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"

#define MATCH_LEN_MIN 2U

struct match_text {
	const char *bytes;
	size_t len;    /* at least MATCH_LEN_MIN */
	unsigned mark; /* the maker's */
	bool any_case; /* of ASCII letters */
	uint32_t next; /* in its chain; needles.c's own */
};

struct multi_match {
	struct match_text *items;
	size_t count;
	uint64_t begins[1024]; /* a bit for each pair of first bytes */
	uint32_t chains[1024]; /* the first needle of each, from 1; longer ones first */
};

/* Keeps `items`, which lie in the arena like what it gives.  NULL: no memory. */
struct multi_match *multi_match_new(struct arena *arena, struct match_text *items, size_t count);

/*
 * The longest needle at the first place from *at on; NULL when there is none.  Sets *at.  Each comparison
  * takes one from *looks; when none is left, it returns NULL, and *at is where it stopped.
 */
const struct match_text *multi_match_find(const struct multi_match *needles, const char *text,
	size_t len, size_t *at, uint64_t *looks);

/* Another one that begins at the same place, `text`, after one that was found there; or NULL. */
const struct match_text *multi_match_next_here(const struct multi_match *needles,
	const struct match_text *found, const char *text, size_t len, uint64_t *looks);

/* Whether the needle's first `count` bytes stand there. */
bool match_text_begins(const struct match_text *needle, const char *text, size_t count);

/* The same of its last. */
bool match_text_ends(const struct match_text *needle, const char *text, size_t count);
