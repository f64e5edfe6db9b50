/*
 * The chain of digests over all records of the store.
 *
 * The transaction that finishes a record adds a link (store/write/chain_write.h), so each record
 * that a client has heard of is in the chain.  A link holds the digest of the record (canonical.h)
 * and the new head:
 *
 *	SHA-256("ced link 1\n" | head before | link | kind | subject | digest)
 *
 * numbers in eight bytes, lowest first; before the first link the head is 32 zeroes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/digest.h"

struct store;

/* The subject of a link.  The numbers are stored. */
enum chain_kind {
	CHAIN_NOTHING = 0,
	CHAIN_RUN = 1,       /* a run with everything, when it has ended */
	CHAIN_RUN_BEGUN = 2, /* its data when it began, if a client learned of it then */
	CHAIN_ACT = 3,
	CHAIN_CHECKPOINT = 4,
	CHAIN_PARKED = 5,   /* a run that waits for approval */
	CHAIN_UNPARKED = 6, /* a mark: that run is about to start */
	CHAIN_USE = 7,      /* a mark: one use of an approval, named by its act */
	CHAIN_KINDS,
};

/* The name of a kind: "run", "act" ...; NULL: there is no such kind. */
const char *chain_word(int64_t kind);

struct chain_head {
	int64_t links; /* so far, which is the number of the last one */
	uint8_t head[DIGEST_LEN];
};

/* The last link in the store. */
int chain_end(struct store *store, struct chain_head *ret_head, struct err *err);

/* Whether the kind is a mark, which has a subject but no record. */
bool chain_is_mark(enum chain_kind kind);

/*
 * The newest link of that kind about the subject: 1 with its number and, unless NULL, its digest;
 * 0: none.  Not for CHAIN_RUN, which has no index.
 */
int chain_find(struct store *store, enum chain_kind kind, int64_t subject, int64_t *ret_link,
	uint8_t ret_digest[DIGEST_LEN], struct err *err);

/* Whether the link stands in the store with that head: 1, 0, -1. */
int chain_has(struct store *store, int64_t link, const uint8_t head[DIGEST_LEN], struct err *err);

/* The head that follows from the one before. */
void chain_next(const uint8_t before[DIGEST_LEN], int64_t link, int64_t kind, int64_t subject,
	const uint8_t digest[DIGEST_LEN], uint8_t ret_head[DIGEST_LEN]);
