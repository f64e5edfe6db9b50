/* The settings by which MCP clients start `cectl mcp`. */
#pragma once

#include "cli/session/cli.h"

/*
 * Prints what a client wants to read, and where.  The client passes on these params of all runs.
 * Returns the exit status.
 */
int config_print(struct cli *cli, const char *name, const struct value *defaults);

/* The name of a client; NULL: there is no such index. */
const char *config_client(size_t index);

/* The names of the clients, for the help. */
int config_help(struct buf *out);
