/*
 * Finds the processes that keep the write-ahead log from being emptied.
 *
 * The log begins anew when all of it is in the database and no process reads from it.  A program
 * that keeps a read transaction open prevents that, and each record makes the log longer.  The
 * writer therefore limits the log and reports the readers (store_check_log()).
 *
 * The readers are known from the locks that SQLite takes in `ced.db-shm`, as /proc/locks lists
 * them.  That file is never opened here: closing it again would drop all locks of this process.
 */
#pragma once

#include <stdbool.h>

#include "store/store.h"

#define LOG_READERS_NAMED 3

struct log_readers {
	int pids[LOG_READERS_NAMED];
	unsigned count; /* other processes; those beyond LOG_READERS_NAMED are only counted */
	bool has_ourselves;
};

/* Finds the current readers.  `index` is the path of the index of the log. */
void log_readers_find(struct log_readers *ret_readers, const char *index);

/* Fills in ret_log->by and ret_log->command. */
void log_readers_describe(
	const struct log_readers *readers, const char *db, struct store_long_log *ret_log);
