/*
 * The parts of a connection, which know each other: conn.c has its life and who holds it, conn_read.c
 * makes requests of what comes, conn_write.c sends replies.
 */
#pragma once

#include "daemon/door/conn.h"
#include "daemon/services.h"
#include "proto/wire/frame.h"

struct conn {
	uv_pipe_t pipe;
	struct list link; /* in the services */
	struct list turn; /* in the lane of its user, while messages wait for the next turn */
	struct services *services;
	struct caller caller;
	unsigned refs;
	unsigned in_flight;
	bool closing;
	bool reading;
	bool heard;       /* something has come */
	int64_t heard_ms; /* when something last came */
	uint64_t unsent;
	size_t inbox;    /* of the frame's memory, what is held of the caller's share */
	size_t decoding; /* the message that a thread reads, and of the share; 0: none */
	struct frame frame;
	struct timer *deadline; /* a message once begun must be whole */
	struct list requests;   /* links of those that conn_adopt() was given */
	bool is_subscribed;     /* to events */
};

/* ---- conn.c ---- */

/* Lets go of one of conn->refs; the last one frees it. */
void conn_unref(struct conn *conn);

/* Whether it can be waited for now; see loop_hold_place(). */
bool conn_holds_place(const struct conn *conn);

/* ---- conn_read.c ---- */

/* Reads while there is room for replies, and nothing that was read waits for its turn. */
void conn_read_or_rest(struct conn *conn);
