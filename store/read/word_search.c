#include "store/read/word_search.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/buf.h"
#include "store/base/db.h"
#include "store/base/record.h"
#include "store/base/stmt.h"
#include "store/base/texts.h"
#include "store/read/unsettled_search.h"

#define QUESTION_BYTES ((size_t)4096)
#define TEXTS_MAX      INT64_C(1000000000)

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
