/*
 * Actions in the house: an `id` of a caller's belongs to one request at a time, and others with the
 * same id wait for what comes of it.
 *
 *	            claims_enter()
 *	  first         |          others
 *	LOOKING <-------+-------> WAITING ----claims_decide(): another content----> given back
 *	   |                         |
 *	   | claims_decide()         | claims_leave() of the one they wait for: the first of them
 *	   v                         | leads now, or all are given back
 *	LEADING <--------------------+
 *
 * LOOKING is who asks the store whether that has been done already; until that is decided nobody
 * can say whether others ask for the same.  Knows nothing of requests: entries are embedded in them.
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
	struct list link; /* among those that wait */
	struct claim *claim;
	bool leads;
	bool deserted;               /* its client left; it goes on for those that wait for it */
	uint8_t content[DIGEST_LEN]; /* its own, from before claims_enter() */
};

enum claim_answer {
	CLAIM_FIRST,  /* it is looking now */
	CLAIM_WAITS,  /* somebody else looks, or leads with the same content */
	CLAIM_OTHER,  /* somebody else leads with another content; it holds nothing */
	CLAIM_NO_ROOM /* no memory; it holds nothing */
};

void claims_init(struct claims *claims);
void claims_done(struct claims *claims);

enum claim_answer claims_enter(
	struct claims *claims, uint32_t uid, const char *id, struct claim_entry *entry);

/* Who looked leads now.  Those that ask for something else are given back in *ret_others. */
void claims_decide(struct claim_entry *entry, struct list *ret_others);

/*
 * It holds nothing any more; may be called at any time and again.  When it led or looked, those that
 * waited for it are given back in *ret_waiting, in the order in which they came.
 */
void claims_leave(struct claims *claims, struct claim_entry *entry, struct list *ret_waiting);

/* As claims_leave() of one that leads; but the first that waited leads now, and is returned. */
struct claim_entry *claims_pass_on(struct claims *claims, struct claim_entry *entry);

/* Who looks or leads; NULL: nobody. */
struct claim_entry *claims_find(const struct claims *claims, uint32_t uid, const char *id);

/* Of one that looks or leads: who leads, and whether anybody waits for it. */
bool claims_has_waiting(const struct claim_entry *entry);

/* Of one that waits: whom it waits for.  NULL of any other. */
struct claim_entry *claims_leader(const struct claim_entry *entry);
