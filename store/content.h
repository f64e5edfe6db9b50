/*
 * A column that holds bytes: short ones in the row itself, longer ones as the number of a blob.
 *
 * A blob costs two more pages in the commit and an index entry, so what is hardly longer than
 * that stays in the row, be it the same each time or not.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <sqlite3.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/digest.h"
#include "proto/job/job.h"
#include "store/stmt.h"

struct store;

#define CONTENT_INLINE_MAX ((size_t)256)
/* For what differs from run to run anyway, so that a blob would be held by that run alone. */
#define CONTENT_OWN_MAX    ((size_t)1536)

/* Binds the next value; bytes.data NULL gives NULL.  `digest` is that of the bytes, or NULL. */
int content_bind(struct store *store, struct binding *binding, struct bytes bytes,
	size_t inline_max, const uint8_t *digest, struct err *err);

/*
 * Whether the bytes in the row have another type than they were written with: text that is UTF-8, and bytes;
 * where a table has only text, `is_text`.
 */
bool content_is_odd(sqlite3_stmt *stmt, int column, bool is_text);

/* Length and SHA-256 of a column that is not NULL.  1: it names a blob that is not there. */
int content_digest(struct store *store, sqlite3_stmt *stmt, int column, uint64_t *ret_len,
	uint8_t ret_digest[DIGEST_LEN], struct err *err);

/* The bytes of a column, in the arena; *ret_bytes is { NULL, 0 } for NULL. */
int content_read(struct store *store, sqlite3_stmt *stmt, int column, struct arena *arena,
	struct bytes *ret_bytes, struct err *err);
