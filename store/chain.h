/*
 * The chain of digests over all that the store has recorded.
 *
 * A link is added in the transaction that finishes a record, so a record that anybody was told of
 * is in the chain.  It holds the digest of the record's canonical form (canon.h) and the new head:
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

/* What a link is about.  The numbers are stored. */
enum chain_kind {
	CHAIN_NOTHING = 0,
	CHAIN_RUN = 1,       /* a run with everything, when it has ended */
	CHAIN_RUN_BEGUN = 2, /* what was known when it began, where that was told to somebody */
	CHAIN_ACT = 3,
	CHAIN_CHECKPOINT = 4,
	CHAIN_PARKED = 5,   /* a run that waits for a person's word, with what it waits for */
	CHAIN_UNPARKED = 6, /* a mark: that run is about to start */
	CHAIN_USE = 7,      /* a mark: one use of an approval, named by its act */
	CHAIN_KINDS,
};

/* The kind's word: "run", "act" ...; NULL: there is no such kind. */
const char *chain_word(int64_t kind);

struct chain_head {
	int64_t links; /* so far, which is the number of the last one */
	uint8_t head[DIGEST_LEN];
};

/* The end of the chain as it stands in the store. */
int chain_end(struct store *store, struct chain_head *ret_head, struct err *err);

/* Adds a link for a record that has been written, in the transaction that is open. */
int chain_add(struct store *store, enum chain_kind kind, int64_t subject, struct err *err);

/* Whether the kind is a mark: there is no record behind it, only its subject. */
bool chain_is_mark(enum chain_kind kind);

/*
 * The newest link of that kind about the subject: 1 with its number and, unless NULL, its digest; 0: none.
 * Not for CHAIN_RUN, which no index finds.
 */
int chain_find(struct store *store, enum chain_kind kind, int64_t subject, int64_t *ret_link,
	uint8_t ret_digest[DIGEST_LEN], struct err *err);

/* Whether the record stands in the store as its newest link has it: 1, 0, -1.  Not for CHAIN_RUN either. */
int chain_stands(struct store *store, enum chain_kind kind, int64_t subject, struct err *err);

/* The head that follows from the one before. */
void chain_next(const uint8_t before[DIGEST_LEN], int64_t link, int64_t kind, int64_t subject,
	const uint8_t digest[DIGEST_LEN], uint8_t ret_head[DIGEST_LEN]);

/*
 * When a store has just got its chain: a link for everything that was recorded before there was one,
 * and an act that says how much that was.  Does nothing for a store that is new, or has links.
 */
int chain_begin(struct store *store, struct err *err);

/* When a store has just come up from a schema that knew no CHAIN_PARKED: a link for each run that waits. */
int chain_begin_parked(struct store *store, struct err *err);
