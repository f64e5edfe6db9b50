/*
 * A zygote: an interpreter that is up, has imported what jobs want, and never runs a job itself.
 *
 * It is pid 1 of its pid namespace and uid 0 of its user namespace, in a jail that the spawner
 * built.  It forks slots into namespaces below its own and writes their id maps; that is all it
 * does.  When the daemon closes the zygote socket it leaves, and everything below it is killed by
 * the kernel.
 *
 *	zygote_serve()  -->  in the zygote: 0, the daemon has gone
 *	                -->  in a slot: does not return
 *	                -->  in a worker: 1, in its jail, waiting to get on with its job
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/internal/privmsg.h"
#include "proto/internal/slotmsg.h"
#include "sandbox/footprint.h"
#include "sandbox/tiny_filter.h"

struct zygote {
	int sock;           /* conversation with the daemon */
	int proc;           /* O_PATH folder of a procfs that knows this pid namespace */
	unsigned slots_max; /* how many slots may be open */
	bool one_uid;       /* only uid 0 is mapped here: all slots share it */
	uint64_t own_bytes; /* address space of the interpreter */
	const struct syscall_list *calls; /* tiny_filter.h; NULL: as FILTER_JOB says */
	struct footprint footprint;       /* what a worker will touch; empty: nobody knows */
	int learned;                      /* in the learner: tells the zygote that it is done */
	struct {
		pid_t pid; /* 0: closed */
		int pidfd;
	} slots[PRIV_SLOTS_MAX];
};

/* Reads numbers that the spawner left in the environment (jail_env.h) and takes them out of it. */
int zygote_init(struct zygote *zygote, struct err *err);

/*
 * Lets a child go through what a worker will, to see which pages it touches.  Returns 1 in the
 * child, the learner, which then lives a life and calls zygote_learned(); 0 in the zygote, when that
 * is over.  -1: nobody knows the footprint; everything works without.
 */
int zygote_learn(struct zygote *zygote, struct err *err);
__attribute__((noreturn)) void zygote_learned(struct zygote *zygote);

/* `version` is what the daemon is told about the interpreter. */
int zygote_serve(struct zygote *zygote, const char *version, struct err *err);
