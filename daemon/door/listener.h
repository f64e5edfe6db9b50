/*
 * The socket that clients connect to: handed over by systemd, or made here.
 *
 * A socket of ours that nobody listens on any more is replaced; one that somebody answers on is
 * another daemon and ends the start.  Afterwards its file is looked at each second: when it is gone,
 * or is not ours any more, the socket is made again, and the log says so.
 */
#pragma once

#include "proto/base/err.h"
#include "proto/value.h"

struct listener;
struct services;

struct listener *listener_start(struct services *services, const char *path, struct err *err);

/* {path, remade, trouble}: for admin.status. */
struct value *listener_describe(const struct listener *listener, struct arena *arena);

/* Takes no more clients and removes the socket when we made it and it still stands there. */
void listener_close(struct listener *listener);
