#include "daemon/door/conn.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "daemon/door/admission.h"
#include "daemon/door/caller.h"
#include "daemon/door/ceilings.h"
#include "daemon/door/conn_parts.h"
#include "daemon/loop/loop.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/log.h"
#include "proto/wire/rpc.h"

#define REQUEST_HEAD  32 /* bytes that we read of a request; its id is in front */
#define REFUSAL_BYTES 4096
#define RETRY_MS      1000 /* the client may retry after this time */

void conn_unref(struct conn *conn)
{
	if (--conn->refs)
		return;
	frame_done(&conn->frame);
	free(conn);
}

void conn_hold(struct conn *conn)
{
	conn->refs++;
	conn->in_flight++;
}

void conn_release(struct conn *conn)
{
	conn->in_flight--;
	conn_unref(conn);
}

void conn_adopt(struct conn *conn, struct list *link)
{
	conn_hold(conn);
	list_append(&conn->requests, link);
}

struct list *conn_disown(struct conn *conn)
{
	struct list *first = list_first(&conn->requests);

	if (!first)
		return NULL;
	list_remove(first);
	conn_release(conn);
	return first;
}

void conn_set_subscribed(struct conn *conn)
{
	conn->is_subscribed = true;
}

const struct caller *conn_caller(const struct conn *conn)
{
	return &conn->caller;
}

uint64_t conn_unsent(const struct conn *conn)
{
	return conn->unsent;
}

/* ---- closing -------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
	struct conn *conn = handle->data;

	ceilings_let_go(conn->services->ceilings, conn->caller.uid, conn->inbox);
	conn->inbox = 0;
	admission_leave(conn->services, &conn->link, conn->caller.uid);
	conn_unref(conn);
}

bool conn_is_closing(const struct conn *conn)
{
	return conn->closing;
}

void conn_close(struct conn *conn, const char *reason)
{
	if (conn->closing)
		return;
	conn->closing = true;
	if (reason)
		log_event(LOG_LEVEL_DEBUG, "conn.close", LOG_INT("uid", conn->caller.uid),
			LOG_STR("why", reason));
	fair_leave(&conn->turn);
	timer_close(conn->deadline);
	conn->deadline = NULL;
	conn->refs++; /* on_gone() ends requests, which must not free the struct while we use it */
	conn->services->conn_events->on_gone(conn->services, conn);
	uv_close((uv_handle_t *)&conn->pipe, on_closed);
	conn_unref(conn);
}

void conn_close_link(struct list *link)
{
	conn_close(container_of(link, struct conn, link), "the daemon is closing");
}

bool conn_holds_place(const struct conn *conn)
{
	uv_os_fd_t fd = -1;

	return uv_fileno((const uv_handle_t *)&conn->pipe, &fd) == 0 &&
	       loop_hold_place(conn->services->loop, fd, NULL) == 0;
}

/*
 * True when the connection has no traffic in either direction, no request and no subscription.
 * Connections of administrators are never idle.
 */
static bool is_idle(const struct conn *conn)
{
	size_t waiting = 0;

	(void)frame_partial(&conn->frame, &waiting);
	if (caller_is(&conn->caller, ROLE_ADMIN) || conn->is_subscribed)
		return false;
	return !conn->closing && !conn->in_flight && !conn->unsent && !conn->decoding && !waiting &&
	       !conn->turn.lane;
}

bool conn_close_idlest(struct services *services, uint32_t newcomer)
{
	unsigned most = ceilings_conns_of(services->ceilings, newcomer) + 1;
	struct conn *found = NULL;

	list_for_each(at, services->conns) {
		struct conn *conn = container_of(at, struct conn, link);
		unsigned count = ceilings_conns_of(services->ceilings, conn->caller.uid);

		if (count <= most && !(found && count == most))
			continue;
		if (!is_idle(conn) || (found && count == most && found->heard_ms <= conn->heard_ms))
			continue;
		found = conn;
		most = count;
	}
	if (!found)
		return false;
	admission_log_refusal(services, found->caller.uid,
		"an idle connection is closed: others want in and this user has most");
	conn_close(found, "others want in");
	admission_leave(services, &found->link, found->caller.uid);
	return true;
}

/* ---- starting ------------------------------------------------------------------------------- */

static int learn_caller(struct conn *conn)
{
	uv_os_fd_t fd = -1;

	if (uv_fileno((uv_handle_t *)&conn->pipe, &fd) < 0)
		return -1;
	return caller_identify(fd, &conn->services->config->roles, &conn->caller);
}

/*
 * Replies with an error to a request that has already arrived.  Without it the client would only
 * see a closed connection.  Neither the read nor the write blocks.
 */
static void refuse_entry(struct conn *conn, const char *why)
{
	struct rpc_error error = { .code = RPC_CODE_BUSY, .message = why };
	char head[REQUEST_HEAD];
	uv_os_fd_t fd = -1;
	uint32_t msgid = 0;
	struct value *data;
	struct arena arena;
	struct buf buf;
	ssize_t got;

	if (uv_fileno((uv_handle_t *)&conn->pipe, &fd) < 0)
		return;
	got = recv(fd, head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);
	if (got <= 0 || !rpc_peek_msgid(head, (size_t)got, &msgid))
		return;
	arena_init(&arena, REFUSAL_BYTES);
	buf_init(&buf, REFUSAL_BYTES);
	data = value_map(&arena);
	value_map_put(&arena, data, "pointer", value_text(&arena, ""));
	value_map_put(&arena, data, "reason", value_text(&arena, "busy"));
	value_map_put(&arena, data, "retry_after_ms", value_int(&arena, RETRY_MS));
	error.data = data;
	if (rpc_write_error(&buf, msgid, &error, NULL) == 0)
		(void)send(fd, buf.bytes, buf.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	buf_done(&buf);
	arena_done(&arena);
}

int conn_start(struct services *services, uv_stream_t *listener)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	const char *full = NULL;

	if (!conn)
		return -1;
	list_init(&conn->link);
	list_init(&conn->requests);
	conn->services = services;
	conn->heard_ms = clock_ms();
	conn->refs = 1;
	frame_init(&conn->frame, services->config->message_bytes, WIRE_DEPTH_DEFAULT);
	(void)uv_pipe_init(services->loop, &conn->pipe, 0);
	conn->pipe.data = conn;
	if (uv_accept(listener, (uv_stream_t *)&conn->pipe) < 0 || learn_caller(conn) < 0)
		full = "it left before it was let in";
	else if (!conn_holds_place(conn))
		full = "the kernel watches no more descriptors for our user";
	else
		full = admission_enter(services, &conn->link, &conn->caller);
	if (full) {
		conn->closing = true;
		admission_log_refusal(services, conn->caller.uid, full);
		refuse_entry(conn, full);
		uv_close((uv_handle_t *)&conn->pipe, on_closed);
		return 0;
	}
	caller_look_at_process(&conn->caller);
	conn_read_or_rest(conn);
	return 0;
}
