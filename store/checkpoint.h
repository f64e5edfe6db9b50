/*
 * A checkpoint: how long the chain was and what its head was, signed, so that a store that was rolled
 * back or cut off, or a chain that was made anew, can be told from the one that was.
 *
 * One line tells all of it, and what is signed is the line up to " signature=":
 *
 *	ced-checkpoint-1 links=42 head=sha256:<hex> at_us=1732186800000000 key=ed25519:<base64> signature=<base64>
 *
 * It stands in the table `checkpoints`, in a second file, and in the journal.
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

/* The line, without its end. */
void checkpoint_write(const struct checkpoint *checkpoint, char ret_line[STORE_CHECKPOINT_MAX]);

/* -1: the line is none. */
int checkpoint_read(const char *line, size_t len, struct checkpoint *ret_checkpoint);

/*
 * Whether it is the beginning of a line whose end was never written, as the power may leave it.  That
 * says as little as a line that is not there, which who may write to the file could have brought about.
 */
bool checkpoint_is_torn(const char *line, size_t len);

/* A row of STMT_CHECKPOINT_WALK or STMT_CHECKPOINT_LAST; false: it is not whole. */
bool checkpoint_row(sqlite3_stmt *row, struct checkpoint *ret_checkpoint);

/* Whether it was signed with the key that it names. */
bool checkpoint_holds(const struct checkpoint *checkpoint);
