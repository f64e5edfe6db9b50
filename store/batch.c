/* Transactions, and what is done when nobody waits for one. */
#include <assert.h>
#include <string.h>
#include <sys/stat.h>

#include "store/care.h"
#include "store/db.h"
#include "store/settle.h"
#include "store/texts.h"

#define LOG_PAGES_TIDY 1000 /* worth a checkpoint when idle: half the log is used */
#define LOG_PAGES_FULL 8000 /* worth one in the middle of work: the log may not grow for ever */
#define LOG_PAGES_NEAR 256 /* the same on a disk that is nearly full: what is moved may need room */
#define UNSETTLED_TIDY 256 /* worth settling when idle: together they touch few pages each */
#define SETTLE_AT_ONCE 64  /* a run that comes meanwhile waits for so many */
#define SETTLE_BYTES   ((size_t)256 << 10) /* and for the words of so much text */
#define SETTLE_PAUSE   100                 /* commits without, after one that could not */
#define UNSETTLED_FULL 4096                /* from here on each batch takes some along */

static int run_fixed(struct store *store, enum stmt_name name, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, name, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	return bind_run(store, &binding, err);
}

/*
 * Somebody has removed or moved a file: what the log holds goes into the database now, while both are
 * open, so that nothing that was answered is lost as long as the database is somewhere.
 */
static void rescue(struct store *store)
{
	if (store->is_rescued || store->watch.is_short)
		return;
	store->is_rescued = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE,
				    NULL, NULL) == SQLITE_OK;
}

/*
 * Another program may empty the log in order, or make the database shorter: then what the log held is in
 * the database, and all that SQLite counts is there.  Where a file was simply cut off it is not: the end
 * of the chain was written last.
 */
static bool is_whole(struct store *store)
{
	const struct watch_name *db = &store->watch.names[WATCH_DB];
	struct chain_head end = { 0, { 0 } };
	int64_t bytes = 0;
	struct stat st;

	(void)sqlite3_db_release_memory(store->db);
	if (chain_end(store, &end, NULL) < 0 ||
		db_number(store,
			"SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", 0,
			&bytes, NULL) < 0)
		return false;
	if (end.links != store->chain.links ||
		memcmp(end.head, store->chain.head, sizeof(end.head)) != 0)
		return false;
	return !db->is_short || (stat(db->path, &st) == 0 && st.st_size >= bytes);
}

static bool is_in_order(struct store *store)
{
	if (store->watch.is_gone || !is_whole(store))
		return false;
	watch_forget_length(&store->watch, WATCH_DB);
	watch_forget_length(&store->watch, WATCH_LOG);
	store->watch.is_broken = false;
	return true;
}

int store_look(struct store *store, struct err *err)
{
	struct err why = ERR_INIT;

	if (watch_look(&store->watch, &why) == 0 || is_in_order(store)) {
		store->is_rescued = false;
		return 0;
	}
	rescue(store);
	return err_pass(err, &why);
}

/* What is in the database now was in it before, unless pages were given back since. */
static void note_moved(struct store *store)
{
	if (!store->shrunk)
		watch_note_length(&store->watch, WATCH_DB);
}

/* What is worth doing now although somebody waits; that it fails harms nobody. */
static void keep_log_short(struct store *store)
{
	room_look(store);
	if (store->log_pages < (room_is_near(store) ? LOG_PAGES_NEAR : LOG_PAGES_FULL))
		return;
	(void)sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	store->log_pages = 0; /* the next commit tells how long it really is */
	note_moved(store);
}

int store_begin(struct store *store, struct err *err)
{
	assert(store->mode == STORE_WRITE && !store->writing);

	if (store_look(store, err) < 0)
		return -1;
	keep_log_short(store);
	if (run_fixed(store, STMT_BEGIN, err) < 0)
		return -1;
	store->writing = true;
	store->failed = false;
	store->ended = 0;
	store->committed = store->chain;
	memcpy(store->committed_run, store->last_run, sizeof(store->last_run));
	return 0;
}

void store_rollback(struct store *store)
{
	if (!store->writing)
		return;
	store->writing = false;
	store->cached_count = -1;
	store->chain = store->committed;
	memcpy(store->last_run, store->committed_run, sizeof(store->last_run));
	blob_shelf_clear(&store->shelf);
	/* SQLite has rolled back by itself after some errors. */
	if (!sqlite3_get_autocommit(store->db))
		(void)run_fixed(store, STMT_ROLLBACK, NULL);
}

/*
 * Under load there is no idle moment, so each batch takes some of what waits along.  When
 * that fails the batch does, and is tried again without, as are the next ones.
 */
static int settle_some_too(struct store *store, struct err *err)
{
	unsigned settled = 0;

	if (store->unsettled < UNSETTLED_FULL || !room_is_calm(store))
		return 0;
	if (store->unsettling) {
		store->unsettling--;
		return 0;
	}
	if (settle_runs(store, 2 * store->ended, SIZE_MAX, &settled, err) == 0) {
		settle_count(store, settled);
		return 0;
	}
	store->unsettling = SETTLE_PAUSE;
	return -1;
}

static int commit(struct store *store, enum store_durability durability, struct err *err)
{
	int r;

	disk_log_wait(store->log, durability == STORE_NOW);
	r = run_fixed(store, STMT_COMMIT, err);
	disk_log_wait(store->log, true);
	if (r < 0 || durability == STORE_NOW)
		settle_judge(store, r == 0);
	if (r < 0)
		return -1;
	store->writing = false;
	store->unsettled += store->ended;
	/* It is written; but where nobody will find it again it has failed all the same. */
	if (store_look(store, err) < 0)
		return -1;
	if (durability == STORE_NOW)
		mark_write(store);
	return 0;
}

int store_commit(struct store *store, enum store_durability durability, struct err *err)
{
	assert(store->writing);

	if (store->failed) {
		store_rollback(store);
		return err_set(err, ERR_INVALID, "the store: a record of this batch failed");
	}
	if (settle_some_too(store, err) < 0 || commit(store, durability, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return 0;
}

/* ---- on demand ------------------------------------------------------------------------ */

int store_settle(struct store *store, bool *ret_more, struct err *err)
{
	unsigned settled = 0;

	assert(store->writing);

	*ret_more = false;
	if (!room_is_calm(store))
		return 0;
	if (settle_runs(store, SETTLE_AT_ONCE, SETTLE_BYTES, &settled, err) < 0)
		return -1;
	settle_count(store, settled);
	*ret_more = settled > 0;
	return 0;
}

/* ---- trying ------------------------------------------------------------------------------- */

/* The first page is written as it is. */
int store_probe(struct store *store, struct err *err)
{
	char again[64];

	(void)sqlite3_snprintf(
		sizeof(again), again, "PRAGMA user_version = %lld", (long long)store->schema);
	if (store_begin(store, err) < 0)
		return -1;
	if (db_exec(store, again, err) < 0 || commit(store, STORE_NOW, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return 0;
}

/* ---- idle moments ------------------------------------------------------------------------- */

/* Reads from the file what the next record stands beside, and writes. */
static bool is_well(struct store *store)
{
	int64_t newest = 0;

	(void)sqlite3_db_release_memory(store->db);
	return db_number(store, "SELECT max(key) FROM runs", 0, &newest, NULL) == 0 &&
	       store_probe(store, NULL) == 0;
}

static int settle_when_due(struct store *store, struct err *err)
{
	uint64_t noted = store->damage.runs;
	struct err why = ERR_INIT;
	unsigned settled = 0;

	/* It can wait for room better than runs can. */
	store->settling = store->settling && room_is_calm(store);
	if ((store->unsettled < UNSETTLED_TIDY && !store->settling) || !room_is_calm(store))
		return 0;
	if (store_begin(store, err) < 0)
		return -1;
	/* Onto the disk now, while nobody waits for it, and not with the next run. */
	if (settle_runs(store, SETTLE_AT_ONCE, SETTLE_BYTES, &settled, &why) < 0 ||
		commit(store, STORE_NOW, &why) < 0) {
		store_rollback(store);
		if (store->suspicion.runs)
			settle_judge(store, is_well(store));
		store->settling = store->damage.runs != noted; /* without that they may */
		return store->settling ? 0 : err_pass(err, &why);
	}
	settle_count(store, settled);
	store->settling = settled > 0 && store->unsettled > 0;
	return 0;
}

static int purge_when_due(struct store *store, struct err *err)
{
	if ((!store->forgot && !store->merging) || !room_is_calm(store))
		return 0;
	if (store_begin(store, err) < 0)
		return -1;
	if (texts_purge(store, err) < 0 || commit(store, STORE_SOON, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return 0;
}

static int move_log(struct store *store, struct err *err)
{
	int pages = 0;
	int moved = -1;
	int r;

	if (store_look(store, err) < 0)
		return -1;
	r = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved);
	store->log_pages = 0; /* the next commit tells how long it really is */
	store->shrunk = store->shrunk && pages != moved; /* the whole of it: then it is cut */
	note_moved(store);
	return r == SQLITE_OK || r == SQLITE_BUSY ? 0 : db_failed(store, r, err);
}

/* Brings the log into the database, as far as nobody reads from it. */
static int shorten_log_when_due(struct store *store, struct err *err)
{
	if (store->log_pages < LOG_PAGES_TIDY && !store->shrunk)
		return 0;
	return move_log(store, err);
}

void store_move_log(struct store *store)
{
	(void)move_log(store, NULL);
}

int store_tidy(struct store *store, struct err *err)
{
	assert(store->mode == STORE_WRITE && !store->writing);

	if (settle_when_due(store, err) < 0 || purge_when_due(store, err) < 0 ||
		shorten_log_when_due(store, err) < 0)
		return -1;
	return room_is_calm(store) && (store->settling || store->forgot || store->merging) ? 1 : 0;
}
