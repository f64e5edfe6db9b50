/*
 * The identity of the process at the other end of a client's socket, as the kernel reports it
 * (SO_PEERCRED, SO_PEERGROUPS).  The kernel notes it when the client connects.  A process that
 * changes its uid or groups later keeps the old identity on this connection.  Its roles follow from
 * the settings in force, and are determined again after a reload.
 */
#pragma once

#include "daemon/settings/roles.h"

#define CALLER_EXE_MAX  256
#define CALLER_NAME_MAX 16

struct caller {
	uint32_t uid, gid;
	int32_t pid;
	unsigned roles; /* bits, see ROLE_BIT() */
	/*
	 * The process when it connected: its executable and the name that it gives itself.  The
	 * kernel reports executables only for processes of the daemon's own user.  A process can
	 * choose any name.  "": unknown.
	 */
	char exe[CALLER_EXE_MAX];
	char name[CALLER_NAME_MAX];
};

static inline bool caller_is(const struct caller *caller, enum role role)
{
	return (caller->roles & ROLE_BIT(role)) != 0;
}

/*
 * Does not fill in `exe` and `name`.  Returns 0, or -1 when the kernel does not report an identity;
 * the connection must be refused then.
 */
int caller_identify(int fd, const struct roles *roles, struct caller *ret_caller);

/*
 * Fills in `exe` and `name`.  This costs more than the rest, so call it only for admitted
 * connections.  Use both for the record only, never for a decision: the pid may belong to another
 * process by now.
 */
void caller_look_at_process(struct caller *caller);
