/*
 * Pid 1 of a worker's pid namespace.  When it exits, the kernel kills every process of the
 * namespace, however it was forked.
 *
 * It shares the slot's memory (CLONE_VM), so no page table is copied for it, and has a small stack
 * of its own.  It holds one descriptor, the reading end of the lifeline, and waits there.  It exits
 * at the first byte or at the end of the stream.
 *
 * The daemon alone holds the other end.  Closing it kills the run and needs no right, and when the
 * daemon dies, the kernel closes it.
 *
 * A slot has at most one init alive, since there is one stack.
 */
#pragma once

#include <sys/types.h>

#include "proto/base/err.h"

/*
 * Starts an init that waits on `lifeline` (borrowed: init has its own copy).  All signals must be
 * blocked in the caller.  Returns its pid, and a pidfd by which the namespace can be entered.
 */
pid_t init_start(int lifeline, int *ret_pidfd, struct err *err);
