#include "daemon/door/ceilings.h"
#include "daemon/door/conn_parts.h"
#include "daemon/door/decoding.h"
#include "daemon/door/foreign.h"
#include "daemon/door/turns.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

#define ARENA_BYTES_BASE \
	((size_t)8 << 20) /* limit for the values of a message, in addition to twice its length */
/* in addition, for what the run adds: records, results */
#define ARENA_BYTES_MORE ((size_t)96 << 20)
/* Memory that a request takes beside its message: the struct, its record, its place in queues. */
#define REQUEST_BYTES    ((size_t)64 << 10)
#define INBOX_FREE       ((size_t)64 << 10) /* input up to this size is always accepted */
#define ANSWER_BYTES     ((size_t)4 << 10)  /* reply to a client that speaks another protocol */
#define RETRY_MS         100                /* reported with "busy" */

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

/* Counts the memory of a request for its caller until the request ends.  NULL: there is room. */
static const char *no_room_for(struct conn *conn, size_t size)
{
	if (conn->in_flight >= conn->services->config->requests_per_connection)
		return "too many requests of this connection are in flight";
	if (!ceilings_hold(conn->services->ceilings, conn->caller.uid, size))
		return "the requests and replies of this caller take too much memory";
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
		conn_close(
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

static void work_off(struct conn *conn);

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
		work_off(conn); /* continue with the messages behind it */
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
		conn_close(conn, "a message did not become whole in time");
	else /* we paused reading; the rest may have arrived */
		timer_set(conn->deadline, conn->services->config->message_ms);
}

/* Starts a deadline when a message is incomplete; stops it when none is. */
static void watch_partial(struct conn *conn)
{
	size_t waiting = 0;

	(void)frame_partial(&conn->frame, &waiting);
	if (!waiting) {
		timer_close(conn->deadline);
		conn->deadline = NULL;
	} else if (!conn->deadline) {
		conn->deadline = timer_new(conn->services->loop, conn->services->config->message_ms,
			0, on_deadline, conn);
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
		refuse(conn, msgid, RPC_CODE_BAD_REQUEST,
			conn->frame.scanner.is_too_deep ? "depth" : "syntax", err->text);
	conn_close(conn, err->text);
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
		return err_set(err, ERR_BUSY,
			"the requests and replies of this caller take too much memory");
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

/* Handles the messages that have arrived, as far as the user's turn allows. */
static void work_off(struct conn *conn)
{
	struct err err = ERR_INIT;

	conn->refs++;
	if (count_inbox(conn, &err) < 0)
		break_off(conn, &err);
	take_messages(conn);
	if (!conn->closing)
		(void)count_inbox(
			conn, &err); /* usually less than before; else the next read fails */
	conn_read_or_rest(conn);
	conn_unref(conn);
}

void conn_take_turn(struct fair_entry *turn)
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

/* A client that starts with text gets an explanation of the protocol, and the connection closes. */
static bool turn_away(struct conn *conn)
{
	size_t waiting = 0;
	const char *bytes = frame_partial(&conn->frame, &waiting);
	struct buf answer;

	if (!foreign_is_text(bytes, waiting))
		return false;
	buf_init(&answer, ANSWER_BYTES);
	if (foreign_answer(bytes, waiting, &answer) == 0)
		conn_send_buf(conn, &answer);
	buf_done(&answer);
	conn_close(conn, "it speaks another protocol");
	return true;
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buf)
{
	struct conn *conn = stream->data;

	(void)buf;
	if (got < 0) {
		conn_close(conn, got == UV_EOF ? "end" : uv_strerror((int)got));
		return;
	}
	conn->heard_ms = clock_ms();
	frame_filled(&conn->frame, (size_t)got);
	if (got > 0 && !conn->heard) {
		conn->heard = true;
		if (turn_away(conn))
			return;
	}
	work_off(conn);
}

void conn_read_or_rest(struct conn *conn)
{
	bool want = !conn->closing && !conn->turn.lane && !conn->decoding &&
		    conn->unsent <= conn->services->config->unsent_bytes / 2;

	if (want == conn->reading || conn->closing)
		return;
	conn->reading = want;
	if (!want)
		(void)uv_read_stop((uv_stream_t *)&conn->pipe);
	else if (conn_holds_place(conn))
		(void)uv_read_start((uv_stream_t *)&conn->pipe, on_room, on_read);
	else
		conn_close(conn, "the kernel watches no more descriptors for our user");
}
