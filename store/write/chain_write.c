#include "store/write/chain_write.h"

#include <string.h>

#include "store/base/canonical.h"
#include "store/base/checkpoint.h"
#include "store/base/db.h"
#include "store/base/stmt.h"
#include "store/write/writer.h"

static int insert_link(struct store *store, enum chain_kind kind, int64_t subject,
	const uint8_t digest[DIGEST_LEN], struct err *err)
{
	struct chain_head next = { store->writer->chain.links + 1, { 0 } };

	chain_next(store->writer->chain.head, next.links, kind, subject, digest, next.head);
	if (stmt_run(store, STMT_CHAIN_INSERT,
		    SQL_VALUES(sql_int(next.links), sql_int(kind), sql_int(subject),
			    sql_blob(digest, DIGEST_LEN), sql_blob(next.head, DIGEST_LEN)),
		    err) < 0)
		return -1;
	store->writer->chain = next;
	return 0;
}

int chain_add(struct store *store, enum chain_kind kind, int64_t subject, struct err *err)
{
	uint8_t digest[DIGEST_LEN];
	int r;

	if (store->writer->chain.links == INT64_MAX)
		return err_set(err, ERR_CORRUPT, "the store: the chain has no numbers left");
	r = canonical_digest(store, kind, subject, true, digest, err);

	if (r > 0)
		return err_set(err, ERR_CORRUPT,
			"the store: %s %lld is to be chained and is not there", chain_word(kind),
			(long long)subject);
	return r < 0 ? -1 : insert_link(store, kind, subject, digest, err);
}

/* ---- checkpoints ------------------------------------------------------------------------------ */

static void checkpoint_sign(struct checkpoint *checkpoint, const struct signer *signer)
{
	char line[STORE_CHECKPOINT_MAX];
	size_t len;

	memcpy(checkpoint->public_key, signer_public(signer), SIGN_PUBLIC_LEN);
	len = checkpoint_write_signed(checkpoint, line);
	signer_sign(signer, line, len, checkpoint->signature);
}

static int checkpoint_insert(
	struct store *store, const struct checkpoint *checkpoint, struct err *err)
{
	if (stmt_run(store, STMT_CHECKPOINT_INSERT,
		    SQL_VALUES(sql_int(checkpoint->at_us), sql_int(checkpoint->links),
			    sql_blob(checkpoint->head, DIGEST_LEN),
			    sql_blob(checkpoint->public_key, SIGN_PUBLIC_LEN),
			    sql_blob(checkpoint->signature, SIGN_LEN)),
		    err) < 0)
		return -1;
	return chain_add(store, CHAIN_CHECKPOINT, sqlite3_last_insert_rowid(store->db), err);
}

/* Whether it was signed with the key that signs now. */
static bool is_ours(const struct checkpoint *checkpoint, const struct signer *signer)
{
	return memcmp(checkpoint->public_key, signer_public(signer), SIGN_PUBLIC_LEN) == 0 &&
	       checkpoint_holds(checkpoint);
}

/* The last checkpoint: 1 with its line when no link but its own has been added since, 0, -1. */
static int find_last(struct store *store, struct store_checkpoint *ret, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_take(store, STMT_CHECKPOINT_LAST, err);
	struct checkpoint last;
	int r = stmt_step(store, row, err);
	int is_last = 0;

	if (r < 0)
		return -1;
	if (r > 0 && checkpoint_row(row, &last)) {
		is_last =
			last.links == store->writer->chain.links - 1 && is_ours(&last, ret->signer);
		ret->links = last.links;
		checkpoint_write(&last, ret->line);
	}
	return is_last;
}

static int checkpoint_make(struct store *store, struct store_checkpoint *ret, struct err *err)
{
	struct checkpoint checkpoint = { .links = store->writer->chain.links,
		.at_us = ret->at_wall_us };

	memcpy(checkpoint.head, store->writer->chain.head, DIGEST_LEN);
	checkpoint_sign(&checkpoint, ret->signer);
	if (checkpoint_insert(store, &checkpoint, err) < 0)
		return -1;
	ret->is_new = true;
	ret->links = checkpoint.links;
	checkpoint_write(&checkpoint, ret->line);
	return 0;
}

int store_put_checkpoint(struct store *store, struct store_checkpoint *checkpoint, struct err *err)
{
	int r;

	checkpoint->is_new = false;
	checkpoint->links = 0;
	checkpoint->line[0] = '\0';
	r = find_last(store, checkpoint, err);
	if (r == 0 && store->writer->chain.links)
		r = checkpoint_make(store, checkpoint, err);
	if (r < 0)
		return writer_failed(store);
	return 0;
}
