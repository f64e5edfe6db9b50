#include "daemon/door/conn.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/door/decoding.h"
#include "daemon/methods/methods.h"
#include "daemon/methods/methods_runs.h"
#include "daemon/server.h"
#include "proto/base/container.h"
#include "proto/base/log.h"
#include "proto/frame.h"

#define ARENA_BYTES_BASE \
	((size_t)8 << 20) /* for the values of a message, beside twice its length */
#define ARENA_BYTES_MORE ((size_t)96 << 20) /* and for what the run adds: records, results */
#define REPLY_BYTES_MAX  ((size_t)512 << 20)
/* What a request takes beside its message: it, its record, its place in line for the disk. */
#define REQUEST_BYTES    ((size_t)64 << 10)
#define INBOX_FREE       ((size_t)64 << 10) /* what has arrived is everybody's right up to here */
#define RETRY_MS         100                /* said with "busy" */

struct conn {
	uv_pipe_t pipe;
	struct list link; /* in the server */
	struct list turn; /* in the lane of its user, while messages wait for the next turn */
	struct server *server;
	struct caller caller;
	unsigned refs;
	unsigned in_flight;
	bool closing;
	bool reading;
	uint64_t unsent;
	size_t inbox;    /* of the frame's memory, what is held of the caller's share */
	size_t decoding; /* the message that a thread reads, and of the share; 0: none */
	struct frame frame;
	struct timer *deadline; /* a message once begun must be whole */
	struct list requests;   /* struct request */
};

struct sending {
	uv_write_t req;
	struct conn *conn;
	char *bytes;
	size_t len;
};

static void conn_unref(struct conn *conn)
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

void conn_adopt(struct conn *conn, struct request *request)
{
	conn_hold(conn);
	list_append(&conn->requests, &request->link);
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

	ceilings_let_go(&conn->server->ceilings, conn->caller.uid, conn->inbox);
	conn->inbox = 0;
	server_conn_gone(conn->server, &conn->link, conn->caller.uid);
	conn_unref(conn);
}

/* Its runs lose their listener: detached ones go on, the others end. */
static void leave_requests(struct conn *conn)
{
	struct list *first;

	while ((first = list_first(&conn->requests))) {
		struct request *request = container_of(first, struct request, link);

		list_remove(first);
		request->conn = NULL;
		if (!(request->has_spec && request->spec.detach && request->answered))
			request_cancel(request, KILLED_LEFT);
		conn_release(conn);
	}
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
	list_remove(&conn->turn);
	timer_close(conn->deadline);
	conn->deadline = NULL;
	conn->refs++; /* requests that end now must not take the struct away under us */
	leave_requests(conn);
	methods_conn_gone(conn->server, conn);
	events_conn_gone(&conn->server->events, conn);
	uv_close((uv_handle_t *)&conn->pipe, on_closed);
	conn_unref(conn);
}

void conn_close_link(struct list *link)
{
	conn_close(container_of(link, struct conn, link), "the daemon is closing");
}

/* ---- writing -------------------------------------------------------------------------------- */

static void read_or_rest(struct conn *conn);

static void on_sent(uv_write_t *req, int status)
{
	struct sending *sending = container_of(req, struct sending, req);
	struct conn *conn = sending->conn;

	conn->unsent -= sending->len;
	ceilings_let_go(&conn->server->ceilings, conn->caller.uid, sending->len);
	if (status < 0)
		conn_close(conn, uv_strerror(status));
	read_or_rest(conn);
	conn_unref(conn);
	free(sending->bytes);
	free(sending);
}

/* Its caller holds more than it may: who reads least leaves. */
static void close_fattest(const struct conn *conn)
{
	struct conn *fattest = NULL;

	list_for_each(at, &conn->server->conns) {
		struct conn *other = container_of(at, struct conn, link);

		if (other->caller.uid == conn->caller.uid && !other->closing && other->unsent &&
			(!fattest || other->unsent > fattest->unsent))
			fattest = other;
	}
	if (fattest)
		conn_close(fattest, "its caller does not read its replies");
}

void conn_send_buf(struct conn *conn, struct buf *buf)
{
	uint64_t waiting = conn->unsent;
	struct sending *sending;
	uv_buf_t out;

	if (conn->closing)
		return;
	sending = calloc(1, sizeof(*sending));
	if (!sending) {
		conn_close(conn, "no memory for a reply");
		return;
	}
	sending->conn = conn;
	sending->bytes = buf_take(buf, &sending->len);
	out = uv_buf_init(sending->bytes, (unsigned)sending->len);
	conn->unsent += sending->len;
	ceilings_hold_anyway(&conn->server->ceilings, conn->caller.uid, sending->len);
	conn->refs++;
	if (uv_write(&sending->req, (uv_stream_t *)&conn->pipe, &out, 1, on_sent) < 0) {
		conn->unsent -= sending->len;
		ceilings_let_go(&conn->server->ceilings, conn->caller.uid, sending->len);
		conn->refs--;
		free(sending->bytes);
		free(sending);
		conn_close(conn, "it cannot be written to");
		return;
	}
	/* What waited before counts: a reply may be larger than the ceiling by itself. */
	if (waiting > conn->server->config.unsent_bytes)
		conn_close(conn, "it does not read its replies");
	else if (ceilings_passed(&conn->server->ceilings, conn->caller.uid))
		close_fattest(conn);
	read_or_rest(conn);
}

void conn_send_error(struct conn *conn, uint32_t msgid, const struct rpc_error *error)
{
	struct buf buf;
	struct err err = ERR_INIT;

	buf_init(&buf, REPLY_BYTES_MAX);
	if (rpc_write_error(&buf, msgid, error, &err) == 0)
		conn_send_buf(conn, &buf);
	else
		conn_close(conn, err.text);
	buf_done(&buf);
}

void conn_send_result(struct conn *conn, uint32_t msgid, const struct value *result)
{
	struct buf buf;
	struct err err = ERR_INIT;

	buf_init(&buf, REPLY_BYTES_MAX);
	if (result && rpc_write_result(&buf, msgid, result, &err) == 0) {
		conn_send_buf(conn, &buf);
	} else {
		struct rpc_error error = { .code = RPC_CODE_INTERNAL,
			.message = result ? err.text : "there was no memory for the answer" };

		conn_send_error(conn, msgid, &error);
	}
	buf_done(&buf);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void refuse(struct conn *conn, uint32_t msgid, enum rpc_code code, const char *reason,
	const char *message)
{
	struct arena arena;
	struct value *data;
	struct rpc_error error = { .code = code, .message = message };

	arena_init(&arena, 4096);
	data = value_map(&arena);
	value_map_put(&arena, data, "pointer", value_text(&arena, ""));
	value_map_put(&arena, data, "reason", value_text(&arena, reason));
	if (code == RPC_CODE_BUSY)
		value_map_put(&arena, data, "retry_after_ms", value_int(&arena, RETRY_MS));
	error.data = data;
	conn_send_error(conn, msgid, &error);
	arena_done(&arena);
}

/* What the message keeps in memory until its run has left counts for its caller. */
static const char *no_room_for(struct conn *conn, size_t size)
{
	if (conn->in_flight >= conn->server->config.requests_per_connection)
		return "too many requests of this connection are in flight";
	if (!ceilings_hold(&conn->server->ceilings, conn->caller.uid, size))
		return "the requests and replies of this caller take too much memory";
	return NULL;
}

/*
 * A list of three with the notification's number in front.  Nobody looks at them, in whatever shape
 * they come: Neovim complains by one, in its own, of each that it gets and does not know.
 */
static bool is_notification(const struct decoded *decoded)
{
	return decoded->len > 1 && (uint8_t)decoded->bytes[0] == 0x93 &&
	       decoded->bytes[1] == RPC_NOTIFICATION;
}

static void refuse_decoded(struct conn *conn, const struct decoded *decoded)
{
	const struct rpc_fault *fault = &decoded->fault;
	bool memory = decoded->err.code == ERR_MEMORY;

	if (fault->has_msgid)
		refuse(conn, fault->msgid, memory ? RPC_CODE_TOO_LARGE : RPC_CODE_BAD_REQUEST,
			fault->reason, decoded->err.text);
	else if (!is_notification(decoded))
		conn_close(
			conn, decoded->err.text); /* nobody to answer: the stream means nothing */
}

/* Takes what was decoded. */
static void take_decoded(struct conn *conn, struct decoded *decoded)
{
	size_t size = decoded->len + decoded->arena.used + REQUEST_BYTES;
	const char *full = NULL;

	if (!decoded->good) {
		refuse_decoded(conn, decoded);
	} else if (decoded->message.kind == RPC_REQUEST) {
		full = no_room_for(conn, size);
		if (!full) {
			struct arrival arrival = { conn->server, conn, &decoded->message,
				decoded->bytes, &decoded->arena, size };

			methods_start(&arrival);
			return;
		}
		refuse(conn, decoded->message.msgid, RPC_CODE_BUSY, "busy", full);
	}
	decoded_done(decoded); /* notifications and responses: nothing here asks for them */
}

static void work_off(struct conn *conn);

static void on_decoded(void *context, struct decoded *decoded)
{
	struct conn *conn = context;

	ceilings_let_go(&conn->server->ceilings, conn->caller.uid, conn->decoding);
	conn->decoding = 0;
	if (decoded && conn->closing)
		decoded_done(decoded);
	else if (decoded)
		take_decoded(conn, decoded);
	if (decoded && !conn->closing)
		work_off(conn); /* what stood behind it */
	conn_unref(conn);
}

/* False when it is to be decoded here and now. */
static bool decode_elsewhere(struct conn *conn, const struct decoded *decoded)
{
	struct server *server = conn->server;

	/* Its bytes have left the inbox, and their values are not counted yet. */
	if (decoded->len <= DECODE_AT_ONCE ||
		decoding_start(&server->errands, conn->caller.uid, decoded, on_decoded, conn) < 0)
		return false;
	conn->refs++;
	conn->decoding = decoded->len;
	ceilings_hold_anyway(&server->ceilings, conn->caller.uid, conn->decoding);
	return true;
}

/* Takes the message. */
static void take_message(struct conn *conn, char *bytes, size_t len)
{
	struct decoded decoded =
		decoded_of(bytes, len, ARENA_BYTES_BASE + 2 * len + ARENA_BYTES_MORE);

	if (decode_elsewhere(conn, &decoded))
		return;
	decoded_read(&decoded);
	take_decoded(conn, &decoded);
}

static void on_deadline(void *owner)
{
	struct conn *conn = owner;

	if (conn->reading)
		conn_close(conn, "a message did not become whole in time");
	else /* it may be whole already, but we do not read while replies wait to be read */
		timer_set(conn->deadline, conn->server->config.message_ms);
}

/* A message that has begun gets a deadline; one that is whole takes it away. */
static void watch_partial(struct conn *conn)
{
	size_t waiting = 0;

	(void)frame_partial(&conn->frame, &waiting);
	if (!waiting) {
		timer_close(conn->deadline);
		conn->deadline = NULL;
	} else if (!conn->deadline) {
		conn->deadline = timer_new(
			&conn->server->loop, conn->server->config.message_ms, 0, on_deadline, conn);
	}
}

static void break_off(struct conn *conn, const struct err *err)
{
	size_t waiting = 0;
	const char *partial = frame_partial(&conn->frame, &waiting);
	uint32_t msgid = 0;
	bool has_msgid = rpc_peek_msgid(partial, waiting, &msgid);

	if (has_msgid && err->code == ERR_BUSY)
		refuse(conn, msgid, RPC_CODE_BUSY, "busy", err->text);
	else if (has_msgid && err->code == ERR_TOO_BIG)
		refuse(conn, msgid, RPC_CODE_TOO_LARGE, "too_large", err->text);
	else if (has_msgid)
		refuse(conn, msgid, RPC_CODE_BAD_REQUEST, "syntax", err->text);
	conn_close(conn, err->text);
}

/* Counts the memory of what has arrived for its caller.  -1 when that is more than it may hold. */
static int count_inbox(struct conn *conn, struct err *err)
{
	struct ceilings *ceilings = &conn->server->ceilings;
	size_t before = conn->inbox;
	size_t now = conn->frame.in.size;

	if (now <= before)
		ceilings_let_go(ceilings, conn->caller.uid, before - now);
	else if (now <= INBOX_FREE)
		ceilings_hold_anyway(ceilings, conn->caller.uid, now - before);
	else if (!ceilings_hold(ceilings, conn->caller.uid, now - before))
		return err_set(err, ERR_BUSY,
			"the requests and replies of this caller take too much memory");
	conn->inbox = now;
	return 0;
}

static void take_messages(struct conn *conn)
{
	struct turns *turns = &conn->server->turns;

	while (!conn->closing && !conn->decoding) {
		char *bytes = NULL;
		size_t len = 0;
		struct err err = ERR_INIT;
		int got;

		if (!turns_take(turns, conn->caller.uid)) {
			turns_wait(turns, conn->caller.uid, &conn->turn);
			return;
		}
		got = frame_next(&conn->frame, &bytes, &len, &err);
		if (got > 0) {
			timer_close(conn->deadline);
			conn->deadline = NULL;
			take_message(conn, bytes, len);
		} else if (got < 0) {
			break_off(conn, &err);
		} else {
			turns_give_back(turns, conn->caller.uid);
			watch_partial(conn);
			return;
		}
	}
}

/* Looks at what has arrived, as far as it is this connection's turn. */
static void work_off(struct conn *conn)
{
	struct err err = ERR_INIT;

	conn->refs++;
	if (count_inbox(conn, &err) < 0)
		break_off(conn, &err);
	take_messages(conn);
	if (!conn->closing)
		(void)count_inbox(
			conn, &err); /* what was taken is less; else the next read tells */
	read_or_rest(conn);
	conn_unref(conn);
}

void conn_take_turn(struct list *turn)
{
	work_off(container_of(turn, struct conn, turn));
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct conn *conn = handle->data;
	size_t size = 0;

	(void)suggested;
	buf->base = frame_room(&conn->frame, &size);
	buf->len = buf->base ? size : 0;
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buf)
{
	struct conn *conn = stream->data;

	(void)buf;
	if (got < 0) {
		conn_close(conn, got == UV_EOF ? "end" : uv_strerror((int)got));
		return;
	}
	frame_filled(&conn->frame, (size_t)got);
	work_off(conn);
}

/* Reads while there is room for replies, and nothing that was read waits for its turn. */
static void read_or_rest(struct conn *conn)
{
	bool want = !conn->closing && list_is_empty(&conn->turn) && !conn->decoding &&
		    conn->unsent <= conn->server->config.unsent_bytes / 2;

	if (want == conn->reading || conn->closing)
		return;
	conn->reading = want;
	if (want)
		(void)uv_read_start((uv_stream_t *)&conn->pipe, on_room, on_read);
	else
		(void)uv_read_stop((uv_stream_t *)&conn->pipe);
}

/* ---- starting ------------------------------------------------------------------------------- */

static int learn_caller(struct conn *conn)
{
	uv_os_fd_t fd = -1;

	if (uv_fileno((uv_handle_t *)&conn->pipe, &fd) < 0)
		return -1;
	return caller_identify(fd, &conn->server->config.roles, &conn->caller);
}

int conn_start(struct server *server, uv_stream_t *listener)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	const char *full = NULL;

	if (!conn)
		return -1;
	list_init(&conn->link);
	list_init(&conn->turn);
	list_init(&conn->requests);
	conn->server = server;
	conn->refs = 1;
	frame_init(&conn->frame, server->config.message_bytes, WIRE_DEPTH_DEFAULT);
	(void)uv_pipe_init(&server->loop, &conn->pipe, 0);
	conn->pipe.data = conn;
	if (uv_accept(listener, (uv_stream_t *)&conn->pipe) < 0 || learn_caller(conn) < 0)
		full = "it left before it was let in";
	else
		full = server_admit(server, &conn->link, &conn->caller);
	if (full) {
		conn->closing = true;
		server_log_refusal(server, conn->caller.uid, full);
		uv_close((uv_handle_t *)&conn->pipe, on_closed);
		return 0;
	}
	read_or_rest(conn);
	return 0;
}
