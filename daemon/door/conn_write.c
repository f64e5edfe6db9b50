#include <stdlib.h>

#include "daemon/door/ceilings.h"
#include "daemon/door/conn_parts.h"
#include "proto/base/container.h"
#include "proto/base/list.h"

#define REPLY_BYTES_MAX ((size_t)512 << 20)

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
		conn_close(conn, uv_strerror(status));
	conn_read_or_rest(conn);
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
	ceilings_hold_anyway(conn->services->ceilings, conn->caller.uid, sending->len);
	conn->refs++;
	if (!conn_holds_place(conn) ||
		uv_write(&sending->req, (uv_stream_t *)&conn->pipe, &out, 1, on_sent) < 0) {
		conn->unsent -= sending->len;
		ceilings_let_go(conn->services->ceilings, conn->caller.uid, sending->len);
		conn->refs--;
		free(sending->bytes);
		free(sending);
		conn_close(conn, "it cannot be written to");
		return;
	}
	/* Only bytes unsent before count: one reply may exceed the limit by itself. */
	if (waiting > conn->services->config->unsent_bytes)
		conn_close(conn, "it does not read its replies");
	else if (ceilings_passed(conn->services->ceilings, conn->caller.uid))
		close_fattest(conn);
	conn_read_or_rest(conn);
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
