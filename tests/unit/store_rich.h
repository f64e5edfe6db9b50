/*
 * A store with something in every table, and how it is broken into and looked at: for tests of what
 * verification finds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "tests/unit/store_sample.h"

#define RUNS 12

extern char ids[RUNS][RUN_ID_LEN + 1];
extern uint8_t public_key[SIGN_PUBLIC_LEN];
extern struct store_trust trust; /* what the store is held against */
extern char said[16384];         /* the messages of the last look, one after the other */

/* ---- making it ----------------------------------------------------------------------------- */

void fill(struct shop *shop);
int prune(struct shop *shop, const char *run_id);
/* The line is what a second file would hold. */
int put_checkpoint(struct shop *shop, char ret_line[STORE_CHECKPOINT_MAX]);
int put_parked(struct shop *shop);
/* The run that was parked last is approved, and its program for five times. */
int approve(struct shop *shop);

/* ---- looking ------------------------------------------------------------------------------- */

/* How many problems there are; -1 when the store cannot be read, which nobody overlooks either. */
int64_t verify_part(struct shop *shop, enum store_part part);
int64_t verify_all(struct shop *shop, bool aloud);

/* ---- breaking in --------------------------------------------------------------------------- */

/* What somebody with rights over the file would do. */
sqlite3 *break_in(const struct shop *shop);
int run_sql(sqlite3 *db, const char *sql);
int64_t number_of(sqlite3 *db, const char *sql);

/* The store is closed, and its file is one that can be copied. */
void shut(struct shop *shop, struct bytes *ret_whole);
void put_back(const struct shop *shop, struct bytes whole);

/* Does it to a copy, and looks there as one does who reads.  The number of problems. */
int64_t found_after(struct shop *shop, struct bytes whole, const char *sql, bool aloud);
