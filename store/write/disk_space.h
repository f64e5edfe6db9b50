/*
 * Disk space for the store, watched before it is used up.
 *
 * The file `ced.reserve` holds four MiB for records that free space: pruning writes to the log and
 * to the database before it gives anything back.  When such a record meets a full disk, the reserve
 * is released for it.  Runs are refused then until the reserve is complete again.  Runs are also
 * refused before the last MiB is used.  While little space is left, the log is moved more often and
 * no runs are indexed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/store_room.h"

struct disk_space {
	const char *db;       /* path of the database; the store's */
	char *reserve;        /* path; freed by disk_space_done() */
	bool reserve_is_used; /* the reserve is not complete */
	bool is_refusing;     /* runs, since too little was free */
	int64_t free_bytes;   /* as of the last look; INT64_MAX: unknown */
	int64_t looked_ms;
};

/* Whether there is space for a new store in this folder. */
int disk_space_for_new(const char *folder, struct err *err);

/*
 * Before disk_space_start(): releases a reserve that is left beside the store at `db`; false: there
 * was none.
 */
bool disk_space_release_left(const char *db);

/* Fills the reserve.  Without space for it, it counts as used from the beginning.  Keeps `db`. */
int disk_space_start(struct disk_space *space, const char *db, struct err *err);
void disk_space_done(struct disk_space *space);

/* Bytes that are free now where `path` lies; INT64_MAX: unknown. */
int64_t disk_space_free(const char *path);

/* Looks again when that is due. */
void disk_space_look(struct disk_space *space);

/* Whether so little is free that it is looked at before each transaction. */
bool disk_space_is_low(const struct disk_space *space);
/* Whether there is space for work that can wait. */
bool disk_space_is_ample(const struct disk_space *space);

/* Whether there is space for runs: -1 with ERR_FULL. */
int disk_space_check(struct disk_space *space, struct err *err);
/* The same after the reserve has been filled again, if possible. */
int disk_space_regain(struct disk_space *space, struct err *err);
/* Releases the reserve; false: it was used already. */
bool disk_space_release(struct disk_space *space);
