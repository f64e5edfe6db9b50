/*
 * A zygote: an interpreter that has started and imported the preloaded modules, and never runs a
 * job itself.
 *
 * It is pid 1 of its pid namespace and uid 0 of its user namespace, in a jail that the spawner
 * built.  It only forks slots into namespaces below its own and writes their id maps.  When the
 * daemon closes the zygote socket, the zygote exits and the kernel kills everything below it.
 *
 *	zygote_serve()  -->  in the zygote: 0, the daemon has gone
 *	                -->  in a slot: does not return
 *	                -->  in a worker: 1; the worker is in its jail and may go on
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/internal/privmsg.h"
#include "proto/internal/slotmsg.h"
#include "sandbox/filter/tiny_filter.h"
#include "sandbox/worker/footprint.h"

struct zygote {
	int sock;           /* conversation with the daemon */
	int proc;           /* O_PATH folder of a procfs that knows this pid namespace */
	unsigned slots_max; /* how many slots may be open */
	bool networked;     /* its workers get a network */
	bool one_uid;       /* only uid 0 is mapped here: all slots share it */
	bool small_pages;   /* its memory stays in small pages */
	bool has_learned;   /* the footprint was chosen */
	uint64_t own_bytes; /* address space of the interpreter */
	const struct syscall_list *calls; /* tiny_filter.h; NULL: as FILTER_JOB says */
	struct footprint_survey survey;   /* of the learners, until zygote_learned() */
	struct footprint footprint;       /* the pages that a worker will touch; empty: unknown */
	int learned;  /* in the learner: a pipe to the zygote, to say that it is done */
	pid_t sharer; /* in the learner: its child, if it has one */
	struct {
		pid_t pid; /* 0: closed */
		int pidfd;
	} slots[PRIV_SLOTS_MAX];
};

/*
 * Reads the settings that the spawner put into the environment (jail_env.h) and removes them there.
 */
int zygote_init(struct zygote *zygote, struct err *err);

/*
 * Forks a learner, which runs a sample program as a worker would, to see which pages that touches.
 * Returns 1 in the learner, which calls zygote_learner_ends() at its end; 0 in the zygote, when it
 * is over.  -1: its pages are not known, and everything works without them.
 */
int zygote_learn(struct zygote *zygote, struct err *err);
__attribute__((noreturn)) void zygote_learner_ends(struct zygote *zygote);

/* After the last learner: chooses the footprint. */
void zygote_learned(struct zygote *zygote);

/*
 * In a learner that runs cells, before the last: only the pages that it writes to from here on count, as after
 * the fork that keeps a state.
 */
void zygote_learner_shares(struct zygote *zygote);

/* After zygote_learned(), and after the last learner of cells: chooses the pages of cells. */
void zygote_learned_cells(struct zygote *zygote);

/* `version` describes the interpreter to the daemon. */
int zygote_serve(struct zygote *zygote, const char *version, struct err *err);
