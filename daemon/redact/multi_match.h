/*
 * Looks for any of many short texts at once: what a secret may look like, and the words that
 * patterns begin with.  One look at two bytes tells of most places that nothing begins there, so
 * that a text without any costs about a nanosecond a byte.
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
 * The longest needle at the first place from *at on; NULL when there is none.  Sets *at.  Each needle
 * that is held against the text takes one from *looks; when none is left, NULL, and *at is how far it
 * came.
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
