/*
 * Makes checkpoints (store/base/checkpoint.h) by number of records and by time, with the store's
 * key.  Writes each to the checkpoint file and to the journal.  At the start it compares the store
 * with that file, which detects a store that was rolled back.
 *
 * The recorder signs, in order with the records.  The checkpoint file is written on a thread,
 * since it may lie on another disk or host.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/loop.h"
#include "daemon/record/recorder.h"
#include "proto/base/err.h"
#include "proto/base/list.h"
#include "proto/value.h"
#include "store/store.h"

struct config;

/* A request for a checkpoint.  Its owner keeps it until `done` is called. */
struct checkpoint_request {
	struct list link;
	/* `err`: why there is none, or NULL. */
	void (*done)(struct checkpoint_request *request, const struct store_checkpoint *checkpoint,
		const struct err *err);
};

struct audit {
	uv_loop_t *loop;
	const struct config *config;
	struct recorder *recorder; /* NULL: no checkpoints are made */
	struct signer *signer;
	char path[512]; /* of the checkpoint file */
	int file_fd;    /* that file, locked; -1: it is checkpoints.log, or could not be opened */
	char last_line_path[512]; /* of the file that keeps the last line */
	char alarm[512];          /* what the start or a later check of the file found, or "" */
	char trouble[512];        /* why the checkpoint file could not be written, or "" */
	int64_t links;            /* that the last checkpoint signs */
	int64_t at_us;            /* when it was made */
	struct list requests;     /* for the checkpoint that is made next */
	struct making *making;
	struct timer *timer;
	uint64_t records; /* written when the last checkpoint was made */
	int64_t made_ms;
};

/*
 * Before the first record: reads the key or makes one, and compares the store with its mark and the
 * checkpoint file.  A difference is logged and recorded as an act.  With the setting
 * rollback = "refuse" it fails the start instead.  *ret_clock: the clock's state in the mark.
 */
int audit_open(struct audit *audit, uv_loop_t *loop, const struct config *config,
	struct store *store, struct store_clock *ret_clock, struct err *err);

/* From now on checkpoints are made. */
int audit_start(struct audit *audit, struct recorder *recorder, struct err *err);

/* Makes a last checkpoint if records have come since the last one; before recorder_close(). */
void audit_close(struct audit *audit);
void audit_done(struct audit *audit); /* after recorder_close(); allowed without audit_open() */

/* Makes a checkpoint.  -1: there is no memory, and `done` will not be called. */
int audit_request(struct audit *audit, struct checkpoint_request *request);

/* {key, file} */
struct value *audit_describe_key(const struct audit *audit, struct arena *arena);

/*
 * On a thread: what to trust when the store is verified: the key, and the checkpoint file from byte
 * `from` on (counted from 1; 0: its end).  The owner is the struct audit.  The caller frees
 * *ret_text.
 */
int audit_trust(const void *owner, int64_t from, char **ret_text, struct store_trust *ret_trust,
	struct err *err);

/* {file, key, links, at_us, alarm, trouble} for admin.status. */
struct value *audit_describe(const struct audit *audit, struct arena *arena);
