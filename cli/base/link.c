#include "cli/base/link.h"

#include <string.h>

#include "cli/base/client.h"
#include "clients/c/ced.h"
#include "proto/wire/wire.h"

#define MESSAGE_BYTES ((size_t)1 << 30) /* one message, decoded */
#define HELLO_BYTES   ((size_t)64 << 10)

/* connect() stops the loop, and with it the answers to all else. */
#define CONNECT_MS INT64_C(250)

void link_init(struct link *link, const char *path, const struct link_watch *watch)
{
	*link = (struct link){ .path = path, .watch = *watch };
}

void link_done(struct link *link)
{
	ced_close(link->connection);
	link->connection = NULL;
}

/* ---- what comes ---------------------------------------------------------------------------- */

/* A copy of its own, decoded; NULL when it cannot be read, and the link is lost. */
static const struct value *decode(struct link *link, struct arena *arena, struct ced_value from)
{
	char *copy = arena_copy(arena, from.bytes, from.len);
	const struct value *value = NULL;

	if (!copy)
		(void)err_set(&link->broken, ERR_MEMORY, "no memory for the daemon's answer");
	else
		value = wire_decode_in_place(arena, copy, from.len, NULL, &link->broken);
	return value;
}

static int on_notice(void *context, const char *method, struct ced_value params)
{
	struct link *link = context;
	const struct value *value;
	struct arena arena;

	arena_init(&arena, MESSAGE_BYTES);
	value = decode(link, &arena, params);
	if (value)
		link->watch.on_notice(link->watch.context, method, value);
	arena_done(&arena);
	return value == NULL;
}

static int on_answer(void *context, uint32_t msgid, struct ced_value error, struct ced_value result)
{
	struct link *link = context;
	bool failed = error.len > 0;
	const struct value *value;
	struct arena arena;

	arena_init(&arena, MESSAGE_BYTES);
	value = decode(link, &arena, failed ? error : result);
	if (value)
		link->watch.on_answer(
			link->watch.context, msgid, failed ? value : NULL, failed ? NULL : value);
	arena_done(&arena);
	return value == NULL;
}

/* ---- asking -------------------------------------------------------------------------------- */

/* `hello` says who asks, for the daemon's log; nobody waits for its answer. */
static int send_hello(struct link *link, struct err *err)
{
	struct arena arena;
	struct value *params;
	int status;

	arena_init(&arena, HELLO_BYTES);
	params = value_map(&arena);
	value_map_put(
		&arena, params, "client", value_text(&arena, link->name ? link->name : "cectl"));
	if (!value_ok(&arena))
		status = err_set(err, ERR_MEMORY, "no memory");
	else
		status = client_ask(link->connection, "hello", params, NULL, err);
	arena_done(&arena);
	return status;
}

static int connect_again(struct link *link, struct err *err)
{
	const struct ced_handlers handlers = { link, on_notice, on_answer };
	struct ced_error why;

	link->connection = ced_connect(link->path, CONNECT_MS, &why);
	if (!link->connection)
		return client_failed(&why, err);
	ced_handle(link->connection, &handlers);
	if (send_hello(link, err) == 0)
		return 0;
	link_done(link);
	return -1;
}

int link_ask(struct link *link, const char *method, const struct value *params, uint32_t *ret_id,
	struct err *err)
{
	if (!link->connection && connect_again(link, err) < 0)
		return -1;
	return client_ask(link->connection, method, params, ret_id, err);
}

/* ---- the socket ---------------------------------------------------------------------------- */

int link_fd(const struct link *link)
{
	return link->connection ? ced_fd(link->connection) : -1;
}

short link_events(const struct link *link)
{
	if (!link->connection)
		return 0;
	return ced_events(link->connection);
}

size_t link_unsent(const struct link *link)
{
	size_t len = 0;

	if (link->connection)
		(void)ced_unsent(link->connection, &len);
	return len;
}

static void lose(struct link *link, const struct err *why)
{
	link_done(link);
	link->watch.on_lost(link->watch.context, why);
}

void link_turn(struct link *link)
{
	struct ced_error why;
	struct err err = ERR_INIT;

	if (!link->connection)
		return;
	link->broken = err;
	if (ced_step(link->connection, 0, &why) < 0) {
		(void)client_failed(&why, &err);
		lose(link, &err);
	} else if (link->broken.code != ERR_NONE) {
		err = link->broken;
		(void)err_wrap(&err, "the daemon's answer");
		lose(link, &err);
	}
}
