/*
 * Searches for words, for a walk (run_walk.h): which runs have all of these words in their
 * program, or all in their stdout, or all in their stderr.
 *
 * Words are compared as the index does: letters and digits, without case and accents. Words in
 * quotation marks, or joined by other signs (`os.path`), must be adjacent.
 *
 * The index gives the texts that have the words:
 *
 *   - few texts: runs are found from them, newest first;
 *   - many texts: the walk takes runs from elsewhere and tests each; a match is probably near;
 *   - many texts and no match near: all texts are read after all.  Unless there are very many, the
 *     remaining runs are found from them.
 *
 * Runs that have not settled are not in the index; their texts are searched one by one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

struct store;

/* A text with the newest of its runs that was not returned yet. */
struct search_spot {
	int64_t key;
	int64_t text;
};

struct search {
	struct store *store;
	char *match;      /* the query in the syntax of FTS5 */
	uint8_t *holding; /* a bit for each text: whether it has the words */
	uint8_t *known;   /* a bit for each text: whether that is known; NULL: all are known */
	int64_t bit_count;
	size_t asked;   /* texts that were tested one by one */
	int64_t *texts; /* those that have the words, unless there are many */
	size_t text_count, text_size;
	bool many;
	struct search_spot *heap;
	size_t heap_count;
	bool heaped;
	int64_t *unsettled; /* unsettled runs that have the words, newest first */
	size_t unsettled_count;
	size_t unsettled_at;
};

/*
 * Limits: few texts, texts that are tested one by one, texts that can lead. Variables only for
 * tests.
 */
extern size_t search_few;
extern size_t search_asked_most;
extern size_t search_lead_most;

/* Finds the texts. Call search_done() on every path. */
int search_open(struct search *search, struct store *store, const char *question, struct err *err);
void search_done(struct search *search);

/* Whether runs can be found from the texts. This may become true after some search_holds(). */
bool search_can_lead(const struct search *search);

/* The next older indexed run below `high` (the same in each call): 1 with its key, 0, -1. */
int search_next(struct search *search, int64_t high, int64_t *ret_key, struct err *err);

/* Whether an indexed run has the words: 1, 0, -1. */
int search_holds(struct search *search, int64_t key, struct err *err);

/* The next older unsettled run from `low` up to, not including, `high`: 1 with its key, 0. */
int search_next_unsettled(struct search *search, int64_t low, int64_t high, int64_t *ret_key);
