/*
 * Searches for any of many short texts at once: encodings of secrets, and the words of patterns.  A
 * table of first byte pairs excludes most places, so a text without matches costs about a
 * nanosecond per byte.
 *
 * Read-only once it is made; any thread may search with it.
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
	unsigned mark; /* set and used by the caller */
	bool any_case; /* of ASCII letters */
	uint32_t next; /* in its chain; for multi_match.c only */
};

struct multi_match {
	struct match_text *items;
	size_t count;
	uint64_t begins[1024]; /* a bit for each first pair of bytes */
	uint32_t chains[1024]; /* the first needle of each, from 1; longer ones first */
};

/* Keeps `items`, which must lie in the arena, as the result does.  NULL: no memory. */
struct multi_match *multi_match_new(struct arena *arena, struct match_text *items, size_t count);

/*
 * Finds the longest needle at the first place from *at on, and sets *at.  NULL when there is none.
 * Each comparison takes one from *looks.  When none is left, it returns NULL, and *at is where the
 * search stopped.
 */
const struct match_text *multi_match_find(const struct multi_match *needles, const char *text,
	size_t len, size_t *at, uint64_t *looks);

/* The next needle that begins at `text`, after `found` was found there; or NULL. */
const struct match_text *multi_match_next_here(const struct multi_match *needles,
	const struct match_text *found, const char *text, size_t len, uint64_t *looks);

/* Whether the text begins with the needle's first `count` bytes. */
bool match_text_begins(const struct match_text *needle, const char *text, size_t count);

/* The same for the needle's last `count` bytes. */
bool match_text_ends(const struct match_text *needle, const char *text, size_t count);
