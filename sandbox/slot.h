/*
 * A slot: the jailed parent that makes one worker after the other, never two at a time.
 *
 * It is forked by the zygote into namespaces of its own (user, pid, mount, ipc, uts, net, cgroup)
 * and is pid 1 of its pid namespace, so nothing below it outlives it.  It runs C only: a line of
 * bytecode here would dirty pages that every fork then has to copy.
 *
 *	EMPTY --WORKER_MAKE--> LIVE --all processes dead--> DEAD --WORKER_DROP--> EMPTY
 *	                         |                            | COLLECT
 *	                         +-- a step failed -----------+--> EMPTY (WORKER_FAILED)
 *
 * What a slot keeps from worker to worker carries nothing: tmpfs, pid and mount namespace, init,
 * pipes and job socket are fresh each time; net and ipc namespaces are empty and stay so, since a
 * job's filter lets nobody make anything in them.
 *
 * The slot watches the worker's cpu time and kills the run past its limit.  That is exact to a few
 * milliseconds, counts all threads, needs no cgroup and cannot be ignored, unlike RLIMIT_CPU.
 *
 * It hears, too, what the worker was refused (hearing.h), answers, and tells with WORKER_ENDED; and
 * which files it opens (opened.h), where that is asked.
 *
 * COLLECT and WORKER_DROP may come while the worker lives: it is killed first.  WORKER_ENDED is
 * sent once for each WORKER_MADE, unless WORKER_FAILED is sent in its place.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "proto/internal/slotmsg.h"
#include "sandbox/files.h"
#include "sandbox/hearing.h"
#include "sandbox/opened.h"

/* Written by the worker, read by the slot when it is dead; unmapped before any job comes. */
struct slot_note {
	int entered;
	char text[SLOTMSG_TEXT_MAX];
};

/* What all slots of a zygote have in common. */
struct slot_house {
	uint64_t own_bytes;                /* address space of the interpreter */
	const struct footprint *footprint; /* kept */
};

struct slot {
	int sock;   /* conversation with the daemon */
	int own_ns; /* pidfd of the slot itself: the way back into its pid namespace */
	unsigned index;
	int joins[SLOTMSG_JOIN_FDS_MAX];
	unsigned join_count;
	uint64_t own_bytes; /* see worker_limits.h */
	const struct footprint *footprint;
	unsigned processors;
	struct slot_note *note;

	/* the worker; pids are 0 and descriptors -1 when there is none */
	uint32_t sequence;
	bool occupied;
	pid_t init;
	int init_fd;
	pid_t worker;
	int worker_fd;
	clockid_t worker_clock; /* its cpu time */
	uint64_t cpu_limit_us;  /* killed past it; 0: no limit */
	bool cpu_spent;         /* which has happened */
	struct files files;
	struct hearing hearing;
	struct opened opened;

	pid_t collector;
	int collector_fd;
	bool collect_wanted;
	int collect_fds[2];
	uint32_t collect_count;
	uint64_t collect_bytes;
	bool drop_wanted;
};

/* Where a slot comes from: all of it borrowed, but for what `house` points to. */
struct slot_start {
	unsigned index;
	const int *fds; /* the slot socket, then "procs" files, as they came to the zygote */
	unsigned fd_count;
	int ready; /* gets a NUL at the end, or the text of what failed */
	const struct slot_house *house;
};

/*
 * Gets rid of rights and descriptors that no slot needs.  Those of `start` are moved, and all others
 * above 2 closed.
 */
int slot_init(struct slot *slot, const struct slot_start *start, struct err *err);

/*
 * Serves until the daemon has gone (0) or something fails (-1).  Returns 1 in each worker, which is
 * in its jail then and has nothing of the slot but its memory.
 */
int slot_serve(struct slot *slot, struct err *err);
