#include "cli/base/client.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/base/buf.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "proto/wire/frame.h"
#include "proto/wire/rpc.h"

#define HOST_SOCKET  "/run/ced/ced.sock"
#define IDLE_MS      250
#define MESSAGE_MAX  ((size_t)512 << 20) /* what the daemon may answer with */
#define NOTICE_BYTES ((size_t)64 << 20)  /* one notification, decoded */
#define CANCEL_BYTES ((size_t)64 << 10)
#define AHEAD_BYTES  ((size_t)64 << 10) /* sent before the daemon has answered `hello` */

struct client {
	int fd;
	uint32_t next_id;
	uint32_t waiting_for; /* the id of the call on its way */
	uint32_t hello_id;
	int64_t patience_ms; /* for the answer to `hello` */
	bool awaits_hello;   /* its answer has not come yet */
	struct frame frame;
};

/* One call on its way. */
struct call {
	struct client *client;
	const struct client_watch *watch;
	struct arena *arena;
	uint32_t id;
	int64_t started_ms;
	bool answered;
	struct rpc_message reply; /* once it is there */
};

const char *client_socket_path(const char *asked, struct arena *arena)
{
	const char *from_env = getenv("CED_SOCKET");
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *own;

	if (asked)
		return asked;
	if (from_env && from_env[0])
		return from_env;
	own = runtime && runtime[0]
		      ? arena_printf(arena, "%s/ced/ced.sock", runtime)
		      : arena_printf(arena, "/run/user/%u/ced/ced.sock", (unsigned)geteuid());
	return own && access(own, F_OK) == 0 ? own : HOST_SOCKET;
}

static int explain_connect(const char *path, int64_t patience_ms, struct err *err)
{
	if (errno == EACCES || errno == EPERM)
		return err_set(err, ERR_DENIED,
			"you may not use the daemon's socket %s: its owner or group must let you "
			"(for the host's service: adduser YOU ced)",
			path);
	if (errno == EAGAIN)
		return err_set(err, ERR_TIMEOUT,
			"the daemon at %s does not accept the connection within %g s: "
			"it hangs or is stopped",
			path, (double)patience_ms / 1000);
	(void)err_sys(err, "no daemon answers at %s", path);
	err->code = ERR_CLOSED;
	return -1;
}

/* How long connect() and send() may block; 0: as long as it takes. */
static int set_send_timeout(int fd, int64_t ms, struct err *err)
{
	const struct timeval timeout = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0)
		return err_sys(err, "cannot set the time limit of a socket");
	return 0;
}

int client_connect(const char *path, int64_t patience_ms, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	auto_fd int fd = -1;

	if (len == 0 || len >= sizeof(address.sun_path))
		return err_set(err, ERR_INVALID, "the socket path is too long: %s", path);
	memcpy(address.sun_path, path, len);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(err, "cannot make a socket");
	if (set_send_timeout(fd, patience_ms, err) < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return explain_connect(path, patience_ms, err);
	if (set_send_timeout(fd, 0, err) < 0)
		return -1;
	return take_fd(&fd);
}

struct client *client_open(const char *path, struct err *err)
{
	int fd = client_connect(path, CLIENT_PATIENCE_MS, err);
	struct client *client;

	if (fd < 0)
		return NULL;
	client = calloc(1, sizeof(*client));
	if (!client) {
		close(fd);
		(void)err_set(err, ERR_MEMORY, "no memory");
		return NULL;
	}
	client->fd = fd;
	client->hello_id = UINT32_MAX;
	frame_init(&client->frame, MESSAGE_MAX, WIRE_DEPTH_MAX);
	return client;
}

void client_close(struct client *client)
{
	if (!client)
		return;
	close(client->fd);
	frame_done(&client->frame);
	free(client);
}

/* ---- asking -------------------------------------------------------------------------------- */

/* The daemon refuses a message that is too large before it has read all of it; see its answer. */
static int send_bytes(struct client *client, const char *bytes, size_t len, struct err *err)
{
	struct err broken = ERR_INIT;

	if (write_all(client->fd, bytes, len, &broken) == 0)
		return 0;
	if (broken.sys_errno == EPIPE || broken.sys_errno == ECONNRESET ||
		broken.code == ERR_CLOSED)
		return 0;
	*err = broken;
	return err_wrap(err, "cannot send the request");
}

/* ---- waiting ------------------------------------------------------------------------------- */

/* 1: there is something to read; 0: not yet; -1: the time is over. */
static int wait_readable(struct call *call, struct err *err)
{
	struct pollfd poll_fd = { .fd = call->client->fd, .events = POLLIN };
	int64_t waited_ms = clock_ms() - call->started_ms;
	int64_t timeout_ms = call->client->awaits_hello ? call->client->patience_ms
			     : call->watch              ? call->watch->timeout_ms
							: 0;
	int ready;

	if (call->watch && call->watch->on_turn)
		call->watch->on_turn(call->watch->context);
	if (timeout_ms > 0 && waited_ms >= timeout_ms)
		return err_set(err, ERR_TIMEOUT, "the daemon did not answer within %" PRId64 " s",
			timeout_ms / 1000);
	ready = poll(&poll_fd, 1, IDLE_MS);
	if (ready > 0)
		return 1;
	if (ready < 0 && errno != EINTR)
		return err_sys(err, "cannot wait for the daemon");
	if (call->watch && call->watch->on_idle)
		call->watch->on_idle(call->watch->context, clock_ms() - call->started_ms);
	return 0;
}

static int read_piece(struct client *client, struct err *err)
{
	size_t size = 0;
	char *room = frame_room(&client->frame, &size);
	ssize_t got;

	if (!room)
		return err_set(err, ERR_MEMORY, "no memory for the daemon's answer");
	got = recv(client->fd, room, size, 0);
	if (got < 0 && errno == EINTR)
		return 0;
	if (got < 0)
		return err_sys(err, "the connection to the daemon broke");
	if (got == 0)
		return err_set(
			err, ERR_CLOSED, "the daemon closed the connection before it answered");
	frame_filled(&client->frame, (size_t)got);
	return 0;
}

/* Reads until a whole message is there; gives its bytes. */
static int next_message(struct call *call, char **ret_bytes, size_t *ret_len, struct err *err)
{
	for (;;) {
		int ready = frame_next(&call->client->frame, ret_bytes, ret_len, err);

		if (ready != 0)
			return ready > 0 ? 0 : err_wrap(err, "the daemon's answer");
		do {
			ready = wait_readable(call, err);
		} while (ready == 0);
		if (ready < 0 || read_piece(call->client, err) < 0)
			return -1;
	}
}

static int pass_notice(struct call *call, const struct rpc_message *message, struct err *err)
{
	const struct client_watch *watch = call->watch;

	if (!watch || !watch->on_notice)
		return 0;
	return watch->on_notice(watch->context, message->method, message->params, err);
}

/* A notification, from its own arena, which is gone afterwards. */
static int take_notice(struct call *call, char *bytes, size_t len, struct err *err)
{
	struct rpc_message message;
	struct rpc_fault fault;
	struct arena arena;
	int status;

	arena_init(&arena, NOTICE_BYTES);
	status = rpc_read(&arena, bytes, len, &message, &fault, err);
	if (status == 0 && message.kind == RPC_NOTIFICATION)
		status = pass_notice(call, &message, err);
	arena_done(&arena);
	return status;
}

/*
 * A daemon that has no place for the connection answers `hello` with busy.  Any other error is an
 * answer as well: the request behind it gets the same error.
 */
static int take_hello(struct client *client, const struct value *error, struct err *err)
{
	const char *code = value_as_text(value_get(error, "code"));
	const char *message = value_as_text(value_get(error, "message"));

	if (code && strcmp(code, "busy") == 0)
		return err_set(err, ERR_BUSY, "%s",
			message ? message : "the daemon refused the connection");
	client->awaits_hello = false;
	return 0;
}

/* A response.  An answer to another call (one that timed out) is ignored. */
static int take_response(struct call *call, const char *bytes, size_t len, struct err *err)
{
	char *kept = arena_copy(call->arena, bytes, len);
	struct rpc_message message;
	struct rpc_fault fault;

	if (!kept)
		return err_set(err, ERR_MEMORY, "no memory for the daemon's answer");
	if (rpc_read(call->arena, kept, len, &message, &fault, err) < 0)
		return err_wrap(err, "the daemon's answer");
	if (message.kind == RPC_RESPONSE && message.msgid == call->client->hello_id)
		return take_hello(call->client, message.error, err);
	if (message.kind != RPC_RESPONSE || message.msgid != call->id)
		return 0;
	call->reply = message;
	call->answered = true;
	return 0;
}

static int take_message(struct call *call, struct err *err)
{
	auto_free char *bytes = NULL;
	size_t len = 0;

	if (next_message(call, &bytes, &len, err) < 0)
		return -1;
	if (len > 1 && bytes[1] == RPC_NOTIFICATION)
		return take_notice(call, bytes, len, err);
	return take_response(call, bytes, len, err);
}

/* Takes messages until the daemon has answered `hello`, if it owes that answer. */
static int await_hello(struct call *call, struct err *err)
{
	while (call->client->awaits_hello) {
		if (take_message(call, err) < 0)
			return -1;
	}
	return 0;
}

/*
 * Sends the question, and `hello` in front of the first one.  A large question waits for the answer
 * to `hello`: it could fill the socket of a daemon that reads nothing.
 */
static int send_question(
	struct call *call, const struct buf *request, size_t hello_len, struct err *err)
{
	struct client *client = call->client;

	if (hello_len == 0 || request->len <= AHEAD_BYTES)
		return send_bytes(client, request->bytes, request->len, err);
	if (send_bytes(client, request->bytes, hello_len, err) < 0 || await_hello(call, err) < 0)
		return -1;
	return send_bytes(client, request->bytes + hello_len, request->len - hello_len, err);
}

static int client_ask(struct call *call, const struct client_question *question, struct err *err)
{
	struct client *client = call->client;
	struct buf request;
	size_t hello_len;
	int status = 0;

	buf_init(&request, MESSAGE_MAX);
	if (client->awaits_hello)
		status = rpc_write_request(&request, client->hello_id, "hello", NULL, err);
	hello_len = request.len;
	if (status == 0)
		status = rpc_write_request(
			&request, call->id, question->method, question->params, err);
	if (status == 0)
		status = send_question(call, &request, hello_len, err);
	buf_done(&request);
	return status;
}

/* Why no answer to `hello` came, if that is what did not come. */
static int explain_unwelcome(const struct client *client, struct err *err)
{
	if (!client->awaits_hello || err->code == ERR_BUSY)
		return -1;
	if (err->code == ERR_TIMEOUT)
		return err_wrap(err, "the daemon hangs or is stopped; it may still do this when it "
				     "continues");
	if (err->code == ERR_CLOSED || err->sys_errno == ECONNRESET)
		return err_set(err, ERR_BUSY,
			"the daemon closed the connection at once: too many connections are open, "
			"or it is ending");
	return -1;
}

void client_greet(struct client *client, int64_t patience_ms)
{
	client->awaits_hello = true;
	client->hello_id = client->next_id++;
	client->patience_ms = patience_ms > 0 ? patience_ms : CLIENT_PATIENCE_MS;
}

bool client_is_welcome(const struct client *client)
{
	return !client->awaits_hello;
}

int client_call(struct client *client, const struct client_question *question, struct arena *arena,
	const struct value **ret_result, struct err *err)
{
	struct call call = {
		.client = client,
		.watch = question->watch,
		.arena = arena,
		.id = client->next_id++,
		.started_ms = clock_ms(),
	};

	client->waiting_for = call.id;
	if (client_ask(&call, question, err) < 0 || await_hello(&call, err) < 0)
		return explain_unwelcome(client, err);
	while (!call.answered) {
		if (take_message(&call, err) < 0)
			return -1;
	}
	*ret_result = call.reply.error ? call.reply.error : call.reply.result;
	return call.reply.error ? 1 : 0;
}

int client_cancel(struct client *client, struct err *err)
{
	struct value *params;
	struct arena arena;
	struct buf request;
	int status = -1;

	arena_init(&arena, CANCEL_BYTES);
	buf_init(&request, CANCEL_BYTES);
	params = value_map(&arena);
	if (value_map_put(&arena, params, "msgid", value_uint(&arena, client->waiting_for)) < 0)
		status = err_set(err, ERR_MEMORY, "no memory");
	else
		status = rpc_write_request(&request, client->next_id++, "cancel", params, err);
	if (status == 0)
		status = send_bytes(client, request.bytes, request.len, err);
	buf_done(&request);
	arena_done(&arena);
	return status;
}

int client_fd(const struct client *client)
{
	return client->fd;
}

int client_send(
	struct client *client, const char *method, const struct value *params, struct err *err)
{
	struct buf request;
	int status;

	buf_init(&request, MESSAGE_MAX);
	status = rpc_write_request(&request, client->next_id++, method, params, err);
	if (status == 0)
		status = send_bytes(client, request.bytes, request.len, err);
	buf_done(&request);
	return status;
}

int client_listen(struct client *client, const struct client_watch *watch, struct err *err)
{
	struct call call = { .client = client, .watch = watch, .started_ms = clock_ms() };
	int status = 0;

	while (status == 0) {
		auto_free char *bytes = NULL;
		size_t len = 0;

		status = next_message(&call, &bytes, &len, err);
		if (status == 0 && len > 1 && bytes[1] == RPC_NOTIFICATION)
			status = take_notice(&call, bytes, len, err);
	}
	return status;
}
