/*
 * A checkpoint: length and head of the chain at one moment, signed.  It detects a store that was
 * rolled back or cut off, or whose chain was made again.
 *
 * A checkpoint is one line.  The signature covers the line up to " signature=":
 *
 *	ced-checkpoint-1 links=42 head=sha256:<hex> at_us=1732186800000000 key=ed25519:<base64> signature=<base64>
 *
 * It is kept in the table `checkpoints`, in the checkpoint file, and in the journal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "proto/base/err.h"
#include "proto/digest.h"
#include "proto/sign.h"
#include "store/store.h"

struct checkpoint {
	int64_t links;
	uint8_t head[DIGEST_LEN];
	int64_t at_us;
	uint8_t public_key[SIGN_PUBLIC_LEN];
	uint8_t signature[SIGN_LEN];
};

/* The part of the line that is signed; returns its length. */
size_t checkpoint_write_signed(
	const struct checkpoint *checkpoint, char line[STORE_CHECKPOINT_MAX]);

/* The line, without the newline. */
void checkpoint_write(const struct checkpoint *checkpoint, char ret_line[STORE_CHECKPOINT_MAX]);

/* -1: the line is not a checkpoint. */
int checkpoint_read(const char *line, size_t len, struct checkpoint *ret_checkpoint);

/*
 * Whether it is the beginning of a line whose end was never written, as after a power cut.  It
 * counts as a missing line: anybody who may write to the file could have removed the line as well.
 */
bool checkpoint_is_torn(const char *line, size_t len);

/* Reads a row of STMT_CHECKPOINT_WALK or STMT_CHECKPOINT_LAST; false: it is not complete. */
bool checkpoint_row(sqlite3_stmt *row, struct checkpoint *ret_checkpoint);

/* Whether the signature is valid for the key that the checkpoint names. */
bool checkpoint_holds(const struct checkpoint *checkpoint);
