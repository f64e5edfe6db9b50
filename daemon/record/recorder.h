/*
 * Writes records to the store on a thread of its own, many in one transaction when many wait.
 *
 * The caller owns a recording.  It must not change it, or anything it points to, from
 * recorder_put() until the loop calls `done`.  Until then the recorder changes only the fields
 * that it fills in.  Recordings are written in the order of recorder_put().
 *
 * When the store itself cannot be written (no space, read-only, locked, damaged), the waiting
 * records fail.  The thread then tries once a second whether it can be written again.
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
	RECORDING_CARE,     /* maintenance, such as retention: calls write() */
	RECORDING_PARKED,   /* run and parking */
	RECORDING_UNPARKED, /* run */
	RECORDING_USE,      /* grant */
	RECORDING_CALL,     /* call */
};

struct recording {
	struct list link;
	enum recording_kind kind;
	enum store_durability durability;
	struct store_run run;
	struct store_act act;                /* RECORDING_ACT */
	struct store_checkpoint *checkpoint; /* RECORDING_CHECKPOINT; filled in */
	/* RECORDING_CARE: called on the thread, writes in the open transaction. */
	int (*write)(struct recording *recording, struct store *store, struct err *err);
	struct store_parking parking;  /* RECORDING_PARKED */
	int64_t grant;                 /* RECORDING_USE */
	const struct store_call *call; /* RECORDING_CALL */
	/* Called in the loop; `err` is NULL if the record is in the store. */
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

/* Why records cannot be written now, or NULL.  Checked before a run is accepted. */
const struct err *recorder_trouble(const struct recorder *recorder);
/*
 * An error when the disk has not answered for two seconds, else NULL.  Do not read the store
 * meanwhile.  Runs are still accepted, until it has not answered for ten seconds.
 */
const struct err *recorder_stall(const struct recorder *recorder);
/* For how long records cannot be written, or the disk has not answered. */
int64_t recorder_trouble_ms(const struct recorder *recorder);

/* The store's log, if it is long because a process reads from it; else NULL. */
const struct store_long_log *recorder_held(const struct recorder *recorder);

/* The state of the clock that the store's mark gets from now on. */
void recorder_note_clock(struct recorder *recorder, const struct store_clock *clock);

/* Commits and records so far, for admin.status. */
void recorder_counts(const struct recorder *recorder, uint64_t *ret_commits, uint64_t *ret_records);

/*
 * Writes the waiting records, calls their callbacks and closes the store.  Afterwards nobody may
 * call recorder_put().
 */
void recorder_close(struct recorder *recorder);
