/*
 * Substitutes for what ordinary programs do and a jail does not allow.
 *
 * Semaphores of multiprocessing, which its thread pools use too, are files in /dev/shm that get a
 * second name.  A jail has no such folder and allows no links.  SQLite locks bytes of its file.
 * The filter refuses locks, because jails could exchange messages by locks on the host's files,
 * which they all read.
 */
#pragma once

#include <stdbool.h>

/*
 * Puts semaphores into memory that children of the worker share, and grants a program its locks
 * (../libc/locks.c) if it can start no other process; else SQLite locks databases by folders beside
 * them.  In the zygote.  An interpreter that is built otherwise stays as it is.
 */
void substitutes_make(bool may_fork);

/* In a worker: from now on semaphores are shared with children. */
void substitutes_wake(void);
