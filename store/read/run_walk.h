/*
 * Walks over the runs that match a filter, newest first.
 *
 * Indexed runs are found through one condition with an index (a facet, a label, words): the one
 * that matches the fewest runs. The other conditions are tested on each row. Unsettled runs are
 * few, and all are tested.  Both come in order and are merged. A walk sees one snapshot of the
 * store.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "proto/base/err.h"
#include "store/read/word_search.h"
#include "store/store.h"

/* Where rows come from: column 0 is the key. */
enum walk_way {
	WALK_ROWS,   /* a statement gives them in order */
	WALK_TESTED, /* the same, and each run is tested for the words; may change to WALK_WORDS */
	WALK_WORDS,  /* the search gives keys, and the statement the row of each */
	WALK_UNSETTLED, /* the same for unsettled runs */
};

struct walk_source {
	enum walk_way way;
	sqlite3_stmt *stmt;
	bool on_row;
	int64_t key;
};

struct walk {
	struct store *store;
	const struct store_filter *filter; /* the caller's */
	const char *columns;
	int64_t low, high;  /* the span of keys: from low up to, not including, high */
	int64_t words_high; /* the search gives keys below this */
	bool searching;
	bool may_turn; /* from WALK_TESTED to WALK_WORDS, when the search has few enough texts */
	struct search search;
	struct walk_source sources[2];
	size_t source_count;
	struct walk_source *last; /* gave the last row */
	bool began;
	bool opened;
};

/*
 * Starts a walk; `columns` of the table `runs AS r` follow the key.  The filter and its
 * strings are borrowed until walk_close(), which is called on every path.
 */
int walk_open(struct walk *walk, struct store *store, const struct store_filter *filter,
	const char *columns, struct err *err);

/* The next row, readable until the following call.  1, with *ret_row; 0 when there is none; -1. */
int walk_next(struct walk *walk, sqlite3_stmt **ret_row, struct err *err);

void walk_close(struct walk *walk);
