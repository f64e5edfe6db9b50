/*
 * The mark beside the store: one line in `ced.mark` that says how far the record reached when it was
 * last known to be on the disk, and what the clock was worth then.
 *
 *	ced-mark-1 links=N head=sha256:… run=ULID key=ed25519:… wall_us=N surely_us=N calm_us=N ahead_us=N
 *	seal=HEX
 *
 * A log that is cut off between two starts takes the newest records along and leaves a chain that is
 * whole.  Checkpoints find that only as far as they reach; the mark is written behind each commit that
 * has reached the disk, in place, without a sync of its own: it never says more than the disk holds, and
 * after kill -9 it says all.  Sealed with a digest that takes the secret of the store's key, since a
 * signature behind each commit would cost more than all the rest of this.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/err.h"
#include "store/store.h"

struct mark {
	char *path; /* given (free) by mark_done(); NULL: no mark is kept */
	const struct signer *signer;
	struct store_clock clock;
	int fd;
	dev_t device;
	ino_t inode;
	struct err why; /* of the last write, when it failed */
};

void mark_init(struct mark *mark);
void mark_done(struct mark *mark);

/* Behind a commit that is on the disk.  That it fails stands in `why`; the record has not failed. */
void mark_write(struct store *store);
