/* The methods of MCP: see the table in methods.c. */
#pragma once

#include "cli/mcp/requests.h"

/* One line from the client, of any content. */
void methods_take(struct server *server, const char *line, size_t len);

/* The daemon's answer to a request; frees it. */
void methods_answer(struct server *server, struct request *request, const struct value *error,
	const struct value *result);

/*
 * Ends the run of a request, whose answer follows.  One that waits for a run is answered and freed:
 * the run goes on.
 */
void methods_cancel(struct server *server, struct request *request);

/* There will be no answer of the daemon; frees it. */
void methods_lost(struct server *server, struct request *request, const struct err *why);
