/*
 * The socket that clients connect to.  Either systemd hands it over, or the listener makes it.
 *
 * A stale socket file is replaced.  When a daemon answers at the path, the start fails.  While the
 * daemon runs, the listener checks the file each second.  If the file is gone or replaced, the
 * listener makes the socket again and logs it.
 */
#pragma once

#include "proto/base/err.h"
#include "proto/value.h"

struct listener;
struct services;

struct listener *listener_start(struct services *services, const char *path, struct err *err);

/* Returns {path, remade, trouble} for admin.status. */
struct value *listener_describe(const struct listener *listener, struct arena *arena);

/*
 * The daemon accepts no new work.  If the socket was handed over, clients that connect from here on
 * wait for the next daemon.  Otherwise they are accepted, and told that this one ends.
 */
void listener_drain(struct listener *listener);

/*
 * Stops listening.  Removes the socket's file when the listener made it and it is still the same.
 */
void listener_close(struct listener *listener);
