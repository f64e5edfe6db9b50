/*
 * Internals of a connection, shared by its three files: conn.c has its lifetime and references,
 * conn_read.c turns input into requests, conn_write.c sends replies.
 */
#pragma once

#include "daemon/door/conn.h"
#include "daemon/services.h"
#include "proto/wire/frame.h"

struct conn {
	uv_pipe_t pipe;
	struct list link;       /* in services->conns */
	struct fair_entry turn; /* in its user's lane, while messages wait for the next turn */
	struct services *services;
	struct caller caller;
	unsigned refs;
	unsigned in_flight;
	bool closing;
	bool reading;
	bool heard;       /* at least one byte has arrived */
	int64_t heard_ms; /* when data last arrived */
	uint64_t unsent;
	size_t inbox;    /* size of the frame's buffer that is counted for the caller */
	size_t decoding; /* size of the message that a thread decodes, also counted; 0: none */
	struct frame frame;
	struct timer *deadline; /* for the rest of a message that has begun to arrive */
	struct list requests;   /* links passed to conn_adopt() */
	bool is_subscribed;     /* to events */
};

/* ---- conn.c ---- */

/* Drops one of conn->refs; the last one frees the struct. */
void conn_unref(struct conn *conn);

/* Whether the loop can watch the connection; see loop_hold_place(). */
bool conn_holds_place(const struct conn *conn);

/* ---- conn_read.c ---- */

/*
 * Reads while few enough bytes are unsent, no message waits for its turn and none is being decoded.
 */
void conn_read_or_rest(struct conn *conn);
