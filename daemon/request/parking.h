/*
 * One run that waits for a person to approve it, because its policy says `ask`.
 *
 * A waiting run is a request in STAGE_APPROVAL and a row of `parked` in the store.  It is reported
 * only after that row is on the disk.  A starting daemon makes requests from these rows again.  At
 * first they hold only names and times; the rest is read from the store when it is needed.
 *
 *	RECORDING --> WAITS --> DECIDING --> DECIDED --> CONTRACT again, when approved
 *	    |           |  ^------- |                \-> RECORD, when denied
 *	    |           |   not written
 *	    |           +--> DECIDED --> RECORD: expired or cancelled
 *	    +--> RECORD: the row could not be written
 *
 * The loop leaves WAITS before it writes anything.  So the first of two decisions counts, and the
 * second is rejected.  A decision is in force once the transaction that records the act is
 * committed.  ASLEEP means decided before the daemon started; the run continues when there are
 * workers.
 *
 * An approved run passes CONTRACT and POLICY once more.  Its row is deleted from the disk before
 * its program is sent to a worker.  If the daemon dies, the next one either starts the run again,
 * or knows that it may have run and reports it as lost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/record/recorder.h"
#include "proto/base/list.h"
#include "proto/job/job.h"

struct request;
struct timer;

enum parking_state {
	PARKING_RECORDING,
	PARKING_WAITS,
	PARKING_DECIDING,
	PARKING_DECIDED,
	PARKING_ASLEEP, /* decided before the daemon started; continues when there are workers */
};

enum parking_decision {
	PARKING_UNDECIDED,
	PARKING_APPROVED,
	PARKING_DENIED,
	PARKING_EXPIRED,
	PARKING_CANCELED,
};

/*
 * Lives in the arena of its request, from the time when the run is parked until the request ends.
 */
struct parking {
	struct list link; /* in approvals->parked */
	struct request *request;
	enum parking_state state;
	enum parking_decision decision;
	bool unread;           /* the params are still only in the store */
	bool packages_unknown; /* after a restart: those that it names are not ready, or gone */
	bool tampered; /* the row was changed in the store, so the original request is unknown */
	/* the store does not hold the params as they came, so the run cannot start from them */
	bool incomplete;
	char digest[HASH_TEXT_LEN + 1]; /* of the policy that said `ask` */
	int64_t since_wall_us, until_wall_us;
	int64_t waited_us; /* set when the waiting is over */
	bool started;      /* its row is being deleted; from here on it is a run like any other */
	struct timer *expiry;
	struct recording recording; /* first RECORDING_PARKED, then RECORDING_UNPARKED */
	/* The decision: the uid that made it, its act, time and reason. */
	uint32_t by;
	int64_t act;
	int64_t decided_wall_us;
	const char *reason; /* or NULL */
};
