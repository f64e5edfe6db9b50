/*
 * One connection to the daemon, used for one question at a time: the C client (clients/c/ced.h) with
 * values of proto/value.h and the patience of a person at a terminal.
 *
 * A call sends a request and waits for its reply.  Notifications that arrive meanwhile go to the
 * watch; it also gets a regular call while nothing arrives, to show that time passes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/cleanup.h"
#include "proto/base/err.h"
#include "proto/value.h"

struct client;
struct ced_client;
struct ced_error;

struct client_watch {
	void *context;
	int64_t timeout_ms; /* 0: as long as it takes */
	/*
	 * A notification; `params` lives until the function returns.  -1 ends the call, 1 ends
	 * client_listen().
	 */
	int (*on_notice)(
		void *context, const char *method, const struct value *params, struct err *err);
	/* Called about four times a second while there is nothing to read. */
	void (*on_idle)(void *context, int64_t waited_ms);
	/* Called before each wait for something to read, and after each signal. */
	void (*on_turn)(void *context);
};

/* Where the daemon is: `asked`, CED_SOCKET, the user's own if it exists, or the host's. */
const char *client_socket_path(const char *asked, struct arena *arena);

/* How long a daemon that serves may take to accept a connection, and to answer `hello`. */
#define CLIENT_PATIENCE_MS INT64_C(15000)

/*
 * Connects.  ERR_CLOSED when no daemon listens, ERR_DENIED without the right, both with advice;
 * ERR_TIMEOUT when no daemon accepts the connection within CLIENT_PATIENCE_MS.
 */
struct client *client_open(const char *path, struct err *err);

/*
 * From now on the first call sends `hello` in front of its question, to learn whether the daemon
 * serves this connection.  That call fails with ERR_TIMEOUT when the daemon does not answer `hello`
 * within `patience_ms` (0: CLIENT_PATIENCE_MS), and with ERR_BUSY when it refuses the connection.
 */
void client_greet(struct client *client, int64_t patience_ms);

/* False as long as the daemon owes an answer to `hello`. */
bool client_is_welcome(const struct client *client);

void client_close(struct client *client); /* accepts NULL */
AUTO_DEFINE(struct client, client_close);

struct client_question {
	const char *method;
	const struct value *params;
	const struct client_watch *watch; /* or NULL */
};

/*
 * Asks and waits.  0: *ret_result is the result; 1: it is the error {code, message, data?};
 * -1: the conversation broke, and the client can only be closed.  Values lie in `arena`.
 */
int client_call(struct client *client, const struct client_question *question, struct arena *arena,
	const struct value **ret_result, struct err *err);

/*
 * From a watch's on_turn: asks for the end of the call that is waited for; the answer to the call
 * says how it ended.
 */
int client_cancel(struct client *client, struct err *err);

/* For a user that has a connection of the C client itself: asks, and describes a failure.  -1. */
int client_ask(struct ced_client *connection, const char *method, const struct value *params,
	uint32_t *ret_id, struct err *err);
int client_failed(const struct ced_error *why, struct err *err);

/* To poll between two calls: it can be read when a notification has come, or the daemon has gone. */
int client_fd(const struct client *client);

/*
 * Passes on what has come, without waiting.  Ask for it before each wait in poll(), which says nothing
 * of what was read behind the last answer.  0, or -1 as client_listen().
 */
int client_hear(struct client *client, const struct client_watch *watch, struct err *err);

/*
 * Answers a `run.call` (`call` has its run_id and call) with `result`, or with an error if `why` is not NULL.  A result that cannot be
 * sent, or that the daemon refuses, becomes an error of the program.
 */
int client_answer_call(struct client *client, const struct value *call, const struct value *result,
	const char *why, struct err *err);

/*
 * Hears notifications until the watch has enough (1), or -1: ERR_CLOSED when the daemon has gone,
 * else what the watch complained of.
 */
int client_listen(struct client *client, const struct client_watch *watch, struct err *err);
