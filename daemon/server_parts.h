/*
 * The parts of the server, which know each other: server_start.c makes the house, server.c has who is
 * in it, server_stop.c sees it to its end.
 */
#pragma once

#include "daemon/server.h"

/* ---- server_stop.c ---- */

/* SIGTERM and SIGINT drain; told twice, now. */
int server_watch_signals(struct server *server, struct err *err);

void server_on_spawner_lost(void *context, const char *why);
