/*
 * Read-only connections to the store, for threads that answer queries.  One thread at a time uses a
 * connection.  A few unused connections are kept open.
 */
#pragma once

#include "proto/base/err.h"
#include "store/store.h"

struct readers;

struct readers *readers_new(const char *folder, struct err *err);

/* From any thread: an open store, or NULL with *err. */
struct store *readers_take(struct readers *readers, struct err *err);
void readers_give(struct readers *readers, struct store *store);

void readers_free(struct readers *readers);
