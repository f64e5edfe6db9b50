/*
 * A thread for long work on the store, one chore after the other, at the lowest priority: it reads
 * through a connection of its own, so that neither the recorder nor those who ask questions wait.
 *
 * A chore belongs to its owner and must stay as it is from caretaker_put() until its done callback
 * has come, from the loop.
 */
#pragma once

#include <stdatomic.h>

#include "daemon/loop/loop.h"
#include "proto/base/err.h"
#include "proto/base/list.h"
#include "store/store.h"

struct caretaker;

struct chore {
	struct list link;
	/* On the thread.  What it needs it takes from what it is part of; it ends soon after *stop. */
	int (*run)(
		struct chore *chore, struct store *store, const atomic_bool *stop, struct err *err);
	/* In the loop; `err` is NULL when it went well. */
	void (*done)(struct chore *chore, const struct err *err);
	struct err err; /* filled in by the caretaker */
};

/* Reads the store in `folder`.  NULL with *err. */
struct caretaker *caretaker_start(uv_loop_t *loop, const char *folder, struct err *err);

void caretaker_put(struct caretaker *caretaker, struct chore *chore);

/* Breaks off what runs, tells all chores that they are not done, ends the thread.  Accepts NULL. */
void caretaker_close(struct caretaker *caretaker);
