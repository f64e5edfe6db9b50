/*
 * Columns of a row as entries of a map that is sent as an answer.  NULL becomes nil.
 */
#pragma once

#include <sqlite3.h>

#include "proto/fill.h"

void fetch_text(struct fill *fill, const char *key, sqlite3_stmt *row, int column);
void fetch_int(struct fill *fill, const char *key, sqlite3_stmt *row, int column);
void fetch_bool(struct fill *fill, const char *key, sqlite3_stmt *row, int column);
/* 32 bytes as "sha256:…". */
void fetch_hash(struct fill *fill, const char *key, sqlite3_stmt *row, int column);

/*
 * So many columns, each under its name in the statement and as its type in the table says: INTEGER,
 * BLOB (32 bytes, "sha256:…") or TEXT.
 */
void fetch_columns(struct fill *fill, sqlite3_stmt *row, int from, int count);

/* The outcome with `state` and `ok`, which follow from it and from whether it is parked. */
void fetch_outcome(struct fill *fill, sqlite3_stmt *row, int column, int parked_column);

/* `cached`, and whose result it is. */
void fetch_cached(struct fill *fill, sqlite3_stmt *row, int column);
