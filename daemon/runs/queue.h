/*
 * Runs that wait for a worker.  Users (uids) take turns, and so do the agents of one user, so that
 * a thousand runs do not stand before a single one of somebody else, whatever agents' names they
 * come with: those are the caller's to choose.  Bounded, in all and per user; a user may also have
 * only so many running together.
 *
 * Entries are embedded in their requests; the queue owns only its lanes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/list.h"
#include "proto/base/map.h"

struct lane;

struct queue {
	struct map users;  /* uid -> struct user */
	struct map lanes;  /* uid and agent -> struct lane */
	struct list turns; /* users with somebody waiting, in turn */
	unsigned count;
	unsigned count_max;
	unsigned user_max;
	unsigned running_max;
};

struct queue_entry {
	struct list link;
	struct lane *lane; /* from queue_enter() to queue_leave() */
	bool waiting;
	const void *want; /* what it waits for: the runtime */
};

enum queue_answer {
	QUEUE_ENTERED,
	QUEUE_FULL,
	QUEUE_USER_FULL,
	QUEUE_NO_MEMORY
};

void queue_init(struct queue *queue, unsigned count_max, unsigned user_max, unsigned running_max);
void queue_done(struct queue *queue);

/* Puts an entry at the end of its caller's lane. */
enum queue_answer queue_enter(struct queue *queue, struct queue_entry *entry, uint32_t uid,
	const char *agent, const void *want);

/* The next entry that waits for `want`; it counts as running from here.  NULL: nobody, or all are at their ceiling. */
struct queue_entry *queue_next(struct queue *queue, const void *want);

/* The entry is done with: it leaves the queue, or stops counting as running.  May be called again. */
void queue_leave(struct queue *queue, struct queue_entry *entry);
