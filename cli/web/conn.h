/*
 * One connection of a browser.  It asks once.
 *
 *   HEAD ---> ASKED ---> ANSWER ---> ENDING ---> (closed)
 *     |                    ^  ^        ^
 *     +--------------------+  |        |     a file, or a refusal
 *     +--------> STREAM ------|--------+     events, until either side ends it
 *
 * In ENDING all has been sent, and the other side has a moment to read it: closing a socket that holds
 * unread bytes would take the answer back.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/web/request.h"
#include "proto/base/buf.h"
#include "proto/value.h"

enum conn_state {
	CONN_HEAD,   /* its head comes */
	CONN_ASKED,  /* the daemon has its question */
	CONN_ANSWER, /* its answer goes */
	CONN_STREAM, /* events go as they come */
	CONN_ENDING,
};

struct conn {
	int fd;
	enum conn_state state;
	int64_t until_ms; /* it is closed then */
	uint32_t asked;   /* CONN_ASKED: the id of the question */
	uint64_t missed;  /* CONN_STREAM: events for which there was no room */
	size_t head_len;
	char head[REQUEST_HEAD_MAX + 1];
	struct buf out;
	size_t sent; /* of `out` */
};

/* Takes `fd`.  NULL: no memory; then `fd` is closed. */
struct conn *conn_new(int fd);
void conn_free(struct conn *conn); /* accepts NULL */

void conn_move(struct conn *conn, enum conn_state next);

short conn_events(const struct conn *conn); /* for poll() */

/* Reads what is there.  In HEAD it is kept, later dropped.  -1: the other side has ended. */
int conn_read(struct conn *conn);

/* Sends what goes.  -1: the other side is gone. */
int conn_write(struct conn *conn);

/* Appends an event to a stream, or counts that it missed one. */
void conn_event(struct conn *conn, const struct value *event);

/* A comment, so that a side that is gone is noticed.  Nothing while something waits. */
void conn_alive(struct conn *conn);
