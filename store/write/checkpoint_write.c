/* Makes checkpoints (store/base/checkpoint.h). */
#include <string.h>

#include "store/base/checkpoint.h"
#include "store/base/db.h"
#include "store/base/stmt.h"
#include "store/write/chain_write.h"
#include "store/write/writer.h"

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
