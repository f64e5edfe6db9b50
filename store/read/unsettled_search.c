#include "store/read/unsettled_search.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/db.h"
#include "store/base/stmt.h"
#include "store/base/texts.h"

#define UNSETTLED_MAX 8192 /* more than wait while the writer keeps up with the load */
#define ARENA_BYTES   ((size_t)1 << 30)
#define PIECE_MAX     64

/* As in store/migrations/0010_first.sql. */
#define WORDS_TABLE                                                                             \
	"CREATE VIRTUAL TABLE words USING fts5(text, content = '', columnsize = 0, tokenize = " \
	"'unicode61 remove_diacritics 2')"

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

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "the store: no memory to look for words");
}

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

/* ---- which texts -------------------------------------------------------------------------- */

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

/* The number of a row is the index of the run in the list, times TEXTS_OF_A_RUN, plus that of the text. */
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

/* ---- asking ------------------------------------------------------------------------------- */

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

int unsettled_search(struct store *store, const char *question, const char *match,
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
