/*
 * Limits how many messages each user gets handled in one loop iteration (a turn), whether over one
 * connection or a hundred.  A connection with more messages waits in its user's lane for the next
 * turn (fair_queue.h) and is not read from meanwhile.  So a flood from one user delays other users
 * by one turn at most.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "daemon/loop/fair_queue.h"

#define TURN_MESSAGES 32

struct turns {
	uv_check_t check; /* active while there are lanes; marks the end of a turn */
	uv_idle_t idle;   /* active while a connection waits, so that the loop does not sleep */
	struct fair_lane users; /* `taken` of a user's lane counts the messages of this turn */
	void (*on_turn)(struct fair_entry *entry); /* resumes a connection that waited */
};

void turns_init(struct turns *turns, uv_loop_t *loop, void (*on_turn)(struct fair_entry *entry));

/* Counts one message of this user.  Returns false when the user's turn is used up. */
bool turns_take(struct turns *turns, uint32_t uid);

/* Undoes turns_take() when there was no message. */
void turns_give_back(struct turns *turns, uint32_t uid);

/*
 * Calls on_turn() when `entry` gets its turn.  Call it only after turns_take() returned false.
 * fair_leave() cancels it.
 */
void turns_wait(struct turns *turns, uint32_t uid, struct fair_entry *entry);

void turns_close(struct turns *turns);
