/* Compares the texts by which runs are found with the contents of the runs. */
#include <string.h>

#include "proto/digest.h"
#include "store/base/db.h"
#include "store/base/stmt.h"
#include "store/base/texts.h"
#include "store/verify/verify.h"
#include "store/verify/verify_words.h"

#define ROOM ((size_t)640 << 20) /* for the contents of one run */

#define HOLDERS                                                                                   \
	"SELECT t.key, t.code, c.digest, t.stdout, o.digest, t.stderr, e.digest FROM run_texts "  \
	"AS t LEFT JOIN texts AS c ON c.text = t.code LEFT JOIN texts AS o ON o.text = t.stdout " \
	"LEFT JOIN texts AS e ON e.text = t.stderr"

/* One look at all runs. */
struct checking {
	struct verify *verify;
	struct wording *wording;
	bool all_read;
};

/* Whether the digest in that column is that of the bytes; nothing to index has none. */
static bool is_that(sqlite3_stmt *row, int column, struct bytes bytes)
{
	const void *half = sqlite3_column_blob(row, column);
	uint8_t digest[DIGEST_LEN];

	if (!bytes.data || !half)
		return !bytes.data && !half;
	digest_of(bytes.data, bytes.len, digest);
	return sqlite3_column_bytes(row, column) == DIGEST_LEN / 2 &&
	       memcmp(half, digest, DIGEST_LEN / 2) == 0;
}

static void say(struct verify *verify, int64_t key, const char *what, const char *message)
{
	struct fill problem = verify_problem(verify, what, "%s", message);

	fill_text(&problem, "table", "run_texts");
	fill_int(&problem, "row", key);
}

/* Could not be read when the run settled. */
static bool was_damaged(sqlite3_stmt *row, int column)
{
	return sqlite3_column_type(row, column) == SQLITE_INTEGER &&
	       sqlite3_column_int64(row, column) == TEXT_DAMAGED;
}

static int check_row(
	struct checking *checking, sqlite3_stmt *row, struct arena *arena, struct err *err)
{
	struct verify *verify = checking->verify;
	int64_t key = sqlite3_column_int64(row, 0);
	struct texts texts = { .damaged = 0 };
	bool same = true;
	bool whole = true;

	if (texts_read(verify->store, key, 0, arena, &texts, err) < 0)
		return -1;
	for (int i = 0; i < TEXTS_OF_A_RUN; i++) {
		if (texts.damaged & 1U << i)
			continue;
		if (was_damaged(row, 1 + 2 * i))
			whole = false;
		else
			same &= is_that(row, 2 + 2 * i, texts.bytes[i]);
		if (wording_add(checking->wording, sqlite3_column_int64(row, 1 + 2 * i),
			    texts.bytes[i], err) < 0)
			return -1;
	}
	checking->all_read &= !texts.damaged;
	if (texts.damaged)
		say(verify, key, "unreadable", "a text of a run cannot be read");
	if (!same)
		say(verify, key, "changed",
			"a run is found by the words of texts that it does not hold");
	if (!whole)
		say(verify, key, "missing",
			"a run is not found by the words of a text that could not be read when it settled");
	return 0;
}

int texts_check(struct verify *verify, struct err *err)
{
	auto_of(wording_free) struct wording *wording = wording_new(verify->store, err);
	struct checking checking = { verify, wording, true };
	auto_of(db_finish) sqlite3_stmt *row = NULL;
	struct arena arena;
	int r;

	if (!wording)
		return -1;
	row = db_prepare(verify->store, HOLDERS, err);
	arena_init(&arena, ROOM);
	while ((r = stmt_step(verify->store, row, err)) > 0) {
		r = check_row(&checking, row, &arena, err);
		arena_done(&arena);
		if (r < 0)
			break;
	}
	/* Unreadable texts were reported, and their words are unknown. */
	return r == 0 && checking.all_read ? wording_compare(wording, verify, err) : r;
}
