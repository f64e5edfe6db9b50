/*
 * The queue of runs that wait for a worker.  Users (uids) take turns, and so do the agents of one
 * user (fair_queue.h).  So a thousand runs of one user do not delay the single run of another.
 * Agent names do not change this, because the caller chooses them.
 *
 * No user can keep the others out:
 *
 *	the queue    is bounded in total and for each user.  When it is full, a run of a user with
 *	             fewer waiting runs replaces the newest run of the user with the most.
 *	the workers  of a runtime are shared up to `most`.  The reserve beyond that is only for a
 *	             user with nothing running there, and its last worker is for administrators.
 *	             While several users are active, each gets at most `crowd_most`, and leaves
 *	             one warm worker for the next user.
 *
 * The requests own their entries; the queue owns only its users and lanes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/fair_queue.h"

#define QUEUE_CROWD_MS 60000 /* a user counts as active so long after its last run */

/* The workers of a runtime, for which runs wait.  The owner sets the first three fields. */
struct queue_shares {
	unsigned most;       /* workers that all users share */
	unsigned crowd_most; /* of these, the most for one user while others are active */
	unsigned reserve;    /* more workers beyond these */
	unsigned waiting;    /* the queue's own counts */
	unsigned running;
};

/* A user that has queued a run recently. */
struct queue_seen {
	uint32_t uid;
	int64_t ms; /* time of its last run; 0: no user */
};

struct queue {
	struct fair_lane users; /* a lane for each uid, and in it one for each agent */
	unsigned count_max;
	unsigned user_max;
	unsigned running_max;
	struct queue_seen seen[2]; /* the last two users, the most recent first */
};

struct queue_entry {
	struct fair_entry fair;
	bool is_admin; /* the caller is one; set by the owner */
	struct queue_shares *want;
};

enum queue_answer {
	QUEUE_ENTERED,
	QUEUE_FULL,
	QUEUE_USER_FULL,
	QUEUE_NO_MEMORY
};

void queue_init(struct queue *queue, unsigned count_max, unsigned user_max, unsigned running_max);

/* Takes other bounds.  Who waits keeps its place. */
void queue_set(struct queue *queue, unsigned count_max, unsigned user_max, unsigned running_max);
void queue_done(struct queue *queue);

/* Returns how many runs wait. */
static inline unsigned queue_count(const struct queue *queue)
{
	return queue->users.waiting_count;
}

/*
 * Adds an entry at the end of its caller's lane.  If it takes the place of another entry, that one
 * has left the queue and is in *ret_displaced; else that is NULL.
 */
enum queue_answer queue_enter(struct queue *queue, struct queue_entry *entry, uint32_t uid,
	const char *agent, struct queue_shares *want, struct queue_entry **ret_displaced);

/*
 * Returns the next entry that waits for `want`, which has `warm` workers now.  The entry counts as
 * running from here.  NULL: no entry waits, or all users are at their limits.
 */
struct queue_entry *queue_next(struct queue *queue, const struct queue_shares *want, unsigned warm);

/* Whether its user has nothing running there and may use the reserve. */
bool queue_is_newcomer(const struct queue_entry *entry);

/* `to` runs in the place of `from`, which is in no queue afterwards. */
void queue_hand_over(struct queue_entry *from, struct queue_entry *to);

/* Removes the entry from the queue, or from the running ones.  May be called again. */
void queue_leave(struct queue_entry *entry);
