/* The tables: made by numbered migrations, and compared with them. */
#pragma once

#include <sqlite3.h>

#include "proto/base/err.h"

struct store;

/*
 * STORE_WRITE: brings the database to the newest schema, after a check of its pages if it is small.
 * STORE_READ: fails unless it has the newest schema.
 */
int schema_prepare(struct store *store, struct err *err);

/*
 * Compares the text of all tables, indexes, views and triggers with what the migrations make of an
 * empty database: 0 equal, 1 different, -1.
 */
int schema_compare(struct store *store, struct err *err);
