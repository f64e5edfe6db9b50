/*
 * What a copy of node does without: a fork copies one thread, and a worker has no descriptor of its
 * zygote.  This library is loaded before the C library, so that node calls these functions of it:
 *
 *	__register_atfork()	keeps what libuv and OpenSSL want to do in a copy of the process, for
 *				orphans_adopt().  At the fork itself it would be too early: the
 *				descriptors of the slot that forks are not those of node
 *	pthread_create()	remembers the threads of the zygote
 *	pthread_cond_wait()	remembers what they wait for
 *	pthread_join()		does not wait for these in a worker, where they do not exist
 *	pthread_cond_destroy()	nor for them to leave a condition variable
 *	pthread_mutex_destroy()	nor finds that they still use a mutex
 *
 * A worker starts the threads of node's own pool again: V8 gives them work.  libuv starts its own when
 * it needs them.  So a worker runs and ends as node does.
 */
#pragma once

#include "proto/base/err.h"

struct uv_loop_s;

/* In the zygote: threads that are started from now on are not those of node's pool. */
void orphans_begin(void);

/* Waits until no thread of the pool works. */
int orphans_rest(struct err *err);

/*
 * In the zygote, before the first slot: reads which descriptors node holds.  `proc` is a folder of a
 * procfs; descriptors up to `last_own` are not node's.
 */
int orphans_look(int proc, int last_own, struct err *err);

/*
 * In a worker, which has the descriptors 0 to 3: opens one of its own in the place of each that node
 * holds, and lets libuv replace those of the loop.  The others belong to loops whose threads are gone.
 */
int orphans_adopt(struct uv_loop_s *loop);
