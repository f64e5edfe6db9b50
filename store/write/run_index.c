#include "store/write/run_index.h"

#include "store/base/db.h"
#include "store/base/facet.h"
#include "store/base/stmt.h"
#include "store/write/word_index.h"

#define ARENA_MAX ((size_t)256 << 20)

static int put_facets(struct store *store, sqlite3_stmt *run, int64_t key, struct err *err)
{
	for (int facet = 1; facet <= FACET_LAST; facet++) {
		const struct sql_value value = { .type = SQL_COPY,
			.bytes = sqlite3_column_value(run, facet) };

		if (sqlite3_column_type(run, facet) != SQLITE_NULL &&
			stmt_run(store, STMT_FACET_INSERT,
				SQL_VALUES(sql_int(facet), value, sql_int(key)), err) < 0)
			return -1;
	}
	return 0;
}

/* The blobs that a row of STMT_SETTLE_BLOBS names. */
static int count_row(struct store *store, sqlite3_stmt *row, struct err *err)
{
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		if (sqlite3_column_type(row, i) != SQLITE_INTEGER)
			continue;
		if (stmt_run_for(store, STMT_BLOB_REF, sqlite3_column_int64(row, i), err) < 0)
			return -1;
	}
	return 0;
}

/* `only_read`: counts nothing, but finds out whether the rows can be read. */
static int count_blobs(struct store *store, int64_t key, bool only_read, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_take_for(store, STMT_SETTLE_BLOBS, key, err);
	int r;

	if (!row)
		return -1;
	while ((r = stmt_step(store, row, err)) > 0) {
		if (!only_read && count_row(store, row, err) < 0)
			return -1;
	}
	return r;
}

/* One run that is being indexed.  All of it is read before anything is written. */
struct indexing {
	struct store *store;
	struct run_index *index;
	int64_t key;
	unsigned without;  /* texts that are known to be damaged */
	sqlite3_stmt *run; /* at its row */
	struct arena arena;
	struct texts texts;
};

/* 1 read, 0 it has not ended, -1. */
static int read_run(struct indexing *run, struct err *err)
{
	struct store *store = run->store;
	int r;

	run->run = stmt_take_for(store, STMT_SETTLE_RUN, run->key, err);
	r = stmt_step(store, run->run, err);
	if (r <= 0)
		return r;
	if (texts_read(store, run->key, run->without, &run->arena, &run->texts, err) < 0 ||
		count_blobs(store, run->key, true, err) < 0)
		return -1;
	return 1;
}

/* The rules come first, because they have to be read for that. */
static int write_run(struct indexing *run, struct err *err)
{
	struct store *store = run->store;

	if (stmt_run_for(store, STMT_RULES_INSERT, run->key, err) < 0 ||
		put_facets(store, run->run, run->key, err) < 0 ||
		word_index_add(store, run->key, &run->texts, err) < 0 ||
		count_blobs(store, run->key, false, err) < 0)
		return -1;
	return stmt_run_for(store, STMT_PENDING_DELETE, run->key, err);
}

/* ---- damage ------------------------------------------------------------------------------- */

static struct unreadable_run *find_unreadable(struct run_index *index, int64_t key)
{
	for (size_t i = 0; i < index->unreadable_count; i++) {
		if (index->unreadable[i].key == key)
			return &index->unreadable[i];
	}
	return NULL;
}

/* The entry of the run, old or new; NULL when there is no place for it. */
static struct unreadable_run *put_unreadable(struct run_index *index, int64_t key)
{
	struct unreadable_run *run = find_unreadable(index, key);

	if (run || index->unreadable_count == UNREADABLE_MAX)
		return run;
	run = &index->unreadable[index->unreadable_count++];
	*run = (struct unreadable_run){ .key = key };
	return run;
}

static void suspect(struct run_index *index, struct unreadable_run *run, const struct err *why)
{
	run->is_suspected = true;
	index->suspicion.runs++;
	index->suspicion.row = run->key;
	index->suspicion.why = *why;
}

static void give_up(struct run_index *index, int64_t key, const struct err *why)
{
	struct unreadable_run *run = store_is_shut(why) ? NULL : put_unreadable(index, key);

	if (!run || run->is_given_up)
		return;
	run->is_given_up = true;
	suspect(index, run, why);
}

static void keep_suspects(struct run_index *index)
{
	for (size_t i = 0; i < index->unreadable_count; i++) {
		struct unreadable_run *run = &index->unreadable[i];

		run_index_count(index, run->is_suspected && run->is_given_up);
		run->is_suspected = false;
	}
	index->damage.runs += index->suspicion.runs;
	index->damage.row = index->suspicion.row;
	index->damage.why = index->suspicion.why;
}

static void forget_suspects(struct run_index *index)
{
	size_t kept = 0;

	for (size_t i = 0; i < index->unreadable_count; i++)
		if (!index->unreadable[i].is_suspected)
			index->unreadable[kept++] = index->unreadable[i];
	index->unreadable_count = kept;
}

void run_index_judge(struct run_index *index, bool is_well)
{
	if (!index->suspicion.runs)
		return;
	if (is_well)
		keep_suspects(index);
	else
		forget_suspects(index);
	index->suspicion = (struct store_damage){ .runs = 0 };
}

/* -1 when the transaction cannot go on; the next one leaves the damaged texts out. */
static int note_texts(struct indexing *run, struct err *err)
{
	struct run_index *index = run->index;
	const struct texts *texts = &run->texts;
	struct unreadable_run *unreadable;

	if (texts->damaged == run->without)
		return 0;
	if (!texts->ends_transaction) {
		index->damage =
			(struct store_damage){ index->damage.runs + 1, run->key, texts->why };
		return 0;
	}
	unreadable = put_unreadable(index, run->key);
	if (unreadable) {
		unreadable->texts = texts->damaged;
		suspect(index, unreadable, &texts->why);
	}
	return err_pass(err, &texts->why);
}

/* ---- all ---------------------------------------------------------------------------------- */

/* 1 indexed, 0 it has not ended, -1: also when the run is given up. */
static int index_run(struct indexing *run, size_t *bytes, struct err *err)
{
	struct err why = ERR_INIT;
	int r = read_run(run, &why);

	if (r > 0 && note_texts(run, err) < 0)
		return -1;
	if (r > 0 && write_run(run, &why) < 0)
		r = -1;
	for (unsigned i = 0; r > 0 && i < TEXTS_OF_A_RUN; i++)
		*bytes += run->texts.bytes[i].len;
	if (r >= 0)
		return r;
	give_up(run->index, run->key, &why);
	return err_pass(err, &why);
}

static int index_next(struct store *store, struct run_index *index, int64_t key, unsigned without,
	size_t *bytes, struct err *err)
{
	const struct unreadable_run *known = find_unreadable(index, key);
	struct indexing run = { .store = store, .index = index, .key = key, .without = without };
	int r;

	if (known && known->is_given_up)
		return 0;
	if (known)
		run.without |= known->texts;
	arena_init(&run.arena, ARENA_MAX);
	r = index_run(&run, bytes, err);
	(void)sqlite3_reset(run.run);
	arena_done(&run.arena);
	return r;
}

int run_index_some(struct store *store, struct run_index *index, unsigned most, size_t bytes_max,
	unsigned *ret_done, struct err *err)
{
	int64_t key = INT64_MIN;
	unsigned done = 0;
	size_t bytes = 0;
	int r = 1;

	while (done < most && bytes <= bytes_max &&
		(r = stmt_next_key(store, STMT_PENDING_NEXT, &key, err)) > 0) {
		r = index_next(store, index, key, 0, &bytes, err);
		if (r < 0)
			return -1;
		done += (unsigned)r;
	}
	if (r < 0)
		return -1;
	*ret_done = done;
	return 0;
}

int run_index_without_words(
	struct store *store, struct run_index *index, int64_t key, struct err *err)
{
	size_t bytes = 0;
	int r = stmt_has_row(store, STMT_PENDING_HAS, key, err);

	if (r > 0)
		r = index_next(store, index, key, (1U << TEXTS_OF_A_RUN) - 1, &bytes, err);
	if (r < 0)
		return -1;
	run_index_count(index, (unsigned)r);
	return 0;
}

void run_index_count(struct run_index *index, unsigned done)
{
	index->waiting -= done < index->waiting ? done : index->waiting;
}
