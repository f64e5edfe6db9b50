#include "daemon/news/events.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/door/caller.h"
#include "daemon/door/conn.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/method/method.h"

#define WORD_MAX      128
#define CATCH_UP_MS   100 /* how often to check whether a slow reader has caught up */
#define MESSAGE_BYTES ((size_t)64 << 10)
#define ALERT_BYTES   ((size_t)64 << 10)

static const char *const words[EVENT_KIND_COUNT] = {
#define EVENT_WORD(name, word) [EVENT_##name] = (word),
	EVENT_KINDS(EVENT_WORD)
#undef EVENT_WORD
};

const char *event_word(enum event_kind kind)
{
	return words[kind];
}

struct subscriber {
	struct list link;
	struct events *events;
	struct conn *conn; /* NULL: it has closed */
	struct caller caller;
	enum right right; /* to all runs, to its own, or to none any more */
	unsigned kinds;   /* a bit for each kind */
	bool has_uid;     /* only runs of `uid` */
	uint32_t uid;
	char agent[WORD_MAX * 4 + 1], task[WORD_MAX * 4 + 1]; /* "": any */
	uint64_t missed;
	struct timer *catch_up; /* while it has missed events */
};

void events_init(struct events *events, uv_loop_t *loop)
{
	*events = (struct events){ .loop = loop };
	list_init(&events->subscribers);
}

/* ---- which subscriber gets which event ------------------------------------------------------ */

static bool may_hear(const struct subscriber *subscriber, const struct event *event)
{
	bool wants_a_word = event->kind == EVENT_ASKED || event->kind == EVENT_APPROVED;

	if (subscriber->right == RIGHT_NO)
		return false;
	if (subscriber->right == RIGHT_YES)
		return true;
	if (wants_a_word && caller_is(&subscriber->caller, ROLE_APPROVER))
		return true;
	return event->of_run && subscriber->caller.uid == event->uid;
}

/* An empty filter accepts every event. */
static bool fits(const char *wanted, const char *found)
{
	return !wanted[0] || (found && !strcmp(wanted, found));
}

static bool wants(const struct subscriber *subscriber, const struct event *event)
{
	return subscriber->conn && (subscriber->kinds & (1U << (unsigned)event->kind)) &&
	       may_hear(subscriber, event) &&
	       (!subscriber->has_uid || (event->of_run && subscriber->uid == event->uid)) &&
	       fits(subscriber->agent, event->agent) && fits(subscriber->task, event->task);
}

bool events_hears(const struct events *events, const struct event *event)
{
	list_for_each(at, &events->subscribers) {
		if (wants(container_of(at, struct subscriber, link), event))
			return true;
	}
	return false;
}

/* ---- sending -------------------------------------------------------------------------------- */

static void subscriber_send(struct subscriber *subscriber, const struct value *map)
{
	struct err err = ERR_INIT;
	struct buf message;

	buf_init(&message, MESSAGE_BYTES);
	if (rpc_write_notification(&message, "event", map, &err) == 0)
		conn_send_buf(subscriber->conn, &message);
	else
		subscriber->missed++; /* no memory; the next `missed` event counts it */
	buf_done(&message);
}

static void tell_missed(struct subscriber *subscriber)
{
	struct arena arena;
	struct value *map;

	arena_init(&arena, 4096);
	map = value_map(&arena);
	value_map_put(&arena, map, "kind", value_text(&arena, "missed"));
	value_map_put(&arena, map, "at_us", value_int(&arena, clock_wall_us()));
	value_map_put(&arena, map, "count", value_uint(&arena, subscriber->missed));
	subscriber->missed = 0;
	subscriber_send(subscriber, map);
	arena_done(&arena);
}

static void on_catch_up(void *owner)
{
	struct subscriber *subscriber = owner;

	if (conn_unsent(subscriber->conn) > EVENTS_WAITING_BYTES / 2)
		return;
	timer_close(subscriber->catch_up);
	subscriber->catch_up = NULL;
	tell_missed(subscriber);
}

/* While a subscriber misses events, it misses new ones too, so that it gets all others in order. */
static void subscriber_notify(struct subscriber *subscriber, const struct value *map)
{
	if (!subscriber->missed && conn_unsent(subscriber->conn) <= EVENTS_WAITING_BYTES) {
		subscriber_send(subscriber, map);
		return;
	}
	subscriber->missed++;
	if (!subscriber->catch_up)
		subscriber->catch_up = timer_new(subscriber->events->loop, CATCH_UP_MS, CATCH_UP_MS,
			on_catch_up, subscriber);
}

static void subscriber_free(struct subscriber *subscriber)
{
	list_remove(&subscriber->link);
	subscriber->events->count--;
	timer_close(subscriber->catch_up);
	free(subscriber);
}

static void sweep(struct events *events)
{
	list_for_each(at, &events->subscribers) {
		struct subscriber *subscriber = container_of(at, struct subscriber, link);

		if (!subscriber->conn)
			subscriber_free(subscriber);
	}
}

void events_tell(struct events *events, const struct event *event, const struct value *map)
{
	if (!map)
		return;
	/*
	 * Sending can close connections.  Until the walk ends, their subscribers are only marked.
	 */
	events->telling++;
	list_for_each(at, &events->subscribers) {
		struct subscriber *subscriber = container_of(at, struct subscriber, link);

		if (wants(subscriber, event))
			subscriber_notify(subscriber, map);
	}
	if (--events->telling == 0)
		sweep(events);
}

struct value *event_start(struct arena *arena, const struct event *event)
{
	struct value *map = value_map(arena);

	value_map_put(arena, map, "kind", value_text(arena, words[event->kind]));
	value_map_put(arena, map, "at_us", value_int(arena, clock_wall_us()));
	return map;
}

void events_alert(
	struct events *events, const char *alert, const char *message, const struct value *more)
{
	const struct event event = { .kind = EVENT_ALERT };
	struct arena arena;
	struct value *map;

	if (!events_hears(events, &event))
		return;
	arena_init(&arena, ALERT_BYTES);
	map = event_start(&arena, &event);
	value_map_put(&arena, map, "alert", value_text(&arena, alert));
	value_map_put(&arena, map, "message", value_text(&arena, message));
	for (size_t i = 0; value_is(more, VALUE_MAP) && i < more->map.count; i++)
		value_map_put(&arena, map, more->map.entries[i].key, more->map.entries[i].value);
	events_tell(events, &event, map);
	arena_done(&arena);
}

/* ---- subscribing ---------------------------------------------------------------------------- */

static unsigned count_of(const struct events *events, uint32_t uid)
{
	unsigned count = 0;

	list_for_each(at, &events->subscribers) {
		const struct subscriber *subscriber = container_of(at, struct subscriber, link);

		count += subscriber->conn && subscriber->caller.uid == uid;
	}
	return count;
}

static struct subscriber *find(const struct events *events, const struct conn *conn)
{
	list_for_each(at, &events->subscribers) {
		struct subscriber *subscriber = container_of(at, struct subscriber, link);

		if (subscriber->conn == conn)
			return subscriber;
	}
	return NULL;
}

/* Makes one for this connection.  NULL: the limit is reached, or there is no memory. */
static struct subscriber *subscriber_new(
	struct events *events, struct conn *conn, const struct caller *caller)
{
	struct subscriber *subscriber;

	if (events->count >= EVENTS_MOST || count_of(events, caller->uid) >= EVENTS_PER_UID)
		return NULL;
	subscriber = calloc(1, sizeof(*subscriber));
	if (!subscriber)
		return NULL;
	subscriber->events = events;
	subscriber->conn = conn;
	subscriber->caller = *caller;
	list_append(&events->subscribers, &subscriber->link);
	events->count++;
	conn_set_subscribed(conn);
	return subscriber;
}

bool events_subscribe(struct events *events, struct conn *conn, const struct subscription *wanted)
{
	struct subscriber *subscriber = find(events, conn);

	if (!subscriber)
		subscriber = subscriber_new(events, conn, conn_caller(conn));
	if (!subscriber)
		return false;
	subscriber->right = wanted->right;
	subscriber->kinds = wanted->kinds;
	subscriber->has_uid = wanted->has_uid;
	subscriber->uid = wanted->uid;
	cut_printf(subscriber->agent, sizeof(subscriber->agent), "%s",
		wanted->agent ? wanted->agent : "");
	cut_printf(
		subscriber->task, sizeof(subscriber->task), "%s", wanted->task ? wanted->task : "");
	return true;
}

void events_roles_changed(struct events *events)
{
	list_for_each(at, &events->subscribers) {
		struct subscriber *subscriber = container_of(at, struct subscriber, link);

		if (!subscriber->conn)
			continue;
		subscriber->caller = *conn_caller(subscriber->conn);
		subscriber->right =
			method_right(method_of(METHOD_EVENTS_SUBSCRIBE), subscriber->caller.roles);
	}
}

void events_conn_gone(struct events *events, const struct conn *conn)
{
	struct subscriber *subscriber = find(events, conn);

	if (!subscriber)
		return;
	subscriber->conn = NULL;
	timer_close(subscriber->catch_up);
	subscriber->catch_up = NULL;
	if (!events->telling)
		subscriber_free(subscriber);
}
