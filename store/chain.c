#include "store/chain.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "store/canon.h"
#include "store/db.h"

#define PARKED_KEYS "SELECT key FROM parked ORDER BY key"
#define LINK_WORDS  "ced link 1\n"

static const char *const words[CHAIN_KINDS] = {
	[CHAIN_RUN] = "run",
	[CHAIN_RUN_BEGUN] = "run_begun",
	[CHAIN_ACT] = "act",
	[CHAIN_CHECKPOINT] = "checkpoint",
	[CHAIN_PARKED] = "parked",
	[CHAIN_UNPARKED] = "unparked",
	[CHAIN_USE] = "use",
};

const char *chain_word(int64_t kind)
{
	return kind > 0 && kind < CHAIN_KINDS ? words[kind] : NULL;
}

bool chain_is_mark(enum chain_kind kind)
{
	return kind == CHAIN_UNPARKED || kind == CHAIN_USE;
}

int chain_find(struct store *store, enum chain_kind kind, int64_t subject, int64_t *ret_link,
	uint8_t ret_digest[DIGEST_LEN], struct err *err)
{
	sqlite3_stmt *row = stmt_take(store, STMT_CHAIN_FIND, err);
	struct binding binding;
	int r;

	if (!row)
		return -1;
	binding = bind_to(row);
	bind_int(&binding, subject);
	bind_int(&binding, kind);
	r = stmt_step(store, row, err);
	if (r <= 0)
		return r;
	*ret_link = sqlite3_column_int64(row, 0);
	if (ret_digest) {
		memset(ret_digest, 0, DIGEST_LEN);
		if (sqlite3_column_bytes(row, 1) == DIGEST_LEN)
			memcpy(ret_digest, sqlite3_column_blob(row, 1), DIGEST_LEN);
	}
	(void)sqlite3_reset(row);
	return 1;
}

int chain_stands(struct store *store, enum chain_kind kind, int64_t subject, struct err *err)
{
	uint8_t linked[DIGEST_LEN];
	uint8_t digest[DIGEST_LEN];
	int64_t link = 0;
	int r = chain_find(store, kind, subject, &link, linked, err);

	if (r <= 0)
		return r;
	r = canon_digest(store, kind, subject, false, digest, err);
	if (r < 0)
		return -1;
	return r == 0 && memcmp(digest, linked, DIGEST_LEN) == 0;
}

void chain_next(const uint8_t before[DIGEST_LEN], int64_t link, int64_t kind, int64_t subject,
	const uint8_t digest[DIGEST_LEN], uint8_t ret_head[DIGEST_LEN])
{
	struct digest all;

	digest_start(&all);
	digest_add(&all, LINK_WORDS, strlen(LINK_WORDS));
	digest_add(&all, before, DIGEST_LEN);
	digest_add_u64(&all, (uint64_t)link);
	digest_add_u64(&all, (uint64_t)kind);
	digest_add_u64(&all, (uint64_t)subject);
	digest_add(&all, digest, DIGEST_LEN);
	digest_end(&all, ret_head);
}

int chain_end(struct store *store, struct chain_head *ret_head, struct err *err)
{
	sqlite3_stmt *row = stmt_take(store, STMT_CHAIN_END, err);
	struct chain_head end = { 0, { 0 } };
	int r = row ? stmt_step(store, row, err) : -1;

	if (r < 0)
		return -1;
	if (r > 0) {
		end.links = sqlite3_column_int64(row, 0);
		if (sqlite3_column_bytes(row, 1) == DIGEST_LEN)
			memcpy(end.head, sqlite3_column_blob(row, 1), DIGEST_LEN);
		(void)sqlite3_reset(row);
	}
	*ret_head = end;
	return 0;
}

static int insert_link(struct store *store, enum chain_kind kind, int64_t subject,
	const uint8_t digest[DIGEST_LEN], struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_CHAIN_INSERT, err);
	struct chain_head next = { store->chain.links + 1, { 0 } };
	struct binding binding;

	if (!stmt)
		return -1;
	chain_next(store->chain.head, next.links, kind, subject, digest, next.head);
	binding = bind_to(stmt);
	bind_int(&binding, next.links);
	bind_int(&binding, kind);
	bind_int(&binding, subject);
	bind_blob(&binding, digest, DIGEST_LEN);
	bind_blob(&binding, next.head, DIGEST_LEN);
	if (bind_run(store, &binding, err) < 0)
		return -1;
	store->chain = next;
	return 0;
}

int chain_add(struct store *store, enum chain_kind kind, int64_t subject, struct err *err)
{
	uint8_t digest[DIGEST_LEN];
	int r;

	if (store->chain.links == INT64_MAX)
		return err_set(err, ERR_CORRUPT, "the store: somebody has put an end to the chain");
	r = canon_digest(store, kind, subject, true, digest, err);

	if (r > 0)
		return err_set(err, ERR_CORRUPT,
			"the store: %s %lld is to be chained and is not there", chain_word(kind),
			(long long)subject);
	return r < 0 ? -1 : insert_link(store, kind, subject, digest, err);
}

/* ---- the beginning ------------------------------------------------------------------------ */

/* Links for all that the statement finds, each a number of that kind. */
static int add_all(struct store *store, enum chain_kind kind, const char *sql, int64_t *ret_count,
	struct err *err)
{
	sqlite3_stmt *row = NULL;
	int r = sqlite3_prepare_v2(store->db, sql, -1, &row, NULL);

	*ret_count = 0;
	if (r != SQLITE_OK)
		return db_failed(store, r, err);
	while ((r = stmt_step(store, row, err)) > 0 &&
		(r = chain_add(store, kind, sqlite3_column_int64(row, 0), err)) == 0)
		++*ret_count;
	(void)sqlite3_finalize(row);
	return r;
}

/* Who wrote it is the daemon itself. */
static int note_beginning(struct store *store, int64_t runs, int64_t acts, struct err *err)
{
	char result[192];
	char head[DIGEST_TEXT_LEN + 1];
	const struct store_act act = {
		.at_wall_us = clock_wall_us(),
		.uid = getuid(),
		.gid = getgid(),
		.pid = getpid(),
		.method = "audit.begin",
		.params = "{}",
		.result = result,
	};

	digest_text(store->chain.head, head);
	(void)snprintf(result, sizeof(result), "{\"runs\":%lld,\"acts\":%lld,\"head\":\"%s\"}",
		(long long)runs, (long long)acts, head);
	return store_put_act(store, &act, err);
}

int chain_begin(struct store *store, struct err *err)
{
	int64_t runs = 0;
	int64_t acts = 0;

	if (store->chain.links)
		return 0;
	if (store_begin(store, err) < 0)
		return -1;
	if (add_all(store, CHAIN_RUN, "SELECT key FROM runs WHERE outcome IS NOT NULL ORDER BY key",
		    &runs, err) < 0 ||
		add_all(store, CHAIN_ACT, "SELECT act FROM acts ORDER BY act", &acts, err) < 0 ||
		(runs + acts > 0 && note_beginning(store, runs, acts, err) < 0)) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, STORE_NOW, err);
}

int chain_begin_parked(struct store *store, struct err *err)
{
	int64_t count = 0;

	if (store_begin(store, err) < 0)
		return -1;
	if (add_all(store, CHAIN_RUN_BEGUN, PARKED_KEYS, &count, err) < 0 ||
		add_all(store, CHAIN_PARKED, PARKED_KEYS, &count, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, STORE_NOW, err);
}
