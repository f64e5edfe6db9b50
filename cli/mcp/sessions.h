/* The sessions that were opened here: the end of `cectl mcp` closes them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/mcp/requests.h"

void sessions_init(struct server *server);
void sessions_done(struct server *server);

void sessions_opened(struct server *server, const char *id);
void sessions_ended(struct server *server, const char *id); /* one that is not known is ignored */

/* Asks the daemon to close each that was not asked for yet.  -1: it could not be asked. */
int sessions_close(struct server *server);

/* An answer of the daemon: whether it was one about a session that was to be closed. */
bool sessions_answered(struct server *server, uint32_t asked);

/* The connection is gone, and with it the questions. */
void sessions_lost(struct server *server);

bool sessions_wait(const struct server *server); /* whether there is one */
