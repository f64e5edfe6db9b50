/*
 * A queue whose users take turns.  Each user has a lane, in which its entries wait in the order in
 * which they came.  The queue takes one entry of a lane and moves the lane to the end, so a user
 * with a thousand entries does not delay the single entry of another.
 *
 * A lane may consist of lanes itself: those of a user's agents, for instance.  The whole queue is
 * the outermost lane, and its owner holds that one by value.  The inner lanes are allocated; a lane
 * is freed when nothing waits in it and nothing is taken from it.
 *
 * The owners hold their entries, which begin as zeros.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/list.h"

#define FAIR_KEY_MAX 128

struct fair_lane {
	struct fair_lane *above; /* NULL: it is the whole queue */
	struct list link;        /* in above->lanes */
	struct list turn;        /* in above->turns while an entry waits in it */
	struct list lanes;       /* all lanes in it */
	struct list turns;       /* its lanes in which an entry waits, the next one first */
	struct list waiting;     /* its own entries, the oldest first */
	struct list running;     /* its own entries after fair_run() */
	unsigned waiting_count;  /* including the lanes in it */
	unsigned taken;          /* what it got: running entries, or what its owner counts */
	size_t key_len;
	char key[FAIR_KEY_MAX];
};

struct fair_entry {
	struct list link;
	struct fair_lane *lane; /* NULL: it is not in a queue */
	bool is_running;
};

/* Whether this waiting entry may be the next one. */
typedef bool fair_may(const void *context, struct fair_entry *entry);

void fair_init(struct fair_lane *queue);

/* Frees all lanes.  Their entries are in no queue afterwards. */
void fair_done(struct fair_lane *queue);

/* Returns the lane with this key in `above`, or NULL. */
struct fair_lane *fair_find(const struct fair_lane *above, const void *key, size_t len);

/* The same, but makes the lane if there is none.  NULL: out of memory. */
struct fair_lane *fair_make(struct fair_lane *above, const void *key, size_t len);

/* Frees the lane if it is not in use, then those above it. */
void fair_release(struct fair_lane *lane);

/* Counts one more, or `count` less, as taken by the lane and those above it. */
void fair_take(struct fair_lane *lane);
void fair_give_back(struct fair_lane *lane, unsigned count);

void fair_enter(struct fair_lane *lane, struct fair_entry *entry);

/*
 * Returns the entry whose turn it is, which still waits, or NULL.  It skips the lanes that have
 * taken `most`, and entries that `may` rejects (NULL: none).
 */
struct fair_entry *fair_next(
	const struct fair_lane *queue, unsigned most, fair_may *may, const void *context);

/* The entry stops waiting and counts as taken until fair_leave(). */
void fair_run(struct fair_entry *entry);

/* The running entry `from` leaves, and `to` runs in its place. */
void fair_hand_over(struct fair_entry *from, struct fair_entry *to);

/* Takes the entry out of its queue, whether it waits or runs.  May be called again. */
void fair_leave(struct fair_entry *entry);

/* Returns the lane in `above` in which the most entries wait, or NULL. */
struct fair_lane *fair_longest(const struct fair_lane *above);
