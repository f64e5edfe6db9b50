/*
 * One client connection: bytes in, requests out, replies back.
 *
 * Ownership: the services holds one reference from conn_start() until the pipe is closed; each
 * request in flight holds another.  The struct is freed with the last of them, so a reply that
 * comes home late finds a closed connection, never a missing one.
 *
 * Back pressure: what waits to be written is counted; past half of the ceiling nothing more is
 * read, and a reply that finds more than the ceiling waiting ends the connection.
 */
#pragma once

#include <uv.h>

#include "daemon/door/caller.h"
#include "proto/base/buf.h"
#include "proto/base/list.h"
#include "proto/value.h"
#include "proto/wire/rpc.h"

struct conn;
struct services;

/* A request that came, whole and well formed. */
struct arrival {
	struct services *services;
	struct conn *conn;
	const struct rpc_message *message;
	char *bytes; /* the message points into them */
	struct arena *arena;
	size_t held; /* of its caller's share of memory */
};

/* Whom connections tell; services->conn_events-> */
struct conn_events {
	/* Takes the bytes and the arena, and what is held for them. */
	void (*on_arrival)(const struct arrival *arrival);
	/* It closes: nobody may use it any more who does not hold it, and its requests are disowned. */
	void (*on_gone)(struct services *services, struct conn *conn);
};

/*
 * Accepts from `listener`.  The connection looks after itself from here.  -1: there is no memory,
 * the client still waits, and so does everybody behind it until this is called again.
 */
int conn_start(struct services *services, uv_stream_t *listener);

/* Starts closing, and tells on_gone().  May be called again. */
void conn_close(struct conn *conn, const char *reason);

bool conn_is_closing(const struct conn *conn);

/* The same for the link that admission_enter() was given. */
void conn_close_link(struct list *link);

/*
 * Closes the connection that has been idle for longest, of the uid that has most of those with an
 * idle one.  False when nobody with one has more than one more than `newcomer`, who wants in.
 */
bool conn_close_idlest(struct services *services, uint32_t newcomer);

/* The same connection may look at messages again that have arrived (turns.h). */
void conn_take_turn(struct list *turn);

const struct caller *conn_caller(const struct conn *conn);

/* The owner of `link` holds the connection from conn_adopt() to conn_release(). */
void conn_adopt(struct conn *conn, struct list *link);
void conn_release(struct conn *conn);

/* From on_gone(): takes one of those that hold it from it; NULL: no more. */
struct list *conn_disown(struct conn *conn);

/* A connection with a subscription is never idle. */
void conn_set_subscribed(struct conn *conn);

/* For those that answer later without being a struct request. */
void conn_hold(struct conn *conn);

/* Bytes that were sent and that its client has not taken yet. */
uint64_t conn_unsent(const struct conn *conn);

/* Each sends one message, or nothing when the connection is closing. */
void conn_send_result(struct conn *conn, uint32_t msgid, const struct value *result);
void conn_send_error(struct conn *conn, uint32_t msgid, const struct rpc_error *error);
/* Takes the bytes out of `buf`. */
void conn_send_buf(struct conn *conn, struct buf *buf);
