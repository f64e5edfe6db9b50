/*
 * The conversation with the daemon: every operation has one row that says what answers it.
 *
 * privmsg.c has checked shape and direction before anything arrives here; here the turn is
 * checked, and every number and path against limits of our own.  An operation that cannot be done
 * is answered with its reason.  One that should never have been asked ends the conversation:
 * spawner_serve() fails, and the caller ends everything.
 */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/internal/privmsg.h"
#include "sandbox/cgroup.h"
#include "sandbox/child.h"
#include "sandbox/runtime.h"
#include "sandbox/seccomp.h"

#define SPAWNER_SLOTS_MAX 1024 /* over all zygotes */

/* A zygote or an inspector, and what is held for it. */
struct resident {
	uint32_t id; /* never given twice; 0: free */
	uint32_t slots;
	struct child child;
	unsigned leaving; /* it has ended: how often its cgroups were tried since */
};

struct spawner {
	int sock;
	enum priv_phase phase;
	enum priv_mode mode;
	uint32_t uid_base;     /* first host uid of the blocks, in root mode */
	const char *inspector; /* path of ced-inspector */
	struct filter filters[FILTER_PROFILE_COUNT];
	struct cgroups cgroups;
	struct runtime runtimes[PRIV_RUNTIMES_MAX];
	uint32_t runtime_count;
	struct resident residents[PRIV_CHILDREN_MAX];
	uint32_t last_id;
	struct priv_msg asked; /* the message in hand and its answer: too large for a stack */
	struct priv_msg answer;
};

/* Host uids that jails use: a block for each resident, one id for it and one for each slot. */
#define SPAWNER_BLOCK     (PRIV_SLOTS_MAX + 1)
#define SPAWNER_UID_COUNT (PRIV_CHILDREN_MAX * SPAWNER_BLOCK)

/* Builds the filters and makes the cgroups.  The rest of *spawner is the caller's to fill. */
int spawner_open(struct spawner *spawner, struct err *err);

/* Ends every jail and removes the cgroups.  May be called twice. */
void spawner_close(struct spawner *spawner);

/* Takes one message and answers it.  1, 0 when the daemon has gone, -1: end everything. */
int spawner_serve(struct spawner *spawner, struct err *err);

/*
 * Reaps what has ended and tells the daemon; removes cgroups.  1: one waits to be removed, call again
 * soon; 0: nothing waits; -1: end everything.
 */
int spawner_tidy(struct spawner *spawner, struct err *err);
