/*
 * Claims on ids that callers choose.  An `id` of a caller belongs to one request at a time; other
 * requests with the same id wait for its result.
 *
 *	            claims_enter()
 *	  first         |          others
 *	LOOKING <-------+-------> WAITING ---claims_decide(): other content---> claim given back
 *	   |                         |
 *	   | claims_decide()         | claims_pass_on() by the leader: the first one leads now
 *	   v                         | claims_leave(): all are given back
 *	LEADING <--------------------+
 *
 * While an entry is LOOKING, the store is asked whether the action was done already.  Until then it
 * is unknown whether the others request the same.  This module knows nothing of requests; they
 * embed the entries.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/list.h"
#include "proto/base/map.h"
#include "proto/digest.h"

struct claim;

struct claims {
	struct map map; /* uid and id -> struct claim */
};

struct claim_entry {
	struct list link; /* in the waiting list of its claim */
	struct claim *claim;
	bool leads;
	/* its client disconnected; it continues for the entries that wait for it */
	bool deserted;
	uint8_t content[DIGEST_LEN]; /* digest of the requested action; set before claims_enter() */
};

enum claim_answer {
	CLAIM_FIRST,  /* it is looking now */
	CLAIM_WAITS,  /* another entry looks, or leads with the same content */
	CLAIM_OTHER,  /* another entry leads with other content; no claim is held */
	CLAIM_NO_ROOM /* no memory; no claim is held */
};

void claims_init(struct claims *claims);
void claims_done(struct claims *claims);

enum claim_answer claims_enter(
	struct claims *claims, uint32_t uid, const char *id, struct claim_entry *entry);

/* The looking entry leads now.  Entries with other content are given back in *ret_others. */
void claims_decide(struct claim_entry *entry, struct list *ret_others);

/*
 * Gives up the claim, if there is one; may be called at any time and again.  If the entry led or
 * looked, those that waited for it are given back in *ret_waiting, in order of arrival.
 */
void claims_leave(struct claims *claims, struct claim_entry *entry, struct list *ret_waiting);

/*
 * Gives up the claim of a leader.  The first entry that waited leads now and is returned, or NULL.
 */
struct claim_entry *claims_pass_on(struct claims *claims, struct claim_entry *entry);

/* Returns the entry that looks or leads, or NULL. */
struct claim_entry *claims_find(const struct claims *claims, uint32_t uid, const char *id);

/* Whether entries wait for this one; false unless it looks or leads. */
bool claims_has_waiting(const struct claim_entry *entry);

/* Returns the entry that this one waits for; NULL when it does not wait. */
struct claim_entry *claims_leader(const struct claim_entry *entry);
