#include "store/base/content.h"

#include "proto/base/utf8.h"
#include "store/base/blob.h"

int content_value(struct store *store, struct bytes bytes, size_t inline_max, const uint8_t *digest,
	struct sql_value *ret_value, struct err *err)
{
	int64_t blob = 0;

	if (!bytes.data)
		*ret_value = (struct sql_value){ .type = SQL_NULL };
	else if (bytes.len <= inline_max)
		*ret_value = sql_words(bytes.data, bytes.len);
	else if (blob_put(store, bytes, digest, &blob, err) < 0)
		return -1;
	else
		*ret_value = sql_int(blob);
	return 0;
}

bool content_has_wrong_type(sqlite3_stmt *stmt, int column, bool is_text)
{
	int type = sqlite3_column_type(stmt, column);
	const char *bytes;
	size_t len;

	if (type == SQLITE_INTEGER || type == SQLITE_NULL)
		return false;
	if (is_text)
		return type != SQLITE_TEXT;
	bytes = sqlite3_column_blob(stmt, column);
	len = (size_t)sqlite3_column_bytes(stmt, column);
	return type != (utf8_is_valid(bytes ? bytes : "", len) ? SQLITE_TEXT : SQLITE_BLOB);
}

int content_read(struct store *store, sqlite3_stmt *stmt, int column, struct arena *arena,
	struct bytes *ret_bytes, struct err *err)
{
	int type = sqlite3_column_type(stmt, column);
	const void *bytes;
	size_t len;
	char *copy;

	if (type == SQLITE_NULL) {
		*ret_bytes = (struct bytes){ NULL, 0 };
		return 0;
	}
	if (type == SQLITE_INTEGER)
		return blob_get(store, sqlite3_column_int64(stmt, column), arena, ret_bytes, err);
	bytes = sqlite3_column_blob(stmt, column);
	len = (size_t)sqlite3_column_bytes(stmt, column);
	copy = arena_copy(arena, bytes, bytes ? len : 0);
	if (!copy)
		return err_set(err, ERR_MEMORY, "the store: no memory for a record");
	*ret_bytes = (struct bytes){ copy, bytes ? len : 0 };
	return 0;
}

int content_digest(struct store *store, sqlite3_stmt *stmt, int column, uint64_t *ret_len,
	uint8_t ret_digest[DIGEST_LEN], struct err *err)
{
	const void *bytes;
	size_t len;

	if (sqlite3_column_type(stmt, column) == SQLITE_INTEGER)
		return blob_digest(
			store, sqlite3_column_int64(stmt, column), ret_len, ret_digest, err);
	bytes = sqlite3_column_blob(stmt, column);
	len = (size_t)sqlite3_column_bytes(stmt, column);
	digest_of(bytes, bytes ? len : 0, ret_digest);
	*ret_len = bytes ? len : 0;
	return 0;
}
