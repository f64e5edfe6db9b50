/*
 * Whose messages are looked at now.  Each user has so many in one turn of the loop, by one connection
 * or by a hundred; a connection with more waits for the next turn, in its user's lane, and is not
 * read from meanwhile.  So nobody's flood makes anybody else wait for longer than that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "proto/base/list.h"

#define TURN_MESSAGES 32

struct turns {
	uv_check_t check; /* while there are lanes: a turn is over */
	uv_idle_t idle;   /* while somebody waits: the loop does not sleep */
	struct list lanes;
	void (*on_turn)(struct list *link); /* a connection that waited may go on */
};

void turns_init(struct turns *turns, uv_loop_t *loop, void (*on_turn)(struct list *link));

/* Whether a message of this user's may be looked at in this turn; it counts then. */
bool turns_take(struct turns *turns, uint32_t uid);

/* It was none after all. */
void turns_give_back(struct turns *turns, uint32_t uid);

/* on_turn() comes when there is a turn for `link`; whoever goes before takes it out of its list. */
void turns_wait(struct turns *turns, uint32_t uid, struct list *link);

void turns_close(struct turns *turns);
