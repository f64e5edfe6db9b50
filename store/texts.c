#include "store/texts.h"

#include <string.h>

#include "proto/base/container.h"
#include "proto/base/utf8.h"
#include "proto/digest.h"
#include "store/content.h"
#include "store/db.h"
#include "store/record.h"

#define TEXT_DIGEST_LEN (DIGEST_LEN / 2)
#define PURGE_PAGES     64 /* at once: a few milliseconds */

/* In the order of the columns of `run_texts`. */
static const int columns[TEXTS_OF_A_RUN] = { RECORD_CODE, RECORD_STDOUT, RECORD_STDERR };

struct bytes text_indexed(struct bytes bytes)
{
	static const struct bytes nothing = { NULL, 0 };

	if (!bytes.data || memchr(bytes.data, '\0', bytes.len))
		return nothing;
	if (bytes.len > TEXT_BYTES_MAX)
		bytes.len = TEXT_BYTES_MAX;
	return bytes.len ? bytes : nothing;
}

/* What is damaged is as good as not there, and noted. */
static int read_text(struct store *store, sqlite3_stmt *row, unsigned number, struct arena *arena,
	struct texts *texts, struct err *err)
{
	struct bytes bytes = { NULL, 0 };
	struct err why = ERR_INIT;

	if (content_read(store, row, columns[number], arena, &bytes, &why) == 0) {
		texts->bytes[number] = text_indexed(bytes);
		return 0;
	}
	if (why.code != ERR_CORRUPT)
		return err_pass(err, &why);
	texts->damaged |= 1U << number;
	texts->why = why;
	texts->spoilt |= (sqlite3_errcode(store->db) & 0xff) == SQLITE_CORRUPT;
	return 0;
}

int texts_read(struct store *store, int64_t key, unsigned without, struct arena *arena,
	struct texts *ret_texts, struct err *err)
{
	sqlite3_stmt *row = NULL;
	int r = record_row(store, STMT_RECORD_READ, key, &row, err);

	*ret_texts = (struct texts){ .damaged = without, .why = ERR_INIT };
	for (unsigned i = 0; r == 0 && i < TEXTS_OF_A_RUN; i++)
		if (!(without & 1U << i))
			r = read_text(store, row, i, arena, ret_texts, err);
	if (row)
		(void)sqlite3_reset(row);
	return r;
}

/* ---- adding ------------------------------------------------------------------------------- */

static int run_with(
	struct store *store, enum stmt_name name, int64_t first, int64_t second, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, name, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_int(&binding, first);
	if (sqlite3_bind_parameter_count(stmt) > 1)
		bind_int(&binding, second);
	return bind_run(store, &binding, err);
}

static int find_text(struct store *store, const uint8_t digest[TEXT_DIGEST_LEN], int64_t *ret_text,
	struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_TEXT_FIND, err);
	struct binding binding;
	int r;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_blob(&binding, digest, TEXT_DIGEST_LEN);
	r = stmt_step(store, stmt, err);
	if (r > 0)
		*ret_text = sqlite3_column_int64(stmt, 0);
	(void)sqlite3_reset(stmt);
	return r;
}

/* STMT_WORDS_INSERT or STMT_WORDS_DELETE: both want the very same bytes. */
static int run_words(
	struct store *store, enum stmt_name name, int64_t text, struct bytes bytes, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, name, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_int(&binding, text);
	binding.code = sqlite3_bind_text64(
		stmt, ++binding.index, bytes.data, bytes.len, SQLITE_STATIC, SQLITE_UTF8);
	return bind_run(store, &binding, err);
}

static int insert_text(struct store *store, const uint8_t digest[TEXT_DIGEST_LEN],
	struct bytes bytes, int64_t *ret_text, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_TEXT_INSERT, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_blob(&binding, digest, TEXT_DIGEST_LEN);
	if (bind_run(store, &binding, err) < 0)
		return -1;
	*ret_text = sqlite3_last_insert_rowid(store->db);
	return run_words(store, STMT_WORDS_INSERT, *ret_text, bytes, err);
}

/* The text's number, old or new; 0 when there is nothing to index. */
static int add_text(
	struct store *store, struct bytes bytes, int64_t key, int64_t *ret_text, struct err *err)
{
	uint8_t digest[DIGEST_LEN];
	int r;

	*ret_text = 0;
	if (!bytes.data)
		return 0;
	digest_of(bytes.data, bytes.len, digest);
	r = find_text(store, digest, ret_text, err);
	if (r < 0 || (r == 0 && insert_text(store, digest, bytes, ret_text, err) < 0))
		return -1;
	return run_with(store, STMT_MENTION_INSERT, *ret_text, key, err);
}

static int insert_run_texts(struct store *store, int64_t key, const int64_t texts[TEXTS_OF_A_RUN],
	unsigned damaged, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_RUN_TEXTS_INSERT, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_int(&binding, key);
	for (size_t i = 0; i < TEXTS_OF_A_RUN; i++) {
		if (damaged & 1U << i)
			bind_int(&binding, TEXT_DAMAGED);
		else if (texts[i])
			bind_int(&binding, texts[i]);
		else
			bind_null(&binding);
	}
	return bind_run(store, &binding, err);
}

int texts_add(struct store *store, int64_t key, const struct texts *texts, struct err *err)
{
	int64_t numbers[TEXTS_OF_A_RUN] = { 0 };

	for (size_t i = 0; i < TEXTS_OF_A_RUN; i++)
		if (add_text(store, texts->bytes[i], key, &numbers[i], err) < 0)
			return -1;
	return insert_run_texts(store, key, numbers, texts->damaged, err);
}

/* ---- forgetting --------------------------------------------------------------------------- */

/* 1 when somebody else holds the text, 0 when nobody does, -1. */
static int is_held(struct store *store, int64_t text, struct err *err)
{
	sqlite3_stmt *row = NULL;
	int r = record_row(store, STMT_MENTION_FIND, text, &row, err);

	if (row)
		(void)sqlite3_reset(row);
	return r < 0 ? -1 : !r;
}

static int forget_text(
	struct store *store, int64_t key, int64_t text, struct bytes bytes, struct err *err)
{
	int held;

	if (!text)
		return 0;
	if (run_with(store, STMT_MENTION_DELETE, text, key, err) < 0)
		return -1;
	held = is_held(store, text, err);
	if (held != 0 || !bytes.data)
		return held < 0 ? -1 : 0;
	if (run_words(store, STMT_WORDS_DELETE, text, bytes, err) < 0)
		return -1;
	store->forgot = true;
	return run_with(store, STMT_TEXT_DELETE, text, 0, err);
}

/* 0 with the numbers, 1 when the run holds none, -1. */
static int read_run_texts(
	struct store *store, int64_t key, int64_t ret_texts[TEXTS_OF_A_RUN], struct err *err)
{
	sqlite3_stmt *row = NULL;
	int r = record_row(store, STMT_RUN_TEXTS_READ, key, &row, err);

	for (int i = 0; r == 0 && i < TEXTS_OF_A_RUN; i++)
		ret_texts[i] = sqlite3_column_int64(row, i);
	if (row)
		(void)sqlite3_reset(row);
	return r;
}

int texts_forget(struct store *store, int64_t key, struct err *err)
{
	struct texts texts = { .damaged = 0 };
	int64_t numbers[TEXTS_OF_A_RUN];
	int r = read_run_texts(store, key, numbers, err);

	if (r != 0)
		return r < 0 ? -1 : 0;
	/* The words of one that is damaged stay: only its bytes would tell which they are. */
	r = texts_read(store, key, 0, &store->scratch, &texts, err);
	for (size_t i = 0; r >= 0 && i < TEXTS_OF_A_RUN; i++) {
		/* One text may be both program and output: it is forgotten once. */
		bool again =
			(i > 0 && numbers[i] == numbers[0]) || (i > 1 && numbers[i] == numbers[1]);

		if (!again && forget_text(store, key, numbers[i], texts.bytes[i], err) < 0)
			r = -1;
	}
	arena_done(&store->scratch);
	return r < 0 ? -1 : run_with(store, STMT_RUN_TEXTS_DELETE, key, 0, err);
}

/* Asked for a negative number of pages the index begins to write all of its parts into one. */
int texts_purge(struct store *store, struct err *err)
{
	int64_t before = sqlite3_total_changes64(store->db);
	bool begins = store->forgot;

	if (run_with(store, STMT_WORDS_MERGE, begins ? -PURGE_PAGES : PURGE_PAGES, 0, err) < 0)
		return -1;
	store->forgot = false;
	/* It says that nothing was left to do by changing next to nothing. */
	store->merging = sqlite3_total_changes64(store->db) - before >= 2;
	return store->merging;
}
