/*
 * Removes the contents of old runs by age, number or size.  It starts when an administrator asks
 * for it (admin.gc), and at an interval if the settings have limits (keep_days, keep_runs,
 * keep_bytes).
 *
 *	plan    the store thread finds the runs and computes how much space they free
 *	settle  the recorder indexes runs that are not indexed yet, in pieces
 *	take    a piece at a time: the store thread lists the next runs, and the recorder prunes
 *		them and records the act.  Then gc pauses four times as long, for other records.
 *		When a piece fails, its runs are pruned one by one.  Those that fail alone are
 *		left behind
 *	shrink  the recorder returns free pages to the disk, in pieces
 *	record  the recorder writes one act about the whole gc, and gc answers its request
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

/* The modules that gc uses.  All of them live longer than gc. */
struct gc_parts {
	uv_loop_t *loop;
	const struct config *config;
	struct recorder *recorder;
	struct store_thread *thread;
	const struct wallclock *clock;
	const bool *is_closing; /* the daemon */
};

/* A request of an administrator. */
struct gc_request {
	const struct value *params; /* of admin.gc */
	uint32_t uid, gid;
	int32_t pid;
	/* Called at the end; `err` is NULL on success.  It may call gc_describe_last(). */
	void (*done)(void *owner, const struct gc *gc, const struct err *err);
	void *owner;
};

struct gc {
	struct gc_parts parts;
	struct timer *due;  /* for the settings */
	struct timer *rest; /* between two pieces */
	struct store_task task;
	struct recording recording;
	struct gc_request
		request; /* `done` NULL: the settings started gc, or it is answered already */
	bool busy, dry, resting, closing, more;
	char params[512], result[256]; /* JSON, for the acts */
	uint32_t uid, gid;
	int32_t pid;
	struct store_keep keep;
	struct store_plan plan, left; /* the plan, and what of it is left to do */
	char ids[STORE_PIECE_MAX][RUN_ID_LEN + 1];
	unsigned count;        /* ids in the piece */
	unsigned most, singly; /* runs in a piece; the next `singly` pieces have one run */
	int64_t piece_at;      /* where the piece began */
	struct prune_failures behind;
	unsigned tries; /* of settling, which failed */
	uint64_t bytes; /* freed by the piece */
	uint64_t taken, taken_bytes;
	unsigned rounds; /* plans made, when a size has to be reached */
	struct store_size before, after;
	int64_t begun_ms, piece_ms;
	char trouble[ERR_TEXT_MAX]; /* the first failure */
	/* since the start, for admin.status */
	uint64_t times, total_runs, total_bytes;
	int64_t last_wall_us;
};

void gc_start(struct gc *gc, const struct gc_parts *parts);
void gc_settings_changed(struct gc *gc);
/* Before store_thread_close(), after recorder_close(). */
void gc_stop(struct gc *gc);

/* Starts gc.  -1: ERR_BUSY if gc already runs, ERR_INVALID if the params cannot be used. */
int gc_begin(struct gc *gc, const struct gc_request *request, struct err *err);

/* {dry_run, runs, bytes, ...}: the result of the last gc, for the answer. */
struct value *gc_describe_last(const struct gc *gc, struct arena *arena);

/* {busy, times, runs, bytes, last_us, trouble?}: since the start, for admin.status. */
struct value *gc_describe(const struct gc *gc, struct arena *arena);
