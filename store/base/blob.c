#include "store/base/blob.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "proto/base/cleanup.h"
#include "store/base/db.h"
#include "store/base/stmt.h"

#define COMPRESS_MIN   ((size_t)512) /* below it the header of a zstd frame is larger than the gain */
#define COMPRESS_LEVEL 1             /* the client waits for this */

enum codec {
	CODEC_PLAIN = 0,
	CODEC_ZSTD = 1
};

/* Compresses into `room` and returns the length; 0 when that saves too little. */
static size_t compress(struct bytes bytes, char *room, size_t size)
{
	size_t len = ZSTD_compress(room, size, bytes.data, bytes.len, COMPRESS_LEVEL);

	if (ZSTD_isError(len) || len > bytes.len - bytes.len / 8)
		return 0;
	return len;
}

static int insert_data(struct store *store, int64_t blob, struct bytes bytes, struct err *err)
{
	auto_free char *room = NULL;
	size_t compressed = 0;

	if (bytes.len >= COMPRESS_MIN) {
		room = malloc(ZSTD_compressBound(bytes.len));
		if (!room)
			return err_set(err, ERR_MEMORY, "the store: no memory to compress a blob");
		compressed = compress(bytes, room, ZSTD_compressBound(bytes.len));
	}
	return stmt_run(store, STMT_BLOB_DATA_INSERT,
		SQL_VALUES(sql_int(blob), sql_int(compressed ? CODEC_ZSTD : CODEC_PLAIN),
			sql_blob(compressed ? room : bytes.data,
				compressed ? compressed : bytes.len)),
		err);
}

static int insert_blob(struct store *store, struct bytes bytes, const uint8_t digest[DIGEST_LEN],
	int64_t *ret_blob, struct err *err)
{
	int64_t blob;

	if (stmt_run(store, STMT_BLOB_INSERT,
		    SQL_VALUES(sql_blob(digest, DIGEST_LEN), sql_int((int64_t)bytes.len)), err) < 0)
		return -1;

	blob = sqlite3_last_insert_rowid(store->db);
	if (insert_data(store, blob, bytes, err) < 0)
		return -1;
	*ret_blob = blob;
	return 0;
}

int blob_put(struct store *store, struct bytes bytes, const uint8_t *digest, int64_t *ret_blob,
	struct err *err)
{
	uint8_t own[DIGEST_LEN];
	int r;

	if (bytes.len > BLOB_BYTES_MAX)
		return err_set(err, ERR_TOO_BIG, "the store: a blob of %zu bytes", bytes.len);
	if (!digest)
		digest_of(bytes.data, bytes.len, own);
	r = stmt_number(store, STMT_BLOB_FIND, SQL_VALUES(sql_digest(digest ? digest : own)),
		ret_blob, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	return insert_blob(store, bytes, digest ? digest : own, ret_blob, err);
}

int blob_digest(struct store *store, int64_t blob, uint64_t *ret_len,
	uint8_t ret_digest[DIGEST_LEN], struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_take_for(store, STMT_BLOB_DIGEST, blob, err);
	int r = stmt_step(store, row, err);

	if (r < 0)
		return -1;
	if (r == 0 || sqlite3_column_bytes(row, 0) != DIGEST_LEN)
		return 1;
	*ret_len = (uint64_t)sqlite3_column_int64(row, 1);
	memcpy(ret_digest, sqlite3_column_blob(row, 0), DIGEST_LEN);
	return 0;
}

/* ---- reading ------------------------------------------------------------------------------ */

static int damaged(int64_t blob, struct err *err)
{
	return err_set(err, ERR_CORRUPT, "the store: blob %lld is damaged", (long long)blob);
}

static int decompress(
	int64_t blob, struct bytes compressed, char *room, size_t len, struct err *err)
{
	size_t r = ZSTD_decompress(room, len, compressed.data, compressed.len);

	return ZSTD_isError(r) || r != len ? damaged(blob, err) : 0;
}

/* Whether insert_data() can have written these columns. */
static bool is_whole(uint64_t len, int64_t codec, struct bytes data)
{
	return len <= BLOB_BYTES_MAX &&
	       (codec == CODEC_ZSTD || (codec == CODEC_PLAIN && data.len == len));
}

int blob_unpack(struct store *store, const struct blob_row *row, struct arena *arena,
	struct bytes *ret_bytes, struct err *err)
{
	uint64_t len = (uint64_t)sqlite3_column_int64(row->stmt, row->column);
	int64_t codec = sqlite3_column_int64(row->stmt, row->column + 1);
	struct bytes data = { sqlite3_column_blob(row->stmt, row->column + 2),
		(size_t)sqlite3_column_bytes(row->stmt, row->column + 2) };
	char *room;

	if (!data.data && sqlite3_errcode(store->db) == SQLITE_NOMEM)
		return db_failed(store, SQLITE_NOMEM, err);
	if (!is_whole(len, codec, data))
		return damaged(row->blob, err);

	room = arena_alloc(arena, len + 1);
	if (!room)
		return err_set(err, ERR_MEMORY, "the store: no memory for a blob");
	if (codec == CODEC_ZSTD && decompress(row->blob, data, room, len, err) < 0)
		return -1;
	if (codec == CODEC_PLAIN && data.data)
		memcpy(room, data.data, len);
	*ret_bytes = (struct bytes){ room, len };
	return 0;
}

int blob_get(struct store *store, int64_t blob, struct arena *arena, struct bytes *ret_bytes,
	struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *stmt = stmt_take_for(store, STMT_BLOB_READ, blob, err);
	const struct blob_row row = { stmt, 0, blob };
	int r;

	r = stmt_step(store, stmt, err);
	if (r == 0)
		return err_set(
			err, ERR_CORRUPT, "the store: blob %lld is missing", (long long)blob);
	if (r > 0)
		r = blob_unpack(store, &row, arena, ret_bytes, err);
	return r;
}
