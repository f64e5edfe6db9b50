/*
 * A store with rows in every table, and the means to tamper with it and to verify it: for tests of
 * what verification finds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "tests/unit/store_sample.h"

#define RUNS 12

extern char ids[RUNS][RUN_ID_LEN + 1];
extern uint8_t public_key[SIGN_PUBLIC_LEN];
extern struct store_trust trust; /* what the store is verified against */
extern char said[16384];         /* the messages of the last verification */

/* ---- making it ----------------------------------------------------------------------------- */

void fill(struct shop *shop);
int prune(struct shop *shop, const char *run_id);
/* The returned line is what a second file would contain. */
int put_checkpoint(struct shop *shop, char ret_line[STORE_CHECKPOINT_MAX]);
int put_parked(struct shop *shop);
/* Approves the run that was parked last, and its program for five more runs. */
int approve(struct shop *shop);

/* ---- looking ------------------------------------------------------------------------------- */

/* Returns the number of problems; -1 when the store cannot be read, which is a finding too. */
int64_t verify_part(struct shop *shop, enum store_part part);
int64_t verify_all(struct shop *shop, bool aloud);

/* ---- breaking in --------------------------------------------------------------------------- */

/* Changes the file as someone with write access could. */
sqlite3 *break_in(const struct shop *shop);
int run_sql(sqlite3 *db, const char *sql);
int64_t number_of(sqlite3 *db, const char *sql);

/* Closes the store and reads its file, so that it can be copied. */
void shut(struct shop *shop, struct bytes *ret_whole);
void put_back(const struct shop *shop, struct bytes whole);

/*
 * Applies the SQL to a copy and verifies the copy as a reader would.  Returns the number of
 * problems.
 */
int64_t found_after(struct shop *shop, struct bytes whole, const char *sql, bool aloud);
