/*
 * Writes records to the store on a thread of its own, many in one transaction when many wait.
 *
 * A recording belongs to its request and must stay as it is, with everything it points to, from
 * recorder_put() until its done callback has come (from the loop).  The thread only reads it.
 * Order is kept: what was put first is written first.
 *
 * When the store itself cannot be written (no room, read-only, locked, damaged), what waits is
 * told so, and the thread tries by itself, once a second and at no run's expense, whether it can
 * be written again.
 */
#pragma once

#include "daemon/loop/loop.h"
#include "proto/base/err.h"
#include "proto/base/list.h"
#include "store/store.h"

struct recorder;

enum recording_kind {
	RECORDING_BEGUN,
	RECORDING_ENDED,
	RECORDING_ACT,
	RECORDING_CHECKPOINT,
	RECORDING_CARE,
	RECORDING_PARKED,   /* run and parking */
	RECORDING_UNPARKED, /* run */
	RECORDING_USE,      /* grant */
};

struct recording {
	struct list link;
	enum recording_kind kind;
	enum store_durability durability;
	struct store_run run;
	struct store_act act;                /* RECORDING_ACT */
	struct store_checkpoint *checkpoint; /* RECORDING_CHECKPOINT, which is filled in */
	/* RECORDING_CARE: writes whatever it is, in the transaction that is open, on the thread. */
	int (*write)(struct recording *recording, struct store *store, struct err *err);
	struct store_parking parking; /* RECORDING_PARKED */
	int64_t grant;                /* RECORDING_USE */
	/* `err` is NULL when it is in the store. */
	void (*done)(struct recording *recording, const struct err *err);
	/* filled in by the recorder */
	bool failed;
	struct err err;
};

#define RECORDER_MOST 256 /* records in one commit, where nothing else is wanted */

/* Takes the store.  One commit takes at most `most` records.  NULL with *err. */
struct recorder *recorder_start(
	uv_loop_t *loop, struct store *store, unsigned most, struct err *err);

void recorder_put(struct recorder *recorder, struct recording *recording);

/* Why records cannot be written just now, or NULL.  Asked before a run is let in. */
const struct err *recorder_trouble(const struct recorder *recorder);
/*
 * That the disk has not answered for two seconds, or NULL: told at once, while runs are let in for ten.
 * The store is not to be asked meanwhile.
 */
const struct err *recorder_stall(const struct recorder *recorder);
/* And for how long. */
int64_t recorder_trouble_ms(const struct recorder *recorder);

/* The store's log, when it is long because somebody reads from it; else NULL. */
const struct store_long_log *recorder_held(const struct recorder *recorder);

/* What is to stand in the store's mark about the clock from now on. */
void recorder_note_clock(struct recorder *recorder, const struct store_clock *clock);

/* Commits and records so far, for admin.status. */
void recorder_counts(const struct recorder *recorder, uint64_t *ret_commits, uint64_t *ret_records);

/* Writes what still waits, calls what is done, closes the store.  The loop has stopped before. */
void recorder_close(struct recorder *recorder);
