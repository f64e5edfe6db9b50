/*
 * A walk over the runs that a filter lets through, newest first.
 *
 * Settled runs are found by one part of the filter that has an index (a facet, a label, words), the one
 * that lets through the fewest, and the others are looked at in the row; runs that have not settled
 * are few and all looked at.  Both come in order and are merged.  A walk sees one moment of the store.
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
	WALK_ROWS,      /* a statement gives them in order */
	WALK_TESTED,    /* the same, and each is asked for its words; may turn into the next */
	WALK_WORDS,     /* the search gives keys, the statement the row of each */
	WALK_UNSETTLED, /* the same for runs that have not settled */
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
	int64_t words_high; /* below which words lead */
	bool searching;
	bool may_turn; /* from WALK_TESTED to WALK_WORDS, once words can lead */
	struct search search;
	struct walk_source sources[2];
	size_t source_count;
	struct walk_source *last; /* the one that gave the row */
	bool began;
	bool opened;
};

/*
 * Starts a walk; `columns` of the table `runs AS r` come behind the key.  The filter and its
 * strings are borrowed until walk_close(), which is called on every path.
 */
int walk_open(struct walk *walk, struct store *store, const struct store_filter *filter,
	const char *columns, struct err *err);

/* The next row, readable until the following call.  1, with *ret_row; 0 when there is none; -1. */
int walk_next(struct walk *walk, sqlite3_stmt **ret_row, struct err *err);

void walk_close(struct walk *walk);
