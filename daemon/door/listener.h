/*
 * The socket that clients connect to: handed over by systemd, or made here.
 *
 * A socket of ours that nobody listens on any more is replaced; one that somebody answers on is
 * another daemon and ends the start.
 */
#pragma once

#include "proto/base/err.h"

struct listener;
struct server;

struct listener *listener_start(struct server *server, const char *path, struct err *err);

/* Takes no more clients and removes the socket when we made it. */
void listener_close(struct listener *listener);
