/*
 * Blobs: bytes that are stored once, named by their SHA-256 and compressed with zstd where that
 * saves space.
 *
 * store/write/run_index.h counts how many runs hold a blob.  The count is not kept here because it
 * would add a page to each commit.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/digest.h"
#include "proto/job/job.h"

struct store;

#define BLOB_BYTES_MAX ((size_t)256 << 20)

/*
 * Finds or writes the blob, in the transaction that is open.  `digest` is that of the bytes, or
 * NULL.
 */
int blob_put(struct store *store, struct bytes bytes, const uint8_t *digest, int64_t *ret_blob,
	struct err *err);

/* Length and SHA-256 of the bytes, without reading them.  1: there is no such blob. */
int blob_digest(struct store *store, int64_t blob, uint64_t *ret_len,
	uint8_t ret_digest[DIGEST_LEN], struct err *err);

/* A blob as a statement finds it: length, codec and data from `column` on. */
struct blob_row {
	sqlite3_stmt *stmt;
	int column;
	int64_t blob;
};

/* Its bytes, in the arena. */
int blob_unpack(struct store *store, const struct blob_row *row, struct arena *arena,
	struct bytes *ret_bytes, struct err *err);

/* The bytes, in the arena. */
int blob_get(struct store *store, int64_t blob, struct arena *arena, struct bytes *ret_bytes,
	struct err *err);
