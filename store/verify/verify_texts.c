/*
 * Compares the texts by which runs are found with the contents of the runs, and the index of words
 * with the texts.
 *
 * The texts are split into words again by the tokenizer of SQLite.  Both sets of words are compared
 * by sums of keyed hashes, so only the sums are in memory.  The key is random and new each time, so
 * an attacker cannot prepare two different sets with the same sum.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/base/buf.h"
#include "proto/digest.h"
#include "store/base/db.h"
#include "store/base/stmt.h"
#include "store/base/texts.h"
#include "store/verify/verify.h"

#define ROOM ((size_t)640 << 20) /* for the contents of one run */

#define HOLDERS                                                                                   \
	"SELECT t.key, t.code, c.digest, t.stdout, o.digest, t.stderr, e.digest FROM run_texts "  \
	"AS t LEFT JOIN texts AS c ON c.text = t.code LEFT JOIN texts AS o ON o.text = t.stdout " \
	"LEFT JOIN texts AS e ON e.text = t.stderr"

#define WORD_MAX    32768 /* the index cuts longer words there */
#define ROW_MAX     ((size_t)1 << 20)
#define WHERE_LEN   (2 * sizeof(int64_t))
#define VOCAB       "temp.words_there"
#define ALLOW_TEMP  "PRAGMA query_only = OFF"
#define MAKE_VOCAB  "CREATE VIRTUAL TABLE " VOCAB " USING fts5vocab('main', 'words', 'instance')"
#define DROP_VOCAB  "DROP TABLE IF EXISTS " VOCAB
#define FORBID_TEMP "PRAGMA query_only = ON"

struct heap {
	uint64_t sums[2];
};

struct wording {
	struct store *store;
	fts5_tokenizer tokenizer;
	Fts5Tokenizer *state;
	uint8_t *seen; /* a bit for each text */
	int64_t seen_most;
	int64_t texts, words;
	uint8_t key[DIGEST_QUICK_LEN];
	struct heap there, wanted;
	struct buf row;      /* WHERE_LEN bytes, and the word at hand */
	int64_t text, place; /* where that stands */
};

/* ---- one word ------------------------------------------------------------------------------ */

/* Where it stands is written before it, and then it is added to the heap. */
static void add_word(struct wording *wording, struct heap *heap)
{
	const int64_t where[2] = { wording->text, wording->place };
	uint64_t sums[2];

	memcpy(wording->row.bytes, where, sizeof(where));
	digest_quick(wording->key, wording->row.bytes, wording->row.len, sums);
	heap->sums[0] += sums[0];
	heap->sums[1] += sums[1];
}

static int take_word(struct wording *wording, const char *word, size_t len)
{
	wording->row.len = WHERE_LEN;
	return buf_append(&wording->row, word, len < WORD_MAX ? len : WORD_MAX);
}

/* NOLINTNEXTLINE(readability-function-size): SQLite calls it so */
static int on_word(void *context, int flags, const char *word, int len, int start, int end)
{
	struct wording *wording = context;

	(void)flags;
	(void)start;
	(void)end;
	if (take_word(wording, word, (size_t)len) < 0)
		return SQLITE_NOMEM;
	add_word(wording, &wording->wanted);
	wording->place++;
	wording->words++;
	return SQLITE_OK;
}

/* ---- what there should be ------------------------------------------------------------------- */

static int find_tokenizer(struct wording *wording)
{
	/* As in store/migrations/0010_first.sql. */
	static const char *arguments[] = { "remove_diacritics", "2" };
	auto_of(db_finish) sqlite3_stmt *stmt = NULL;
	fts5_api *api = NULL;
	void *context = NULL;
	int r = sqlite3_prepare_v2(wording->store->db, "SELECT fts5(?)", -1, &stmt, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_bind_pointer(stmt, 1, (void *)&api, "fts5_api_ptr", NULL);
	if (r == SQLITE_OK)
		(void)sqlite3_step(stmt);
	if (r == SQLITE_OK && !api)
		r = SQLITE_ERROR;
	if (r == SQLITE_OK)
		r = api->xFindTokenizer(api, "unicode61", &context, &wording->tokenizer);
	if (r == SQLITE_OK)
		r = wording->tokenizer.xCreate(context, arguments, 2, &wording->state);
	return r;
}

static void wording_free(struct wording *wording)
{
	if (!wording)
		return;
	if (wording->state)
		wording->tokenizer.xDelete(wording->state);
	buf_done(&wording->row);
	free(wording->seen);
	free(wording);
}
AUTO_DEFINE(struct wording, wording_free);

/* NULL with *err. */
static struct wording *wording_new(struct store *store, struct err *err)
{
	auto_of(wording_free) struct wording *wording = calloc(1, sizeof(*wording));
	int r = SQLITE_NOMEM;

	if (wording) {
		wording->store = store;
		buf_init(&wording->row, ROW_MAX);
		digest_quick_key(wording->key);
		if (db_number(store, "SELECT max(text) FROM texts", 0, &wording->seen_most, err) <
			0)
			return NULL;
		if (wording->seen_most >= 0 && wording->seen_most < INT32_MAX)
			wording->seen = calloc(1, (size_t)wording->seen_most / 8 + 1);
		r = wording->seen && buf_reserve(&wording->row, WHERE_LEN) == 0
			    ? find_tokenizer(wording)
			    : SQLITE_NOMEM;
	}
	if (r == SQLITE_OK)
		return take_ptr(wording);
	(void)err_set(err, ERR_MEMORY, "the store: no memory to look at the index of words");
	return NULL;
}

/*
 * Adds a text that the index should have; a text that was added before is ignored.  -1: no memory.
 */
static int wording_add(struct wording *wording, int64_t text, struct bytes bytes, struct err *err)
{
	if (text <= 0 || text > wording->seen_most || !bytes.data ||
		(wording->seen[text / 8] & 1U << (text % 8)))
		return 0;
	wording->seen[text / 8] |= (uint8_t)(1U << (text % 8));
	wording->texts++;
	wording->text = text;
	wording->place = 0;
	if (wording->tokenizer.xTokenize(wording->state, wording, FTS5_TOKENIZE_DOCUMENT,
		    bytes.data, (int)bytes.len, on_word) != SQLITE_OK)
		return err_set(err, ERR_MEMORY, "the store: no memory to look at words");
	return 0;
}

/* ---- what there is -------------------------------------------------------------------------- */

static void say_of_index(
	struct verify *verify, const char *table, const char *what, const char *message)
{
	struct fill problem = verify_problem(verify, what, "%s", message);

	fill_text(&problem, "table", table);
}

/* -1, 0, 1: how the word at hand compares with another one. */
static int compare(const struct wording *wording, const char *word, size_t len)
{
	size_t last_len = wording->row.len - WHERE_LEN;
	int order = memcmp(wording->row.bytes + WHERE_LEN, word, last_len < len ? last_len : len);

	return order ? order : (last_len > len) - (last_len < len);
}

/*
 * Words must be in order, and each in the order of its places, or they are not found. Adds the
 * word: 1 in order, 0 not, -1.
 */
static int take_row(struct wording *wording, sqlite3_stmt *row)
{
	const char *word = (const char *)sqlite3_column_text(row, 0);
	size_t len = (size_t)sqlite3_column_bytes(row, 0);
	int64_t text = sqlite3_column_int64(row, 1);
	int64_t place = sqlite3_column_int64(row, 2);
	int order = compare(wording, word ? word : "", len);
	bool in_order = order < 0 ||
			(order == 0 && (text > wording->text ||
					       (text == wording->text && place > wording->place)));

	if (order != 0 && take_word(wording, word ? word : "", len) < 0)
		return -1;
	wording->text = text;
	wording->place = place;
	add_word(wording, &wording->there);
	return in_order;
}

static int walk(struct wording *wording, sqlite3_stmt *row, bool *ret_in_order, struct err *err)
{
	int r;

	*ret_in_order = true;
	wording->row.len = WHERE_LEN;
	wording->text = 0;
	wording->place = -1;
	while ((r = stmt_step(wording->store, row, err)) > 0) {
		int in_order = take_row(wording, row);

		if (in_order < 0)
			return err_set(err, ERR_MEMORY, "the store: no memory to look at words");
		*ret_in_order &= in_order;
	}
	return r;
}

/* 1: the index has the words of the texts; 0: it has not; -1. */
static int are_right(struct wording *wording, struct err *err)
{
	auto_of(db_finish) sqlite3_stmt *row =
		db_prepare(wording->store, "SELECT term, doc, \"offset\" FROM " VOCAB, err);
	bool in_order = false;
	int r;

	if (!row)
		return -1;
	r = walk(wording, row, &in_order, err);
	if (r < 0)
		return -1;
	return in_order && memcmp(&wording->there, &wording->wanted, sizeof(wording->there)) == 0;
}

/* A varint of FTS5: seven bits per byte, the highest first. */
static size_t read_number(const uint8_t *bytes, size_t len, uint64_t *ret_number)
{
	*ret_number = 0;
	for (size_t i = 0; i < len && i < 9; i++) {
		*ret_number = *ret_number << 7 | (bytes[i] & 0x7f);
		if (!(bytes[i] & 0x80))
			return i + 1;
	}
	return 0;
}

/* The index counts its texts and words in the first row of its data. */
static int check_counts(struct wording *wording, struct verify *verify, struct err *err)
{
	auto_of(db_finish) sqlite3_stmt *row =
		db_prepare(wording->store, "SELECT block FROM words_data WHERE id = 1", err);
	uint64_t counts[2] = { 0, 0 };
	size_t at = 0;
	int r;

	if (!row)
		return -1;
	r = stmt_step(wording->store, row, err);
	for (size_t i = 0; r > 0 && i < 2; i++) {
		const uint8_t *bytes = sqlite3_column_blob(row, 0);
		size_t len = (size_t)sqlite3_column_bytes(row, 0);

		at += bytes && at < len ? read_number(bytes + at, len - at, &counts[i]) : 0;
	}
	if (r > 0 && at != (size_t)sqlite3_column_bytes(row, 0))
		counts[0] = UINT64_MAX;
	if (r >= 0 &&
		(counts[0] != (uint64_t)wording->texts || counts[1] != (uint64_t)wording->words))
		say_of_index(verify, "words_data", "changed",
			"the index of words counts other texts and words than there are");
	return r < 0 ? -1 : 0;
}

static int check_config(struct verify *verify, struct err *err)
{
	return verify_ask(verify, "changed",
		"SELECT 'words_config', 0, 'the settings of the index of words are not those of ced' "
		"WHERE (SELECT count(*) FROM words_config) <> 1 OR (SELECT v FROM words_config "
		"WHERE k = 'version') IS NOT 4",
		err);
}

/* After all texts were added: reports differences as problems. */
static int wording_compare(struct wording *wording, struct verify *verify, struct err *err)
{
	struct store *store = wording->store;
	bool readable;
	int r = check_config(verify, err);

	if (r < 0)
		return -1;
	/* A temporary table that reads the index. */
	readable = db_exec(store, ALLOW_TEMP "; " DROP_VOCAB "; " MAKE_VOCAB, err) == 0;
	r = readable ? are_right(wording, err) : -1;
	if (sqlite3_exec(store->db, DROP_VOCAB, NULL, NULL, NULL) != SQLITE_OK)
		r = -1;
	if (store->mode == STORE_READ)
		(void)sqlite3_exec(store->db, FORBID_TEMP, NULL, NULL, NULL);
	if (r == 0)
		say_of_index(verify, "words", "changed",
			"the words in the index are not those of the texts of the runs");
	return r <= 0 ? r : check_counts(wording, verify, err);
}

/* ---- the texts of runs ------------------------------------------------------------------------ */

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
			"a run is found by words of texts that it does not have");
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
