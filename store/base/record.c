#include "store/base/record.h"

#include "proto/base/utf8.h"
#include "store/base/db.h"

int record_find(struct store *store, const char *run_id, int64_t *ret_key, struct err *err)
{
	int64_t key = db_key_of(run_id);
	int r;

	if (key < 0)
		return 1;
	r = stmt_number(
		store, STMT_KEY_FIND, SQL_VALUES(sql_int(key), sql_text(run_id)), ret_key, err);
	return r < 0 ? -1 : !r;
}

/*
 * The longest prefix of at most `most` bytes that does not end inside a character, if it is text.
 */
static size_t whole_prefix(struct bytes bytes, size_t most)
{
	size_t whole = utf8_whole_prefix(bytes.data, most);

	return whole > 0 && utf8_is_valid(bytes.data, whole) ? whole : most;
}

struct value *record_part(struct arena *arena, struct bytes bytes, uint64_t most)
{
	size_t len;

	if (bytes.len <= most)
		return value_blob_borrowed(arena, bytes.data, bytes.len);
	len = whole_prefix(bytes, (size_t)most);
	/* A copy, since texts end with a NUL. */
	return utf8_is_valid(bytes.data, len) ? value_text_len(arena, bytes.data, len)
					      : value_bytes(arena, bytes.data, len);
}

int record_row(struct store *store, enum stmt_name name, int64_t key, sqlite3_stmt **ret_row,
	struct err *err)
{
	sqlite3_stmt *row = stmt_take_for(store, name, key, err);
	int r;

	r = stmt_step(store, row, err);
	*ret_row = row;
	return r < 0 ? -1 : !r;
}
