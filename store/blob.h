/*
 * Bytes kept once: named by their SHA-256, pressed with zstd where that pays.
 *
 * The same bytes a thousand times are one blob.  How many runs hold a blob is counted when they
 * settle (settle.h), not here: the count would be one more page in each commit.
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
#define SHELF_SLOTS    64
#define SHELF_TEXTS    8
#define SHELF_BYTES    2048

/*
 * Blobs met lately, so that what comes again and again is not looked up again and again: by their
 * digest, and short ones (the setting of a run is the same for most) without making one.
 */
struct blob_shelf {
	struct {
		uint8_t digest[DIGEST_LEN];
		int64_t blob; /* 0: nothing here */
	} slots[SHELF_SLOTS];
	struct blob_name {
		int64_t blob; /* 0: nothing here */
		uint64_t bytes;
		uint8_t digest[DIGEST_LEN];
	} names[SHELF_SLOTS];
	struct {
		char bytes[SHELF_BYTES];
		size_t len;
		int64_t blob;
	} texts[SHELF_TEXTS];
};

/* Forgets everything: after a rollback names may be gone. */
void blob_shelf_clear(struct blob_shelf *shelf);

/* Finds or writes the blob, in the transaction that is open.  `digest` is that of the bytes, or NULL. */
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
