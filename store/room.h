/*
 * Room on the disk, looked after before it is gone.
 *
 * Four MiB stand in `ced.reserve`, which only what makes room may use: pruning writes to the log and to
 * the database before it gives anything back.  When such a record meets a full disk the reserve is
 * given up for it; runs are refused until it could be made whole again.  Runs are refused before the
 * last MiB is used, too, and while little is left the log is moved more often and nothing is settled,
 * so that what was freed is there for runs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/store_room.h"

struct store;

#define ROOM_RESERVE STORE_ROOM_RESERVE
#define ROOM_LEAST   STORE_ROOM_LEAST   /* runs are refused when less is free */
#define ROOM_AGAIN   ((int64_t)2 << 20) /* and until so much is free again */
#define ROOM_CALM    ((int64_t)8 << 20) /* nothing is settled when less is free */
#define ROOM_NEAR    STORE_ROOM_NEAR    /* from here on it is looked at for each transaction */
#define ROOM_SECOND  1000

struct room {
	char *path;         /* of the reserve; given (free) by room_done() */
	bool is_open;       /* the reserve is not whole */
	bool is_low;        /* less than ROOM_LEAST was free, and ROOM_AGAIN has not been since */
	int64_t free_bytes; /* as of the last look; INT64_MAX: nobody can say */
	int64_t looked_ms;
};

/* Whether there is room for a new store in this folder. */
int room_for_new(const char *folder, struct err *err);

/* Before room_start(): what a reserve of the store at `db` takes is free again; false: nothing was. */
bool room_give_up(const char *db);

/* Makes the reserve whole; where there is no room for it, it is open from the beginning. */
int room_start(struct store *store, struct err *err);
void room_done(struct room *room);

/* Bytes that are free now where `path` lies; INT64_MAX: nobody can say. */
int64_t room_free(const char *path);

/* Looks again when that is due. */
void room_look(struct store *store);

bool room_is_near(const struct store *store);
bool room_is_calm(const struct store *store);
