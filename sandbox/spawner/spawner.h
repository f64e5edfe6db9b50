/*
 * The conversation with the daemon: each operation has one row with the function that answers it.
 *
 * privmsg.c has checked shape and direction of a message.  Here its turn is checked, and every
 * number and path against limits of our own.  An operation that fails is answered with its reason.
 * An operation that is out of turn ends the conversation: spawner_serve() fails, and the caller
 * ends everything.
 */
#pragma once

#include <limits.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/internal/privmsg.h"
#include "sandbox/filter/seccomp.h"
#include "sandbox/jail/child.h"
#include "sandbox/jail/runtime.h"
#include "sandbox/spawner/cgroup.h"

#define SPAWNER_SLOTS_MAX 1024 /* of all zygotes together */

/* A zygote or an inspector, and what the spawner holds for it. */
struct resident {
	uint32_t id;            /* never used twice; 0: this place is free */
	uint32_t slots, leaves; /* leaves: the numbers of those that its slots have are below */
	struct child child;
	unsigned leaving; /* it is dead: how often removing its cgroups was tried */
};

struct spawner {
	int sock;
	enum priv_phase phase;
	enum priv_mode mode;
	uint32_t uid_base;         /* first host uid of the blocks, in root mode */
	char helpers[2][PATH_MAX]; /* paths of ced-inspector and ced-egress */
	bool has_egress;           /* as the daemon said with SEAL */
	struct filter filters[FILTER_PROFILE_COUNT];
	struct cgroups cgroups;
	struct runtime runtimes[PRIV_RUNTIMES_MAX];
	uint32_t runtime_count;
	struct resident residents[PRIV_CHILDREN_MAX];
	uint32_t last_id;
	struct priv_msg asked; /* the current message and its answer: too large for a stack */
	struct priv_msg answer;
};

/* The host uids of jails: a block for each resident, with one id for it and one for each slot. */
#define SPAWNER_BLOCK     (PRIV_SLOTS_MAX + 1)
#define SPAWNER_UID_COUNT (PRIV_CHILDREN_MAX * SPAWNER_BLOCK)

/* Builds the filters and makes the cgroups.  The caller fills in the rest of *spawner. */
int spawner_open(struct spawner *spawner, struct err *err);

/* Ends every jail and removes the cgroups.  May be called twice. */
void spawner_close(struct spawner *spawner);

/* Receives one message and answers it. 1; 0: the daemon is gone; -1: end everything. */
int spawner_serve(struct spawner *spawner, struct err *err);

/*
 * Reaps dead children, reports them to the daemon and removes their cgroups. 1: a cgroup is left,
 * call again soon; 0: none is left; -1: end everything.
 */
int spawner_tidy(struct spawner *spawner, struct err *err);
