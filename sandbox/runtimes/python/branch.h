/*
 * Kept states of a session: the worker forks a process that stands still, with its memory and a copy
 * of its files, and may become the worker later.
 *
 * fork() cannot be used, because the job's filter allows no fork.  The slot permits this one
 * (sandbox/zygote/states.h).  The interpreter's hooks for forks rest: they would seed `random` anew.
 */
#pragma once

#include <stdbool.h>

#include "proto/internal/slotmsg.h"

/* In the zygote: where the C library keeps the thread's id, and its list of robust locks. */
void branch_init(void);

/*
 * Forks.  Takes both descriptors: the child's job socket, and where the child says hello.  In the
 * child it returns true when the state goes on, after its files were put back; the child's job
 * socket is in the place of the worker's then.  In the worker it returns false.  *ret_why: what
 * JOB_AGREED says.
 */
bool branch(int job, int hello, enum kept_why *ret_why);
