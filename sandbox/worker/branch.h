/*
 * Kept states of a session: the worker forks a process that stands still, with its memory and a copy
 * of its files, and may become the worker later.
 *
 * fork() cannot be used, because the job's filter allows no child of the slot.  The slot permits this
 * one (sandbox/zygote/states.h).  Hooks of an interpreter for forks rest: Python's would seed `random`
 * anew.
 */
#pragma once

#include <stdbool.h>

#include "proto/internal/slotmsg.h"
#include "sandbox/worker/joblink.h"

/*
 * Where the C library keeps the thread's id, and its list of robust locks.  The job's filter does not
 * let a program ask: a worker that is not forked from a zygote has neither, and forks nonetheless.
 */
void branch_init(void);

/*
 * Forks.  `sock`: the worker's job socket.  Takes both descriptors of `keep`: the child's job socket,
 * and where the child says hello.  In the child it returns true when the state goes on, after its files
 * were put back; the child's job socket is in the place of the worker's then.  In the worker it returns
 * false.  *ret_why: what JOB_AGREED says.
 */
bool branch(int sock, const struct joblink_job *keep, enum kept_why *ret_why);
