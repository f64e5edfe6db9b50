/*
 * The daemon's part in a record that can be proved: the key, checkpoints (store/base/checkpoint.h) by
 * number of records and by time, the second file that each is appended to, the journal, and the look
 * at that file at the start, which tells of a store that was rolled back.
 *
 * The recorder signs, in its own order with the records.  The second file is written on a thread: it
 * may lie on another disk, or far away.
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

struct call;
struct services;

struct audit {
	struct services *services;
	struct signer *signer;
	char path[512]; /* of the second file */
	char told[512]; /* where the last line of it is written down */
	char alarm
		[512]; /* what the look at the start found, or one at the second file since; or "" */
	char trouble[512]; /* why the second file could not be written, or "" */
	int64_t links;     /* that the last checkpoint signs */
	int64_t at_us;     /* when it was made */
	struct list calls; /* of audit.checkpoint, that wait for the one that is made next */
	struct making *making;
	struct timer *timer;
	uint64_t records; /* that were written when the last one was made */
	int64_t made_ms;
};

/*
 * Before the first record: makes or reads the key, and holds the store against its mark and the second
 * file.  What it finds is logged and recorded as an act, or ends the start (`rollback` in the
 * configuration).  *ret_clock: what the mark says of the clock.
 */
int audit_open(struct audit *audit, struct services *services, struct store *store,
	struct store_clock *ret_clock, struct err *err);

/* When there is a recorder: from now on checkpoints are made. */
int audit_start(struct audit *audit, struct err *err);

/* One more, if anything has come since the last; before recorder_close(). */
void audit_close(struct audit *audit);
void audit_done(struct audit *audit); /* after it; may be called without audit_open() */

/* audit.key and audit.checkpoint. */
void method_audit_key(struct call *call);
void method_audit_checkpoint(struct call *call);

/*
 * On a thread: what is to be trusted when the store is verified, with the second file from byte `from`
 * on (from 1; 0: its end).  *ret_text is given (free).
 */
int audit_trust(const struct audit *audit, int64_t from, char **ret_text,
	struct store_trust *ret_trust, struct err *err);

/* {file, key, links, at_us, alarm, trouble} for admin.status. */
struct value *audit_describe(const struct audit *audit, struct arena *arena);
