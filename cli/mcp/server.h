/*
 * `cectl mcp`: an MCP server on stdin and stdout, and a client of the daemon behind it.
 *
 * One loop polls stdin, stdout and the daemon.  A request whose answer the daemon has to give is a
 * struct request until then; others are answered at once.  So a program that runs keeps no other
 * request waiting.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/mcp/jsonrpc.h"
#include "cli/mcp/link.h"
#include "cli/mcp/tools.h"

#define SERVER_REQUESTS_MAX 64
#define SERVER_SESSIONS_MAX 64
#define SERVER_ID_MAX       27 /* a ULID and its NUL */

struct server;
struct request;

/* Makes the answer to a request from the daemon's.  NULL: it was sent already. */
typedef struct value *request_finish(struct request *request, const struct value *result);

/* A request of the client that waits for the daemon. */
struct request {
	struct arena arena;
	const struct value *id;
	const struct value *token; /* of its progress, or NULL */
	const struct tool *tool;   /* NULL: a resource is read */
	const struct value *params;
	request_finish *finish;
	uint32_t asked; /* the id of the question to the daemon */
	bool running;   /* the question starts a program, so `cancel` ends it */
	bool canceled;  /* its client does not want the answer any more */
	char run_id[SERVER_ID_MAX];
	int64_t began_ms, told_ms;
	int64_t steps; /* of progress */
	int64_t output_bytes;
};

struct server {
	struct jsonrpc_in in;
	struct jsonrpc_out out;
	struct link link;
	struct toolset tools;
	struct request *requests[SERVER_REQUESTS_MAX];
	char sessions[SERVER_SESSIONS_MAX][SERVER_ID_MAX]; /* opened here; "" is a free place */
	unsigned level;                                    /* of log messages, see log.h */
	char name[128];                                    /* in `hello` */
};

/*
 * Serves until stdin ends.  What runs then is cancelled, and the sessions that were opened here are
 * closed.  `defaults` are params for all runs.  -1: it could not begin.
 */
int server_run(const char *socket, const struct value *defaults, struct err *err);

/* ---- for methods.c ------------------------------------------------------------------------- */

/* A new request, or NULL after it was answered with an error. */
struct request *server_accept(struct server *server, const struct value *id,
	const struct value *params);
void server_forget(struct server *server, struct request *request);

/* Asks the daemon.  -1: it could not be asked; the request is still there. */
int server_ask(struct server *server, struct request *request, const char *method,
	const struct value *params, struct err *err);

struct request *server_find(struct server *server, const struct value *id);

/* Ends the run of a request; its answer follows. */
void server_cancel(struct server *server, struct request *request);
