/*
 * A slot: the jailed parent that makes one worker after the other, never two at a time.
 *
 * It is forked by the zygote into namespaces of its own (user, pid, mount, ipc, uts, net, cgroup)
 * and is pid 1 of its pid namespace, so nothing below it outlives it.  It runs C only: a line of
 * Python would write to pages that every fork then has to copy.
 *
 *	EMPTY --WORKER_MAKE--> LIVE --all processes dead--> DEAD --WORKER_DROP--> EMPTY
 *	  ^                     |                           |  ^
 *	  +--- a step failed ---+                           +--+
 *	       (WORKER_FAILED)                            COLLECT
 *
 * Nothing passes from worker to worker.  Each one has a new tmpfs, pid and mount namespace, init,
 * pipes and job socket.  The net and ipc namespaces are kept; they are empty and stay so, since the
 * job's filter lets no program make anything in them.  Where workers get a network, each has a net
 * namespace of its own, which the slot is in while the worker lives.
 *
 * The slot watches the worker's CPU time and kills the run past its limit.  Unlike RLIMIT_CPU this
 * counts all threads, and a program cannot ignore it.  It is exact to a few milliseconds.
 *
 * The slot answers the calls that the worker's filter refuses (seccomp_notify.h) and reports them
 * with WORKER_ENDED.  If the daemon asks for it, the slot also notes the files that are opened
 * (opened.h).
 *
 * COLLECT and WORKER_DROP may come while the worker lives; the slot then kills it first.  The slot
 * sends one WORKER_ENDED or WORKER_FAILED for each WORKER_MAKE.
 *
 * A worker of a session runs one cell after the other.  CELL_END comes after each that ended well:
 * the slot answers with the facts that WORKER_ENDED would have, and counts anew.  Between cells, and
 * for COLLECT with SLOTMSG_FLAG_STANDS, the daemon has frozen the worker's cgroup.
 *
 * With KEEP the worker forks a kept state (states.h), which outlives the worker: then WORKER_ENDED
 * leaves init alive, and PROMOTE makes a state the worker.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "proto/internal/slotmsg.h"
#include "sandbox/worker/files.h"
#include "sandbox/worker/seccomp_notify.h"
#include "sandbox/zygote/opened.h"
#include "sandbox/zygote/states.h"

/*
 * The worker writes it, and the slot reads it when the worker is dead.  Unmapped before a job
 * comes.
 */
struct slot_note {
	int entered;
	char text[SLOTMSG_TEXT_MAX];
};

#define JAIL_USER_ID 1000 /* uid and gid of a program, inside the jail */

struct slot {
	int sock;   /* conversation with the daemon */
	int own_ns; /* pidfd of the slot itself, to return to its pid namespace */
	unsigned index;
	int joins[SLOTMSG_JOIN_FDS_MAX];
	unsigned join_count;
	uint64_t own_bytes; /* see worker_limits.h */
	const struct footprint *footprint;
	unsigned processors;
	bool networked; /* its workers get a network: slot_network.h */
	struct slot_note *note;

	/* the worker; pids are 0 and descriptors -1 when there is none */
	uint32_t sequence;
	bool occupied;
	pid_t init;
	int init_fd;
	pid_t worker;
	int worker_fd;
	clockid_t worker_clock; /* its CPU time */
	uint64_t cpu_base_us;   /* of its CPU time: what earlier cells of a session used */
	uint64_t cpu_limit_us;  /* killed past it; 0: no limit */
	bool cpu_spent;         /* it was killed for that */
	struct files files;
	struct notify notify;
	struct opened opened;
	struct states states; /* of a session */

	pid_t collector;
	int collector_fd;
	bool collect_wanted;
	bool collect_standing; /* the processes live, and stand still */
	int collect_fds[2];
	uint32_t collect_count;
	uint64_t collect_bytes;
	bool drop_wanted;
};

/* The things that a new slot gets.  Borrowed, except for the footprint, which the slot keeps. */
struct slot_start {
	unsigned index;
	const int *fds; /* the slot socket, then "procs" files, as they came to the zygote */
	unsigned fd_count;
	int ready;          /* gets a NUL when the slot is ready, or the text of an error */
	uint64_t own_bytes; /* address space of the interpreter */
	const struct footprint *footprint;
	bool networked;
};

/*
 * Drops rights and descriptors that a slot does not need.  The descriptors of `start` are moved,
 * and all others above 2 are closed.
 */
int slot_init(struct slot *slot, const struct slot_start *start, struct err *err);

/*
 * Serves until the daemon has gone (0) or something fails (-1).  Returns 1 in each worker, which is
 * then in its jail and shares nothing with the slot but a copy of its memory.
 */
int slot_serve(struct slot *slot, struct err *err);
