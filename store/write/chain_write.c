#include "store/write/chain_write.h"

#include "store/base/canonical.h"
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
