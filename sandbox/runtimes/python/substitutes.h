/*
 * Other ways to what ordinary programs do by ways that are closed in a jail.
 *
 * Semaphores of multiprocessing, which its pools of threads use too, are files below /dev/shm that
 * get a second name: there is no such folder, and no second names.  SQLite locks bytes of its file:
 * locks are refused, since files of the host, which all jails read, could carry them and messages
 * with them.
 */
#pragma once

/*
 * Semaphores lie in memory that children of the worker share, and databases are locked by folders
 * beside them.  In the zygote.  An interpreter whose libraries are built otherwise stays as it is.
 */
void substitutes_make(void);

/* In a worker: from now on semaphores are shared with children. */
void substitutes_wake(void);
