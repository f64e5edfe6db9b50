#include "store/blob.h"

#include <stdbool.h>
#include <string.h>

#include <zstd.h>

#include "store/db.h"

#define PRESS_BYTES_MIN ((size_t)512) /* below it a frame's own header eats the gain */
#define PRESS_LEVEL     1             /* the client waits for this */

enum codec {
	CODEC_PLAIN = 0,
	CODEC_ZSTD = 1
};

void blob_shelf_clear(struct blob_shelf *shelf)
{
	memset(shelf, 0, sizeof(*shelf));
}

/* Fills `room` with the pressed bytes and returns their length; 0 when pressing does not pay. */
static size_t press(struct bytes bytes, char *room, size_t size)
{
	size_t len = ZSTD_compress(room, size, bytes.data, bytes.len, PRESS_LEVEL);

	if (ZSTD_isError(len) || len > bytes.len - bytes.len / 8)
		return 0;
	return len;
}

static int put_data(struct store *store, int64_t blob, struct bytes bytes, struct err *err)
{
	auto_free char *room = NULL;
	size_t pressed = 0;
	struct binding binding;
	sqlite3_stmt *stmt = stmt_take(store, STMT_BLOB_DATA_INSERT, err);

	if (!stmt)
		return -1;
	if (bytes.len >= PRESS_BYTES_MIN) {
		room = malloc(ZSTD_compressBound(bytes.len));
		if (!room)
			return err_set(err, ERR_MEMORY, "the store: no memory to press a blob");
		pressed = press(bytes, room, ZSTD_compressBound(bytes.len));
	}
	binding = bind_to(stmt);
	bind_int(&binding, blob);
	bind_int(&binding, pressed ? CODEC_ZSTD : CODEC_PLAIN);
	bind_blob(&binding, pressed ? room : bytes.data, pressed ? pressed : bytes.len);
	return bind_run(store, &binding, err);
}

/* 1 found, 0 not there, -1. */
static int find(
	struct store *store, const uint8_t digest[DIGEST_LEN], int64_t *ret_blob, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_BLOB_FIND, err);
	struct binding binding;
	int r;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_blob(&binding, digest, DIGEST_LEN);
	r = stmt_step(store, stmt, err);
	if (r > 0)
		*ret_blob = sqlite3_column_int64(stmt, 0);
	(void)sqlite3_reset(stmt);
	return r;
}

static int write_new(struct store *store, struct bytes bytes, const uint8_t digest[DIGEST_LEN],
	int64_t *ret_blob, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_BLOB_INSERT, err);
	struct binding binding;
	int64_t blob;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_blob(&binding, digest, DIGEST_LEN);
	bind_int(&binding, (int64_t)bytes.len);
	if (bind_run(store, &binding, err) < 0)
		return -1;

	blob = sqlite3_last_insert_rowid(store->db);
	if (put_data(store, blob, bytes, err) < 0)
		return -1;
	*ret_blob = blob;
	return 0;
}

static struct blob_name *name_of(struct store *store, int64_t blob)
{
	return &store->shelf.names[(uint64_t)blob % SHELF_SLOTS];
}

static void note_name(
	struct store *store, int64_t blob, uint64_t bytes, const uint8_t digest[DIGEST_LEN])
{
	struct blob_name *name = name_of(store, blob);

	name->blob = blob;
	name->bytes = bytes;
	memcpy(name->digest, digest, DIGEST_LEN);
}

static int put_digested(struct store *store, struct bytes bytes, const uint8_t *digest,
	int64_t *ret_blob, struct err *err)
{
	unsigned slot = digest[0] % SHELF_SLOTS;
	int64_t blob = 0;
	int r;

	if (store->shelf.slots[slot].blob &&
		memcmp(store->shelf.slots[slot].digest, digest, DIGEST_LEN) == 0) {
		*ret_blob = store->shelf.slots[slot].blob;
		return 0;
	}

	r = find(store, digest, &blob, err);
	if (r == 0)
		r = write_new(store, bytes, digest, &blob, err);
	if (r < 0)
		return -1;
	memcpy(store->shelf.slots[slot].digest, digest, DIGEST_LEN);
	store->shelf.slots[slot].blob = blob;
	note_name(store, blob, bytes.len, digest);
	*ret_blob = blob;
	return 0;
}

int blob_put(struct store *store, struct bytes bytes, const uint8_t *digest, int64_t *ret_blob,
	struct err *err)
{
	size_t place = bytes.len % SHELF_TEXTS;
	bool is_short = bytes.len <= SHELF_BYTES;
	uint8_t own[DIGEST_LEN];

	if (bytes.len > BLOB_BYTES_MAX)
		return err_set(err, ERR_TOO_BIG, "the store: a blob of %zu bytes", bytes.len);
	if (digest)
		return put_digested(store, bytes, digest, ret_blob, err);

	if (is_short && store->shelf.texts[place].blob &&
		store->shelf.texts[place].len == bytes.len &&
		memcmp(store->shelf.texts[place].bytes, bytes.data, bytes.len) == 0) {
		*ret_blob = store->shelf.texts[place].blob;
		return 0;
	}
	digest_of(bytes.data, bytes.len, own);
	if (put_digested(store, bytes, own, ret_blob, err) < 0)
		return -1;
	if (is_short) {
		memcpy(store->shelf.texts[place].bytes, bytes.data, bytes.len);
		store->shelf.texts[place].len = bytes.len;
		store->shelf.texts[place].blob = *ret_blob;
	}
	return 0;
}

/* The name as it stands in the table: 0, or 1. */
static int look_up(struct store *store, int64_t blob, struct err *err)
{
	sqlite3_stmt *row = stmt_take_for(store, STMT_BLOB_DIGEST, blob, err);
	int r;

	if (!row)
		return -1;
	r = stmt_step(store, row, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	if (sqlite3_column_bytes(row, 0) == DIGEST_LEN)
		note_name(store, blob, (uint64_t)sqlite3_column_int64(row, 1),
			sqlite3_column_blob(row, 0));
	else
		r = 0;
	(void)sqlite3_reset(row);
	return !r;
}

int blob_digest(struct store *store, int64_t blob, uint64_t *ret_len,
	uint8_t ret_digest[DIGEST_LEN], struct err *err)
{
	const struct blob_name *name = name_of(store, blob);
	int r = name->blob == blob && blob ? 0 : look_up(store, blob, err);

	if (r != 0)
		return r;
	*ret_len = name->bytes;
	memcpy(ret_digest, name->digest, DIGEST_LEN);
	return 0;
}

/* ---- reading ------------------------------------------------------------------------------ */

static int damaged(int64_t blob, struct err *err)
{
	return err_set(err, ERR_CORRUPT, "the store: blob %lld is damaged", (long long)blob);
}

static int unpress(int64_t blob, struct bytes pressed, char *room, size_t len, struct err *err)
{
	size_t r = ZSTD_decompress(room, len, pressed.data, pressed.len);

	return ZSTD_isError(r) || r != len ? damaged(blob, err) : 0;
}

/* Whether the columns can be what put_data() wrote. */
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
	if (codec == CODEC_ZSTD && unpress(row->blob, data, room, len, err) < 0)
		return -1;
	if (codec == CODEC_PLAIN && data.data)
		memcpy(room, data.data, len);
	*ret_bytes = (struct bytes){ room, len };
	return 0;
}

int blob_get(struct store *store, int64_t blob, struct arena *arena, struct bytes *ret_bytes,
	struct err *err)
{
	sqlite3_stmt *stmt = stmt_take_for(store, STMT_BLOB_READ, blob, err);
	const struct blob_row row = { stmt, 0, blob };
	int r;

	if (!stmt)
		return -1;
	r = stmt_step(store, stmt, err);
	if (r == 0)
		return err_set(
			err, ERR_CORRUPT, "the store: blob %lld is missing", (long long)blob);
	if (r > 0)
		r = blob_unpack(store, &row, arena, ret_bytes, err);
	(void)sqlite3_reset(stmt);
	return r;
}
