/*
 * The open database as the files of this folder see it: the struct behind store.h, and the few
 * words in which they speak to SQLite.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "store/blob.h"
#include "store/canon.h"
#include "store/chain.h"
#include "store/disk.h"
#include "store/held.h"
#include "store/mark.h"
#include "store/room.h"
#include "store/stmt.h"
#include "store/store.h"
#include "store/watch.h"

#define UNREADABLE_MAX 1024 /* a store with more of them settles nothing from there on */

/* A run of which something cannot be read when it is to settle. */
struct unreadable {
	int64_t key;
	unsigned texts; /* a bit for each that is left out of the index ... */
	bool whole;     /* ... or it does not settle at all */
	bool suspected; /* that it is the run, and not the disk */
};

struct store {
	sqlite3 *db;
	enum store_mode mode;
	int lock_fd; /* the writer's hold on the folder, or -1 */
	char *path;  /* of the database */
	struct disk_log *log;
	sqlite3_stmt *stmts[STMT_COUNT];
	bool writing; /* between store_begin() and its end */
	bool failed;  /* something went wrong since then: only rollback is left */
	int log_pages;
	int64_t schema;
	int64_t came_from; /* the schema that it was opened with; 0: it is new */
	bool settling;     /* in the middle of a heap of runs that wait to be settled */
	uint64_t lost;
	bool forgot;          /* texts left the index, whose parts still hold their words */
	bool merging;         /* until those parts have been written anew */
	int64_t patience_ms;  /* how long one question may take; 0: as long as it takes */
	int64_t late_ms;      /* until when the one being asked may */
	int64_t cached_count; /* rows of `cached`; -1: not counted */
	unsigned ended;       /* runs that this transaction ends */
	uint64_t unsettled;   /* runs in `pending` that have ended, as far as this writer knows */
	struct unreadable unreadable[UNREADABLE_MAX];
	size_t unreadable_count;
	unsigned unsettling;           /* so many commits take no unsettled run along */
	struct store_damage damage;    /* that nobody has been told of */
	struct store_damage suspicion; /* runs that failed since something was written last */
	uint64_t newest_ms;            /* when it was opened */
	bool shrunk; /* the file is longer than it need be until the log has been moved */
	struct blob_shelf shelf;
	struct chain_head chain;            /* where it ends, with what this transaction added */
	struct chain_head committed;        /* and without */
	char last_run[RUN_ID_LEN + 1];      /* that something was written of ... */
	char committed_run[RUN_ID_LEN + 1]; /* ... and before this transaction */
	struct watch watch;
	bool is_rescued; /* since the watch is broken: what the log holds is in the database */
	struct mark mark;
	struct room room;
	struct held held;
	struct canon_table forms[EVIDENCE_TABLES_MAX];
	struct buf form;      /* of the record whose digest is being made */
	struct buf left;      /* of the pruned run that is being read */
	struct arena scratch; /* for one run being written */
	struct buf text;      /* the same */
};

/* Turns what SQLite says about its last call into *err, with "the store" in front.  Returns -1. */
int db_failed(struct store *store, int code, struct err *err);

/* Ceilings and settings of a connection that has just been opened, by the store's mode. */
int db_configure(struct store *store, struct err *err);

/*
 * One question begins, which may take as long as the store's patience; and it has been answered.  In
 * between, what runs too long in SQLite fails with ERR_TIMEOUT, and what loops itself asks db_is_late().
 */
void db_question(struct store *store);
void db_answered(struct store *store);
int db_is_late(struct store *store, struct err *err);

/* Runs SQL without results. */
int db_exec(struct store *store, const char *sql, struct err *err);

/* The first column of the first row; `otherwise` when there is none. */
int db_number(struct store *store, const char *sql, int64_t otherwise, int64_t *ret_number,
	struct err *err);

/* Moves the log into the database, as far as nobody reads from it; outside a transaction. */
void store_move_log(struct store *store);

/* One look at the database for several questions: begun unless a transaction is open already. */
int db_look(struct store *store, bool *ret_began, struct err *err);
void db_looked(struct store *store, const bool *began);

/* The key of a run; -1 when `run_id` is not a ULID. */
int64_t db_key_of(const char *run_id);
/* The smallest key of a millisecond. */
int64_t db_key_at_ms(uint64_t ms);
/* And back. */
int64_t db_ms_of_key(int64_t key);

/*
 * All tables, indexes, views and triggers, but for what ANALYZE leaves in a store that somebody looked into:
 * it is about no record, and tells SQLite only how it may best look for something.
 */
#define SCHEMA_OBJECTS                                                                  \
	"SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema WHERE NOT (" \
	"type = 'table' AND tbl_name = name AND (name, sql) IN (VALUES "                \
	"('sqlite_stat1', 'CREATE TABLE sqlite_stat1(tbl,idx,stat)'), "                 \
	"('sqlite_stat4', 'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)'))) " \
	"ORDER BY type, name"

/* Puts the tables of the newest schema into an empty database. */
int schema_make(sqlite3 *db);

/* Brings the database to the newest schema (STORE_WRITE) or checks that it has it (STORE_READ). */
int schema_prepare(struct store *store, struct err *err);
/* Whether its tables are, to the letter, those that the migrations make; ERR_CORRUPT. */
int schema_check_tables(struct store *store, struct err *err);
