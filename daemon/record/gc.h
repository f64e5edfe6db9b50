/*
 * Contents leave the store, for age, number or size: because an administrator asks (admin.gc), or
 * because the settings say so (keep_days, keep_runs, keep_bytes), which is looked at now and then.
 *
 *	plan    the caretaker looks which runs those are and what would be free
 *	settle  what has not been counted yet is, in pieces
 *	take    a piece at a time: the caretaker names the next runs, the recorder prunes them and records
 *		the act, and then others have the recorder for four times as long.  The runs of a piece that
 *		fails are taken one by one, and the ones that fail alone are left behind
 *	shrink  free pages are given back to the disk, a piece at a time as well
 *	tell    an act that says what was done, and the answer
 *
 * The digests stay, so the chain verifies as before.  One at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/record/caretaker.h"
#include "daemon/record/left_behind.h"
#include "daemon/record/recorder.h"
#include "store/maintenance.h"

struct call;
struct services;

struct gc {
	struct services *services;
	struct timer *due;  /* of the settings */
	struct timer *rest; /* between two pieces */
	struct chore chore;
	struct recording recording;
	struct call *call; /* who asked; NULL: the settings did, or he is answered */
	bool busy, dry, resting, closing, more;
	char params[512], result[256]; /* JSON, of the acts */
	uint32_t uid, gid;
	int32_t pid;
	struct store_keep keep;
	struct store_plan plan, left; /* what was planned; what of it is to be taken */
	char ids[STORE_PIECE_MAX][RUN_ID_LEN + 1];
	unsigned count;        /* of the piece */
	unsigned most, singly; /* runs of the piece; so many pieces are to have one */
	int64_t piece_at;      /* where the piece began */
	struct left_behind behind;
	unsigned tries; /* of settling, that failed */
	uint64_t bytes; /* of the piece; then of all */
	uint64_t taken, taken_bytes;
	unsigned rounds; /* plans, when a size is to be reached */
	struct store_size before, after;
	int64_t begun_ms, piece_ms;
	char trouble[ERR_TEXT_MAX]; /* the first failure */
	/* since the start, for admin.status */
	uint64_t times, total_runs, total_bytes;
	int64_t last_wall_us;
};

void gc_start(struct gc *gc, struct services *services);
/* Before caretaker_close(), behind recorder_close(). */
void gc_stop(struct gc *gc);

/* Takes the call. */
void method_gc(struct call *call);

/* {busy, times, runs, bytes, last_us, trouble?}: since the start, for admin.status. */
struct value *gc_describe(const struct gc *gc, struct arena *arena);
