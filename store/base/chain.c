#include "store/base/chain.h"

#include <string.h>

#include "store/base/stmt.h"

#define LINK_WORDS "ced link 1\n"

static const char *const kind_words[CHAIN_KINDS] = {
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
	return kind > 0 && kind < CHAIN_KINDS ? kind_words[kind] : NULL;
}

bool chain_is_mark(enum chain_kind kind)
{
	return kind == CHAIN_UNPARKED || kind == CHAIN_USE;
}

int chain_find(struct store *store, enum chain_kind kind, int64_t subject, int64_t *ret_link,
	uint8_t ret_digest[DIGEST_LEN], struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row =
		stmt_with(store, STMT_CHAIN_FIND, SQL_VALUES(sql_int(subject), sql_int(kind)), err);
	int r;

	r = stmt_step(store, row, err);
	if (r <= 0)
		return r;
	*ret_link = sqlite3_column_int64(row, 0);
	if (ret_digest) {
		memset(ret_digest, 0, DIGEST_LEN);
		if (sqlite3_column_bytes(row, 1) == DIGEST_LEN)
			memcpy(ret_digest, sqlite3_column_blob(row, 1), DIGEST_LEN);
	}
	return 1;
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
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_take(store, STMT_CHAIN_END, err);
	struct chain_head end = { 0, { 0 } };
	int r = stmt_step(store, row, err);

	if (r < 0)
		return -1;
	if (r > 0) {
		end.links = sqlite3_column_int64(row, 0);
		if (sqlite3_column_bytes(row, 1) == DIGEST_LEN)
			memcpy(end.head, sqlite3_column_blob(row, 1), DIGEST_LEN);
	}
	*ret_head = end;
	return 0;
}

int chain_has(struct store *store, int64_t link, const uint8_t head[DIGEST_LEN], struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_take_for(store, STMT_CHAIN_HEAD, link, err);
	bool same = false;
	int r = stmt_step(store, row, err);

	if (r > 0)
		same = sqlite3_column_bytes(row, 0) == DIGEST_LEN &&
		       memcmp(sqlite3_column_blob(row, 0), head, DIGEST_LEN) == 0;
	return r < 0 ? -1 : same;
}
