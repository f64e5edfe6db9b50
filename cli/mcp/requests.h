/*
 * The state of `cectl mcp`, and the requests of its client that wait for the daemon.
 *
 * A request whose answer the daemon has to give is a struct request until then; others are answered
 * at once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/link.h"
#include "cli/mcp/jsonrpc.h"
#include "cli/mcp/tools.h"
#include "proto/base/list.h"

#define REQUESTS_MAX 64
#define RUN_ID_MAX   27 /* a ULID and its NUL */

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
	bool canceled;  /* its client does not want the answer any more */
	char run_id[RUN_ID_MAX];
	int64_t began_ms, told_ms;
	int64_t steps; /* of progress */
	int64_t output_bytes;
};

struct server {
	struct jsonrpc_in in;
	struct jsonrpc_out out;
	struct link link;
	struct toolset tools;
	struct request *requests[REQUESTS_MAX];
	struct list sessions; /* see sessions.h */
	bool ending;          /* nothing more is read from stdin */
	unsigned level;       /* of log messages, see log.h */
	char name[128];       /* in `hello` */
};

/* A new request, or NULL after it was answered with an error. */
struct request *requests_accept(
	struct server *server, const struct value *id, const struct value *params);
void requests_forget(struct server *server, struct request *request);

/* Asks the daemon.  -1: it could not be asked; the request is still there. */
int requests_ask(struct server *server, struct request *request, const char *method,
	const struct value *params, struct err *err);

struct request *requests_find(struct server *server, const struct value *id);

bool requests_runs(const struct request *request); /* whether it starts a program */

/* Ends the run of a request, if it has one; its answer follows. */
void requests_cancel(struct server *server, struct request *request);

bool requests_wait(const struct server *server); /* whether there is one */

/* By the id of the question to the daemon; NULL: nobody waits for it. */
struct request *requests_asked(struct server *server, uint32_t asked);
