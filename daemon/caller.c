#include "daemon/caller.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "proto/base/cleanup.h"

#define GROUPS_AT_ONCE 64

/* The groups that the peer was in when it connected, its own first; on the heap.  NULL: not told. */
static uint32_t *groups_of(int fd, uint32_t gid, unsigned *ret_count)
{
	socklen_t len = GROUPS_AT_ONCE * sizeof(gid_t);

	for (;;) {
		uint32_t *gids = malloc(sizeof(gid) + len);

		if (!gids)
			return NULL;
		gids[0] = gid;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, gids + 1, &len) == 0) {
			*ret_count = 1 + (unsigned)(len / sizeof(gid));
			return gids;
		}
		free(gids);
		if (errno != ERANGE) /* with ERANGE, len says how much there is */
			return NULL;
	}
}

int caller_identify(int fd, const struct roles *roles, struct caller *ret_caller)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);
	auto_free uint32_t *gids = NULL;
	unsigned count = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -1;
	gids = groups_of(fd, cred.gid, &count);
	if (!gids)
		return -1;
	*ret_caller = (struct caller){ cred.uid, cred.gid, cred.pid,
		roles_of(roles, cred.uid, gids, count) };
	return 0;
}
