/*
 * One connection of a program, from accept() to its last report.
 *
 *	HEAD ----+          by the proxy: its request is read
 *	  v      |
 *	HELLO ---+          TLS: its greeting is looked at and taken
 *	  v      v
 *	LOOKUP             the name; every address is held against the closed ranges
 *	  v
 *	CONNECT            to one of those that were checked, by number
 *	  v
 *	ANSWER ----+       TLS: does the server ask for another greeting?
 *	  v        |
 *	AGAIN      |       ... which names the same server
 *	  v        v
 *	MOVE               bytes both ways, counted
 *
 * Each state has a deadline, and each leads to the end.  What is not allowed is reset, so that the
 * program sees an error and no empty answer.
 */
#pragma once

#include "daemon/egress/run.h"
#include "proto/base/list.h"

enum conn_state {
	CONN_HEAD,
	CONN_HELLO,
	CONN_LOOKUP,
	CONN_CONNECT,
	CONN_ANSWER, /* from here on it has been told as allowed */
	CONN_AGAIN,
	CONN_MOVE,
	CONN_OVER,
};

/* One direction. */
struct conn_flow {
	struct pipe *pipe; /* with bytes on their way, or NULL */
	size_t in_pipe;
	bool is_full;      /* who is to get the bytes takes no more now */
	const char *first; /* goes before what comes from the socket */
	size_t first_len;
	bool ended, shut;
};

struct conn {
	struct list link;
	struct run *run; /* not to be used when it is over */
	enum conn_state state;
	struct loop_io in, out; /* the program; the server */
	struct conn_flow up, down;
	const struct egress_rule *rule;
	struct egress_connection report;
	int64_t started_us;
	int64_t deadline_ms;
	int64_t heard_ms;                         /* when the program sent something, or ended */
	size_t peeked;                            /* bytes that were there at the last look */
	bool is_looking;                          /* names_find() will call back */
	size_t name_bytes;                        /* of the name that was looked up for a pattern */
	bool is_connect;                          /* asked the proxy with CONNECT */
	char *head;                               /* what up.first is in: a request or a greeting */
	struct address list[NAMES_ADDRESSES_MAX]; /* checked, to be tried */
	size_t list_count, list_next;
};

/* Takes `fd`.  -1: no memory. */
int conn_start(struct run *run, int fd);

void conn_tick(struct conn *conn);

/*
 * The program is over, or stands still: only what it has sent moves from here on.  A connection that it has
 * closed is closed in order when the server has all of it.  Nothing says so, so this is called again and again.
 */
void conn_drain(struct conn *conn);

/* One that drains, and whose program has left it open: nothing has come for a while, and the server has all. */
bool conn_is_silent(const struct conn *conn);

/* The run is over: resets and reports it.  egress.c frees it later. */
void conn_end(struct conn *conn);

/* Whether it may be freed. */
bool conn_is_done(const struct conn *conn);
