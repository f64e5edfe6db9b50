/*
 * Capabilities: what the spawner keeps, and how everybody else loses them.  The only file that
 * knows libcap-ng.
 */
#pragma once

#include <sys/types.h>

#include "proto/base/err.h"

/*
 * For the spawner in root mode: keeps the rows of the table in caps.c, empties the bounding set
 * and drops the rest.  Nothing that it starts outside a user namespace can gain any of them back.
 */
int caps_keep_for_spawner(struct err *err);

/* When every jail has ended: also what removing the cgroups takes. */
int caps_raise_at_the_end(struct err *err);

/*
 * Drops all five sets of the caller and locks the securebits so that uid 0 gives nothing.  Needs
 * CAP_SETPCAP in the caller's user namespace.
 */
int caps_drop_all(struct err *err);

/* Fails when the caller has any capability left that it could use. */
int caps_check_none(struct err *err);

/*
 * For the spawner in root mode: openat() as another user, for what the kernel remembers of an
 * opener.  -1 and errno.
 */
int caps_open_as(uid_t uid, int folder, const char *name, int flags);
