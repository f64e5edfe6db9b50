/*
 * `cectl mcp`: an MCP server on stdin and stdout, and a client of the daemon behind it.
 *
 * One loop polls stdin, stdout and the daemon.  So a program that runs keeps no other request
 * waiting.
 */
#pragma once

#include "proto/base/err.h"
#include "proto/value.h"

/*
 * Serves until stdin ends.  What runs then is cancelled, and the sessions that were opened here are
 * closed.  `defaults` are params for all runs.  -1: it could not begin.
 */
int server_run(const char *socket, const struct value *defaults, struct err *err);
