/* Transactions, the write-ahead log, and work for moments when no client waits. */
#include "store/write/writer.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>

#include "store/base/stmt.h"
#include "store/maintenance.h"
#include "store/write/log_readers.h"

#define LOG_PAGES_IDLE 1000 /* when idle, the log is moved from here on: half of it is used */
#define LOG_PAGES_BUSY 8000 /* and between two transactions from here on */
#define LOG_PAGES_LOW  256  /* the same on a disk that is nearly full: the move may need space */
#define LOG_FRAME      4120 /* bytes: a page with its header */

#define INDEX_IDLE \
	256 /* when idle, runs are indexed from here on: together they touch few pages each */
#define INDEX_PIECE 64                  /* runs that are indexed while a new run waits ... */
#define INDEX_BYTES ((size_t)256 << 10) /* ... and bytes of their texts */
#define INDEX_BUSY  4096                /* from here on each transaction indexes some runs */
#define INDEX_PAUSE 100                 /* transactions that index none after one that could not */

int writer_failed(struct store *store)
{
	store->writer->failed = true;
	return -1;
}

/* ---- the files ---------------------------------------------------------------------------- */

/*
 * Somebody has removed or moved a file.  The log is moved into the database while both are open,
 * so nothing that a client has heard of is lost as long as the database is somewhere.
 */
static void rescue(struct store *store)
{
	struct writer *writer = store->writer;

	if (writer->is_rescued || writer->watch.is_short)
		return;
	writer->is_rescued = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE,
				     NULL, NULL) == SQLITE_OK;
}

/*
 * Another program may rightly empty the log, or make the database shorter: then the database has
 * what the log held, and all pages that its header counts.  After a cut it has not: the end of the
 * chain was written last.
 */
static bool is_complete(struct store *store)
{
	const struct writer *writer = store->writer;
	const struct file_watch_name *db = &writer->watch.names[WATCH_DB];
	struct chain_head end = { 0, { 0 } };
	int64_t bytes = 0;
	struct stat st;

	(void)sqlite3_db_release_memory(store->db);
	if (chain_end(store, &end, NULL) < 0 || db_bytes(store, &bytes, NULL) < 0)
		return false;
	if (end.links != writer->chain.links ||
		memcmp(end.head, writer->chain.head, sizeof(end.head)) != 0)
		return false;
	return !db->is_short || (stat(db->path, &st) == 0 && st.st_size >= bytes);
}

static bool accept_shorter_files(struct store *store)
{
	struct file_watch *watch = &store->writer->watch;

	if (watch->is_gone || !is_complete(store))
		return false;
	file_watch_forget_length(watch, WATCH_DB);
	file_watch_forget_length(watch, WATCH_LOG);
	watch->is_broken = false;
	return true;
}

int store_check_files(struct store *store, struct err *err)
{
	struct err why = ERR_INIT;

	if (file_watch_look(&store->writer->watch, &why) == 0 || accept_shorter_files(store)) {
		store->writer->is_rescued = false;
		return 0;
	}
	rescue(store);
	return err_pass(err, &why);
}

/* ---- the log ------------------------------------------------------------------------------ */

/*
 * Moves the log into the database, as far as no reader needs it.  *ret_all, unless NULL: nothing
 * is left in it.  After that the database may not become shorter, unless free pages were given
 * back since.
 */
static int move_log(struct store *store, bool *ret_all)
{
	struct writer *writer = store->writer;
	int pages = -1;
	int moved = -1;
	int r = sqlite3_wal_checkpoint_v2(
		store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved);

	writer->log_pages = 0; /* the next commit reports the true length */
	if (r == SQLITE_OK && pages >= 0)
		writer->log_frames = pages;
	writer->is_shrunk = writer->is_shrunk && (r != SQLITE_OK || pages != moved);
	if (!writer->is_shrunk)
		file_watch_note_length(&writer->watch, WATCH_DB);
	if (ret_all)
		*ret_all = r == SQLITE_OK && pages >= 0 && pages == moved;
	return r == SQLITE_BUSY ? SQLITE_OK : r;
}

int writer_move_log(struct store *store, struct err *err)
{
	int r;

	if (store_check_files(store, err) < 0)
		return -1;
	r = move_log(store, NULL);
	return r == SQLITE_OK ? 0 : db_failed(store, r, err);
}

/* Between two transactions, although a client waits.  A failure does no harm. */
static void keep_log_short(struct store *store)
{
	struct writer *writer = store->writer;

	disk_space_look(&writer->space);
	if (writer->log_pages >=
		(disk_space_is_low(&writer->space) ? LOG_PAGES_LOW : LOG_PAGES_BUSY))
		(void)move_log(store, NULL);
}

static int64_t log_bytes(const struct writer *writer)
{
	return writer->log_frames * LOG_FRAME;
}

/* Checks whether the log can be emptied; if not, finds the processes that read it. */
static void look_at_log(struct store *store)
{
	struct writer *writer = store->writer;
	struct log_readers readers = { .count = 0 };
	bool all = false;

	/* A reader that ended just now is not found: then the second attempt succeeds. */
	for (int i = 0; i < 2 && !readers.count && !readers.has_ourselves; i++) {
		if (store_check_files(store, NULL) < 0 || move_log(store, &all) != SQLITE_OK)
			return; /* keep the last result */
		if (all || log_bytes(writer) < writer->log_limit / 2) {
			writer->log_frames = 0;
			writer->log_is_refusing = false;
			writer->log = (struct store_long_log){ .bytes = 0 };
			return;
		}
		log_readers_find(&readers, writer->watch.names[WATCH_INDEX].path);
	}
	writer->log.bytes = log_bytes(writer);
	writer->log.most_bytes = writer->log_limit;
	/* Readers of this process (a backup, a check) end by themselves. */
	writer->log_is_refusing =
		writer->log.bytes >= writer->log_limit && (readers.count || !readers.has_ourselves);
	log_readers_describe(&readers, store->path, &writer->log);
}

void store_limit_log(struct store *store, int64_t most_bytes)
{
	store->writer->log_limit = most_bytes;
}

int store_check_log(struct store *store, struct store_long_log *ret_log, struct err *err)
{
	struct writer *writer = store->writer;

	assert(!writer->in_transaction);

	if (writer->log_limit && (writer->log.bytes || log_bytes(writer) >= writer->log_limit / 2))
		look_at_log(store);
	*ret_log = writer->log;
	if (!writer->log_is_refusing)
		return 0;
	return err_set(err, ERR_BUSY,
		"the store: its log has grown to %.0f MiB and cannot be emptied, because %s reads the "
		"database in a transaction that stays open; runs are refused until that ends: %s",
		(double)writer->log.bytes / (1 << 20), writer->log.by, writer->log.command);
}

/* ---- transactions ------------------------------------------------------------------------- */

int store_begin(struct store *store, struct err *err)
{
	struct writer *writer = store->writer;

	assert(writer && !writer->in_transaction);

	if (store_check_files(store, err) < 0)
		return -1;
	keep_log_short(store);
	if (stmt_step(store, stmt_take(store, STMT_BEGIN, err), err) < 0)
		return -1;
	writer->in_transaction = true;
	writer->failed = false;
	writer->ended = 0;
	writer->committed_chain = writer->chain;
	memcpy(writer->committed_run, writer->last_run, sizeof(writer->last_run));
	return 0;
}

void store_rollback(struct store *store)
{
	struct writer *writer = store->writer;

	if (!writer->in_transaction)
		return;
	writer->in_transaction = false;
	writer->cached_count = -1;
	writer->chain = writer->committed_chain;
	memcpy(writer->last_run, writer->committed_run, sizeof(writer->last_run));
	/* SQLite has rolled back by itself after some errors. */
	if (!sqlite3_get_autocommit(store->db))
		(void)stmt_step(store, stmt_take(store, STMT_ROLLBACK, NULL), NULL);
}

/*
 * Under load the writer is never idle, so each transaction indexes some runs.  When that fails the
 * transaction fails; it is tried again without, and so are the next ones.
 */
static int index_some_too(struct store *store, struct err *err)
{
	struct writer *writer = store->writer;
	unsigned done = 0;

	if (writer->index.waiting < INDEX_BUSY || !disk_space_is_ample(&writer->space))
		return 0;
	if (writer->index.pause) {
		writer->index.pause--;
		return 0;
	}
	if (run_index_some(store, &writer->index, 2 * writer->ended, SIZE_MAX, &done, err) == 0) {
		run_index_count(&writer->index, done);
		return 0;
	}
	writer->index.pause = INDEX_PAUSE;
	return -1;
}

static void write_mark(struct store *store)
{
	struct writer *writer = store->writer;

	if (!writer->watch.is_broken)
		progress_mark_write(&writer->mark, &writer->chain, writer->last_run);
}

static int commit(struct store *store, enum store_durability durability, struct err *err)
{
	struct writer *writer = store->writer;
	int r;

	wal_file_wait(store->wal, durability == STORE_NOW);
	r = stmt_step(store, stmt_take(store, STMT_COMMIT, err), err);
	wal_file_wait(store->wal, true);
	if (r < 0 || durability == STORE_NOW)
		run_index_judge(&writer->index, r == 0);
	if (r < 0)
		return -1;
	writer->in_transaction = false;
	writer->index.waiting += writer->ended;
	/* A commit to a file that was removed counts as failed. */
	if (store_check_files(store, err) < 0)
		return -1;
	if (durability == STORE_NOW)
		write_mark(store);
	return 0;
}

int store_commit(struct store *store, enum store_durability durability, struct err *err)
{
	assert(store->writer->in_transaction);

	if (store->writer->failed) {
		store_rollback(store);
		return err_set(err, ERR_INVALID, "the store: a record of this batch failed");
	}
	if (index_some_too(store, err) < 0 || commit(store, durability, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return 0;
}

int store_settle(struct store *store, bool *ret_more, struct err *err)
{
	struct writer *writer = store->writer;
	unsigned done = 0;

	assert(writer->in_transaction);

	*ret_more = false;
	if (!disk_space_is_ample(&writer->space))
		return 0;
	if (run_index_some(store, &writer->index, INDEX_PIECE, INDEX_BYTES, &done, err) < 0)
		return -1;
	run_index_count(&writer->index, done);
	*ret_more = done > 0;
	return 0;
}

int store_shrink(struct store *store, unsigned pages, bool *ret_more, struct err *err)
{
	int64_t unused = 0;
	int64_t mode = 0;
	char sql[64];

	*ret_more = false;
	if (db_number(store, "PRAGMA auto_vacuum", 0, &mode, err) < 0)
		return -1;
	if (mode != 2)
		return 0; /* the store is older than this setting and uses its free pages again */
	(void)sqlite3_snprintf(sizeof(sql), sql, "PRAGMA incremental_vacuum(%u)", pages);
	if (db_exec(store, sql, err) < 0 ||
		db_number(store, "PRAGMA freelist_count", 0, &unused, err) < 0)
		return -1;
	*ret_more = unused > 0;
	store->writer->is_shrunk = true;
	file_watch_forget_length(&store->writer->watch, WATCH_DB);
	return 0;
}

/* Writes the first page as it is. */
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

/* Whether the store can be read where the next record goes, and written. */
static bool is_well(struct store *store)
{
	int64_t newest = 0;

	(void)sqlite3_db_release_memory(store->db);
	return db_number(store, "SELECT max(key) FROM runs", 0, &newest, NULL) == 0 &&
	       store_probe(store, NULL) == 0;
}

static int index_when_due(struct store *store, struct err *err)
{
	struct writer *writer = store->writer;
	struct run_index *index = &writer->index;
	uint64_t noted = index->damage.runs;
	struct err why = ERR_INIT;
	unsigned done = 0;

	/* Runs need the disk space more than the index does. */
	index->goes_on = index->goes_on && disk_space_is_ample(&writer->space);
	if ((index->waiting < INDEX_IDLE && !index->goes_on) ||
		!disk_space_is_ample(&writer->space))
		return 0;
	if (store_begin(store, err) < 0)
		return -1;
	/* It goes to the disk now, while no client waits, and not with the next run. */
	if (run_index_some(store, index, INDEX_PIECE, INDEX_BYTES, &done, &why) < 0 ||
		commit(store, STORE_NOW, &why) < 0) {
		store_rollback(store);
		if (index->suspicion.runs)
			run_index_judge(index, is_well(store));
		/* The damaged runs are known now, so the next attempt may succeed without them. */
		index->goes_on = index->damage.runs != noted;
		return index->goes_on ? 0 : err_pass(err, &why);
	}
	run_index_count(index, done);
	index->goes_on = done > 0 && index->waiting > 0;
	return 0;
}

static int purge_when_due(struct store *store, struct err *err)
{
	struct writer *writer = store->writer;

	if (!word_index_has_work(&writer->words) || !disk_space_is_ample(&writer->space))
		return 0;
	if (store_begin(store, err) < 0)
		return -1;
	if (word_index_purge(store, &writer->words, err) < 0 ||
		commit(store, STORE_SOON, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return 0;
}

int store_tidy(struct store *store, struct err *err)
{
	struct writer *writer = store->writer;

	assert(writer && !writer->in_transaction);

	if (index_when_due(store, err) < 0 || purge_when_due(store, err) < 0)
		return -1;
	if ((writer->log_pages >= LOG_PAGES_IDLE || writer->is_shrunk) &&
		writer_move_log(store, err) < 0)
		return -1;
	return disk_space_is_ample(&writer->space) &&
	       (writer->index.goes_on || word_index_has_work(&writer->words));
}

/* ---- disk space --------------------------------------------------------------------------- */

int store_check_space(struct store *store, struct err *err)
{
	return disk_space_check(&store->writer->space, err);
}

/* Space that was freed in the store comes back when the log is moved. */
int store_regain_space(struct store *store, struct err *err)
{
	struct writer *writer = store->writer;

	if (writer->is_shrunk || writer->space.reserve_is_used)
		(void)writer_move_log(store, NULL);
	return disk_space_regain(&writer->space, err);
}

bool store_release_reserve(struct store *store)
{
	if (!disk_space_release(&store->writer->space))
		return false;
	/* The log goes where there is space again, and begins anew. */
	(void)move_log(store, NULL);
	return true;
}

/* ---- the mark, and what the start found --------------------------------------------------- */

int store_mark_open(struct store *store, const struct signer *signer, struct store_mark *ret_found,
	struct err *err)
{
	return progress_mark_open(&store->writer->mark, store, signer, ret_found, err);
}

void store_mark_clock(struct store *store, const struct store_clock *clock)
{
	store->writer->mark.clock = *clock;
}

int store_mark_now(struct store *store, struct err *err)
{
	const struct err *why = &store->writer->mark.why;

	assert(!store->writer->in_transaction);

	write_mark(store);
	return why->code == ERR_NONE ? 0 : err_pass(err, why);
}

bool store_take_damage(struct store *store, struct store_damage *ret_damage)
{
	struct store_damage *damage = &store->writer->index.damage;

	if (!damage->runs)
		return false;
	*ret_damage = *damage;
	*damage = (struct store_damage){ .runs = 0 };
	return true;
}

uint64_t store_lost_count(const struct store *store)
{
	return store->writer->lost;
}

uint64_t store_newest_ms(const struct store *store)
{
	return store->writer ? store->writer->newest_ms : 0;
}
