/*
 * Pid 1 of a worker's pid namespace: a process that costs nothing and whose end ends everything.
 *
 * It shares the slot's memory (CLONE_VM), so that no page table is copied for it, and lives on a
 * small stack of its own.  It holds one descriptor, the reading end of the lifeline, and waits
 * there.  Whatever comes, a byte or the end of the stream, it leaves, and the kernel kills
 * every process of the namespace with it: double-forked, in a session of its own or not.
 *
 * The daemon alone holds the other end.  Closing it kills the run without any right, and a daemon
 * that dies does the same.
 *
 * A slot has at most one init alive, since there is one stack.
 */
#pragma once

#include <sys/types.h>

#include "proto/base/err.h"

/*
 * Starts an init that waits on `lifeline` (borrowed: init has its own copy).  All signals must be
 * blocked in the caller.  Returns its pid and gives a pidfd, which is also the namespace's handle.
 */
pid_t init_start(int lifeline, int *ret_pidfd, struct err *err);
