/*
 * A thread for long work on the store, one task after the other, at the lowest priority.  It reads
 * through its own connection, so neither the recorder nor clients wait for it.
 *
 * The owner of a task leaves it unchanged from store_thread_put() until `done` has been called.
 */
#pragma once

#include <stdatomic.h>

#include "daemon/loop/loop.h"
#include "proto/base/err.h"
#include "proto/base/list.h"
#include "store/store.h"

struct store_thread;

struct store_task {
	struct list link;
	/* Called on the thread.  It must return soon after *stop becomes true. */
	int (*run)(struct store_task *task, struct store *store, const atomic_bool *stop,
		struct err *err);
	/* Called in the loop; `err` is NULL on success. */
	void (*done)(struct store_task *task, const struct err *err);
	struct err err; /* filled in by the thread */
};

/* Reads the store in `folder`.  NULL with *err. */
struct store_thread *store_thread_start(uv_loop_t *loop, const char *folder, struct err *err);

void store_thread_put(struct store_thread *thread, struct store_task *task);

/* Stops the task that runs, fails all others, ends the thread. Accepts NULL. */
void store_thread_close(struct store_thread *thread);
