/*
 * What a client hears while its program runs: notifications/progress if it gave a token, and a log
 * message when a person has to approve something.
 */
#pragma once

#include "cli/mcp/requests.h"

/* The levels of log messages, as RFC 5424 orders them; below SERVER's level nothing is sent. */
int progress_level(const char *word); /* -1: there is no such level */

/* A log message. */
void progress_log(struct server *server, const char *level, const char *text);

/* A notification of the daemon. */
void progress_notice(struct server *server, const char *method, const struct value *params);

/* Time has passed. */
void progress_tick(struct server *server);

/* Whether some request wants to hear that time passes. */
bool progress_wanted(const struct server *server);
