/*
 * Removes the contents of old runs, for age, number or size: because an administrator asks (admin.gc), or because the
 * settings say so (keep_days, keep_runs, keep_bytes), which is checked at an interval.
 *
 *	plan    the store thread finds the runs and computes how much would be free
 *	settle  the recorder indexes runs that are not indexed yet, in pieces
 *	take    a piece at a time: the store thread names the next runs, the recorder prunes them and records the
 *		act, and then pauses four times as long for other records.  When a piece fails, its runs are
 *		pruned one by one, and those that fail alone are left behind
 *	shrink  the recorder gives free pages back to the disk, in pieces
 *	tell    the recorder writes an act that says what was done; then the answer follows
 *
 * The digests stay, so the chain verifies as before.  There is one gc at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/record/prune_failures.h"
#include "daemon/record/recorder.h"
#include "daemon/record/store_thread.h"
#include "proto/value.h"
#include "store/maintenance.h"

struct config;
struct wallclock;

struct gc;

/* What gc works with.  All of it lives longer than gc. */
struct gc_parts {
	uv_loop_t *loop;
	const struct config *config;
	struct recorder *recorder;
	struct store_thread *thread;
	const struct wallclock *clock;
	const bool *is_closing; /* the daemon */
};

/* What an administrator asks for. */
struct gc_request {
	const struct value *params; /* of admin.gc */
	uint32_t uid, gid;
	int32_t pid;
	/* At the end; `err` is NULL when it went well.  It may call gc_describe_last(). */
	void (*done)(void *owner, const struct gc *gc, const struct err *err);
	void *owner;
};

struct gc {
	struct gc_parts parts;
	struct timer *due;  /* of the settings */
	struct timer *rest; /* between two pieces */
	struct store_task task;
	struct recording recording;
	struct gc_request
		request; /* `done` NULL: the settings began it, or the request is answered */
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
	struct prune_failures behind;
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

void gc_start(struct gc *gc, const struct gc_parts *parts);
/* Before store_thread_close(), after recorder_close(). */
void gc_stop(struct gc *gc);

/* Begins.  -1: ERR_BUSY when gc is at work, ERR_INVALID when the params cannot be followed. */
int gc_begin(struct gc *gc, const struct gc_request *request, struct err *err);

/* {dry_run, runs, bytes, ...}: what the last gc did, for the answer. */
struct value *gc_describe_last(const struct gc *gc, struct arena *arena);

/* {busy, times, runs, bytes, last_us, trouble?}: since the start, for admin.status. */
struct value *gc_describe(const struct gc *gc, struct arena *arena);
