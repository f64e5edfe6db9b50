#include "cli/mcp/requests.h"

#include <stdlib.h>

#include "proto/base/clock.h"

#define REQUEST_BYTES ((size_t)1 << 30) /* a ceiling, not a need */
#define CANCEL_BYTES  4096

struct request *requests_find(struct server *server, const struct value *id)
{
	for (size_t i = 0; id && i < REQUESTS_MAX; i++) {
		if (server->requests[i] && value_equal(server->requests[i]->id, id))
			return server->requests[i];
	}
	return NULL;
}

struct request *requests_accept(
	struct server *server, const struct value *id, const struct value *params)
{
	struct request **place = server->requests;
	struct request *request;

	if (requests_find(server, id)) {
		jsonrpc_error(&server->out, id, JSONRPC_INVALID_REQUEST,
			"a request with this id is still being answered");
		return NULL;
	}
	while (place < server->requests + REQUESTS_MAX && *place)
		place++;
	request = place < server->requests + REQUESTS_MAX ? calloc(1, sizeof(*request)) : NULL;
	if (!request) {
		jsonrpc_error(&server->out, id, JSONRPC_INTERNAL,
			"%d requests wait already; try again when one has its answer",
			REQUESTS_MAX);
		return NULL;
	}
	arena_init(&request->arena, REQUEST_BYTES);
	request->id = value_copy(&request->arena, id);
	request->token =
		value_copy(&request->arena, value_get(value_get(params, "_meta"), "progressToken"));
	request->began_ms = request->told_ms = clock_ms();
	*place = request;
	return request;
}

void requests_forget(struct server *server, struct request *request)
{
	for (size_t i = 0; i < REQUESTS_MAX; i++) {
		if (server->requests[i] == request)
			server->requests[i] = NULL;
	}
	arena_done(&request->arena);
	free(request);
}

int requests_ask(struct server *server, struct request *request, const char *method,
	const struct value *params, struct err *err)
{
	return link_ask(&server->link, method, params, &request->asked, err);
}

bool requests_runs(const struct request *request)
{
	return request->tool && request->tool->kind == TOOL_RUNS;
}

void requests_cancel(struct server *server, struct request *request)
{
	struct err err = ERR_INIT;
	struct arena arena;
	struct value *params;
	uint32_t asked;

	if (!requests_runs(request) || link_fd(&server->link) < 0)
		return;
	arena_init(&arena, CANCEL_BYTES);
	params = value_map(&arena);
	value_map_put(&arena, params, "msgid", value_uint(&arena, request->asked));
	(void)link_ask(&server->link, "cancel", params, &asked, &err);
	arena_done(&arena);
}

struct request *requests_asked(struct server *server, uint32_t asked)
{
	for (size_t i = 0; i < REQUESTS_MAX; i++) {
		if (server->requests[i] && server->requests[i]->asked == asked)
			return server->requests[i];
	}
	return NULL;
}

bool requests_wait(const struct server *server)
{
	for (size_t i = 0; i < REQUESTS_MAX; i++) {
		if (server->requests[i])
			return true;
	}
	return false;
}
