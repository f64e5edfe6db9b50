/*
 * Writes records to the store on a thread of its own, many in one transaction when many wait.
 *
 * A recording belongs to its request and must stay as it is, with everything it points to, from
 * recorder_put() until its done callback has come (from the loop).  The thread only reads it.
 * Order is kept: what was put first is written first.
 *
 * When the store itself cannot be written (no space, read-only, locked, damaged), the waiting records fail.
  * The thread then tries once a second whether it can be written again.
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
	/* RECORDING_CARE: writes in the open transaction, on the thread. */
	int (*write)(struct recording *recording, struct store *store, struct err *err);
	struct store_parking parking; /* RECORDING_PARKED */
	int64_t grant;                /* RECORDING_USE */
	/* `err` is NULL when it is in the store. */
	void (*done)(struct recording *recording, const struct err *err);
	/* filled in by the recorder */
	bool failed;
	struct err err;
};

#define RECORDER_MOST 256 /* records in one commit, unless the settings say otherwise */

/* Takes the store.  One commit takes at most `most` records.  NULL with *err. */
struct recorder *recorder_start(
	uv_loop_t *loop, struct store *store, unsigned most, struct err *err);

void recorder_put(struct recorder *recorder, struct recording *recording);

/* Why records cannot be written now, or NULL. Asked before a run is accepted. */
const struct err *recorder_trouble(const struct recorder *recorder);
/*
 * That the disk has not answered for two seconds, or NULL. Runs are accepted for ten. Do not read the store
  * meanwhile.
 */
const struct err *recorder_stall(const struct recorder *recorder);
/* And for how long. */
int64_t recorder_trouble_ms(const struct recorder *recorder);

/* The store's log, when it is long because somebody reads from it; else NULL. */
const struct store_long_log *recorder_held(const struct recorder *recorder);

/* What the mark of the store says of the clock from now on. */
void recorder_note_clock(struct recorder *recorder, const struct store_clock *clock);

/* Commits and records so far, for admin.status. */
void recorder_counts(const struct recorder *recorder, uint64_t *ret_commits, uint64_t *ret_records);

/* Writes the waiting records, calls their callbacks, closes the store. The loop has stopped before. */
void recorder_close(struct recorder *recorder);
