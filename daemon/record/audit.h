/*
 * Makes checkpoints (store/base/checkpoint.h) by number of records and by time, with the key of the store.
  * Each goes to the checkpoint file and to the journal. At the start the store is compared with that file,
  * which finds a store that was rolled back.
 *
 * The recorder signs, in order with the records.  The checkpoint file is written on a thread, since it may lie on
 * another disk or host.
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

/* Somebody who asked for a checkpoint.  The owner keeps it until `done`. */
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
	char path[512];  /* of the checkpoint file */
	int file_fd;     /* that file, locked; -1: it is checkpoints.log, or could not be opened */
	char told[512];  /* of the file that keeps its last line */
	char alarm[512]; /* what the start found, or a look at the checkpoint file since; or "" */
	char trouble[512];    /* why the checkpoint file could not be written, or "" */
	int64_t links;        /* that the last checkpoint signs */
	int64_t at_us;        /* when it was made */
	struct list requests; /* for the checkpoint that is made next */
	struct making *making;
	struct timer *timer;
	uint64_t records; /* that were written when the last checkpoint was made */
	int64_t made_ms;
};

/*
 * Before the first record: reads the key or makes one, and compares the store with its mark and the checkpoint file.
 * A difference is logged and recorded as an act, or fails the start (setting `rollback`).  *ret_clock: what the mark
 * says of the clock.
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
 * On a thread: what is trusted when the store is verified, with the checkpoint file from byte `from` on (from 1;
 * 0: its end).  *ret_text is given (free).
 */
int audit_trust(const struct audit *audit, int64_t from, char **ret_text,
	struct store_trust *ret_trust, struct err *err);

/* {file, key, links, at_us, alarm, trouble} for admin.status. */
struct value *audit_describe(const struct audit *audit, struct arena *arena);
