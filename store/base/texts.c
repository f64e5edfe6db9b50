#include "store/base/texts.h"

#include <string.h>

#include "store/base/content.h"
#include "store/base/db.h"
#include "store/base/record.h"

/* In the order of the columns of `run_texts`. */
static const int text_columns[TEXTS_OF_A_RUN] = { RECORD_CODE, RECORD_STDOUT, RECORD_STDERR };

struct bytes text_indexed(struct bytes bytes)
{
	static const struct bytes nothing = { NULL, 0 };

	if (!bytes.data || memchr(bytes.data, '\0', bytes.len))
		return nothing;
	if (bytes.len > TEXT_BYTES_MAX)
		bytes.len = TEXT_BYTES_MAX;
	return bytes.len ? bytes : nothing;
}

/* A damaged text counts as empty and is noted. */
static int read_text(struct store *store, sqlite3_stmt *row, unsigned number, struct arena *arena,
	struct texts *texts, struct err *err)
{
	struct bytes bytes = { NULL, 0 };
	struct err why = ERR_INIT;

	if (content_read(store, row, text_columns[number], arena, &bytes, &why) == 0) {
		texts->bytes[number] = text_indexed(bytes);
		return 0;
	}
	if (why.code != ERR_CORRUPT)
		return err_pass(err, &why);
	texts->damaged |= 1U << number;
	texts->why = why;
	texts->ends_transaction |= (sqlite3_errcode(store->db) & 0xff) == SQLITE_CORRUPT;
	return 0;
}

int texts_read(struct store *store, int64_t key, unsigned without, struct arena *arena,
	struct texts *ret_texts, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = NULL;
	int r = record_row(store, STMT_RECORD_READ, key, &row, err);

	*ret_texts = (struct texts){ .damaged = without, .why = ERR_INIT };
	for (unsigned i = 0; r == 0 && i < TEXTS_OF_A_RUN; i++)
		if (!(without & 1U << i))
			r = read_text(store, row, i, arena, ret_texts, err);
	return r;
}
