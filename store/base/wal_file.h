/*
 * The write-ahead log as the disk sees it: a thin layer between SQLite and its files that decides
 * when a commit waits for the disk, and makes one write of the many that lie side by side.
 *
 * SQLite runs with synchronous=FULL throughout, so it asks for a sync behind every commit and
 * before it shows the commit to readers.  For a commit that need not be on the disk yet
 * (STORE_SOON) this layer lets that one question go by.  It never does so for the log's header,
 * whose order against the frames behind it keeps the log readable after a power cut, nor for a
 * checkpoint.  The alternative, changing `PRAGMA synchronous` between transactions, must be decided
 * before BEGIN, when the recorder does not yet know what the batch will hold.
 *
 * SQLite writes a page to the log in two pieces, and a commit page after page.  Writes that follow
 * each other directly are collected and written together, at the latest at the next sync. With
 * synchronous=FULL that is before a commit becomes visible.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "proto/base/err.h"

struct wal_file;

/* The name to open a database with; registers the layer at the first call. */
const char *wal_vfs(struct err *err);

/*
 * The log of an open database in WAL mode; lives until the database is closed.  NULL: it has none.
 */
struct wal_file *wal_file_of(sqlite3 *db);

/* From now on commits wait for the disk, or do not. */
void wal_file_wait(struct wal_file *log, bool wait);

/* Why the last write failed, as an errno; 0 when it did not. */
int wal_file_errno(const struct wal_file *log);
