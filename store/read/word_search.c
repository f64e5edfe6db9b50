#include "store/read/word_search.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/buf.h"
#include "store/base/db.h"
#include "store/base/record.h"
#include "store/base/stmt.h"
#include "store/base/texts.h"

#define QUESTION_BYTES ((size_t)4096)
#define TEXTS_MAX      INT64_C(1000000000)

#define UNSETTLED_MAX 8192 /* more than wait while the writer keeps up with the load */
#define ARENA_BYTES   ((size_t)1 << 30)
#define PIECE_MAX     64

/* As in store/migrations/0010_first.sql. */
#define WORDS_TABLE                                                                             \
	"CREATE VIRTUAL TABLE words USING fts5(text, content = '', columnsize = 0, tokenize = " \
	"'unicode61 remove_diacritics 2')"

size_t search_few = 10000;        /* each costs a look for its newest run */
size_t search_asked_most = 500;   /* each costs a look into the index */
size_t search_lead_most = 300000; /* half a second, when a walk has not found anything in less */

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "the store: no memory to look for words");
}

/* ---- the question ------------------------------------------------------------------------- */

/* The next word, or the text in quotation marks; false at the end. */
static bool next_word(const char **at, const char **ret_word, size_t *ret_len)
{
	const char *word = *at + strspn(*at, " \t\r\n");
	bool quoted = *word == '"';
	size_t len;

	word += quoted;
	len = strcspn(word, quoted ? "\"" : " \t\r\n\"");
	*at = word + len + (quoted && word[len] == '"');
	*ret_word = word;
	*ret_len = len;
	return len > 0 || quoted;
}

/* Each as a string of the index's language, in which nothing but a quotation mark has a meaning. */
static int write_match(struct buf *match, const char *question)
{
	const char *word = NULL;
	size_t len = 0;

	while (next_word(&question, &word, &len)) {
		if (buf_append_byte(match, '"') < 0 || buf_append(match, word, len) < 0 ||
			buf_append_text(match, "\" ") < 0)
			return -1;
	}
	return buf_append_byte(match, '\0');
}

static int make_match(struct search *search, const char *question)
{
	struct buf match;
	size_t len = 0;

	buf_init(&match, QUESTION_BYTES);
	if (write_match(&match, question) == 0)
		search->match = buf_take(&match, &len);
	buf_done(&match);
	return search->match ? 0 : -1;
}

/*
 * ---- unsettled runs ------------------------------------------------------------------------
 *
 * Their texts are put into an FTS5 index in memory, made for one query, so that words are compared
 * as in the index of the store.
 */

struct unsettled {
	struct store *store;
	const char *question;
	int64_t *keys;
	size_t count;
	bool *holds;
	sqlite3 *db; /* opened for the first text that may have the words */
	sqlite3_stmt *insert;
	struct arena arena;
};

/* ---- which runs --------------------------------------------------------------------------- */

static int list_keys(struct unsettled *unsettled, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *stmt = stmt_with(
		unsettled->store, STMT_PENDING_NEWEST, SQL_VALUES(sql_int(UNSETTLED_MAX)), err);
	int r;

	unsettled->keys = calloc(UNSETTLED_MAX, sizeof(*unsettled->keys));
	unsettled->holds = calloc(UNSETTLED_MAX, sizeof(*unsettled->holds));
	if (!unsettled->keys || !unsettled->holds)
		return no_memory(err);
	while ((r = stmt_step(unsettled->store, stmt, err)) > 0)
		unsettled->keys[unsettled->count++] = sqlite3_column_int64(stmt, 0);
	return r;
}

/* ---- their texts -------------------------------------------------------------------------- */

static bool is_ascii(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)bytes[i] >= 0x80)
			return false;
	}
	return true;
}

/* Excludes most texts quickly: in ASCII each piece of the query must be in the text as it is. */
static bool may_hold(const char *question, struct bytes text)
{
	if (!is_ascii(question, strlen(question)) || !is_ascii(text.data, text.len))
		return true;
	for (const char *at = question; *at;) {
		char piece[PIECE_MAX];
		size_t len = 0;

		while (*at && !isalnum((unsigned char)*at))
			at++;
		while (len < sizeof(piece) - 1 && isalnum((unsigned char)*at))
			piece[len++] = *at++;
		piece[len] = '\0';
		if (len && !strcasestr(text.data, piece))
			return false;
	}
	return true;
}

static int open_index(struct unsettled *unsettled, struct err *err)
{
	int r = sqlite3_open_v2(":memory:", &unsettled->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_exec(unsettled->db, "BEGIN; " WORDS_TABLE, NULL, NULL, NULL);
	if (r == SQLITE_OK)
		r = sqlite3_prepare_v2(unsettled->db,
			"INSERT INTO words (rowid, text) VALUES (?, ?)", -1, &unsettled->insert,
			NULL);
	return r == SQLITE_OK ? 0 : no_memory(err);
}

/*
 * The number of a row is the index of the run in the list, times TEXTS_OF_A_RUN, plus that of the
 * text.
 */
static int index_text(
	struct unsettled *unsettled, size_t number, struct bytes text, struct err *err)
{
	int r;

	if (!text.data || !may_hold(unsettled->question, text))
		return 0;
	if (!unsettled->db && open_index(unsettled, err) < 0)
		return -1;
	(void)sqlite3_bind_int64(unsettled->insert, 1, (int64_t)number);
	(void)sqlite3_bind_text64(
		unsettled->insert, 2, text.data, text.len, SQLITE_STATIC, SQLITE_UTF8);
	r = sqlite3_step(unsettled->insert);
	(void)sqlite3_reset(unsettled->insert);
	return r == SQLITE_DONE ? 0 : no_memory(err);
}

static int index_run(struct unsettled *unsettled, size_t run, struct err *err)
{
	struct texts texts;
	struct err why = ERR_INIT;
	int r = texts_read(
		unsettled->store, unsettled->keys[run], 0, &unsettled->arena, &texts, &why);

	if (r < 0 && why.code == ERR_CORRUPT)
		r = 1; /* others can be read */
	else if (r < 0)
		(void)err_pass(err, &why);
	for (size_t i = 0; r == 0 && i < TEXTS_OF_A_RUN; i++)
		r = index_text(unsettled, run * TEXTS_OF_A_RUN + i, texts.bytes[i], err);
	arena_done(&unsettled->arena);
	return r < 0 ? -1 : 0;
}

/* ---- the words in them ------------------------------------------------------------------------------- */

static int ask(struct unsettled *unsettled, const char *match, struct err *err)
{
	auto_of(db_finish) sqlite3_stmt *stmt = NULL;
	int r;

	if (!unsettled->db)
		return 0;
	r = sqlite3_prepare_v2(
		unsettled->db, "SELECT rowid FROM words WHERE words MATCH ?", -1, &stmt, NULL);
	if (r == SQLITE_OK)
		r = sqlite3_bind_text(stmt, 1, match, -1, SQLITE_STATIC);
	while (r == SQLITE_OK && (r = sqlite3_step(stmt)) == SQLITE_ROW) {
		unsettled->holds[sqlite3_column_int64(stmt, 0) / TEXTS_OF_A_RUN] = true;
		r = SQLITE_OK;
	}
	return r == SQLITE_DONE ? 0 : no_memory(err);
}

static void keep_holders(struct unsettled *unsettled)
{
	size_t kept = 0;

	for (size_t i = 0; i < unsettled->count; i++) {
		if (unsettled->holds[i])
			unsettled->keys[kept++] = unsettled->keys[i];
	}
	unsettled->count = kept;
}

static void unsettled_done(struct unsettled *unsettled)
{
	(void)sqlite3_finalize(unsettled->insert);
	(void)sqlite3_close(unsettled->db);
	free(unsettled->keys);
	free(unsettled->holds);
	arena_done(&unsettled->arena);
}

/* Gives *ret_keys (free), the unsettled runs that have the words, newest first. */
static int unsettled_search(struct store *store, const char *question, const char *match,
	int64_t **ret_keys, size_t *ret_count, struct err *err)
{
	__attribute__((cleanup(unsettled_done))) struct unsettled unsettled = { .store = store,
		.question = question };

	arena_init(&unsettled.arena, ARENA_BYTES);
	if (list_keys(&unsettled, err) < 0)
		return -1;
	for (size_t i = 0; i < unsettled.count; i++) {
		if (db_is_late(store, err) < 0 || index_run(&unsettled, i, err) < 0)
			return -1;
	}
	if (ask(&unsettled, match, err) < 0)
		return -1;
	keep_holders(&unsettled);
	*ret_count = unsettled.count;
	*ret_keys = take_ptr(unsettled.keys);
	return 0;
}

/* ---- the texts ---------------------------------------------------------------------------- */

static bool bit(const uint8_t *bits, int64_t text)
{
	return bits[text / 8] >> (text % 8) & 1;
}

static void set_bit(uint8_t *bits, int64_t text)
{
	bits[text / 8] |= (uint8_t)(1U << (text % 8));
}

static bool is_text(const struct search *search, int64_t text)
{
	return text > 0 && text <= search->bit_count;
}

static int make_room(struct search *search, struct err *err)
{
	if (db_number(search->store, "SELECT max(text) FROM texts", 0, &search->bit_count, err) < 0)
		return -1;
	if (search->bit_count < 0 || search->bit_count > TEXTS_MAX)
		return err_set(err, ERR_CORRUPT, "the store: a text has an odd number");
	search->holding = calloc((size_t)search->bit_count / 8 + 1, 1);
	search->known = calloc((size_t)search->bit_count / 8 + 1, 1);
	return search->holding && search->known ? 0 : no_memory(err);
}

/* Puts a text down, as long as they may lead. */
static int keep_text(struct search *search, int64_t text, size_t number, struct err *err)
{
	size_t size = search->text_size ? 2 * search->text_size : 1024;
	int64_t *texts;

	set_bit(search->holding, text);
	if (number >= search_lead_most)
		return 0;
	if (number >= search->text_size) {
		texts = reallocarray(search->texts, size, sizeof(*texts));
		if (!texts)
			return no_memory(err);
		search->texts = texts;
		search->text_size = size;
	}
	search->texts[number] = text;
	return 0;
}

/* Finds the texts, at most `most`: 1 when there are more, 0, -1. */
static int find_texts(struct search *search, size_t most, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *stmt =
		stmt_with(search->store, STMT_WORDS_FIND, SQL_VALUES(sql_text(search->match)), err);
	size_t count = 0;
	int r;

	while ((r = stmt_step(search->store, stmt, err)) > 0 && count < most) {
		int64_t text = sqlite3_column_int64(stmt, 0);

		if (!is_text(search, text))
			continue;
		if (keep_text(search, text, count++, err) < 0)
			break;
	}
	if (r > 0 && count < most)
		r = -1; /* no memory */
	search->text_count = count;
	return r;
}

/* No text is asked any more. */
static void know_all(struct search *search)
{
	free(search->known);
	search->known = NULL;
}

static int find_few(struct search *search, struct err *err)
{
	int more = find_texts(search, search_few, err);

	search->many = more > 0;
	if (more == 0)
		know_all(search);
	return more < 0 ? -1 : 0;
}

int search_open(struct search *search, struct store *store, const char *question, struct err *err)
{
	*search = (struct search){ .store = store };
	if (make_match(search, question) < 0)
		return no_memory(err);
	if (!search->match[0]) /* no words, no runs */
		return 0;
	if (make_room(search, err) < 0 || find_few(search, err) < 0)
		return -1;
	return unsettled_search(
		store, question, search->match, &search->unsettled, &search->unsettled_count, err);
}

void search_done(struct search *search)
{
	free(search->match);
	free(search->holding);
	free(search->known);
	free(search->texts);
	free(search->heap);
	free(search->unsettled);
	*search = (struct search){ .store = search->store };
}

bool search_can_lead(const struct search *search)
{
	return !search->many;
}

/* ---- from texts to runs ------------------------------------------------------------------- */

/* Lets the spot at `at` sink to its place: the newest run is on top. */
static void sink(struct search *search, size_t at)
{
	struct search_spot *heap = search->heap;

	for (;;) {
		size_t child = 2 * at + 1;
		struct search_spot spot = heap[at];

		if (child + 1 < search->heap_count && heap[child + 1].key > heap[child].key)
			child++;
		if (child >= search->heap_count || heap[child].key <= spot.key)
			return;
		heap[at] = heap[child];
		heap[child] = spot;
		at = child;
	}
}

/* The text's newest run below *key, there: 1; 0 when there is none; -1. */
static int step_back(struct search *search, int64_t text, int64_t *key, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *stmt = stmt_with(
		search->store, STMT_MENTION_BEFORE, SQL_VALUES(sql_int(text), sql_int(*key)), err);
	int r;

	r = stmt_step(search->store, stmt, err);
	if (r > 0)
		*key = sqlite3_column_int64(stmt, 0);
	return r;
}

static int make_heap(struct search *search, int64_t high, struct err *err)
{
	search->heap = calloc(search->text_count + 1, sizeof(*search->heap));
	if (!search->heap)
		return no_memory(err);
	for (size_t i = 0; i < search->text_count; i++) {
		struct search_spot spot = { high, search->texts[i] };
		int r = step_back(search, spot.text, &spot.key, err);

		if (r < 0)
			return -1;
		if (r > 0)
			search->heap[search->heap_count++] = spot;
	}
	for (size_t i = search->heap_count / 2; i-- > 0;)
		sink(search, i);
	search->heaped = true;
	return 0;
}

int search_next(struct search *search, int64_t high, int64_t *ret_key, struct err *err)
{
	struct search_spot *top;
	int64_t key;

	if (!search->heaped && make_heap(search, high, err) < 0)
		return -1;
	if (search->heap_count == 0)
		return 0;
	top = search->heap;
	key = top->key;
	/* Program and output of one run may both hold the words. */
	while (search->heap_count > 0 && top->key == key) {
		int r = step_back(search, top->text, &top->key, err);

		if (r < 0)
			return -1;
		if (r == 0)
			*top = search->heap[--search->heap_count];
		sink(search, 0);
	}
	*ret_key = key;
	return 1;
}

/* ---- from runs to texts ------------------------------------------------------------------- */

static int ask_index(struct search *search, int64_t text, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *stmt = stmt_with(search->store, STMT_WORDS_TEST,
		SQL_VALUES(sql_text(search->match), sql_int(text)), err);
	int r;

	r = stmt_step(search->store, stmt, err);
	if (r > 0)
		set_bit(search->holding, text);
	set_bit(search->known, text);
	search->asked++;
	return r < 0 ? -1 : 0;
}

/* Whether a text holds the words: 1, 0, -1. */
static int text_holds(struct search *search, int64_t text, struct err *err)
{
	if (!is_text(search, text))
		return 0;
	if (search->known && search->asked >= search_asked_most) {
		if (find_texts(search, SIZE_MAX, err) < 0)
			return -1;
		know_all(search);
		search->many = search->text_count > search_lead_most;
	}
	if (search->known && !bit(search->known, text) && ask_index(search, text, err) < 0)
		return -1;
	return bit(search->holding, text);
}

int search_holds(struct search *search, int64_t key, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = NULL;
	int r = record_row(search->store, STMT_RUN_TEXTS_READ, key, &row, err);
	int holds = 0;

	for (int i = 0; r == 0 && holds == 0 && i < TEXTS_OF_A_RUN; i++)
		holds = text_holds(search, sqlite3_column_int64(row, i), err);
	return r < 0 ? -1 : holds;
}

int search_next_unsettled(struct search *search, int64_t low, int64_t high, int64_t *ret_key)
{
	while (search->unsettled_at < search->unsettled_count) {
		int64_t key = search->unsettled[search->unsettled_at++];

		if (key >= low && key < high) {
			*ret_key = key;
			return 1;
		}
	}
	return 0;
}
