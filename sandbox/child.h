/*
 * One jailed process as the spawner sees it: started, killed, reaped.
 *
 * It is pid 1 of its pid namespace, so that its end is the end of all that it started; and it is
 * killed by the kernel when the spawner dies.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/err.h"
#include "sandbox/jail.h"
#include "sandbox/ns.h"

struct child {
	pid_t pid; /* 0: none */
	int pidfd; /* -1: none */
};

#define CHILD_INIT    \
	{             \
		0, -1 \
	}

/* Called between clone and start, with the child's pid: the place to put it into a cgroup. */
struct child_settle {
	int (*run)(void *context, pid_t pid, struct err *err);
	void *context;
};

/*
 * Starts a jail and waits until its program runs.  On failure nothing is left, and *err says which
 * step failed and why.
 */
int child_start(struct child *child, const struct jail_spec *spec, const struct id_maps *maps,
	const struct child_settle *settle, struct err *err);

/* Sends a signal; a child that has gone already is no failure. */
int child_signal(const struct child *child, int signal, struct err *err);

/* Takes the wait status of a child that has ended.  Returns false while it lives. */
bool child_reap(struct child *child, int *ret_status);

/* Kills and waits for the end.  Fit for a child that was never started. */
void child_end(struct child *child);
