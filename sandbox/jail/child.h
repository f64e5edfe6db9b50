/*
 * One child of the spawner: started, killed, reaped.  The kernel kills it when the spawner dies.
 *
 * A child in a jail is pid 1 of its pid namespace, so everything that it started dies with it.  ced
 * is a child too, in no jail: daemon_start() starts it instead of child_begin() and child_go().
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/err.h"
#include "sandbox/jail/jail.h"
#include "sandbox/jail/ns.h"

struct child {
	pid_t pid; /* 0: none */
	int pidfd; /* -1: none */
	int start; /* between child_begin() and child_go(): a socket to the child */
};

#define CHILD_INIT        \
	{                 \
		0, -1, -1 \
	}

/*
 * Makes the process in its namespaces.  It waits for child_go(), until its id maps are written and
 * it is in its cgroup.  `spec` must live until then.
 */
int child_begin(struct child *child, const struct jail_spec *spec, struct err *err);

/*
 * Lets it enter its jail and waits until its program runs.  On failure the error names the step and
 * the reason.
 */
int child_go(struct child *child, struct err *err);

/* Sends a signal.  It is no failure if the child is dead. */
int child_signal(const struct child *child, int signal, struct err *err);

/* Takes the wait status of a child that has ended.  Returns false while it lives. */
bool child_reap(struct child *child, int *ret_status);

/* Kills the child and waits for its end.  May be called for one that was never started. */
void child_end(struct child *child);
