#include "cli/base/client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "clients/c/ced.h"
#include "proto/base/buf.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/wire/wire.h"

#define IDLE_MS       250
#define REQUEST_BYTES ((size_t)512 << 20)
#define NOTICE_BYTES  ((size_t)64 << 20) /* one notification, decoded */

/* One call on its way, or one client_listen(). */
struct call {
	const struct client_watch *watch; /* or NULL */
	struct arena *arena;
	uint32_t id;
	int64_t started_ms;
	const struct value *error; /* once it is answered: NULL, or */
	const struct value *result;
	bool answered;
	int status; /* other than 0: what a notification has ended it with */
	struct err *err;
};

struct client {
	struct ced_client *connection;
	struct call *call;    /* or NULL */
	uint32_t waiting_for; /* the id of the call on its way */
	uint32_t hello_id;
	int64_t patience_ms; /* for the answer to `hello` */
	bool greets;         /* `hello` is to be sent in front of the next question */
	bool awaits_hello;   /* its answer has not come yet */
};

const char *client_socket_path(const char *asked, struct arena *arena)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];

	/* A path that is too long is named when it is used. */
	return asked                                            ? asked
	       : ced_socket_path(NULL, path, sizeof(path)) == 0 ? arena_strdup(arena, path)
								: getenv("CED_SOCKET");
}

int client_failed(const struct ced_error *why, struct err *err)
{
	static const enum err_code codes[] = {
		[CED_NO_DAEMON] = ERR_CLOSED,
		[CED_NO_RIGHT] = ERR_DENIED,
		[CED_TIMED_OUT] = ERR_TIMEOUT,
		[CED_LOST] = ERR_CLOSED,
		[CED_BROKEN] = ERR_INVALID,
		[CED_WRONG_CALL] = ERR_INVALID,
		[CED_NO_MEMORY] = ERR_MEMORY,
		[CED_SYSTEM] = ERR_SYSTEM,
	};
	enum err_code code = (size_t)why->failure < COUNT_OF(codes) ? codes[why->failure] : 0;

	if (why->failure == CED_LOST && why->sys_errno)
		code = ERR_SYSTEM;
	(void)err_set(err, code ? code : ERR_SYSTEM, "%s", why->message);
	if (err)
		err->sys_errno = why->sys_errno;
	return -1;
}

/* ---- what comes ---------------------------------------------------------------------------- */

/* Decodes a copy that lives as long as the arena. */
static struct value *decode(struct arena *arena, struct ced_value from, struct err *err)
{
	char *copy = arena_copy(arena, from.bytes, from.len);
	struct value *value;

	if (!copy) {
		(void)err_set(err, ERR_MEMORY, "no memory for the daemon's answer");
		return NULL;
	}
	value = wire_decode_in_place(arena, copy, from.len, NULL, err);
	if (!value)
		(void)err_wrap(err, "the daemon's answer");
	return value;
}

/* A notification, from its own arena, which is gone afterwards. */
static int on_notice(void *context, const char *method, struct ced_value params)
{
	struct client *client = context;
	struct call *call = client->call;
	const struct client_watch *watch = call ? call->watch : NULL;
	const struct value *value;
	struct arena arena;

	if (!watch || !watch->on_notice)
		return 0;
	arena_init(&arena, NOTICE_BYTES);
	value = decode(&arena, params, call->err);
	call->status = value ? watch->on_notice(watch->context, method, value, call->err) : -1;
	arena_done(&arena);
	return call->status;
}

/*
 * A daemon that has no place for the connection answers `hello` with busy.  Any other error is an
 * answer as well: the request behind it gets the same error.
 */
static int take_hello(struct client *client, struct ced_value error)
{
	struct call *call = client->call;
	char message[ERR_TEXT_MAX];

	if (!ced_is(ced_get(error, "code"), "busy")) {
		client->awaits_hello = false;
		return 0;
	}
	(void)ced_copy_text(ced_get(error, "message"), message, sizeof(message));
	call->status = err_set(call->err, ERR_BUSY, "%s",
		message[0] ? message : "the daemon refused the connection");
	return -1;
}

/* An answer to another call (one that timed out) is ignored. */
static int on_answer(void *context, uint32_t msgid, struct ced_value error, struct ced_value result)
{
	struct client *client = context;
	struct call *call = client->call;
	const struct value *value;

	if (call && client->awaits_hello && msgid == client->hello_id)
		return take_hello(client, error);
	if (!call || !call->arena || msgid != call->id)
		return 0;
	value = decode(call->arena, error.len > 0 ? error : result, call->err);
	call->error = error.len > 0 ? value : NULL;
	call->result = value;
	call->answered = value != NULL;
	call->status = value ? 0 : -1;
	return 1;
}

struct client *client_open(const char *path, struct err *err)
{
	struct client *client = calloc(1, sizeof(*client));
	const struct ced_handlers handlers = { client, on_notice, on_answer };
	struct ced_error why;

	if (!client) {
		(void)err_set(err, ERR_MEMORY, "no memory");
		return NULL;
	}
	client->connection = ced_connect(path, CLIENT_PATIENCE_MS, &why);
	if (!client->connection) {
		free(client);
		(void)client_failed(&why, err);
		return NULL;
	}
	ced_handle(client->connection, &handlers);
	return client;
}

void client_close(struct client *client)
{
	if (!client)
		return;
	ced_close(client->connection);
	free(client);
}

/* ---- asking -------------------------------------------------------------------------------- */

int client_ask(struct ced_client *connection, const char *method, const struct value *params,
	uint32_t *ret_id, struct err *err)
{
	struct ced_value packed = { NULL, 0 };
	struct ced_error why;
	struct buf buf;
	int status = 0;

	buf_init(&buf, REQUEST_BYTES);
	if (params)
		status = wire_encode(&buf, params, err);
	packed.bytes = buf.bytes;
	packed.len = buf.len;
	if (status == 0 && ced_ask(connection, method, packed, ret_id, &why) < 0)
		status = client_failed(&why, err);
	buf_done(&buf);
	return status;
}

/* ---- waiting ------------------------------------------------------------------------------- */

/* The time of this wait; 0: as long as it takes. */
static int64_t patience_of(const struct client *client, const struct call *call)
{
	if (client->awaits_hello)
		return client->patience_ms;
	return call->watch ? call->watch->timeout_ms : 0;
}

/* As ced_step(). */
static int client_step(struct client *client, int wait_ms, struct err *err)
{
	struct ced_error why;
	int status = ced_step(client->connection, wait_ms, &why);

	if (status < 0 && why.failure == CED_LOST && !why.sys_errno)
		return err_set(
			err, ERR_CLOSED, "the daemon closed the connection before it answered");
	return status < 0 ? client_failed(&why, err) : status;
}

/* Passes on what has come, or waits for it a while. */
static int call_turn(struct client *client, struct call *call, struct err *err)
{
	int64_t timeout_ms = patience_of(client, call);
	int status;

	if (call->watch && call->watch->on_turn)
		call->watch->on_turn(call->watch->context);
	if (timeout_ms > 0 && clock_ms() - call->started_ms >= timeout_ms)
		return err_set(err, ERR_TIMEOUT, "the daemon did not answer within %" PRId64 " s",
			timeout_ms / 1000);
	status = client_step(client, IDLE_MS, err);
	if (status < 0)
		return -1;
	if (status == 0 && call->watch && call->watch->on_idle)
		call->watch->on_idle(call->watch->context, clock_ms() - call->started_ms);
	return 0;
}

/* Until the call is answered and `hello` too, or a notification ends it. */
static int await(struct client *client, struct call *call, struct err *err)
{
	int status = 0;

	client->call = call;
	call->err = err;
	while (status == 0 && (client->awaits_hello || !call->answered)) {
		status = call_turn(client, call, err);
		if (status == 0)
			status = call->status;
	}
	client->call = NULL;
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
	client->greets = true;
	client->awaits_hello = true;
	client->patience_ms = patience_ms > 0 ? patience_ms : CLIENT_PATIENCE_MS;
}

bool client_is_welcome(const struct client *client)
{
	return !client->awaits_hello;
}

int client_call(struct client *client, const struct client_question *question, struct arena *arena,
	const struct value **ret_result, struct err *err)
{
	struct call call = { .watch = question->watch, .arena = arena, .started_ms = clock_ms() };
	int status = 0;

	if (client->greets)
		status = client_ask(client->connection, "hello", NULL, &client->hello_id, err);
	client->greets = false;
	if (status == 0)
		status = client_ask(
			client->connection, question->method, question->params, &call.id, err);
	if (status < 0)
		return -1;
	client->waiting_for = call.id;
	if (await(client, &call, err) != 0)
		return explain_unwelcome(client, err);
	*ret_result = call.result;
	return call.error ? 1 : 0;
}

int client_cancel(struct client *client, struct err *err)
{
	struct ced_error why;

	if (ced_cancel(client->connection, client->waiting_for, &why) < 0)
		return client_failed(&why, err);
	return 0;
}

int client_fd(const struct client *client)
{
	return ced_fd(client->connection);
}

int client_answer_call(struct client *client, const struct value *call, const struct value *result,
	const char *why, struct err *err)
{
	struct err unsent = ERR_INIT;
	struct ced_error failure;
	struct buf which;
	struct buf packed;
	int status;

	buf_init(&which, REQUEST_BYTES);
	buf_init(&packed, REQUEST_BYTES);
	status = wire_encode(&which, call, err);
	if (!why && wire_encode(&packed, result, &unsent) < 0)
		why = unsent.text;
	if (status == 0 &&
		ced_answer_call(client->connection, (struct ced_value){ which.bytes, which.len },
			(struct ced_value){ packed.bytes, packed.len }, why, &failure) < 0)
		status = client_failed(&failure, err);
	buf_done(&packed);
	buf_done(&which);
	return status;
}

int client_listen(struct client *client, const struct client_watch *watch, struct err *err)
{
	struct call call = { .watch = watch, .started_ms = clock_ms() };

	return await(client, &call, err);
}

int client_hear(struct client *client, const struct client_watch *watch, struct err *err)
{
	struct call call = { .watch = watch, .err = err };
	int status = 1;

	client->call = &call;
	while (status > 0 && call.status >= 0)
		status = client_step(client, 0, err);
	client->call = NULL;
	return status < 0 || call.status < 0 ? -1 : 0;
}
