#include "store/write/word_index.h"

#include "proto/digest.h"
#include "store/base/db.h"
#include "store/base/record.h"

#define TEXT_DIGEST_LEN (DIGEST_LEN / 2)
#define PURGE_PAGES     64 /* at once: a few milliseconds */
#define ARENA_MAX       ((size_t)256 << 20)

/* ---- adding ------------------------------------------------------------------------------- */

/* STMT_WORDS_INSERT or STMT_WORDS_DELETE, which needs the same bytes. */
static int run_words(
	struct store *store, enum stmt_name name, int64_t text, struct bytes bytes, struct err *err)
{
	/* A text that was cut may end inside a character. */
	const struct sql_value text_value = {
		.type = SQL_CUT, .bytes = bytes.data, .len = bytes.len
	};

	return stmt_run(store, name, SQL_VALUES(sql_int(text), text_value), err);
}

static int insert_text(struct store *store, const uint8_t digest[TEXT_DIGEST_LEN],
	struct bytes bytes, int64_t *ret_text, struct err *err)
{
	if (stmt_run(store, STMT_TEXT_INSERT, SQL_VALUES(sql_blob(digest, TEXT_DIGEST_LEN)), err) <
		0)
		return -1;
	*ret_text = sqlite3_last_insert_rowid(store->db);
	return run_words(store, STMT_WORDS_INSERT, *ret_text, bytes, err);
}

/* The number of the text, old or new; 0 when there is nothing to index. */
static int add_text(
	struct store *store, struct bytes bytes, int64_t key, int64_t *ret_text, struct err *err)
{
	uint8_t digest[DIGEST_LEN];
	int r;

	*ret_text = 0;
	if (!bytes.data)
		return 0;
	digest_of(bytes.data, bytes.len, digest);
	r = stmt_number(store, STMT_TEXT_FIND, SQL_VALUES(sql_blob(digest, TEXT_DIGEST_LEN)),
		ret_text, err);
	if (r < 0 || (r == 0 && insert_text(store, digest, bytes, ret_text, err) < 0))
		return -1;
	return stmt_run(
		store, STMT_MENTION_INSERT, SQL_VALUES(sql_int(*ret_text), sql_int(key)), err);
}

int word_index_add(struct store *store, int64_t key, const struct texts *texts, struct err *err)
{
	struct sql_value values[TEXTS_OF_A_RUN + 2] = { sql_int(key) };

	for (size_t i = 0; i < TEXTS_OF_A_RUN; i++) {
		int64_t text = 0;

		if (add_text(store, texts->bytes[i], key, &text, err) < 0)
			return -1;
		if (texts->damaged & 1U << i)
			values[i + 1] = sql_int(TEXT_DAMAGED);
		else
			values[i + 1] = text ? sql_int(text) : sql_text(NULL);
	}
	return stmt_run(store, STMT_RUN_TEXTS_INSERT, values, err);
}

/* ---- removing ----------------------------------------------------------------------------- */

static int remove_text(struct store *store, struct word_index *index, int64_t key, int64_t text,
	struct bytes bytes, struct err *err)
{
	int held;

	if (!text)
		return 0;
	if (stmt_run(store, STMT_MENTION_DELETE, SQL_VALUES(sql_int(text), sql_int(key)), err) < 0)
		return -1;
	held = stmt_has_row(store, STMT_MENTION_FIND, text, err);
	if (held != 0 || !bytes.data)
		return held < 0 ? -1 : 0;
	if (run_words(store, STMT_WORDS_DELETE, text, bytes, err) < 0)
		return -1;
	index->has_removed = true;
	return stmt_run_for(store, STMT_TEXT_DELETE, text, err);
}

/* 0 with the numbers, 1 when the run has none, -1. */
static int read_run_texts(
	struct store *store, int64_t key, int64_t ret_texts[TEXTS_OF_A_RUN], struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = NULL;
	int r = record_row(store, STMT_RUN_TEXTS_READ, key, &row, err);

	for (int i = 0; r == 0 && i < TEXTS_OF_A_RUN; i++)
		ret_texts[i] = sqlite3_column_int64(row, i);
	return r;
}

int word_index_remove(struct store *store, struct word_index *index, int64_t key, struct err *err)
{
	struct texts texts = { .damaged = 0 };
	int64_t numbers[TEXTS_OF_A_RUN];
	struct arena arena;
	int r = read_run_texts(store, key, numbers, err);

	if (r != 0)
		return r < 0 ? -1 : 0;
	arena_init(&arena, ARENA_MAX);
	/* The words of a damaged text stay, since only its bytes would tell which they are. */
	r = texts_read(store, key, 0, &arena, &texts, err);
	for (size_t i = 0; r >= 0 && i < TEXTS_OF_A_RUN; i++) {
		/* One text may be both program and output. */
		bool again =
			(i > 0 && numbers[i] == numbers[0]) || (i > 1 && numbers[i] == numbers[1]);

		if (!again && remove_text(store, index, key, numbers[i], texts.bytes[i], err) < 0)
			r = -1;
	}
	arena_done(&arena);
	return r < 0 ? -1 : stmt_run_for(store, STMT_RUN_TEXTS_DELETE, key, err);
}

bool word_index_has_work(const struct word_index *index)
{
	return index->has_removed || index->is_merging;
}

/* Given a negative number of pages, FTS5 begins to merge all parts of the index into one. */
int word_index_purge(struct store *store, struct word_index *index, struct err *err)
{
	int64_t before = sqlite3_total_changes64(store->db);

	if (stmt_run_for(store, STMT_WORDS_MERGE, index->has_removed ? -PURGE_PAGES : PURGE_PAGES,
		    err) < 0)
		return -1;
	index->has_removed = false;
	/* FTS5 reports the end by changing fewer than two rows. */
	index->is_merging = sqlite3_total_changes64(store->db) - before >= 2;
	return 0;
}
