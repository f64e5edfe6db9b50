/*
 * The mark beside the store: one line in `ced.mark` that says how far the record reached when it
 * was last known to be on the disk, and how far the wall clock could be trusted then.
 *
 *	ced-mark-1 links=N head=sha256:… run=ULID key=ed25519:… wall_us=N surely_us=N calm_us=N ahead_us=N
 *	seal=HEX
 *
 * When a log is cut off between two starts, the newest records are gone and the chain is still
 * consistent.  Checkpoints find that only as far as they reach.  The mark is written after each
 * commit that has reached the disk, in place and without a sync of its own.  So it never says more
 * than the disk holds, and after kill -9 it is up to date.  It is sealed with a digest that needs
 * the secret of the store's key, because a signature after each commit would cost too much.
 */
#pragma once

#include <sys/types.h>

#include "proto/base/err.h"
#include "store/base/chain.h"
#include "store/store.h"

struct progress_mark {
	char *path; /* freed by progress_mark_done(); NULL: no mark is written */
	const struct signer *signer;
	struct store_clock clock;
	int fd;
	dev_t device;
	ino_t inode;
	struct err why; /* the last write failed; ERR_NONE: it did not */
};

void progress_mark_init(struct progress_mark *mark);
void progress_mark_done(struct progress_mark *mark);

/* Compares the store with its mark, which is written from now on. */
int progress_mark_open(struct progress_mark *mark, struct store *store, const struct signer *signer,
	struct store_mark *ret_found, struct err *err);

/* After a commit that is on the disk.  A failure is noted in `why`; the record has not failed. */
void progress_mark_write(
	struct progress_mark *mark, const struct chain_head *chain, const char *last_run);
