/*
 * Events: sends what happens in the daemon to the clients that subscribed (`events.subscribe`).
 *
 * A connection has at most one subscription, which ends with it.  A subscriber gets the events that
 * it asked for, if its caller may see them.  A subscriber that reads slowly misses events, and is
 * sent how many it missed; the daemon does not wait for it.  An event without subscribers costs
 * only the check, since the message is built after it:
 *
 *	if (events_hears(services->events, &event)) {
 *		map = event_start(&arena, &event);
 *		value_map_put(&arena, map, ...);
 *		events_tell(services->events, &event, map);
 *	}
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/loop.h"
#include "proto/base/arena.h"
#include "proto/base/list.h"
#include "proto/method/role.h"
#include "proto/value.h"

struct conn;

/* X(NAME, name in messages): docs/PROTOCOL.md describes each kind. */
/* clang-format off */
#define EVENT_KINDS(X) \
	X(STARTED,  "started") \
	X(FINISHED, "finished") \
	X(LIMIT,    "limit") \
	X(DENIED,   "denied") \
	X(ASKED,    "asked") \
	X(APPROVED, "approved") \
	X(ADMIN_OP, "admin_op") \
	X(ALERT,    "alert") \
	X(SESSION,  "session")
/* clang-format on */

enum event_kind {
#define EVENT_KIND(name, word) EVENT_##name,
	EVENT_KINDS(EVENT_KIND)
#undef EVENT_KIND
	EVENT_KIND_COUNT,
};

/* The name of this kind in messages. */
const char *event_word(enum event_kind kind);

#define EVENTS_WAITING_BYTES \
	((uint64_t)256 << 10) /* a subscriber with more unsent bytes misses events */
#define EVENTS_MOST    128    /* subscriptions of all callers */
#define EVENTS_PER_UID 16     /* of these, at most so many of one user */

struct events {
	uv_loop_t *loop;
	struct list subscribers;
	unsigned count;
	unsigned telling; /* nested events_tell() calls, which walk the list */
};

/* The part of an event that decides which subscribers get it. */
struct event {
	enum event_kind kind;
	bool of_run; /* about a run of `uid`; else it is for administrators */
	uint32_t uid;
	const char *agent, *task; /* or NULL */
};

void events_init(struct events *events, uv_loop_t *loop);

/* Whether any subscriber gets this event. */
bool events_hears(const struct events *events, const struct event *event);

/* Returns {kind, at_us} in the arena; the caller adds the rest. */
struct value *event_start(struct arena *arena, const struct event *event);

/* Sends the event to each subscriber that gets it.  `map` is the map of event_start(). */
void events_tell(struct events *events, const struct event *event, const struct value *map);

/*
 * Sends an alert, which an administrator should look at: its stable name, one sentence, and a map
 * of further facts or NULL.  The keys of that map are put into the event itself.
 */
void events_alert(
	struct events *events, const char *alert, const char *message, const struct value *more);

/* The events that a client subscribes to; texts are copied. */
struct subscription {
	enum right right; /* to all runs, or to its own */
	unsigned kinds;   /* a bit for each kind */
	bool has_uid;     /* only runs of `uid` */
	uint32_t uid;
	const char *agent, *task; /* NULL: any */
};

/*
 * Subscribes the connection, and replaces its earlier subscription.  False: the limit on
 * subscriptions is reached, or there is no memory.
 */
bool events_subscribe(struct events *events, struct conn *conn, const struct subscription *wanted);

/* The roles of connections may have changed: no subscriber gets more than its roles of now allow. */
void events_roles_changed(struct events *events);

/* Ends the subscription of a connection that closes. */
void events_conn_gone(struct events *events, const struct conn *conn);
