/*
 * The parts of the server, which know each other: server_start.c makes the house, server.c has who is
 * in it, server_stop.c closes it.
 */
#pragma once

#include "daemon/server.h"

/* ---- server_stop.c ---- */

/* A run has left: the last one, while draining, ends the daemon. */
void server_end_when_empty(struct server *server);

/* SIGTERM and SIGINT drain; told twice, now. */
int server_watch_signals(struct server *server, struct err *err);

void server_on_spawner_lost(void *context, const char *why);
