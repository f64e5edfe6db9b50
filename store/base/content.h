/*
 * A column that holds bytes: short ones in the row itself, longer ones as the number of a blob.
 *
 * A blob costs two more pages in the commit and an index entry.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <sqlite3.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/digest.h"
#include "proto/job/job.h"
#include "store/base/stmt.h"

struct store;

#define CONTENT_INLINE_MAX ((size_t)256)
/* For contents that differ from run to run, where no two runs would share the blob. */
#define CONTENT_OWN_MAX    ((size_t)1536)

/*
 * The value of the column, for a statement; bytes.data NULL gives NULL.  Longer bytes are written
 * as a blob first.  `digest` is that of the bytes, or NULL.
 */
int content_value(struct store *store, struct bytes bytes, size_t inline_max, const uint8_t *digest,
	struct sql_value *ret_value, struct err *err);

/*
 * Whether the bytes in the row have another type than ced writes: TEXT for UTF-8, BLOB for other
 * bytes.  `is_text`: the table has only text.
 */
bool content_has_wrong_type(sqlite3_stmt *stmt, int column, bool is_text);

/* Length and SHA-256 of a column that is not NULL.  1: it names a blob that is not there. */
int content_digest(struct store *store, sqlite3_stmt *stmt, int column, uint64_t *ret_len,
	uint8_t ret_digest[DIGEST_LEN], struct err *err);

/* The bytes of a column, in the arena; *ret_bytes is { NULL, 0 } for NULL. */
int content_read(struct store *store, sqlite3_stmt *stmt, int column, struct arena *arena,
	struct bytes *ret_bytes, struct err *err);
