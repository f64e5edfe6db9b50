#include "store/settle.h"

#include "store/db.h"
#include "store/texts.h"

/* Columns of STMT_SETTLE_RUN from 1 on, in the order of enum facet. */
#define FACET_LAST FACET_POLICY

static int put_facet(
	struct store *store, sqlite3_value *value, unsigned facet, int64_t key, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_FACET_INSERT, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_int(&binding, facet);
	binding.code = sqlite3_bind_value(stmt, ++binding.index, value);
	bind_int(&binding, key);
	return bind_run(store, &binding, err);
}

static int put_facets(struct store *store, sqlite3_stmt *run, int64_t key, struct err *err)
{
	for (unsigned facet = 1; facet <= FACET_LAST; facet++) {
		if (sqlite3_column_type(run, (int)facet) == SQLITE_NULL)
			continue;
		if (put_facet(store, sqlite3_column_value(run, (int)facet), facet, key, err) < 0)
			return -1;
	}
	return 0;
}

/* Those that the row of STMT_SETTLE_BLOBS names. */
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

/* Or only looks whether they can be read. */
static int count_blobs(struct store *store, int64_t key, bool look, struct err *err)
{
	sqlite3_stmt *row = stmt_take_for(store, STMT_SETTLE_BLOBS, key, err);
	int r;

	if (!row)
		return -1;
	while ((r = stmt_step(store, row, err)) > 0) {
		if (!look && count_row(store, row, err) < 0) {
			(void)sqlite3_reset(row);
			return -1;
		}
	}
	return r;
}

/* One run on its way; what was read of it is read before anything is written. */
struct settling {
	struct store *store;
	int64_t key;
	unsigned without;  /* texts that are known to be damaged */
	sqlite3_stmt *run; /* at its row */
	struct texts texts;
};

/* 1 read, 0 it has not ended, -1. */
static int read_run(struct settling *settling, struct err *err)
{
	struct store *store = settling->store;
	int r;

	settling->run = stmt_take_for(store, STMT_SETTLE_RUN, settling->key, err);
	if (!settling->run)
		return -1;
	r = stmt_step(store, settling->run, err);
	if (r <= 0)
		return r;
	if (texts_read(store, settling->key, settling->without, &store->scratch, &settling->texts,
		    err) < 0 ||
		count_blobs(store, settling->key, true, err) < 0)
		return -1;
	return 1;
}

/* The rules first: they too are read for it. */
static int write_run(struct settling *settling, struct err *err)
{
	struct store *store = settling->store;
	int64_t key = settling->key;

	if (stmt_run_for(store, STMT_RULES_INSERT, key, err) < 0 ||
		put_facets(store, settling->run, key, err) < 0 ||
		texts_add(store, key, &settling->texts, err) < 0 ||
		count_blobs(store, key, false, err) < 0)
		return -1;
	return stmt_run_for(store, STMT_PENDING_DELETE, key, err);
}

/* ---- what cannot be read ------------------------------------------------------------------ */

void settle_note(struct store *store, int64_t key, const struct err *why)
{
	store->damage.runs++;
	store->damage.row = key;
	store->damage.why = *why;
}

bool store_take_damage(struct store *store, struct store_damage *ret_damage)
{
	if (!store->damage.runs)
		return false;
	*ret_damage = store->damage;
	store->damage = (struct store_damage){ .runs = 0 };
	return true;
}

static struct unreadable *find_unreadable(struct store *store, int64_t key)
{
	for (size_t i = 0; i < store->unreadable_count; i++) {
		if (store->unreadable[i].key == key)
			return &store->unreadable[i];
	}
	return NULL;
}

/* Its place among them, old or new; NULL when there is none left. */
static struct unreadable *put_unreadable(struct store *store, int64_t key)
{
	struct unreadable *place = find_unreadable(store, key);

	if (place || store->unreadable_count == UNREADABLE_MAX)
		return place;
	place = &store->unreadable[store->unreadable_count++];
	*place = (struct unreadable){ .key = key };
	return place;
}

/* It may be this run, or the whole disk: that shows when something is written next. */
static void suspect(
	struct store *store, struct unreadable *place, int64_t key, const struct err *why)
{
	place->suspected = true;
	store->suspicion.runs++;
	store->suspicion.row = key;
	store->suspicion.why = *why;
}

static void give_up(struct store *store, int64_t key, const struct err *why)
{
	struct unreadable *place = store_is_shut(why) ? NULL : put_unreadable(store, key);

	if (!place || place->whole)
		return;
	place->whole = true;
	suspect(store, place, key, why);
}

static void keep_suspects(struct store *store)
{
	for (size_t i = 0; i < store->unreadable_count; i++) {
		struct unreadable *place = &store->unreadable[i];

		settle_count(store, place->suspected && place->whole);
		place->suspected = false;
	}
	store->damage.runs += store->suspicion.runs;
	store->damage.row = store->suspicion.row;
	store->damage.why = store->suspicion.why;
}

static void forget_suspects(struct store *store)
{
	size_t kept = 0;

	for (size_t i = 0; i < store->unreadable_count; i++)
		if (!store->unreadable[i].suspected)
			store->unreadable[kept++] = store->unreadable[i];
	store->unreadable_count = kept;
}

void settle_judge(struct store *store, bool is_well)
{
	if (!store->suspicion.runs)
		return;
	if (is_well)
		keep_suspects(store);
	else
		forget_suspects(store);
	store->suspicion = (struct store_damage){ .runs = 0 };
}

/* -1 when this transaction is spoilt; the next one does without what was damaged. */
static int note_texts(struct settling *settling, struct err *err)
{
	struct texts *texts = &settling->texts;
	struct unreadable *place;

	if (texts->damaged == settling->without)
		return 0;
	if (!texts->spoilt) {
		settle_note(settling->store, settling->key, &texts->why);
		return 0;
	}
	place = put_unreadable(settling->store, settling->key);
	if (place) {
		place->texts = texts->damaged;
		suspect(settling->store, place, settling->key, &texts->why);
	}
	return err_pass(err, &texts->why);
}

/* ---- all ---------------------------------------------------------------------------------- */

/* 1 settled, 0 it has not ended, -1: also when it is given up. */
static int settle_run(struct settling *settling, size_t *bytes, struct err *err)
{
	struct store *store = settling->store;
	struct err why = ERR_INIT;
	int r = read_run(settling, &why);

	if (r > 0 && note_texts(settling, err) < 0)
		return -1;
	if (r > 0 && write_run(settling, &why) < 0)
		r = -1;
	for (unsigned i = 0; r > 0 && i < TEXTS_OF_A_RUN; i++)
		*bytes += settling->texts.bytes[i].len;
	if (r >= 0)
		return r;
	give_up(store, settling->key, &why);
	return err_pass(err, &why);
}

static int settle_next(
	struct store *store, int64_t key, unsigned without, size_t *bytes, struct err *err)
{
	const struct unreadable *known = find_unreadable(store, key);
	struct settling settling = {
		.store = store, .key = key, .without = without | (known ? known->texts : 0)
	};
	int r;

	if (known && known->whole)
		return 0;
	r = settle_run(&settling, bytes, err);
	if (settling.run)
		(void)sqlite3_reset(settling.run);
	arena_done(&store->scratch);
	return r;
}

int settle_runs(struct store *store, unsigned most, size_t bytes_max, unsigned *ret_settled,
	struct err *err)
{
	int64_t key = INT64_MIN;
	unsigned settled = 0;
	size_t bytes = 0;
	int r = 1;

	while (settled < most && bytes <= bytes_max &&
		(r = stmt_next_key(store, STMT_PENDING_NEXT, &key, err)) > 0) {
		r = settle_next(store, key, 0, &bytes, err);
		if (r < 0)
			return -1;
		settled += (unsigned)r;
	}
	if (r < 0)
		return -1;
	*ret_settled = settled;
	return 0;
}

int settle_to_leave(struct store *store, int64_t key, struct err *err)
{
	sqlite3_stmt *row = stmt_take_for(store, STMT_PENDING_HAS, key, err);
	size_t bytes = 0;
	int r = row ? stmt_step(store, row, err) : -1;

	if (row)
		(void)sqlite3_reset(row);
	if (r > 0)
		r = settle_next(store, key, (1U << TEXTS_OF_A_RUN) - 1, &bytes, err);
	if (r < 0)
		return -1;
	settle_count(store, (unsigned)r);
	return 0;
}

void settle_count(struct store *store, unsigned settled)
{
	store->unsettled -= settled < store->unsettled ? settled : store->unsettled;
}
