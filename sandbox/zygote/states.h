/*
 * The kept states of a session, as its slot sees them: processes that the worker has forked with a
 * permission, and that stand still until one of them becomes the worker.
 *
 * A permission is for one clone() of the worker's first thread with exactly these flags.  The slot
 * is the parent of each state (CLONE_PARENT), so the kernel tells the slot who says hello, and how
 * each of them ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/internal/slotmsg.h"

/* All kept ones, and workers whose place one of them took and which die. */
#define STATES_PROCESSES_MAX (SESSION_STATES_MAX + 2)

struct state {
	uint32_t number; /* 0: a worker whose place another one has taken, and which dies */
	pid_t pid;
	int pidfd;
};

struct states {
	struct state list[STATES_PROCESSES_MAX];
	unsigned count;
	int joins[SLOTMSG_JOIN_FDS_MAX]; /* of the state that is being made: "procs" of its leaf */
	unsigned join_count;
	int hello;       /* of the state that is being made, else -1 */
	uint32_t making; /* its number */
};

#define STATES_INIT                                       \
	{                                                 \
		.join_count = 0, .hello = -1, .making = 0 \
	}

/*
 * Begins to make a state.  Takes the descriptors: `hello`, which has SO_PASSCRED, then the "procs"
 * files of its leaf.  -1: there is no room, or one is being made.
 */
int states_begin(struct states *states, uint32_t number, int *fds, unsigned count, struct err *err);

/*
 * There is something to read from `hello`.  1: the state is kept and in its leaf.  0: nobody is there
 * who could say it.  -1: the wrong one says it; the caller ends the worker with everything it forked.
 * `worker` is no state.
 */
int states_hear(struct states *states, pid_t worker, struct state *ret_state, struct err *err);

/* Takes the state out of the list.  It stays in its leaf.  -1: there is none. */
int states_promote(
	struct states *states, uint32_t number, struct state *ret_state, struct err *err);

/* Kills a worker, after states_promote(), and takes it over. */
void states_bury(struct states *states, pid_t worker, int pidfd);

/* Kills and reaps it.  False: there is no such state. */
bool states_drop(struct states *states, uint32_t number);

/* Reaps a process of the list that has died.  False: none has. */
bool states_reap(struct states *states, uint32_t *ret_number);

/*
 * Reaps a child of the slot that is dead and that nobody knows: it was forked by permission, and has
 * not said hello.  Until then its pid namespace does not end.  `others`: the slot's other children.
 * False: there is none.
 */
bool states_reap_stranger(const struct states *states, const pid_t *others, size_t count);

/* The worker is dead, and nobody else lives in its pid namespace: reaps what is left. */
void states_forget(struct states *states);
