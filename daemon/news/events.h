/*
 * What happens in the house, told as it happens to those who subscribed: `events.subscribe`.
 *
 * A subscription lives in its connection, one in each, and hears of what its caller may see and
 * asked for.  Who reads slowly misses events and is told how many; nobody waits for it.  Nothing
 * is made of an event that nobody hears, and while nobody subscribes each teller asks one question:
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

/* X(NAME, word on the wire): docs/PROTOCOL.md says what each means. */
/* clang-format off */
#define EVENT_KINDS(X) \
	X(STARTED,  "started") \
	X(FINISHED, "finished") \
	X(LIMIT,    "limit") \
	X(DENIED,   "denied") \
	X(ASKED,    "asked") \
	X(APPROVED, "approved") \
	X(LEVER,    "lever") \
	X(ALERT,    "alert")
/* clang-format on */

enum event_kind {
#define EVENT_KIND(name, word) EVENT_##name,
	EVENT_KINDS(EVENT_KIND)
#undef EVENT_KIND
	EVENT_KIND_COUNT,
};

/* As it stands on the wire. */
const char *event_word(enum event_kind kind);

#define EVENTS_WAITING_BYTES \
	((uint64_t)256 << 10) /* more than this unread, and events are missed */
#define EVENTS_MOST    128    /* subscriptions of all callers */
#define EVENTS_PER_UID 16     /* of these, how many one may have */

struct events {
	uv_loop_t *loop;
	struct list subscribers;
	unsigned count;
	unsigned telling; /* how many go through the list */
};

/* What happened, as far as it says who may hear of it. */
struct event {
	enum event_kind kind;
	bool of_run; /* a run of `uid`; else it is for administrators */
	uint32_t uid;
	const char *agent, *task; /* or NULL */
};

void events_init(struct events *events, uv_loop_t *loop);

/* Does anybody want to hear it? */
bool events_hears(const struct events *events, const struct event *event);

/* {kind, at_us} in the arena, for more. */
struct value *event_start(struct arena *arena, const struct event *event);

/* Tells it to all who want to hear it.  `told` is what event_start() gave. */
void events_tell(struct events *events, const struct event *event, const struct value *told);

/*
 * Something that an administrator should look at: a stable word, one sentence, and what else is
 * known as a map, whose keys stand beside (or NULL).
 */
void events_alert(
	struct events *events, const char *alert, const char *message, const struct value *more);

/* What a client asked to hear; texts are copied. */
struct subscription {
	enum right right; /* about whose runs */
	unsigned kinds;   /* a bit for each */
	bool has_uid;     /* only runs of `uid` */
	uint32_t uid;
	const char *agent, *task; /* NULL: of every one */
};

/*
 * Replaces what the connection had subscribed to before.  False: there are as many subscriptions as there
 * may be, or no memory.
 */
bool events_subscribe(struct events *events, struct conn *conn, const struct subscription *wanted);

/* The connection closes: its subscription goes with it. */
void events_conn_gone(struct events *events, const struct conn *conn);
