#include "daemon/door/conn.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "daemon/door/ceilings.h"
#include "daemon/door/decoding.h"
#include "daemon/door/other_protocol.h"
#include "daemon/door/turns.h"
#include "daemon/loop/loop.h"
#include "daemon/services.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/log.h"
#include "proto/wire/frame.h"

/* The arena of a message may hold: twice its length, and this much more for its values ... */
#define ARENA_BYTES_BASE    ((size_t)8 << 20)
/* ... and this much for what its run adds: records, results. */
#define ARENA_BYTES_MORE    ((size_t)96 << 20)
/* Memory that a request takes beside its message: the struct, its record, its place in queues. */
#define REQUEST_BYTES       ((size_t)64 << 10)
#define INBOX_FREE          ((size_t)64 << 10) /* input up to this size is always accepted */
#define ANSWER_BYTES        ((size_t)4 << 10)  /* reply to a client that speaks another protocol */
#define REPLY_BYTES_MAX     ((size_t)512 << 20)
#define REQUEST_HEAD        32 /* bytes that we read of a request; its id is in front */
#define REFUSAL_BYTES       4096
#define CALLER_FULL         "the requests and replies of this caller take too much memory"
#define REFUSALS_PER_MINUTE 30
#define NO_PLACE            "the kernel watches no more descriptors for the daemon's user"
/* after which time the client may try again */
#define RETRY_REQUEST_MS    100
#define RETRY_CONNECT_MS    1000

struct conn {
	uv_pipe_t pipe;
	struct list link;       /* in services->conns */
	struct fair_entry turn; /* in its user's lane, while messages wait for the next turn */
	struct services *services;
	struct caller caller;
	unsigned refs;
	unsigned in_flight;
	bool closing;
	bool reading;
	bool heard;       /* at least one byte has arrived */
	int64_t heard_ms; /* when data last arrived */
	uint64_t unsent;
	size_t inbox;    /* size of the frame's buffer that is counted for the caller */
	size_t decoding; /* size of the message that a thread decodes, also counted; 0: none */
	struct frame frame;
	struct timer *deadline; /* for the rest of a message that has begun to arrive */
	size_t deadline_of;     /* which message it is for: frame.ended */
	struct list requests;   /* links passed to conn_adopt() */
	bool is_subscribed;     /* to events */
};

static void read_or_rest(struct conn *conn);
static void close_conn(struct conn *conn, const char *reason);

/* ---- references ----------------------------------------------------------------------------- */

/* Drops one of conn->refs; the last one frees the struct. */
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

/* ---- admission ------------------------------------------------------------------------------ */

static void log_refusal(const struct conn *conn, const char *why)
{
	const struct log_field fields[] = { LOG_INT("uid", conn->caller.uid), LOG_STR("why", why) };

	log_limited(&conn->services->state->refusals, REFUSALS_PER_MINUTE, LOG_LEVEL_NOTICE,
		"conn.refused", fields, 2);
}

/*
 * True when the connection has no traffic in either direction, no request and no subscription.
 * Connections of administrators are never idle.
 */
static bool is_idle(const struct conn *conn)
{
	if (caller_is(&conn->caller, ROLE_ADMIN) || conn->is_subscribed)
		return false;
	return !conn->closing && !conn->in_flight && !conn->unsent && !conn->decoding &&
	       !frame_has_begun(&conn->frame) && !conn->turn.lane;
}

/* Takes an admitted connection out of the count of connections. */
static void uncount(struct conn *conn)
{
	if (list_is_empty(&conn->link))
		return;
	list_remove(&conn->link);
	ceilings_leave(conn->services->ceilings, conn->caller.uid);
}

/*
 * Closes one idle connection to make room for `newcomer`.  It belongs to the uid with the most
 * connections among those with an idle one; of several, the one idle for longest closes.  Returns
 * false unless that uid has at least two connections more than `newcomer`.
 */
static bool close_idlest(struct services *services, uint32_t newcomer)
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
	log_refusal(found, "another client needs the place of this user's idle connection");
	close_conn(found, "another client needs its place");
	uncount(found);
	return true;
}

/* Returns NULL when the new connection is admitted, else the reason why not. */
static const char *admit(struct conn *conn)
{
	struct services *services = conn->services;
	uint32_t uid = conn->caller.uid;
	bool is_admin = caller_is(&conn->caller, ROLE_ADMIN);
	const char *full = NULL;

	if (services->state->closing)
		return "the daemon is closing";
	while (ceilings_are_full(services->ceilings) &&
		!ceilings_has_all(services->ceilings, uid, is_admin) && close_idlest(services, uid))
		;
	full = ceilings_enter(services->ceilings, uid, is_admin);
	if (!full)
		list_append(services->conns, &conn->link);
	return full;
}

/* ---- closing -------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
	struct conn *conn = handle->data;

	ceilings_let_go(conn->services->ceilings, conn->caller.uid, conn->inbox);
	conn->inbox = 0;
	uncount(conn);
	conn_unref(conn);
}

bool conn_is_closing(const struct conn *conn)
{
	return conn->closing;
}

/* Starts closing and calls on_gone().  Further calls do nothing. */
static void close_conn(struct conn *conn, const char *reason)
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
	close_conn(container_of(link, struct conn, link), "the daemon is closing");
}

/* Whether the loop can watch the connection; see loop_hold_place(). */
static bool holds_place(const struct conn *conn)
{
	uv_os_fd_t fd = -1;

	return uv_fileno((const uv_handle_t *)&conn->pipe, &fd) == 0 &&
	       loop_hold_place(conn->services->loop, fd, NULL) == 0;
}

/* ---- writing -------------------------------------------------------------------------------- */

struct sending {
	uv_write_t req;
	struct conn *conn;
	char *bytes;
	size_t len;
};

static void on_sent(uv_write_t *req, int status)
{
	struct sending *sending = container_of(req, struct sending, req);
	struct conn *conn = sending->conn;

	conn->unsent -= sending->len;
	ceilings_let_go(conn->services->ceilings, conn->caller.uid, sending->len);
	if (status < 0)
		close_conn(conn, uv_strerror(status));
	read_or_rest(conn);
	conn_unref(conn);
	free(sending->bytes);
	free(sending);
}

/* The caller exceeds its memory limit: closes its connection with the most unsent bytes. */
static void close_fattest(const struct conn *conn)
{
	struct conn *fattest = NULL;

	list_for_each(at, conn->services->conns) {
		struct conn *other = container_of(at, struct conn, link);

		if (other->caller.uid == conn->caller.uid && !other->closing && other->unsent &&
			(!fattest || other->unsent > fattest->unsent))
			fattest = other;
	}
	if (fattest)
		close_conn(fattest, "its caller does not read the replies");
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
		close_conn(conn, "the daemon has no memory for a reply");
		return;
	}
	sending->conn = conn;
	sending->bytes = buf_take(buf, &sending->len);
	out = uv_buf_init(sending->bytes, (unsigned)sending->len);
	conn->unsent += sending->len;
	ceilings_hold_anyway(conn->services->ceilings, conn->caller.uid, sending->len);
	conn->refs++;
	if (!holds_place(conn) ||
		uv_write(&sending->req, (uv_stream_t *)&conn->pipe, &out, 1, on_sent) < 0) {
		conn->unsent -= sending->len;
		ceilings_let_go(conn->services->ceilings, conn->caller.uid, sending->len);
		conn->refs--;
		free(sending->bytes);
		free(sending);
		close_conn(conn, "the daemon cannot write to it");
		return;
	}
	/* Only bytes unsent before count: one reply may exceed the limit by itself. */
	if (waiting > conn->services->config->unsent_bytes)
		close_conn(conn, "the client does not read its replies");
	else if (ceilings_passed(conn->services->ceilings, conn->caller.uid))
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
		close_conn(conn, err.text);
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
			.message = result ? err.text : "the daemon has no memory for the reply" };

		conn_send_error(conn, msgid, &error);
	}
	buf_done(&buf);
}

/* Returns the data of an error.  It has no `retry_after_ms` if that is 0. */
static struct value *refusal_data(struct arena *arena, const char *reason, int64_t retry_after_ms)
{
	struct value *data = value_map(arena);

	value_map_put(arena, data, "pointer", value_text(arena, ""));
	value_map_put(arena, data, "reason", value_text(arena, reason));
	if (retry_after_ms)
		value_map_put(arena, data, "retry_after_ms", value_int(arena, retry_after_ms));
	return data;
}

static void refuse(struct conn *conn, uint32_t msgid, enum rpc_code code, const char *reason,
	const char *message)
{
	struct rpc_error error = { .code = code, .message = message };
	struct arena arena;

	arena_init(&arena, REFUSAL_BYTES);
	error.data = refusal_data(&arena, reason, code == RPC_CODE_BUSY ? RETRY_REQUEST_MS : 0);
	conn_send_error(conn, msgid, &error);
	arena_done(&arena);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Counts the memory of a request for its caller until the request ends.  NULL: there is room. */
static const char *no_room_for(struct conn *conn, size_t size)
{
	if (conn->in_flight >= conn->services->config->requests_per_connection)
		return "this connection has too many requests in flight";
	if (!ceilings_hold(conn->services->ceilings, conn->caller.uid, size))
		return CALLER_FULL;
	return NULL;
}

/*
 * Uses only what decoding noted, since the bytes may be freed.  Malformed notifications are
 * ignored: Neovim sends one, in its own format, for each message that it does not know.
 */
static void refuse_decoded(struct conn *conn, const struct decoded *decoded)
{
	const struct rpc_fault *fault = &decoded->fault;
	bool memory = decoded->err.code == ERR_MEMORY;

	if (fault->has_msgid)
		refuse(conn, fault->msgid, memory ? RPC_CODE_TOO_LARGE : RPC_CODE_BAD_REQUEST,
			fault->reason, decoded->err.text);
	else if (!fault->is_notification)
		close_conn(
			conn, decoded->err.text); /* no id to reply to, and the stream is useless */
}

/* Takes over `decoded`. */
static void take_decoded(struct conn *conn, struct decoded *decoded)
{
	size_t size = decoded->len + decoded->arena.used + REQUEST_BYTES;
	const char *full = NULL;

	if (!decoded->good) {
		refuse_decoded(conn, decoded);
	} else if (decoded->message.kind == RPC_REQUEST) {
		full = no_room_for(conn, size);
		if (!full) {
			struct arrival arrival = { conn->services, conn, &decoded->message,
				decoded->bytes, &decoded->arena, size };

			conn->services->conn_events->on_arrival(&arrival);
			return;
		}
		refuse(conn, decoded->message.msgid, RPC_CODE_BUSY, "busy", full);
	}
	/* notifications and responses are ignored */
	decoded_done(decoded);
}

static void handle_arrived(struct conn *conn);

static void on_decoded(void *context, struct decoded *decoded)
{
	struct conn *conn = context;

	ceilings_let_go(conn->services->ceilings, conn->caller.uid, conn->decoding);
	conn->decoding = 0;
	if (decoded && conn->closing)
		decoded_done(decoded);
	else if (decoded)
		take_decoded(conn, decoded);
	if (decoded && !conn->closing)
		handle_arrived(conn); /* continue with the messages behind it */
	conn_unref(conn);
}

/* Starts decoding on a thread.  Returns false when the caller must decode at once. */
static bool decode_elsewhere(struct conn *conn, const struct decoded *decoded)
{
	struct services *services = conn->services;

	/* The bytes are no longer in the inbox, and the values are not counted yet. */
	if (decoded->len <= DECODE_AT_ONCE ||
		decoding_start(services->thread_work, conn->caller.uid, decoded, on_decoded, conn) <
			0)
		return false;
	conn->refs++;
	conn->decoding = decoded->len;
	ceilings_hold_anyway(services->ceilings, conn->caller.uid, conn->decoding);
	return true;
}

/* Takes over `bytes`. */
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
		close_conn(conn, "the rest of a message did not arrive in time");
	else /* we paused reading; the rest may have arrived */
		timer_set(conn->deadline, conn->services->config->message_ms);
}

/* Starts a deadline when a message is incomplete, a new one for each message; stops it when none is. */
static void watch_partial(struct conn *conn)
{
	if (!frame_has_begun(&conn->frame)) {
		timer_close(conn->deadline);
		conn->deadline = NULL;
	} else if (!conn->deadline) {
		conn->deadline = timer_new(conn->services->loop, conn->services->config->message_ms,
			0, on_deadline, conn);
	} else if (conn->deadline_of != conn->frame.ended) {
		timer_set(conn->deadline, conn->services->config->message_ms);
	}
	conn->deadline_of = conn->frame.ended;
}

/* Answers the request whose first bytes have arrived.  False: no answer can name it. */
static bool refuse_begun(struct conn *conn, const struct err *err)
{
	size_t waiting = 0;
	const char *partial = frame_partial(&conn->frame, &waiting);
	uint32_t msgid = 0;

	if (!rpc_peek_msgid(partial, waiting, &msgid))
		return false;
	if (err->code == ERR_BUSY)
		refuse(conn, msgid, RPC_CODE_BUSY, "busy", err->text);
	else if (err->code == ERR_TOO_BIG)
		refuse(conn, msgid, RPC_CODE_TOO_LARGE, "too_large", err->text);
	else
		refuse(conn, msgid, RPC_CODE_BAD_REQUEST,
			conn->frame.scanner.is_too_deep ? "depth" : "syntax", err->text);
	return true;
}

/* Of a message that is dropped, the bytes that have arrived are not the first ones. */
static void break_off(struct conn *conn, const struct err *err)
{
	if (!conn->frame.drops)
		(void)refuse_begun(conn, err);
	close_conn(conn, err->text);
}

/* Counts the input buffer for the caller.  Returns -1 when it exceeds the caller's limit. */
static int count_inbox(struct conn *conn, struct err *err)
{
	struct ceilings *ceilings = conn->services->ceilings;
	size_t before = conn->inbox;
	size_t now = conn->frame.in.size;

	if (now <= before)
		ceilings_let_go(ceilings, conn->caller.uid, before - now);
	else if (now <= INBOX_FREE)
		ceilings_hold_anyway(ceilings, conn->caller.uid, now - before);
	else if (!ceilings_hold(ceilings, conn->caller.uid, now - before))
		return err_set(err, ERR_BUSY, CALLER_FULL);
	conn->inbox = now;
	return 0;
}

static void take_messages(struct conn *conn)
{
	struct turns *turns = conn->services->turns;

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
		if (got == FRAME_REFUSED) {
			if (!refuse_begun(conn, &err))
				close_conn(conn, err.text);
		} else if (got > 0) {
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

/* Handles the messages that have arrived, as far as the user's turn allows. */
static void handle_arrived(struct conn *conn)
{
	struct err err = ERR_INIT;

	conn->refs++;
	if (count_inbox(conn, &err) < 0)
		break_off(conn, &err);
	take_messages(conn);
	if (!conn->closing)
		(void)count_inbox(
			conn, &err); /* usually less than before; else the next read fails */
	read_or_rest(conn);
	conn_unref(conn);
}

void conn_take_turn(struct fair_entry *turn)
{
	handle_arrived(container_of(turn, struct conn, turn));
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct conn *conn = handle->data;
	size_t size = 0;

	(void)suggested;
	buf->base = frame_room(&conn->frame, &size);
	buf->len = buf->base ? size : 0;
}

/* A client that starts with text gets an explanation of the protocol, and the connection closes. */
static bool turn_away(struct conn *conn)
{
	size_t waiting = 0;
	const char *bytes = frame_partial(&conn->frame, &waiting);
	struct buf answer;

	if (!other_protocol_is_text(bytes, waiting))
		return false;
	buf_init(&answer, ANSWER_BYTES);
	if (other_protocol_answer(bytes, waiting, &answer) == 0)
		conn_send_buf(conn, &answer);
	buf_done(&answer);
	close_conn(conn, "the client speaks another protocol");
	return true;
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buf)
{
	struct conn *conn = stream->data;

	(void)buf;
	if (got < 0) {
		close_conn(conn, got == UV_EOF ? "the client closed it" : uv_strerror((int)got));
		return;
	}
	conn->heard_ms = clock_ms();
	frame_filled(&conn->frame, (size_t)got);
	if (got > 0 && !conn->heard) {
		conn->heard = true;
		if (turn_away(conn))
			return;
	}
	handle_arrived(conn);
}

/*
 * Reads while few enough bytes are unsent, no message waits for its turn and none is being decoded.
 */
static void read_or_rest(struct conn *conn)
{
	bool want = !conn->closing && !conn->turn.lane && !conn->decoding &&
		    conn->unsent <= conn->services->config->unsent_bytes / 2;

	if (want == conn->reading || conn->closing)
		return;
	conn->reading = want;
	if (!want)
		(void)uv_read_stop((uv_stream_t *)&conn->pipe);
	else if (holds_place(conn))
		(void)uv_read_start((uv_stream_t *)&conn->pipe, on_room, on_read);
	else
		close_conn(conn, NO_PLACE);
}

/* ---- starting ------------------------------------------------------------------------------- */

static int learn_caller(struct conn *conn)
{
	uv_os_fd_t fd = -1;

	if (uv_fileno((uv_handle_t *)&conn->pipe, &fd) < 0)
		return -1;
	return caller_identify(fd, &conn->services->config->roles, &conn->caller);
}

/* A connection whose caller cannot be determined again gets no role. */
void conn_roles_changed(struct services *services)
{
	list_for_each(at, services->conns) {
		struct conn *conn = container_of(at, struct conn, link);
		struct caller now;
		uv_os_fd_t fd = -1;

		if (uv_fileno((uv_handle_t *)&conn->pipe, &fd) < 0 ||
			caller_identify(fd, &services->config->roles, &now) < 0)
			now.roles = 0;
		conn->caller.roles = now.roles;
	}
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
	error.data = refusal_data(&arena, "busy", RETRY_CONNECT_MS);
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
	conn->frame.goes_on = true;
	(void)uv_pipe_init(services->loop, &conn->pipe, 0);
	conn->pipe.data = conn;
	if (uv_accept(listener, (uv_stream_t *)&conn->pipe) < 0 || learn_caller(conn) < 0)
		full = "the client left before the daemon had accepted it";
	else if (!holds_place(conn))
		full = NO_PLACE;
	else
		full = admit(conn);
	if (full) {
		conn->closing = true;
		log_refusal(conn, full);
		refuse_entry(conn, full);
		uv_close((uv_handle_t *)&conn->pipe, on_closed);
		return 0;
	}
	caller_look_at_process(&conn->caller);
	read_or_rest(conn);
	return 0;
}
