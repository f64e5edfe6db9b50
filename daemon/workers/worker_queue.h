/*
 * Runs that wait for a worker.  Users (uids) take turns, and so do the agents of one user, so that
 * a thousand runs do not stand before a single one of somebody else, whatever agents' names they
 * come with: those are the caller's to choose.
 *
 * No user can keep the others out:
 *
 *	the queue    is bounded in all and for each user.  When it is full, a run of a user who has
 *	             fewer waiting takes the place of the newest of the user who has most.
 *	the workers  of a runtime are common up to `most`.  Beyond that there is a reserve, which only
 *	             a user gets who has nothing running there; the last one is for administrators.
 *	             While several users are about, each has `crowd_most` at most, and leaves one warm
 *	             worker for whoever comes next.
 *
 * Entries are embedded in their requests; the queue owns only its lanes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/list.h"
#include "proto/base/map.h"

#define QUEUE_CROWD_MS 60000 /* so long after its last run a user is still about */

struct lane;

/* What runs wait for: the workers of a runtime.  The first three are the owner's to set. */
struct queue_goods {
	unsigned most;       /* workers that anybody gets */
	unsigned crowd_most; /* of these, how many one user gets while others are about */
	unsigned reserve;    /* and how many there may be beyond them */
	unsigned waiting;    /* the queue's own counts */
	unsigned running;
};

/* A user that has entered lately. */
struct queue_seen {
	uint32_t uid;
	int64_t ms; /* when last; 0: nobody */
};

struct queue {
	struct map users;  /* uid -> struct user */
	struct map lanes;  /* uid and agent -> struct lane */
	struct list turns; /* users with somebody waiting, in turn */
	unsigned count;
	unsigned count_max;
	unsigned user_max;
	unsigned running_max;
	struct queue_seen seen[2]; /* the last two, the later one first */
};

struct queue_entry {
	struct list link;
	struct lane *lane; /* from queue_enter() to queue_leave() */
	bool waiting;
	bool is_admin; /* its caller is; set by the owner */
	struct queue_goods *want;
};

enum queue_answer {
	QUEUE_ENTERED,
	QUEUE_FULL,
	QUEUE_USER_FULL,
	QUEUE_NO_MEMORY
};

void queue_init(struct queue *queue, unsigned count_max, unsigned user_max, unsigned running_max);
void queue_done(struct queue *queue);

/*
 * Puts an entry at the end of its caller's lane.  Where that took another's place, *ret_displaced is
 * that other entry, which has left the queue; else NULL.
 */
enum queue_answer queue_enter(struct queue *queue, struct queue_entry *entry, uint32_t uid,
	const char *agent, struct queue_goods *want, struct queue_entry **ret_displaced);

/*
 * The next entry that waits for `want`, of which `warm` workers are there; it counts as running
 * from here.  NULL: nobody, or all are at their ceiling.
 */
struct queue_entry *queue_next(struct queue *queue, const struct queue_goods *want, unsigned warm);

/* Whether its user has nothing running there, so that the reserve is open to it. */
bool queue_is_newcomer(const struct queue_entry *entry);

/* The entry is done with: it leaves the queue, or stops counting as running.  May be called again. */
void queue_leave(struct queue *queue, struct queue_entry *entry);
