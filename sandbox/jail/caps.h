/*
 * Capabilities: which ones the spawner keeps, and how all other processes drop theirs.  No other
 * file uses libcap-ng.
 */
#pragma once

#include <sys/types.h>

#include "proto/base/err.h"

/*
 * For the spawner in root mode: keeps the rows of the table in caps.c, empties the bounding set and
 * drops the rest.  No process that it starts outside a user namespace can regain any of them.
 */
int caps_keep_for_spawner(struct err *err);

/* When every jail has ended: adds the one that removing the cgroups needs. */
int caps_raise_at_the_end(struct err *err);

/*
 * Drops all five sets of the caller and locks the securebits so that uid 0 gives nothing.  Needs
 * CAP_SETPCAP in the caller's user namespace.
 */
int caps_drop_all(struct err *err);

/* Fails if the caller has any capability left that it could use. */
int caps_check_none(struct err *err);

/*
 * For the spawner in root mode: openat() as another user, for files of which the kernel remembers
 * the opener.  Returns -1 and sets errno on failure.
 */
int caps_open_as(uid_t uid, int folder, const char *name, int flags);
