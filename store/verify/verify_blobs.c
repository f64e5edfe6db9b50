/* Compares the bytes of each blob with its digest. */
#include <string.h>

#include "store/base/blob.h"
#include "store/base/db.h"
#include "store/base/stmt.h"
#include "store/verify/verify.h"

#define BLOB_ROOM ((size_t)320 << 20) /* for one, unpressed */

static bool is_as_named(struct verify *verify, sqlite3_stmt *row, int64_t blob)
{
	const struct blob_row content = { row, 2, blob };
	const void *named = sqlite3_column_blob(row, 1);
	bool has_name = named && sqlite3_column_bytes(row, 1) == DIGEST_LEN;
	uint8_t name[DIGEST_LEN];
	uint8_t digest[DIGEST_LEN];
	struct bytes bytes = { NULL, 0 };
	struct arena arena;
	bool same = false;

	if (!has_name || sqlite3_column_type(row, 4) == SQLITE_NULL)
		return false;
	memcpy(name, named, DIGEST_LEN);
	arena_init(&arena, BLOB_ROOM);
	if (blob_unpack(verify->store, &content, &arena, &bytes, NULL) == 0) {
		digest_of(bytes.data, bytes.len, digest);
		same = memcmp(digest, name, DIGEST_LEN) == 0;
	}
	arena_done(&arena);
	return same;
}

static void check(struct verify *verify, sqlite3_stmt *row, int64_t blob)
{
	bool gone = sqlite3_column_type(row, 4) == SQLITE_NULL;
	struct fill problem;

	if (is_as_named(verify, row, blob))
		return;
	problem = verify_problem(verify, gone ? "missing" : "changed", "the bytes of blob %lld %s",
		(long long)blob,
		gone ? "were taken out" : "are not those that were recorded under its digest");
	fill_text(&problem, "table", gone ? "blob_data" : "blobs");
	fill_int(&problem, "row", blob);
}

static int last_blob(struct verify *verify, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_take(verify->store, STMT_BLOB_LAST, err);
	int r = stmt_step(verify->store, row, err);

	if (r > 0)
		verify->of = sqlite3_column_int64(row, 0);
	return r < 0 ? -1 : 0;
}

int verify_blobs(struct verify *verify, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_with(verify->store, STMT_BLOB_WALK,
		SQL_VALUES(sql_int(verify->from), sql_int(verify->count)), err);
	int64_t blob = 0;
	int r;

	if (last_blob(verify, err) < 0)
		return -1;
	while ((r = stmt_step(verify->store, row, err)) > 0) {
		blob = sqlite3_column_int64(row, 0);
		check(verify, row, blob);
		verify->checked++;
	}
	verify->next = blob && blob < verify->of ? blob + 1 : 0;
	return r;
}
