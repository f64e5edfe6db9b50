/*
 * Limits on what clients may hold in the daemon: connections and bytes of memory.
 *
 * A message counts from its arrival until its run has ended.  A reply counts until the client has
 * read it.  Each uid has its own limit, below the common limit of all uids, and a small reserve
 * that other uids cannot use up.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/settings/config.h"
#include "proto/base/err.h"
#include "proto/base/map.h"

struct ceilings {
	struct map shares; /* uid -> struct share */
	unsigned conns;
	/* for non-administrators; each uid may exceed it by two connections */
	unsigned conns_most;
	unsigned conns_per_uid; /* also only for non-administrators */
	unsigned conns_max;     /* what our descriptors suffice for; holds for everyone */
	uint64_t bytes;
	uint64_t bytes_peak; /* highest value of `bytes` since it was last reset */
	uint64_t bytes_most;
	uint64_t bytes_per_uid;
};

/*
 * Raises the daemon's soft limit on descriptors and reserves those that workers need.  Returns -1
 * when too few are left for clients.
 */
int ceilings_init(struct ceilings *ceilings, const struct config *config, struct err *err);

/* Takes other settings.  Who has more than they allow keeps it. */
void ceilings_set(struct ceilings *ceilings, const struct config *config);
void ceilings_done(struct ceilings *ceilings);

/* Counts a new connection.  Returns NULL when it is admitted, else the reason why not. */
const char *ceilings_enter(struct ceilings *ceilings, uint32_t uid, bool is_admin);

/* True when the common limit is reached; a uid may still use its own two connections. */
bool ceilings_are_full(const struct ceilings *ceilings);

/*
 * True when the uid has reached its own limit.  Closing another user's connection does not help it
 * then.
 */
bool ceilings_has_all(const struct ceilings *ceilings, uint32_t uid, bool is_admin);
unsigned ceilings_conns_of(const struct ceilings *ceilings, uint32_t uid);
void ceilings_leave(struct ceilings *ceilings, uint32_t uid);

/*
 * Counts `bytes` more for this uid.  Returns false, and counts nothing, when that would exceed a
 * limit.
 */
bool ceilings_hold(struct ceilings *ceilings, uint32_t uid, uint64_t bytes);

/* The same for bytes that exist already; this may exceed the limit. */
void ceilings_hold_anyway(struct ceilings *ceilings, uint32_t uid, uint64_t bytes);
void ceilings_let_go(struct ceilings *ceilings, uint32_t uid, uint64_t bytes);

/* True when this uid holds more than its limit. */
bool ceilings_passed(const struct ceilings *ceilings, uint32_t uid);
