#include "store/base/fetch.h"

#include <string.h>

#include "proto/digest.h"

static bool is_null(sqlite3_stmt *row, int column)
{
	return sqlite3_column_type(row, column) == SQLITE_NULL;
}

static void put_nil(struct fill *fill, const char *key)
{
	fill_value(fill, key, value_nil(fill->arena));
}

void fetch_text(struct fill *fill, const char *key, sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	size_t len = (size_t)sqlite3_column_bytes(row, column);

	if (text)
		fill_value(fill, key, value_text_len(fill->arena, text, len));
	else
		put_nil(fill, key);
}

void fetch_int(struct fill *fill, const char *key, sqlite3_stmt *row, int column)
{
	if (is_null(row, column))
		put_nil(fill, key);
	else
		fill_int(fill, key, sqlite3_column_int64(row, column));
}

void fetch_bool(struct fill *fill, const char *key, sqlite3_stmt *row, int column)
{
	if (is_null(row, column))
		put_nil(fill, key);
	else
		fill_bool(fill, key, sqlite3_column_int64(row, column) != 0);
}

void fetch_hash(struct fill *fill, const char *key, sqlite3_stmt *row, int column)
{
	const uint8_t *digest = sqlite3_column_blob(row, column);
	char text[DIGEST_TEXT_LEN + 1];

	if (!digest || sqlite3_column_bytes(row, column) != DIGEST_LEN) {
		put_nil(fill, key);
		return;
	}
	digest_text(digest, text);
	fill_text(fill, key, text);
}

void fetch_columns(struct fill *fill, sqlite3_stmt *row, int from, int count)
{
	for (int column = from; column < from + count; column++) {
		const char *key = sqlite3_column_name(row, column);
		const char *type = sqlite3_column_decltype(row, column);

		if (type && strcmp(type, "INTEGER") == 0)
			fetch_int(fill, key, row, column);
		else if (type && strcmp(type, "BLOB") == 0)
			fetch_hash(fill, key, row, column);
		else
			fetch_text(fill, key, row, column);
	}
}

void fetch_cached(struct fill *fill, sqlite3_stmt *row, int column)
{
	fill_bool(fill, "cached", !is_null(row, column));
	if (!is_null(row, column))
		fetch_text(fill, "cached_from", row, column);
}

void fetch_outcome(struct fill *fill, sqlite3_stmt *row, int column, int parked_column)
{
	const char *outcome = (const char *)sqlite3_column_text(row, column);

	bool parked = sqlite3_column_int(row, parked_column) != 0;

	fill_text(fill, "state", outcome ? "ended" : parked ? "parked" : "running");
	fetch_text(fill, "outcome", row, column);
	if (outcome)
		fill_bool(fill, "ok", strcmp(outcome, "ok") == 0);
	else
		put_nil(fill, "ok");
}
