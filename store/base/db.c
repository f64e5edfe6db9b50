#include "store/base/db.h"

#include <errno.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/ulid.h"

#define KEY_LOW_BITS ULID_RISING_BITS
#define KEY_MS_MAX   (((uint64_t)1 << 43) - 1)

#define HEAP_MAX ((sqlite3_int64)512 << 20) /* of SQLite, for all connections together */

#define BUSY_MS_WRITE 100 /* only another program can hold the lock, and a client is waiting */
#define BUSY_MS_READ  1000

#define STEPS_A_LOOK 100000 /* of SQLite's virtual machine, between two looks at the clock */

static const struct {
	int id;
	int most;
} ceilings[] = {
	{ SQLITE_LIMIT_LENGTH, 512 << 20 },
	{ SQLITE_LIMIT_SQL_LENGTH, 64 << 10 },
	{ SQLITE_LIMIT_COLUMN, 200 },
	{ SQLITE_LIMIT_EXPR_DEPTH, 40 },
	{ SQLITE_LIMIT_COMPOUND_SELECT, 8 },
	{ SQLITE_LIMIT_VDBE_OP, 50000 },
	{ SQLITE_LIMIT_FUNCTION_ARG, 16 },
	{ SQLITE_LIMIT_ATTACHED, 0 },
	{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100 },
	{ SQLITE_LIMIT_VARIABLE_NUMBER, 64 },
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
	{ SQLITE_LIMIT_WORKER_THREADS, 0 },
};

static const char *const settings[] = {
	[STORE_READ] = "PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; "
		       "PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY",
	[STORE_WRITE] = "PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON; "
			"PRAGMA mmap_size = 0; PRAGMA cache_size = -4096; "
			"PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF; "
			"PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864",
};

static const struct {
	int code; /* of SQLite, without its extension */
	enum err_code ours;
	const char *words;
} troubles[] = {
	{ SQLITE_FULL, ERR_FULL, "no room on the device" },
	{ SQLITE_IOERR, ERR_SYSTEM, "the disk failed" },
	{ SQLITE_READONLY, ERR_SYSTEM, "the file or its folder may not be written" },
	{ SQLITE_CANTOPEN, ERR_SYSTEM, "cannot open the file" },
	{ SQLITE_CORRUPT, ERR_CORRUPT, "the file is damaged" },
	{ SQLITE_NOTADB, ERR_CORRUPT, "the file is no database" },
	{ SQLITE_SCHEMA, ERR_CORRUPT, "the tables are not those of ced" },
	{ SQLITE_BUSY, ERR_BUSY, "another program holds the database" },
	{ SQLITE_LOCKED, ERR_BUSY, "the database is in use" },
	{ SQLITE_INTERRUPT, ERR_TIMEOUT, "took too long" },
	{ SQLITE_NOMEM, ERR_MEMORY, "no memory" },
	{ SQLITE_TOOBIG, ERR_TOO_BIG, "more than one record may hold" },
	{ SQLITE_CONSTRAINT, ERR_EXISTS, "the record is already there" },
	{ SQLITE_PERM, ERR_DENIED, "not allowed" },
	{ SQLITE_AUTH, ERR_DENIED, "not allowed" },
};

int db_configure(struct store *store, struct err *err)
{
	int one = 1;

	(void)sqlite3_hard_heap_limit64(HEAP_MAX);
	for (size_t i = 0; i < COUNT_OF(ceilings); i++)
		(void)sqlite3_limit(store->db, ceilings[i].id, ceilings[i].most);
	(void)sqlite3_extended_result_codes(store->db, 1);
	(void)sqlite3_busy_timeout(
		store->db, store->mode == STORE_WRITE ? BUSY_MS_WRITE : BUSY_MS_READ);
	(void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	(void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	(void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	(void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	/* The log keeps its size when the last connection closes. */
	(void)sqlite3_file_control(store->db, "main", SQLITE_FCNTL_PERSIST_WAL, &one);
	return db_exec(store, settings[store->mode], err);
}

int db_open(struct store *store, const char *name, const char *vfs, int flags, struct err *err)
{
	int r = sqlite3_open_v2(
		name, &store->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs);

	if (!store->db)
		return err_set(err, ERR_MEMORY, "the store: no memory");
	if (r != SQLITE_OK) {
		(void)db_failed(store, r, err);
		return err_wrap(err, "%s", store->path);
	}
	return 0;
}

static bool is_about_space(int number)
{
	return number == ENOSPC || number == EDQUOT || number == EFBIG;
}

/* SQLite forgets why a write to its log failed while it cleans up. */
static int error_number(const struct store *store)
{
	int number = store->wal ? wal_file_errno(store->wal) : 0;

	return number ? number : sqlite3_system_errno(store->db);
}

int db_failed(struct store *store, int code, struct err *err)
{
	int number = error_number(store);
	const char *words = sqlite3_errstr(code);
	enum err_code ours = ERR_SYSTEM;
	bool disk = false;

	for (size_t i = 0; i < COUNT_OF(troubles); i++) {
		if (troubles[i].code != (code & 0xff))
			continue;
		words = troubles[i].words;
		ours = troubles[i].ours;
		disk = ours == ERR_SYSTEM;
	}
	/* A quota or a limit on file size counts as a full disk. */
	if (disk && is_about_space(number)) {
		ours = ERR_FULL;
		words = "no room on the device";
	}
	(void)err_set(err, ours, "the store: %s (%s%s%s)", words, sqlite3_errmsg(store->db),
		disk && number ? ": " : "", disk && number ? strerror(number) : "");
	/* A damaged page is not kept in the cache: an operator may restore it. */
	if (ours == ERR_CORRUPT)
		(void)sqlite3_db_release_memory(store->db);
	if (err && disk)
		err->sys_errno = number;
	if (err && (code & 0xff) == SQLITE_READONLY && !err->sys_errno)
		err->sys_errno = EROFS;
	return -1;
}

const char *store_trouble(const struct err *err)
{
	static const struct {
		enum err_code code;
		int number; /* of the system, 0: any */
		const char *word;
	} words[] = {
		{ ERR_FULL, 0, "full" },
		{ ERR_BUSY, 0, "locked" },
		{ ERR_CORRUPT, 0, "damaged" },
		{ ERR_SYSTEM, EROFS, "read_only" },
		{ ERR_SYSTEM, EPERM, "read_only" },
		{ ERR_SYSTEM, EACCES, "read_only" },
		{ ERR_DENIED, 0, "read_only" },
		{ ERR_SYSTEM, ESTALE, "gone" },
		{ ERR_SYSTEM, ETIMEDOUT, "stalled" },
		{ ERR_SYSTEM, 0, "failed" },
	};

	for (size_t i = 0; i < COUNT_OF(words); i++) {
		if (words[i].code == err->code &&
			(!words[i].number || words[i].number == err->sys_errno))
			return words[i].word;
	}
	return NULL;
}

bool store_is_shut(const struct err *err)
{
	const char *word = store_trouble(err);

	return word && strcmp(word, "damaged") != 0 && strcmp(word, "failed") != 0;
}

/* ---- one question ------------------------------------------------------------------------- */

/* SQLite's progress handler; a result other than 0 ends the statement. */
static int is_late(void *context)
{
	const struct store *store = context;

	return clock_ms() > store->deadline_ms;
}

void db_question(struct store *store)
{
	if (!store->patience_ms)
		return;
	store->deadline_ms = clock_ms() + store->patience_ms;
	sqlite3_progress_handler(store->db, STEPS_A_LOOK, is_late, store);
}

void db_answered(struct store *store)
{
	if (store->deadline_ms)
		sqlite3_progress_handler(store->db, 0, NULL, NULL);
	store->deadline_ms = 0;
}

int db_is_late(struct store *store, struct err *err)
{
	if (!store->deadline_ms || !is_late(store))
		return 0;
	return err_set(err, ERR_TIMEOUT, "the store: took too long");
}

int db_exec(struct store *store, const char *sql, struct err *err)
{
	int r = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

	return r == SQLITE_OK ? 0 : db_failed(store, r, err);
}

sqlite3_stmt *db_prepare(struct store *store, const char *sql, struct err *err)
{
	sqlite3_stmt *stmt = NULL;
	int r = sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL);

	if (r != SQLITE_OK)
		(void)db_failed(store, r, err);
	return stmt;
}

void db_finish(sqlite3_stmt *stmt)
{
	(void)sqlite3_finalize(stmt);
}

int db_number(struct store *store, const char *sql, int64_t otherwise, int64_t *ret_number,
	struct err *err)
{
	auto_of(db_finish) sqlite3_stmt *stmt = db_prepare(store, sql, err);
	int r = stmt ? sqlite3_step(stmt) : SQLITE_ERROR;

	if (!stmt)
		return -1;
	if (r != SQLITE_ROW && r != SQLITE_DONE)
		return db_failed(store, r, err);
	*ret_number = r == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : otherwise;
	return 0;
}

int db_bytes(struct store *store, int64_t *ret_bytes, struct err *err)
{
	return db_number(store,
		"SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", 0,
		ret_bytes, err);
}

int db_begin_snapshot(struct store *store, bool *ret_began, struct err *err)
{
	bool began = sqlite3_get_autocommit(store->db) != 0;

	if (began && db_exec(store, "BEGIN", err) < 0)
		return -1;
	*ret_began = began;
	return 0;
}

void db_end_snapshot(struct store *store, bool began)
{
	/* Nothing was written, so an end that fails loses nothing. */
	if (began)
		(void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

int64_t db_key_at_ms(uint64_t ms)
{
	return (int64_t)((ms < KEY_MS_MAX ? ms : KEY_MS_MAX) << KEY_LOW_BITS);
}

int64_t db_ms_of_key(int64_t key)
{
	return key >> KEY_LOW_BITS;
}

int64_t db_key_of(const char *run_id)
{
	static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
	uint64_t low = 0;

	if (strlen(run_id) != RUN_ID_LEN || !ulid_is_valid(run_id))
		return -1;
	for (size_t i = RUN_ID_LEN - KEY_LOW_BITS / 5; i < RUN_ID_LEN; i++)
		low = low << 5 | (uint64_t)(strchr(alphabet, run_id[i]) - alphabet);
	return db_key_at_ms(ulid_time_ms(run_id)) | (int64_t)low;
}
