/*
 * What clients may hold of the house: connections, and bytes of memory.
 *
 * The bytes are those of a message from its arrival until its run has left the house, and of a
 * reply until it has been read.  Each uid has a ceiling of its own below the one of all together,
 * and a small share that nobody else can take away from it.
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
	unsigned conns_most;    /* for others than administrators, but for two of each uid */
	unsigned conns_per_uid; /* the same */
	unsigned doors;         /* what our descriptors suffice for: nobody passes */
	uint64_t bytes;
	uint64_t bytes_peak; /* since somebody last set it */
	uint64_t bytes_most;
	uint64_t bytes_per_uid;
};

/*
 * Raises our own limit on descriptors as far as it may and keeps what workers need out of it.  -1
 * when too little is left for clients.
 */
int ceilings_init(struct ceilings *ceilings, const struct config *config, struct err *err);
void ceilings_done(struct ceilings *ceilings);

/* A connection comes and goes.  NULL when it may come in, else why not. */
const char *ceilings_enter(struct ceilings *ceilings, uint32_t uid, bool is_admin);

/* All connections are taken, but for what each uid still gets. */
bool ceilings_are_full(const struct ceilings *ceilings);

/* Whether it holds all that one uid may, so that no other's leaving helps it. */
bool ceilings_has_all(const struct ceilings *ceilings, uint32_t uid, bool is_admin);
unsigned ceilings_conns_of(const struct ceilings *ceilings, uint32_t uid);
void ceilings_leave(struct ceilings *ceilings, uint32_t uid);

/* Holds so many bytes more for this uid.  False, and nothing is held, when that would be too many. */
bool ceilings_hold(struct ceilings *ceilings, uint32_t uid, uint64_t bytes);

/* The same for what exists already; the ceiling may be passed then. */
void ceilings_hold_anyway(struct ceilings *ceilings, uint32_t uid, uint64_t bytes);
void ceilings_let_go(struct ceilings *ceilings, uint32_t uid, uint64_t bytes);

/* Does this uid hold more than it may? */
bool ceilings_passed(const struct ceilings *ceilings, uint32_t uid);
