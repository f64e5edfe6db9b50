/* The beginning and the end of a writer. */
#pragma once

#include "proto/base/err.h"

struct store;

/*
 * Makes store->writer, locks the folder of store->path, and opens the database, which is created if
 * there is none.  Records what the last writer left unfinished.
 */
int writer_open(struct store *store, const char *folder, struct err *err);

/* Before the database is closed: moves the log into it and writes the mark. */
void writer_finish(struct store *store);

/* After the database has been closed: unlocks the folder. */
void writer_free(struct store *store);
