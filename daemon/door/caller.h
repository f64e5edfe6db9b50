/*
 * Who sits at the other end of a client's socket, as the kernel says (SO_PEERCRED, SO_PEERGROUPS):
 * asked once, when the connection is accepted.  A caller who changes its groups or its uid later
 * stays what it was for as long as it keeps the connection.
 */
#pragma once

#include "daemon/settings/roles.h"

#define CALLER_EXE_MAX  256
#define CALLER_NAME_MAX 16

struct caller {
	uint32_t uid, gid;
	int32_t pid;
	unsigned roles; /* a set */
	/*
	 * Of the process, when it connected: its executable, which the kernel tells of the daemon's own
	 * user's processes only, and what it calls itself, which says what it likes.  "": not told.
	 */
	char exe[CALLER_EXE_MAX];
	char name[CALLER_NAME_MAX];
};

static inline bool caller_is(const struct caller *caller, enum role role)
{
	return (caller->roles & ROLE_BIT(role)) != 0;
}

/* Without `exe` and `name`.  0, or -1: the kernel does not tell, and nobody is let in on a guess. */
int caller_identify(int fd, const struct roles *roles, struct caller *ret_caller);

/*
 * Fills in `exe` and `name`, for who is let in: it costs more than all else.  Evidence and nothing that
 * is decided by, since the process may be another by the time it is asked for.
 */
void caller_look_at_process(struct caller *caller);
