/*
 * One client connection: it reads bytes, passes requests on and writes replies.
 *
 * Ownership: the connection holds one reference to itself from conn_start() until its pipe is
 * closed.  Each request in flight holds another.  The last unref frees the struct, so a late reply
 * finds a closed connection and never a freed one.
 *
 * Back pressure: the connection counts its unsent bytes.  Above half of the limit it reads nothing
 * more.  When a reply is sent while more than the limit is unsent, the connection is closed.
 */
#pragma once

#include <uv.h>

#include "daemon/door/caller.h"
#include "daemon/loop/fair_queue.h"
#include "proto/base/buf.h"
#include "proto/base/list.h"
#include "proto/value.h"
#include "proto/wire/rpc.h"

struct conn;
struct services;

/* A complete and well-formed request. */
struct arrival {
	struct services *services;
	struct conn *conn;
	const struct rpc_message *message;
	char *bytes; /* `message` points into them */
	struct arena *arena;
	size_t held; /* bytes counted against the caller's limit (ceilings.h) */
};

/* Callbacks that the upper layer sets in services->conn_events. */
struct conn_events {
	/* Takes over the bytes, the arena and the count of `held`. */
	void (*on_arrival)(const struct arrival *arrival);
	/*
	 * The connection is closing.  The callee must disown its requests.  Afterwards only holders
	 * of a reference may use the connection.
	 */
	void (*on_gone)(struct services *services, struct conn *conn);
};

/*
 * Accepts from `listener`; the connection then manages itself.  Returns -1 without memory: this
 * client and those behind it wait until the caller tries again.
 */
int conn_start(struct services *services, uv_stream_t *listener);

bool conn_is_closing(const struct conn *conn);

/* Starts closing the connection of this link of services->conns, when the daemon ends. */
void conn_close_link(struct list *link);

/* Continues with messages that have arrived, when the connection's turn comes (turns.h). */
void conn_take_turn(struct fair_entry *turn);

const struct caller *conn_caller(const struct conn *conn);

/*
 * The settings may name other users and groups now: determines the roles of every open connection
 * anew, from the identity that the kernel noted when the client connected.
 */
void conn_roles_changed(struct services *services);

/* The owner of `link` holds a reference from conn_adopt() to conn_release(). */
void conn_adopt(struct conn *conn, struct list *link);
void conn_release(struct conn *conn);

/*
 * For on_gone(): removes one adopted link and its reference, and returns the link.  NULL: none
 * left.
 */
struct list *conn_disown(struct conn *conn);

/* Marks the connection as subscribed to events, so that it never counts as idle. */
void conn_set_subscribed(struct conn *conn);

/* Adds a reference for replies that come later without a struct request. */
void conn_hold(struct conn *conn);

/* Returns the bytes of replies that the client has not read yet. */
uint64_t conn_unsent(const struct conn *conn);

/* Each sends one message, or nothing when the connection is closing. */
void conn_send_result(struct conn *conn, uint32_t msgid, const struct value *result);
void conn_send_error(struct conn *conn, uint32_t msgid, const struct rpc_error *error);
/* Takes over the bytes of `buf`. */
void conn_send_buf(struct conn *conn, struct buf *buf);
